"""API tokens: their secret, scopes, expiry and budget."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.utils import timezone

from research.engine.config import ResearchConfig
from research.models import ApiToken
from research.services import api_tokens, people
from research.services.api_tokens import Scope
from research.services.errors import ServiceError


@pytest.fixture
def admin(db: None) -> User:
    return people.local_admin()


def test_a_secret_finds_its_token_and_is_not_stored(admin: User) -> None:
    row, secret = api_tokens.create_token(admin, "Script")
    found = api_tokens.find_token(secret)
    assert found == row and found.owner == admin
    assert secret not in str(ApiToken.objects.values().get())
    assert api_tokens.find_token(secret + "x") is None


def test_an_expired_token_is_not_found(admin: User) -> None:
    row, secret = api_tokens.create_token(admin, "Script", days=1)
    assert api_tokens.find_token(secret)
    ApiToken.objects.filter(pk=row.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert api_tokens.find_token(secret) is None


def test_a_token_of_a_deactivated_user_is_not_found(admin: User) -> None:
    _, secret = api_tokens.create_token(admin, "Script")
    User.objects.filter(pk=admin.pk).update(is_active=False)
    assert api_tokens.find_token(secret) is None


def test_a_revoked_token_is_not_found(admin: User) -> None:
    row, secret = api_tokens.create_token(admin, "Script")
    assert api_tokens.revoke_token(admin, row.public_id) == "Script"
    assert api_tokens.find_token(secret) is None


@pytest.fixture
def kept() -> Iterator[None]:
    """No token is kept from another test, or for one."""
    api_tokens.forget_tokens()
    yield
    api_tokens.forget_tokens()


@pytest.mark.usefixtures("kept")
def test_a_token_that_reads_is_looked_up_every_few_seconds(
    admin: User, django_assert_num_queries: Any
) -> None:
    row, secret = api_tokens.create_token(admin, "Script")
    now = 100.0
    assert api_tokens.find_token_to_read(secret, lambda: now) == row
    ApiToken.objects.filter(pk=row.pk).delete()  # as another process does
    now += api_tokens.KEPT_SECONDS - 0.1
    with django_assert_num_queries(0):
        assert api_tokens.find_token_to_read(secret, lambda: now) == row
    now += 0.1
    assert api_tokens.find_token_to_read(secret, lambda: now) is None
    assert api_tokens.find_token_to_read(secret, lambda: now - 1) is None


@pytest.mark.usefixtures("kept")
def test_a_kept_token_cannot_read_once_it_expired(
    admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, secret = api_tokens.create_token(admin, "Script", days=1)
    assert api_tokens.find_token_to_read(secret)
    later = timezone.now() + timedelta(days=1)
    monkeypatch.setattr(timezone, "now", lambda: later)
    assert api_tokens.find_token_to_read(secret) is None


@pytest.mark.usefixtures("kept")
def test_a_token_revoked_here_cannot_read_any_longer(admin: User) -> None:
    row, secret = api_tokens.create_token(admin, "Script")
    assert api_tokens.find_token_to_read(secret)
    api_tokens.revoke_token(admin, row.public_id)
    assert api_tokens.find_token_to_read(secret) is None


@pytest.mark.usefixtures("kept")
def test_a_token_found_while_it_is_revoked_is_not_kept(
    admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    row, secret = api_tokens.create_token(admin, "Script")
    find = api_tokens.find_token

    def find_slowly(secret: str) -> ApiToken | None:
        found = find(secret)
        api_tokens.revoke_token(admin, row.public_id)
        return found

    with monkeypatch.context() as patched:
        patched.setattr(api_tokens, "find_token", find_slowly)
        assert api_tokens.find_token_to_read(secret)
    assert api_tokens.find_token_to_read(secret) is None


@pytest.mark.usefixtures("kept")
def test_only_so_many_tokens_are_kept(admin: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_tokens, "MOST_KEPT", 2)
    for _ in range(5):
        assert api_tokens.find_token_to_read(api_tokens.create_token(admin, "Script")[1])
        assert 0 < len(api_tokens._kept) <= 2


def test_a_token_of_another_user_cannot_be_revoked(admin: User) -> None:
    row, _ = api_tokens.create_token(admin, "Script")
    with pytest.raises(ServiceError):
        api_tokens.revoke_token(User.objects.create(username="other"), row.public_id)
    assert api_tokens.list_tokens(admin) == [row]


def test_the_last_use_is_recorded_once_a_minute(admin: User) -> None:
    _, secret = api_tokens.create_token(admin, "Script")
    first = api_tokens.find_token(secret)
    again = api_tokens.find_token(secret)
    assert first and again and first.last_used_at == again.last_used_at
    ApiToken.objects.update(last_used_at=timezone.now() - timedelta(minutes=2))
    api_tokens.find_token(secret)
    assert timezone.now() - ApiToken.objects.get().last_used_at < timedelta(minutes=1)


def test_a_scope_that_was_not_granted_is_refused(admin: User) -> None:
    row, _ = api_tokens.create_token(admin, "Reader", [Scope.READ])
    api_tokens.require_scope(row, Scope.READ)
    with pytest.raises(PermissionDenied, match="write"):
        api_tokens.require_scope(row, Scope.WRITE)


@pytest.mark.parametrize(
    ("of_token", "of_run", "limit"), [(None, 2.0, 2.0), (1.0, 2.0, 1.0), (1.0, None, 1.0)]
)
def test_the_lower_budget_applies(
    admin: User, of_token: float | None, of_run: float | None, limit: float
) -> None:
    row, _ = api_tokens.create_token(admin, "Script", max_cost_usd=of_token)
    config = api_tokens.limit_budget(row, ResearchConfig(max_cost_usd=of_run))
    assert config.max_cost_usd == limit


@pytest.mark.parametrize(
    ("values", "about"),
    [
        ({"name": " "}, "name"),
        ({"scopes": []}, "scopes"),
        ({"days": 0}, "days"),
        ({"max_cost_usd": -1}, "max_cost_usd"),
        ({"max_cost_usd": float("nan")}, "max_cost_usd"),
    ],
)
def test_an_invalid_value_is_refused(admin: User, values: dict[str, object], about: str) -> None:
    with pytest.raises(ServiceError) as refused:
        api_tokens.create_token(admin, **{"name": "Script", **values})  # type: ignore[arg-type]
    assert refused.value.about == about
    assert not ApiToken.objects.exists()
