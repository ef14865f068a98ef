from tests.dashboard.api.conftest import api, empty_cache

__all__ = ["api", "empty_cache"]
