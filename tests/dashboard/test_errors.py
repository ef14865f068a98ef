from __future__ import annotations

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.test import Client

from dashboard.queries import queries
from research.models import Run
from tests.dashboard.conftest import make_run

ON_A_RUN = (
    *("answer", "approve", "send-back", "stop", "pause", "resume", "dig-deeper", "add-topic"),
    *("drop-topic", "revise", "reshape", "dig-further", "research-further", "follow-up"),
    "topic",
)
ON_A_COLLECTION = ("add", "remove", "change", "look")


@pytest.mark.parametrize("is_signed_in", [True, False])
def test_an_unknown_address_has_a_page_of_its_own(client: Client, is_signed_in: bool) -> None:
    answer = (client if is_signed_in else Client()).get("/nothing/")
    assert answer.status_code == 404
    assert b"Page not found" in answer.content
    assert (b"the run may have been deleted" in answer.content) is is_signed_in
    assert (b"Show all runs" in answer.content) is is_signed_in


@pytest.mark.parametrize("below", ["citations/999/", "nothing/", "no/such/page"])
def test_an_address_below_a_run_leads_back_to_the_run_of_its_owner_alone(
    client: Client, admin: User, below: str
) -> None:
    run = make_run(admin, "completed")
    client.force_login(admin)
    answer = client.get(f"/runs/{run.public_id}/{below}")
    link = BeautifulSoup(answer.content, "html.parser").select_one(".notice-page .primary")
    assert answer.status_code == 404 and link is not None
    assert link["href"] == f"/runs/{run.public_id}/" and "Open the run" in link.get_text()
    client.force_login(User.objects.create_user("eve", password="x"))
    answer = client.get(f"/runs/{run.public_id}/{below}")
    assert answer.status_code == 404 and b"Open the run" not in answer.content


def test_a_form_without_its_token_is_refused_with_an_explanation(admin: User) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(admin)
    answer = strict.post("/", {"question": "Why?", "key": "k"})
    assert answer.status_code == 403
    assert b"This form is no longer valid" in answer.content


@pytest.mark.parametrize(
    ("referer", "way"),
    [("http://testserver/runs/?q=a", "/runs/?q=a"), ("https://evil.test/", "/"), ("", "/")],
)
def test_an_error_that_says_go_back_has_the_button(admin: User, referer: str, way: str) -> None:
    strict = Client(enforce_csrf_checks=True, raise_request_exception=False)
    strict.force_login(admin)
    headers = {"Referer": referer} if referer else {}
    for answer in (
        strict.post("/", {"question": "Why?"}, headers=headers),
        strict.get("/?q=a%00b", headers=headers),
    ):
        link = BeautifulSoup(answer.content, "html.parser").select_one(".notice-page .primary")
        assert link is not None and "Go back" in link.get_text()
        assert str(link["href"]).removeprefix("http://testserver") == way


@pytest.mark.parametrize(
    "path", ["/?q=a%00b", "/runs/a%00b/", "/api/v1/runs?state=%00", "/api/v1/runs/%00", "/?%00=1"]
)
def test_a_nul_in_an_address_is_refused(admin: User, path: str) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(admin)
    answer = client.get(path)
    assert answer.status_code == 400
    is_for_programs = answer.headers["Content-Type"] == "application/problem+json"
    assert is_for_programs is path.startswith("/api/")


def test_a_nul_in_a_cookie_is_refused(client: Client) -> None:
    client.cookies["sessionid"] = "a\0b"
    assert client.get("/sign-in/").status_code == 400


@pytest.mark.requirement("D11")
def test_a_fault_of_ours_shows_no_trace(admin: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(*args: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(queries, "recent_runs", break_down)
    client = Client(raise_request_exception=False)
    client.force_login(admin)
    answer = client.get("/")
    assert answer.status_code == 500
    assert b"Something went wrong on the server" in answer.content
    assert b"secret detail" not in answer.content


@pytest.mark.parametrize("path", ["/static/plumbline.css", "/static/icons.svg"])
def test_static_files_are_served_to_anybody_and_whole(path: str) -> None:
    answer = Client().get(path)
    assert answer.status_code == 200
    assert int(answer.headers["Content-Length"]) == len(answer.content) > 0


@pytest.mark.parametrize(
    ("address", "page"),
    [
        *((f"/runs/abc/{action}/", "/runs/abc/") for action in ON_A_RUN),
        ("/runs/abc/citations/1/judge/", "/runs/abc/citations/1/"),
        *((f"/documents/abc/{action}/", "/documents/abc/") for action in ON_A_COLLECTION),
        ("/documents/folder/", "/documents/"),
        ("/sites/never/", "/sites/"),
        ("/sites/allow/", "/sites/"),
        ("/samples/eggs/", "/"),
        ("/installation/try/", "/installation/"),
        ("/sign-out/", "/"),
    ],
)
def test_commands_need_a_post_and_their_addresses_lead_to_their_page(
    client: Client, address: str, page: str
) -> None:
    """As the way back from signing in again, and opened anew."""
    answer = client.get(address)
    assert (answer.status_code, answer.headers.get("Location")) == (302, page)
    assert client.head(address).status_code == client.put(address).status_code == 405
    assert not Run.objects.exists() and client.get("/").status_code == 200
