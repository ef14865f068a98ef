"""The pages on other thresholds."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.exports import FORMATS
from dashboard.views.what_if import effects_context
from research.engine.config import ResearchConfig
from research.engine.journal import EARLIER_FORM
from research.engine.journal.forms import OLDEST
from research.models import Run
from research.services.what_if import ThresholdEffect
from tests.dashboard.conftest import make_run
from tests.engine.scripted import CHAIN, harbour
from tests.research.test_threads import asked

pytestmark = pytest.mark.requirement("F3")


@pytest.fixture
def chain(transactional_db: None, admin: User) -> Run:
    return asked(admin, harbour(CHAIN), CHAIN.question, min_evidence_records=3)


def test_one_run_beside_its_replay(client: Client, chain: Run) -> None:
    address = f"/runs/{chain.public_id}/what-if/"
    assert f'href="{address}"' in client.get(f"/runs/{chain.public_id}/activity/").text
    form = client.get(address).text
    assert 'name="adaptive_quality_threshold" value="7"' in form and "<table" not in form
    page = client.get(address, {"adaptive_max_depth": "1"}).text
    assert '<th scope="row">Rounds</th><td class="number">4</td><td class="number">1</td>' in page
    assert "Evidence that would not have been found" in page


def test_where_the_journal_ends_the_page_says_so(
    transactional_db: None, client: Client, admin: User
) -> None:
    run = asked(admin, harbour(CHAIN), CHAIN.question, adaptive_max_depth=1)
    page = client.get(f"/runs/{run.public_id}/what-if/", {"adaptive_max_depth": "5"}).text
    assert "The journal ends before <code>round/1/" in page


def test_the_pages_and_exports_of_an_earlier_version_s_run_open_though_it_is_not_replayed(
    client: Client, chain: Run
) -> None:
    assert chain.journal.filter(place="form").update(answer=OLDEST - 1)
    pages = ("", "research/", "activity/", "evidence/", "sources/", "citations/1/", "what-if/")
    exports = [f"export/{extension}" for extension in FORMATS]
    for part in (*pages, *exports):
        assert client.get(f"/runs/{chain.public_id}/{part}", follow=True).status_code == 200, part
    answer = client.get(f"/runs/{chain.public_id}/what-if/", {"adaptive_max_depth": "1"})
    assert answer.status_code == 422 and "begun by an earlier version" in answer.text
    assert "Replay 1 run" in client.get("/what-if/").text
    assert "Replay 1 run" not in client.post("/what-if/replay/", follow=True).text


def test_a_failed_run_of_an_earlier_version_says_what_to_do(client: Client, admin: User) -> None:
    run = make_run(admin, "failed", termination_text=EARLIER_FORM)
    run.problems.create(where="run", message=EARLIER_FORM)
    page = client.get(f"/runs/{run.public_id}/").text
    assert "Begun by an earlier version of Plumbline" in page


def test_a_bad_value_is_an_error_on_the_page(client: Client, chain: Run) -> None:
    answer = client.get(f"/runs/{chain.public_id}/what-if/", {"adaptive_max_depth": "many"})
    assert answer.status_code == 422 and "ADAPTIVE_MAX_DEPTH" in answer.text


def test_a_run_that_goes_on_or_is_another_persons_has_no_such_page(
    client: Client, admin: User
) -> None:
    other = User.objects.create_user("other")
    for run in (make_run(admin), make_run(admin, "completed", kind="revise")):
        assert client.get(f"/runs/{run.public_id}/what-if/").status_code == 404
    stranger = Client()
    stranger.force_login(other)
    done = make_run(admin, "completed", config=ResearchConfig().model_dump(mode="json"))
    assert stranger.get(f"/runs/{done.public_id}/what-if/").status_code == 404


def test_admins_replay_all_and_see_a_chart(client: Client, chain: Run) -> None:
    assert "Replay 1 run" in client.get("/what-if/").text
    page = client.post("/what-if/replay/", follow=True).text
    assert "<polyline" in page and "Replay 1 run" not in page
    assert page.count("<tr><td>") == 9


def test_the_chart_is_for_admins(db: None) -> None:
    member = Client()
    member.force_login(User.objects.create_user("member"))
    for answer in (member.get("/what-if/"), member.post("/what-if/replay/")):
        assert answer.status_code == 302 and "/sign-in/" in answer["Location"]
    assert Client().get("/what-if/").status_code == 302


def effect(threshold: float, saved: float, lost: float) -> ThresholdEffect:
    return ThresholdEffect(threshold, 10, 0, saved, saved / 2, lost)


def test_the_sentence_names_the_best_trade() -> None:
    effects = [effect(5, 0.4, 0.3), effect(6.5, 0.23, 0.04), effect(7, 0, 0)]
    told = effects_context(effects)
    wanted = "Threshold 6.5 would have saved 23 % of cost and lost 4 % of evidence."
    assert told["sentence"].replace("\N{NO-BREAK SPACE}", " ") == wanted
    assert told["what_saved"] == "cost"
    unpaid = [ThresholdEffect(6.5, 3, 0, None, 0.5, 0.1)]
    assert "saved 50\N{NO-BREAK SPACE}% of calls" in effects_context(unpaid)["sentence"]
    assert "No other threshold" in effects_context([effect(7, 0, 0)])["sentence"]
