"""What a waiting run waits for, and what to do about a failed one."""

from __future__ import annotations

from datetime import timedelta

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from research.models import Collection, Command, JournalEntry, Problem, Run
from tests.dashboard.conftest import add_evidence, make_run


def shown(client: Client, run: Run, part: str, selector: str = "") -> str:
    page = BeautifulSoup(client.get(f"/runs/{run.public_id}/").content, "html.parser")
    found = page.select_one(f"#run-{run.public_id}-{part} {selector}".strip())
    return " ".join(found.get_text(" ").split()) if found else ""


def test_a_queued_run_says_how_many_are_ahead(client: Client, admin: User) -> None:
    runs = [make_run(admin, "queued") for _ in range(3)]
    assert shown(client, runs[0], "action", ".now > span").startswith("Next in line")
    assert shown(client, runs[2], "action", ".now > span").startswith("2 runs ahead of yours")
    answer = client.get(f"/runs/{runs[2].public_id}/action/")
    assert (answer.status_code, answer.content) == (200, b"2 runs ahead of yours")
    Run.objects.update(status="researching")
    assert client.get(f"/runs/{runs[2].public_id}/action/").status_code == 286


def test_a_run_whose_documents_are_being_read_says_how_far_that_is(
    client: Client, admin: User
) -> None:
    made = Collection.objects.create(owner=admin, name="Leases", done=432, total=1169)
    until = timezone.now() + timedelta(minutes=1)
    sources = {"collections": [{"id": made.public_id, "name": "Leases"}]}
    run = make_run(admin, "queued", sources=sources, lease_until=until, lease_owner="worker")
    assert "Reading your documents: 432 of 1,169" in shown(client, run, "action")
    page = client.get(f"/runs/{run.public_id}/").content.decode()
    assert "Starts as soon as your documents are read." in page
    assert "as soon as a worker is free" not in page


@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_a_run_without_a_report_can_be_asked_again(
    client: Client, admin: User, status: str
) -> None:
    run = make_run(admin, status, sources={"search": ["samples"]}, agreed=True)
    shown_in = "failure" if status == "failed" else "controls"
    assert shown(client, run, f"{shown_in} button") == "Try again"
    answer = client.post(f"/runs/{run.public_id}/again/")
    again = Run.objects.latest("pk")
    assert answer.headers["Location"] == f"/runs/{again.public_id}/"
    assert (again.question, again.sources, again.agreed) == (run.question, run.sources, True)
    assert again.config == run.config and again.status == "queued"


def test_a_finished_run_is_not_asked_again(client: Client, admin: User) -> None:
    run = make_run(admin, "completed")
    client.post(f"/runs/{run.public_id}/again/")
    assert Run.objects.count() == 1


def test_a_failure_is_said_once_and_names_what_to_check(client: Client, admin: User) -> None:
    run = make_run(admin, "failed", termination_text="No model answered.")
    for key, where, message in (
        ("1", "run", "No model answered."),
        ("2", "model", "Connection refused."),
    ):
        Problem.objects.create(run=run, key=key, where=where, message=message)
    soup = BeautifulSoup(client.get(f"/runs/{run.public_id}/").content, "html.parser")
    details = soup.select_one(".failure details").extract()  # type: ignore[union-attr]
    assert [each.get_text() for each in details.select("li")] == [
        "No model answered.",
        "Connection refused.",
    ]
    assert "open" not in details.attrs and "No model answered." not in soup.get_text()
    assert [link.get_text() for link in soup.select(".failure .primary")] == [
        "Check the model server"
    ]


@pytest.mark.parametrize(
    ("where", "message", "title"),
    [
        ("model, plan", "Connection refused.", "The model gave no usable answer"),
        (
            "round 1, Oaks",
            "No search provider answered: A: 503. Set X_Y.",
            "The search service did not respond",
        ),
        ("round 1", "The pages could not be read.", "No page could be read"),
        ("run", "A bug.", "Something went wrong inside Plumbline"),
    ],
)
def test_a_failure_says_whose_it_is_in_plain_words(
    client: Client, admin: User, where: str, message: str, title: str
) -> None:
    run = make_run(admin, "failed")
    Problem.objects.create(run=run, key="1", where=where, message=message)
    soup = BeautifulSoup(client.get(f"/runs/{run.public_id}/").content, "html.parser")
    assert soup.select_one(".failure h2").get_text() == title  # type: ignore[union-attr]
    told = soup.select_one(".failure > p").get_text()  # type: ignore[union-attr]
    assert "not your question" in told and "_" not in told
    assert soup.select_one(".verdict-sentence").get_text() == ""  # type: ignore[union-attr]
    assert len(soup.select(".failure .primary")) == 1


