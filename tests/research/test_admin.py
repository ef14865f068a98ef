from __future__ import annotations

import asyncio
from urllib.parse import urlencode

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import AbstractUser
from django.db import connection
from django.http import QueryDict
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from research.admin.base import COUNTED
from research.admin.evidence import RARE, SITES_SHOWN
from research.models import Evidence, EvidenceSource, JournalEntry, Round, Run, Verdict
from research.readmodel.progress import load_progress
from research.services import reviews, runs, threads
from research.threads.verdicts import is_stale
from research.worker import leases
from research.worker.projection import Projection
from research.worker.run_executor import advance_run
from research.worker.writer import Writer
from tests.research.scripts import QUOTE, World, evidence, page_at, research

pytestmark = pytest.mark.django_db(transaction=True)

EVIDENCE = "admin:research_evidence_changelist"
PRESERVED = "_changelist_filters"
HENS = "https://hens.example/eggs"


@pytest.fixture
def finished(run: Run) -> Run:
    asyncio.run(advance_run(run.pk, World().tools, engine=research))
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


@pytest.mark.requirement("C5", "C22")
def test_a_gate_shows_its_score_and_bar_what_it_asked_for_and_when(
    admin: Client, finished: Run
) -> None:
    row = finished.gates.get(round=1)
    page = admin.get(reverse("admin:research_gateresult_change", args=[row.pk]))
    said = " ".join(BeautifulSoup(page.content, "html.parser").get_text(" ").split())
    for told in ("Score: 0.4", "Threshold: 0.8", "records: 1 of 2", "More records.", "2026"):
        assert told in said


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


def test_a_note_goes_with_each_verdict_in_bulk(admin: Client, several: Run) -> None:
    judge(admin, "reject", several.evidence.all(), note="Only a rumour.")
    said = Verdict.objects.values_list("evidence__label", "verdict", "note")
    assert sorted(said) == [(f"E{n}", "reject", "Only a rumour.") for n in (1, 2, 3)]


def test_a_note_that_is_too_long_is_told_so_and_judges_nothing(admin: Client, several: Run) -> None:
    answer = judge(admin, "reject", several.evidence.all(), note="x" * (reviews.NOTE_LENGTH + 1))
    assert "at most 2,000 characters" in answer.content.decode()
    assert not Verdict.objects.exists()


def test_a_record_is_judged_on_its_own_page_which_then_shows_who_said_what(
    admin: Client, finished: Run, staff: AbstractUser
) -> None:
    row = finished.evidence.get()
    page = reverse("admin:research_evidence_change", args=[row.pk])
    assert b'value="reject"' in admin.get(page).content
    answer = judge(admin, "flag", [row], note="Who measured?", on_its_page="1")
    assert answer.redirect_chain[-1][0] == page
    told = answer.content.decode()
    assert "flagged" in told and "Who measured?" in told and staff.username in told


def onward(admin: Client, label: str, filters: str = "", then: str = "next"):
    """As the form of a record's page does that was opened from a list with these filters."""
    row = Evidence.objects.order_by("pk").get(label=label, run__question__startswith="How are")
    came_from = urlencode({PRESERVED: filters}) if filters else ""
    return judge(admin, "accept", [row], on_its_page="1", then=then, came_from=came_from)


def shown(answer) -> str:
    """The label of the record whose page is shown, or "list"."""
    original = answer.context.get("original")
    return original.label if original else "list"


def test_from_a_verdict_it_goes_on_to_the_next_unreviewed_record(
    admin: Client, several: Run
) -> None:
    """Down the list, from its end back to its beginning, and to the list once nothing is left."""
    assert shown(onward(admin, "E2")) == "E1"
    assert shown(onward(admin, "E1")) == "E3"
    done = onward(admin, "E3")
    assert shown(done) == "list"
    assert "Nothing unreviewed is left in this list." in done.content.decode()


def test_a_record_that_was_judged_before_is_no_next_one(admin: Client, several: Run) -> None:
    judge(admin, "flag", [several.evidence.get(label="E2")])
    assert shown(onward(admin, "E3")) == "E1"


@pytest.mark.parametrize(
    ("filters", "label"),
    [
        ("run=RUN", "E2"),
        ("run=RUN&review=none&p=1", "E2"),
        ("review=accept", "E2"),
        ("site=hens.example", "E2"),
        ("disputed=yes", "list"),
        ("q=HENS+lay", "E2"),
        ("q=nobody+wrote+this", "list"),
        ("run=OTHER", "E1 of another run"),
    ],
)
def test_the_next_one_is_of_the_list_that_the_reviewer_came_from(
    admin: Client, several: Run, ada: AbstractUser, filters: str, label: str
) -> None:
    other = runs.ask_question(ada, "Another one?", agreed=True)
    asyncio.run(advance_run(other.pk, World().tools, engine=research))
    other.evidence.update(label="E1 of another run")
    named = filters.replace("RUN", str(several.pk)).replace("OTHER", str(other.pk))
    answer = onward(admin, "E3", named)
    assert shown(answer) == label
    handed_on = answer.request["QUERY_STRING"]
    assert named == (handed_on if label == "list" else QueryDict(handed_on)[PRESERVED])


