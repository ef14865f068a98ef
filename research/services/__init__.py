"""Changes by users and API clients; each function takes the actor and checks access."""

from research.services.errors import ServiceError

__all__ = ["ServiceError"]
