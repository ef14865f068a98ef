from __future__ import annotations

from datetime import timedelta

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dashboard.live import fragments
from dashboard.live.fragments import State
from research.models import Aspect, Run
from tests.dashboard.conftest import add_evidence, make_run


@pytest.fixture
def run(admin: User) -> Run:
    run = make_run(admin, sequence=1, action="Reading", action_at=timezone.now())
    add_evidence(run, 1)
    return run


def now(run: Run, previous: State | None = None) -> State:
    run.refresh_from_db()
    return fragments.build_state(run, previous)


def sent(old: State | None, new: State) -> dict[str, str]:
    """What is swapped where: by the id or selector."""
    soup = BeautifulSoup(fragments.update_message(old, new), "html.parser")
    tops = soup.find_all(recursive=False)
    return {where(top): str(top) for top in tops}


def where(top: object) -> str:
    swap = top["hx-swap-oob"]  # type: ignore[index]
    return top["id"] if swap == "true" else swap  # type: ignore[index]


@pytest.mark.requirement("D2")
def test_a_snapshot_holds_every_fragment_of_the_page(client: Client, run: Run) -> None:
    page = BeautifulSoup(client.get(f"/runs/{run.public_id}/").content, "html.parser")
    for place in sent(None, now(run)):
        assert page.find(id=place.rsplit("#", 1)[-1]) is not None, place


def test_only_what_changed_is_sent(run: Run) -> None:
    old = now(run)
    Run.objects.update(verdict="Going on: all is well.")
    assert list(sent(old, now(run, old))) == [f"run-{run.public_id}-verdict"]


@pytest.mark.requirement("A12")
def test_how_far_it_is_reaches_every_window(run: Run) -> None:
    old = now(run)
    Run.objects.update(
        round=2, quality_score=5.8, action="Judging what was found", usage={"searches": 5}
    )
    between = now(run, old)
    told = fragments.update_message(old, between)
    assert "round 2 of up to 3" in told and "1 point missing" in told
    assert "rated 5.8 of 10; research can stop at 7.0" in told
    assert "Judging what was found" in told and "5 of 60 searches" in told
    Run.objects.update(status="completed", termination_text="Stopped: all answered.")
    assert "Stopped: all answered." in fragments.update_message(between, now(run, between))


def test_nothing_is_sent_for_a_time_that_went_by(run: Run) -> None:
    old = now(run)
    assert fragments.update_message(old, now(run)) == ""


def test_a_new_row_comes_in_at_its_end_of_the_list(run: Run) -> None:
    old = now(run)
    add_evidence(run, 2)
    changes = sent(old, now(run, old))
    top = changes[f"afterbegin:#run-{run.public_id}-evidence"]
    assert "Oaks grow old (2)." in top and "Oaks grow old (1)." not in top
    assert "Part 2" in changes[f"beforeend:#run-{run.public_id}-aspects"]


def test_a_changed_row_is_swapped_alone(run: Run) -> None:
    old = now(run)
    Aspect.objects.update(state="disputed")
    changes = sent(old, now(run, old))
    assert "Sources disagree" in changes[f"run-{run.public_id}-aspects-A1-standing"]
    assert f"innerHTML:#run-{run.public_id}-aspects" not in changes


def test_a_list_that_lost_a_row_is_sent_whole(run: Run) -> None:
    add_evidence(run, 2)
    old = now(run)
    run.evidence.filter(label="E1").delete()
    whole = sent(old, now(run, old))[f"innerHTML:#run-{run.public_id}-evidence"]
    assert "Oaks grow old (2)." in whole and "Oaks grow old (1)." not in whole


def test_a_round_is_swapped_in_parts(run: Run) -> None:
    old = now(run)
    run.rounds.update(decision="Stopped.", closed=True)
    assert f"run-{run.public_id}-rounds-1-head" in sent(old, now(run, old))
    assert f"run-{run.public_id}-rounds-1" not in sent(old, now(run, old))


def test_a_draft_grows_by_its_new_sentences(run: Run) -> None:
    Run.objects.update(status="writing", draft=[{"text": "Oaks grow old.", "about": ""}])
    old = now(run)
    assert "Oaks grow old." in str(old.page()["draft"])
    further = [{"text": "Very <b>old</b>.", "about": "How old?"}, {"text": "Yes.", "about": ""}]
    Run.objects.update(draft=[*run.draft, *further])
    run.refresh_from_db()
    added = sent(old, now(run, old))[f"beforeend:#run-{run.public_id}-draft"]
    assert "Oaks grow old." not in added
    assert "<b>How old?</b>Very &lt;b&gt;old&lt;/b&gt;." in added and "Yes." in added


def test_fragments_that_hold_are_not_rendered_again(run: Run) -> None:
    old = now(run)
    Run.objects.update(verdict="Another.", created_at=timezone.now() - timedelta(hours=1))
    new = now(run, old)
    element = f"run-{run.public_id}-evidence-E1"
    assert new.fragments[element] is old.fragments[element]


def test_fragments_hold_nothing_of_the_viewer(run: Run) -> None:
    for status in ("researching", "awaiting_approval", "completed"):
        Run.objects.update(status=status)
        assert "csrf" not in fragments.update_message(None, now(run)).lower()


def test_what_a_page_said_is_escaped(run: Run) -> None:
    run.evidence.update(claim="<script>alert(1)</script>")
    assert "<script" not in fragments.update_message(None, now(run))