def test_filters_that_are_none_are_refused(admin: Client, several: Run) -> None:
    assert onward(admin, "E1", "key__exact=perhaps").status_code == 400


def test_who_saves_and_stays_sees_the_record_with_its_list(admin: Client, several: Run) -> None:
    answer = onward(admin, "E2", "review=none", then="stay")
    assert shown(answer) == "E2"
    came_from = urlencode({PRESERVED: "review=none"})
    assert answer.request["QUERY_STRING"] == came_from
    assert f'name="came_from" value="{came_from}"' in answer.content.decode()


def test_a_quote_is_shown_in_the_stored_copy(admin: Client, finished: Run) -> None:
    row = finished.evidence.get()
    page = admin.get(reverse("admin:research_evidence_change", args=[row.pk]))
    assert f"<mark>{QUOTE}</mark>\n\nStir slowly." in page.content.decode()


@pytest.mark.parametrize(
    ("wanted", "labels"),
    [
        ({"run": "RUN"}, ["E1", "E2", "E3"]),
        ({"site": "hens.example"}, ["E2"]),
        ({"sure": "low"}, ["E2"]),
        ({"sure": "high"}, ["E1", "E3"]),
        ({"disputed": "yes"}, ["E3"]),
        ({"disputed": "no"}, ["E1", "E2"]),
        ({"q": "RUN_ID"}, ["E1", "E2", "E3"]),
        ({"q": "hens.example"}, ["E2"]),
        ({"q": "HENS lay"}, ["E2"]),
        ({"q": "hens & (eggs!)"}, ["E2"]),
        ({"q": "hens fly"}, []),
        ({"q": "100% of & | ! ( ' hens"}, []),
    ],
)
def test_evidence_is_narrowed_down(
    admin: Client, several: Run, ada: AbstractUser, wanted: dict[str, str], labels: list[str]
) -> None:
    runs.ask_question(ada, "Another one?", agreed=True)
    known = {"RUN": str(several.pk), "RUN_ID": several.public_id}
    listed = admin.get(reverse(EVIDENCE), {n: known.get(v, v) for n, v in wanted.items()})
    assert sorted(row.label for row in listed.context["cl"].result_list) == labels


def test_of_several_versions_the_newest_is_listed_unless_others_are_asked_for(
    admin: Client, several: Run, staff: AbstractUser
) -> None:
    Run.objects.filter(pk=several.pk).update(status="completed")
    version = threads.reshape_report(staff, Run.objects.get(pk=several.pk), "shorter")
    for row in several.evidence.all():
        row.pk, row.run = None, version
        row.save(force_insert=True)

    def listed(**asked: str) -> set[int]:
        shown = admin.get(reverse(EVIDENCE), asked)
        assert "newest" in shown.content.decode()
        return {row.run_id for row in shown.context["cl"].result_list}

    both = {several.pk, version.pk}
    assert listed() == {several.pk}, "a report in another form stands beside the whole one"
    Run.objects.filter(pk=version.pk).update(kind="revise")
    assert listed() == {version.pk} and listed(version="all") == both
    assert listed(run=str(several.pk)) == listed(q=several.public_id) == {several.pk}
    Run.objects.filter(pk=version.pk).update(status="failed")
    assert listed() == both


def test_the_last_word_counts_in_the_filter_of_reviews(admin: Client, several: Run) -> None:
    row = several.evidence.get(label="E2")
    for action in ("reject", "accept"):
        judge(admin, action, [row])
    counts = {
        name: admin.get(reverse(EVIDENCE), {"review": name}).context["cl"].result_count
        for name in ("none", "accept", "reject")
    }
    assert counts == {"none": 2, "accept": 1, "reject": 0}


@pytest.mark.requirement("F4")
def test_a_rejection_evaluates_the_gate_anew_and_makes_the_report_stale(
    admin: Client, several: Run
) -> None:
    before = load_progress(several).gate
    assert (before.status, before.rejected) == ("pass", 0)
    answer = judge(admin, "reject", several.evidence.all())
    after = load_progress(several).gate
    assert (after.status, after.rejected) == ("retry", 3)
    assert [part.value for part in after.criteria] == [0, 0, 0]
    assert "the evidence gate asks for more now" in answer.content.decode()
    assert is_stale(several.reports.get())
    judge(admin, "accept", several.evidence.all())
    assert load_progress(several).gate == before


