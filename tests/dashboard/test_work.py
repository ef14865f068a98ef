"""The page for admins on the work of all people."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from research.models import Run
from tests.dashboard.conftest import make_run


@pytest.fixture
def member(db: None) -> User:
    return User.objects.create_user("ada")


def test_an_admin_sees_queue_workers_and_stuck_runs_of_all(client: Client, member: User) -> None:
    until = timezone.now() + timedelta(seconds=15)
    make_run(member, "queued", question="Which is queued?")
    held = {"lease_until": until, "lease_owner": "mill:4711:x1y2", "started_at": timezone.now()}
    make_run(member, "researching", question="Which is executed?", **held)
    make_run(member, "stalled", question="Which is stalled?", crashes=4)
    make_run(member, "completed", question="Which has ended?")
    page = client.get("/queue/").text
    stuck, rest = page.split('id="executing-title"')
    executing, queue = rest.split('id="queue-title"')
    assert (
        "Which is stalled?" in stuck and "its worker stopped unexpectedly 4 times in a row" in stuck
    )
    assert "Which is executed?" in executing and "mill, process 4711" in executing
    assert "Which is queued?" in queue and "Which has ended?" not in page
    assert "<code>RESEARCH_SLOTS</code>" in page


def test_a_stalled_run_goes_back_into_the_queue(client: Client, member: User) -> None:
    run = make_run(member, "stalled", crashes=4)
    page = client.post("/retry-runs/", {"run": run.public_id}, follow=True).text
    assert "1 run is back in the queue." in page
    run.refresh_from_db()
    assert run.status != "stalled"
    page = client.post("/retry-runs/", {"run": run.public_id}, follow=True).text
    assert "no longer put aside" in page


def test_setup_links_to_it(client: Client) -> None:
    assert 'href="/queue/"' in client.get("/installation/").text


def test_nobody_else_sees_or_retries(member: User) -> None:
    run = make_run(member, "stalled")
    for viewer in (member, None):
        client = Client()
        if viewer:
            client.force_login(viewer)
            assert client.get("/installation/").status_code in (302, 403)
        assert client.get("/queue/").status_code == 302
        assert client.post("/retry-runs/", {"run": run.public_id}).status_code == 302
    assert Run.objects.get().status == "stalled"


def test_many_runs_are_listed_in_part_with_few_queries(client: Client, member: User) -> None:
    for _ in range(3):
        make_run(member, "queued")
    with CaptureQueriesContext(
        connection,
    ) as few:
        client.get("/queue/")
    for _ in range(22):
        make_run(member, "queued")
    with CaptureQueriesContext(connection) as many:
        page = client.get("/queue/").text
    assert len(many) == len(few)
    assert "And 5 more runs." in page
