from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from dashboard.models import SignInLink
from dashboard.sign_in import has_accounts, new_link_token
from research.services import people

pytestmark = pytest.mark.django_db
Capture = pytest.CaptureFixture[str]


def test_a_link_signs_in_as_the_local_admin_once() -> None:
    token = new_link_token()
    first, second = Client(), Client()
    assert first.get(f"/sign-in/{token}").headers["Location"] == "/"
    assert first.get("/").context["user"] == people.local_admin()
    assert second.get(f"/sign-in/{token}").status_code == 403
    assert second.get("/").status_code == 302


def test_a_new_link_voids_the_older_one() -> None:
    older, newer = new_link_token(), new_link_token()
    assert Client().get(f"/sign-in/{older}").status_code == 403
    assert Client().get(f"/sign-in/{newer}").status_code == 302


def test_a_void_link_offers_a_password_only_where_somebody_has_one() -> None:
    offer = b"Sign in with a password"
    assert offer not in Client().get("/sign-in/void").content
    User.objects.create_user("ann", password="long enough 1889")
    assert offer in Client().get("/sign-in/void").content


def test_the_token_itself_is_not_stored() -> None:
    token = new_link_token()
    assert token not in str(list(SignInLink.objects.values()))


@pytest.mark.parametrize("header", ["Sec-Purpose", "Purpose", "X-Moz"])
def test_a_browser_that_fetches_ahead_does_not_use_the_link_up(header: str) -> None:
    token = new_link_token()
    assert Client().get(f"/sign-in/{token}", headers={header: "prefetch"}).status_code == 204
    assert Client().head(f"/sign-in/{token}").status_code == 405
    assert Client().get(f"/sign-in/{token}").status_code == 302


def test_the_password_form_shows_only_where_somebody_has_a_password() -> None:
    people.local_admin()
    assert not has_accounts()
    assert b'name="password"' not in Client().get("/sign-in/").content
    User.objects.create_user("ada", password="a long enough phrase")
    assert has_accounts()
    assert b'name="password"' in Client().get("/sign-in/").content


def test_a_password_signs_in() -> None:
    User.objects.create_user("ada", password="a long enough phrase")
    answer = Client().post("/sign-in/", {"username": "ada", "password": "a long enough phrase"})
    assert answer.headers["Location"] == "/"


@pytest.mark.parametrize("path", ["/", "/runs/", "/runs/abc/", "/runs/abc/citations/1/", "/admin/"])
def test_every_page_asks_for_a_sign_in(path: str) -> None:
    answer = Client().get(path)
    assert answer.status_code == 302
    assert "sign-in" in answer.headers["Location"] or "/login/" in answer.headers["Location"]


def test_the_admin_sends_to_the_one_sign_in_page_and_back(admin: User) -> None:
    client = Client()
    answer = client.get("/admin/research/evidence/?review=none", follow=True)
    assert answer.redirect_chain[-1][0].startswith("/sign-in/?next=/admin/research/evidence/")
    assert answer.context["next"] == "/admin/research/evidence/?review=none"
    client.force_login(admin)
    assert client.get("/admin/login/?next=/admin/").headers["Location"] == "/admin/"


def test_who_may_not_review_is_told_so(db: None) -> None:
    client = Client()
    client.force_login(User.objects.create_user("ada"))
    assert client.get("/admin/", follow=True).status_code == 403


def test_where_no_link_is_left_the_pages_name_the_command_that_prints_one() -> None:
    words = [".venv/bin/python", "manage.py", "sign_in_link"]
    for address in ("/sign-in/", "/sign-in/used"):
        for port in ("8000", "8001"):
            shown = Client().get(address, SERVER_PORT=port).content.decode()
            parts = [*words, *(["--port 8001"] if port == "8001" else ())]
            told = " ".join(f'<span class="unbroken">{part}</span>' for part in parts)
            assert f"<code>{told}</code>" in shown


@pytest.mark.django_db(transaction=True)
def test_the_command_prints_a_link_to_the_port_that_is_served(capsys: Capture) -> None:
    older = new_link_token()
    call_command("sign_in_link", "--port", "8001")
    start, _, token = capsys.readouterr().out.strip().rpartition("/")
    assert start == "Sign in     http://127.0.0.1:8001/sign-in"
    assert Client().get(f"/sign-in/{older}").status_code == 403
    assert Client().get(f"/sign-in/{token}").status_code == 302


def test_signing_out_without_a_password_tells_the_way_back_in_first(client: Client) -> None:
    told = client.post("/sign-out/", SERVER_PORT="8001").content.decode()
    assert "sign_in_link" in told and '<span class="unbroken">--port 8001</span>' in told
    assert client.get("/").status_code == 200
    answer = client.post("/sign-out/", {"confirmed": "1"}, follow=True)
    assert answer.redirect_chain[-1][0] == "/sign-in/"
    assert "sign_in_link" in answer.content.decode()
    assert client.get("/").status_code == 302


def test_signing_out_with_a_password_takes_one_step() -> None:
    client = Client()
    client.force_login(User.objects.create_user("ada", password="a long enough phrase"))
    client.post("/sign-out/")
    assert client.get("/").status_code == 302