def test_a_run_whose_documents_are_gone_leads_to_documents_instead_of_trying_again(
    client: Client, admin: User
) -> None:
    gone = "These documents no longer exist: tapes."
    run = make_run(admin, "failed", termination_text=gone)
    soup = BeautifulSoup(client.get(f"/runs/{run.public_id}/").content, "html.parser")
    assert soup.select_one(".failure h2").get_text() == "The chosen documents no longer exist"  # type: ignore[union-attr]
    [button] = soup.select(".failure .button-row > *")
    assert button["href"] == reverse("collections")
    assert gone in soup.select_one(".failure .technical").get_text()  # type: ignore[union-attr]


def test_a_run_under_way_says_how_long_it_has_run_and_what_it_may_take(
    client: Client, admin: User
) -> None:
    plan = {"aspects": [{"text": "How old?"}], "estimate": {"seconds": [120, 300]}}
    begun = timezone.now() - timedelta(minutes=1)
    run = make_run(
        admin,
        "researching",
        plan=plan,
        started_at=begun,
        action="Reading",
        action_at=timezone.now(),
    )
    line = BeautifulSoup(client.get(f"/runs/{run.public_id}/").content, "html.parser")
    clock = line.select_one(".run-clock time[data-lasting]")
    assert clock is not None and clock["datetime"] == begun.isoformat()
    assert "in all , estimated 2–5 min" in shown(client, run, "action")
    approved = Command.objects.create(run=run, actor=admin, kind="approve")
    line = BeautifulSoup(client.get(f"/runs/{run.public_id}/").content, "html.parser")
    clock = line.select_one(".run-clock time[data-lasting]")
    assert clock is not None and clock["datetime"] == approved.created_at.isoformat()
    Run.objects.update(status="paused")
    assert "in all" not in shown(client, run, "action")


@pytest.mark.parametrize(
    ("minutes", "calls", "told"),
    [
        (2, (), "in all , estimated 1–2 min"),
        (3, (), "in all"),
        (3, (2, 60.0), "in all"),
        (3, (3, 90.0), "in all , estimated 2–6 min"),
        (7, (3, 90.0), "in all"),
        (7, (3, 180.0), "in all , estimated 4–10 min"),
    ],
)
def test_the_estimate_follows_the_time_that_calls_took_and_ends_once_it_has_passed(
    client: Client, admin: User, minutes: int, calls: tuple[int, float], told: str
) -> None:
    free = {"prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 0.0}
    spent = {"calls": calls[0], "seconds": calls[1], **free} if calls else {}
    run = make_run(
        admin,
        "researching",
        plan={"aspects": [{"text": "How old?"}], "estimate": {"seconds": [4, 128]}},
        started_at=timezone.now() - timedelta(minutes=minutes),
        action="Reading",
        action_at=timezone.now(),
        usage={"spent_by": {"task": {"read": spent} if spent else {}}},
    )
    assert shown(client, run, "action").endswith(told)


def test_pages_are_named_until_the_first_quotes_are_there(client: Client, admin: User) -> None:
    run = make_run(admin)
    assert "Pages being read" not in shown(client, run, "evidence-none")
    for number, status in enumerate(("done", "failed", "pending")):
        JournalEntry.objects.create(
            run=run, place=f"fetch/{number}", place_key=str(number), attempt=1, kind="fetch",
            status=status, request_hash="0", request={"url": f"https://oaks.test/{number}"},
        )  # fmt: skip
    named = "Pages being read oaks.test/2 oaks.test/0"
    assert named in shown(client, run, "evidence-none")
    add_evidence(run, 1)
    assert "oaks.test" not in shown(client, run, "evidence-none")
