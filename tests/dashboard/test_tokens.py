"""The page of API tokens."""

from django.contrib.auth.models import User
from django.test import Client

from research.models import ApiToken
from research.services import api_tokens


def test_a_secret_is_shown_once(client: Client) -> None:
    typed = {"name": "Script", "access": "read", "days": "30", "max_cost_usd": "0.5"}
    page = client.post("/tokens/", typed)
    secret = page.context["secret"]
    assert secret in page.content.decode() and page.headers["Cache-Control"]
    assert secret not in client.get("/tokens/").content.decode()
    row = api_tokens.find_token(secret)
    assert row and row.scopes == ["read"] and row.max_cost_usd == 0.5 and row.expires_at


def test_a_form_with_errors_is_shown_again(client: Client) -> None:
    page = client.post("/tokens/", {"name": "", "access": "read", "days": "", "max_cost_usd": "-1"})
    assert page.status_code == 422
    assert "Enter the name of the program" in page.content.decode()
    assert not ApiToken.objects.exists()


def test_a_refused_budget_is_explained_at_its_field(client: Client) -> None:
    typed = {"name": "Script", "access": "read", "days": "", "max_cost_usd": "-1"}
    page = client.post("/tokens/", typed)
    assert page.status_code == 422
    assert page.context["form"].errors["max_cost_usd"] == ["A budget is an amount above 0."]


def test_a_token_is_revoked(client: Client, admin: User) -> None:
    row, _ = api_tokens.create_token(admin, "Script")
    page = client.post(f"/tokens/{row.public_id}/revoke/", follow=True)
    assert "“Script” was revoked." in page.content.decode()
    assert not ApiToken.objects.exists()
    again = client.post(f"/tokens/{row.public_id}/revoke/", follow=True)
    assert "revoked before" in again.content.decode()


def test_only_own_tokens_are_listed(client: Client) -> None:
    api_tokens.create_token(User.objects.create(username="other"), "Not yours")
    assert "Not yours" not in client.get("/tokens/").content.decode()
