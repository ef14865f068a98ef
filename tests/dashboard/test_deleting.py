"""Deleting a run, as a browser without script does it."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.test import Client

from research.models import Evidence, JournalEntry, PageText, Report, Run, Thread
from research.services import threads
from research.worker import leases
from tests.dashboard.conftest import QUOTE, add_evidence, add_report, make_run
from tests.dashboard.test_threads import PLAN

ENDED = ("completed", "failed", "cancelled")
NOT_ENDED = ("queued", "awaiting_clarification", "awaiting_approval", "researching", "paused")
REPORT = f"# How old do oaks get?\n\nThey are slow. {QUOTE} [1]\n"


def address(run: Run) -> str:
    return f"/runs/{run.public_id}/delete/"


def reported(owner: User) -> Run:
    """A run that has ended with a report on one claim."""
    run = make_run(owner, "completed", plan=PLAN, termination_text="Stopped.", round=1)
    add_evidence(run, 1)
    add_report(run, REPORT)
    return run


def shown(client: Client, address: str) -> BeautifulSoup:
    answer = client.get(address)
    assert answer.status_code == 200
    return BeautifulSoup(answer.content, "html.parser")


def said(page: BeautifulSoup) -> str:
    return " ".join(page.get_text(" ").split())


@pytest.fixture
def eve(db: None) -> User:
    return User.objects.create_user("eve")


def signed_in(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def test_a_person_deletes_their_run(client: Client, admin: User) -> None:
    run, other = reported(admin), make_run(admin, "completed", question="And elms?")
    [link] = shown(client, f"/runs/{run.public_id}/").select(f'.run-foot a[href="{address(run)}"]')
    page = shown(client, link["href"])  # type: ignore[arg-type]
    assert "Delete this run? “How old do oaks get?”" in said(page)
    assert Run.objects.filter(pk=run.pk).exists(), "it only asks"
    [form] = page.select("main form")
    assert (form["method"], form["action"]) == ("post", address(run))
    answer = client.post(address(run), follow=True)
    assert answer.redirect_chain == [("/runs/", 302)]
    listed = BeautifulSoup(answer.content, "html.parser")
    assert listed.select_one("[role=status]").get_text(strip=True) == (  # type: ignore[union-attr]
        "“How old do oaks get?” was deleted."
    )
    assert [link.get_text() for link in listed.select(".run-question")] == ["And elms?"]
    assert list(Run.objects.all()) == [other]
    for model in (Evidence, Report, JournalEntry, PageText):
        assert not model._default_manager.exists()


def test_every_address_of_a_deleted_run_is_gone(client: Client, admin: User) -> None:
    run = reported(admin)
    addresses = [f"/runs/{run.public_id}/{rest}" for rest in ("", "sources/", "citations/1/")]
    addresses += [address(run), f"/runs/{run.public_id}/export/md"]
    assert {client.get(each).status_code for each in addresses} == {200}
    client.post(address(run))
    assert {client.get(each).status_code for each in addresses} == {404}
    assert client.post(address(run)).status_code == 404
    assert client.get(f"/threads/{run.thread.public_id}/").status_code == 404


@pytest.mark.parametrize("status", ENDED)
def test_the_page_of_a_run_that_has_ended_offers_it(
    client: Client, admin: User, status: str
) -> None:
    run = make_run(admin, status)
    assert shown(client, f"/runs/{run.public_id}/").select(f'a[href="{address(run)}"]')


@pytest.mark.parametrize("status", NOT_ENDED)
def test_a_run_that_has_not_ended_is_cancelled_first(
    client: Client, admin: User, status: str
) -> None:
    run = make_run(admin, status)
    assert not shown(client, f"/runs/{run.public_id}/").select(f'a[href="{address(run)}"]')
    page = shown(client, address(run))
    assert "This run has not ended yet; cancel it first." in said(page)
    assert not page.select("main form")
    answer = client.post(address(run), follow=True)
    assert answer.redirect_chain == [(f"/runs/{run.public_id}/", 302)]
    assert "cancel it first" in answer.content.decode()
    client.post(f"/runs/{run.public_id}/cancel/")
    client.post(address(run))
    assert not Run.objects.exists()


def test_one_that_a_worker_still_has_says_so(client: Client, admin: User) -> None:
    run = make_run(admin, "queued")
    leases.claim_run(run.pk, "me")
    Run.objects.update(status="completed")
    assert "try again in a moment" in said(shown(client, address(run)))
    assert "try again in a moment" in client.post(address(run), follow=True).content.decode()
    assert Run.objects.exists()


def test_a_follow_up_keeps_what_it_was_built_on(client: Client, admin: User) -> None:
    run = reported(admin)
    later = threads.follow_up(admin, run, "And beeches?")
    assert "A later run builds on this one" in said(shown(client, address(run)))
    Run.objects.filter(pk=later.pk).update(status="completed", plan=PLAN)
    assert "1 other run of its thread stays" in said(shown(client, address(run)))
    client.post(address(run))
    later.refresh_from_db()
    assert later.snapshot.content["evidence"][0]["sources"][0]["quote"] == QUOTE
    assert later.pages.get().page.text.count(QUOTE) == 1
    assert "And beeches?" in said(shown(client, f"/runs/{later.public_id}/"))
    assert Thread.objects.filter(pk=later.thread_id).exists()


def test_the_list_shows_the_version_before_the_deleted_one(client: Client, admin: User) -> None:
    run = reported(admin)
    table = threads.reshape_report(admin, run, "table")
    Run.objects.filter(pk=table.pk).update(status="completed")
    client.post(address(table))
    [link] = shown(client, "/runs/").select(".run-question")
    assert link["href"] == f"/runs/{run.public_id}/"


def test_somebody_elses_is_not_found(admin: User, eve: User) -> None:
    run, stranger = reported(admin), signed_in(eve)
    assert stranger.get(address(run)).status_code == 404
    assert stranger.post(address(run)).status_code == 404
    assert Client().post(address(run)).status_code == 302
    assert Run.objects.exists()


def test_staff_see_whose_run_they_delete(client: Client, admin: User, eve: User) -> None:
    run = make_run(eve, "failed")
    assert "by eve" in said(shown(client, address(run)))
    assert "by eve" not in said(shown(signed_in(eve), address(run)))
    client.post(address(run))
    assert not Run.objects.exists()


def test_only_a_form_of_these_pages_deletes(admin: User) -> None:
    run = make_run(admin, "completed")
    careful = Client(enforce_csrf_checks=True)
    careful.force_login(admin)
    assert careful.post(address(run)).status_code == 403
    assert careful.delete(address(run)).status_code in (403, 405)
    assert careful.head(address(run)).status_code == 200
    assert Run.objects.exists()
    token = shown(careful, address(run)).select_one("main [name=csrfmiddlewaretoken]")
    assert token is not None
    careful.post(address(run), {"csrfmiddlewaretoken": token["value"]})
    assert not Run.objects.exists()


def test_a_long_question_is_named_in_short(client: Client, admin: User) -> None:
    run = make_run(admin, "completed", question="<b>Oaks</b> " * 100)
    notice = client.post(address(run), follow=True).content.decode()
    assert "“&lt;b&gt;Oaks" in notice and "…” was deleted." in notice
    assert "<b>Oaks" not in notice