def test_a_long_list_is_counted_no_further_than_anybody_reads(admin: Client, run: Run) -> None:
    Evidence.objects.bulk_create(
        Evidence(run=run, label=f"E{n}", position=n, claim=f"Claim {n}", round=1, relevance=0.5)
        for n in range(COUNTED + 10)
    )
    listed = admin.get(reverse(EVIDENCE))
    assert "1000 or more evidence" in " ".join(listed.content.decode().split())


def test_words_bring_the_newest_claims_that_hold_them(admin: Client, run: Run) -> None:
    """Also where more claims hold them than are put in order here."""
    Evidence.objects.bulk_create(
        Evidence(
            run=run, label=f"E{n}", position=n, round=1, relevance=0.5,
            claim=f"Oaks grow old {'slowly' if n < COUNTED + 5 else ''} ({n}).",
        )
        for n in range(RARE + 1)
    )  # fmt: skip
    for words, newest in (("oaks slowly", COUNTED + 4), ("oaks", RARE)):
        listed = [admin.get(reverse(EVIDENCE), {"q": words, "p": page}) for page in (1, 20)]
        assert [each.context["cl"].result_count for each in listed] == [COUNTED, COUNTED]
        shown = [[row.position for row in each.context["cl"].result_list] for each in listed]
        assert shown[0] == list(range(newest, newest - 50, -1))
        assert shown[1] == list(range(newest - COUNTED + 50, newest - COUNTED, -1))


def test_the_newest_sites_are_offered_and_any_other_is_found(admin: Client, several: Run) -> None:
    row = several.evidence.get(label="E1")
    EvidenceSource.objects.bulk_create(
        EvidenceSource(
            evidence=row, position=n, url=f"https://s{n}.test/", domain=f"s{n}.test",
            independence_key=f"s{n}.test", quote="x", start=0, end=1, text_sha256="",
            fetched_at=timezone.now(),
        )
        for n in range(10, 10 + SITES_SHOWN + 5)
    )  # fmt: skip
    listed = admin.get(reverse(EVIDENCE), {"site": "s10.test"})
    [sites] = [each for each in listed.context["cl"].filter_specs if each.title == "site"]
    offered = [site for site, _ in sites.lookup_choices]
    assert len(offered) == SITES_SHOWN + 1 and "s10.test" in offered and "s11.test" not in offered
    found = admin.get(reverse(EVIDENCE), {"q": "s11.test"})
    assert [row.label for row in found.context["cl"].result_list] == ["E1"]


def test_the_lists_ask_the_database_as_often_whatever_they_hold(
    admin: Client, finished: Run, ada: AbstractUser
) -> None:
    tables = ("run", "evidence", "gateresult", "round", "journalentry", "report")
    few = [asked(admin, table) for table in tables]
    for number in range(5):
        other = runs.ask_question(ada, f"Question {number}?", agreed=True)
        asyncio.run(advance_run(other.pk, World().tools, engine=research))
    assert [asked(admin, table) for table in tables] == few
    assert max(few) <= 8


def test_a_run_leads_to_its_records(admin: Client, finished: Run) -> None:
    page = admin.get(reverse("admin:research_run_change", args=[finished.pk])).content.decode()
    for table in ("evidence", "journalentry", "gateresult"):
        link = f"{reverse(f'admin:research_{table}_changelist')}?run={finished.pk}"
        assert link in page
        assert admin.get(link).context["cl"].result_count > 0


def test_records_are_found_by_a_run_and_by_its_question(admin: Client, finished: Run) -> None:
    listed = reverse("admin:research_round_changelist")
    for words, count in ((finished.public_id, 2), ("eggs scrambled", 2), ("eggs fried", 0)):
        assert admin.get(listed, {"q": words}).context["cl"].result_count == count
    assert Round.objects.count() == 2


# --- helpers ----------------------------------------------------------------------------------


@pytest.fixture
def several(finished: Run) -> Run:
    """Three records: the run's own of three sites, one of a single site, a disputed one."""

    async def add() -> None:
        async with Writer() as writer:
            lease = await writer.call(reopened, finished)
            rows = Projection(lease, writer)
            await rows.load()
            rows.receive(evidence(2, page_at(HENS), claim="Hens lay eggs.", confidence=0.5))
            rows.receive(evidence(3, page_at(HENS.replace("hens", "ducks")), confidence=0.9,
                                  contradicts=("E1",)))  # fmt: skip
            await writer.flush(lease)

    def reopened(run: Run) -> leases.Lease:
        Run.objects.filter(pk=run.pk).update(status="researching")
        lease = leases.claim_run(run.pk, "test")
        assert lease
        return lease

    asyncio.run(add())
    return finished


def judge(admin: Client, action: str, rows: object, **more: str):
    chosen = [row.pk for row in rows]
    return admin.post(
        reverse(EVIDENCE), {"action": action, "_selected_action": chosen, **more}, follow=True
    )


def asked(admin: Client, table: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        admin.get(reverse(f"admin:research_{table}_changelist"))
    return len(queries)
