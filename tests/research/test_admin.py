from __future__ import annotations

import asyncio

import pytest
from django.contrib.auth.models import AbstractUser
from django.test import Client
from django.urls import reverse

from research.models import Evidence, JournalEntry, Run, Verdict
from research.worker import advance
from tests.research.scripts import World, research

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def finished(run: Run) -> Run:
    asyncio.run(advance(run.pk, World().tools, engine=research))
    return run


@pytest.fixture
def admin(client: Client, staff: AbstractUser) -> Client:
    client.force_login(staff)
    return client


@pytest.mark.parametrize(
    "table", ["run", "evidence", "gateresult", "round", "journalentry", "report"]
)
def test_records_are_listed_and_read_but_not_changed(
    admin: Client, finished: Run, table: str
) -> None:
    listed = admin.get(reverse(f"admin:research_{table}_changelist"))
    assert listed.status_code == 200
    row = listed.context["cl"].result_list[0]
    page = reverse(f"admin:research_{table}_change", args=[row.pk])
    assert admin.get(page).status_code == 200
    assert admin.post(page, {"claim": "Changed"}).status_code == 403
    assert admin.get(reverse(f"admin:research_{table}_add")).status_code == 403
    assert admin.post(reverse(f"admin:research_{table}_delete", args=[row.pk])).status_code == 403


def test_a_call_shows_its_prompt_and_answer(admin: Client, finished: Run) -> None:
    entry = JournalEntry.objects.get(run=finished, place="intake")
    page = admin.get(reverse("admin:research_journalentry_change", args=[entry.pk]))
    assert b"scripted-model" in page.content


@pytest.mark.parametrize(
    ("action", "verdict"), [("accept", "accept"), ("reject", "reject"), ("flag", "flag")]
)
def test_evidence_is_judged_by_the_service(
    admin: Client, finished: Run, staff: AbstractUser, action: str, verdict: str
) -> None:
    row = Evidence.objects.get()
    listed = reverse("admin:research_evidence_changelist")
    admin.post(listed, {"action": action, "_selected_action": [row.pk]})
    said = Verdict.objects.get()
    assert (said.evidence, said.verdict, said.actor) == (row, verdict, staff)
    assert admin.get(listed, {"review": verdict}).context["cl"].result_count == 1
    assert admin.get(listed, {"review": "none"}).context["cl"].result_count == 0
