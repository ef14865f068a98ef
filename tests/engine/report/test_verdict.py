"""The verdict that opens the short answer of a broad report."""

from __future__ import annotations

from typing import Any

import pytest

from bench.survey.__main__ import research
from bench.survey.measure import rows
from bench.survey.oracle import SurveyOracle
from bench.world.envelope import Envelope
from research.engine.assessment.answer_status import Tally
from research.engine.evidence.relations import Cell, Relations
from research.engine.llm_tasks.answers import WholeDraftAnswer
from research.engine.report.draft import Draft, Section, Statement
from research.engine.report.draft_answer import read_draft
from research.engine.report.parts.main_findings import lead_with_findings
from research.engine.report.parts.verdict import status_of, verdict_of
from research.engine.report.report_i18n import labels_for
from research.engine.verifier.quote_instead import quote_instead
from tests.engine.scripted import ledger

CELLS = {
    ("Alder", "price"): Cell("40 marks", ("E1",)),
    ("Birch", "price"): Cell("60 marks", ("E2",)),
    ("Alder", "weight"): Cell("9 kg", ("E3",)),
    ("Birch", "weight"): Cell("7 kg", ("E4",)),
    ("Birch", "maker"): Cell("Holm", ("E5",)),
}
COMPARED = Relations(True, {}, ("Alder", "Birch"), ("price", "weight", "maker"), CELLS)


def test_different_leaders_make_it_depend_on_what_counts() -> None:
    verdict = verdict_of(COMPARED, labels_for("en"), "en")
    assert verdict is not None and verdict.is_verdict
    assert verdict.text == (
        "It depends on what counts: by the values found, Birch is highest in price; Alder is "
        "highest in weight; Alder is lowest in price; Birch is lowest in weight."
    )
    assert verdict.evidence == ("E2", "E3", "E1", "E4")
    german = verdict_of(COMPARED, labels_for("de"), "de")
    assert german and german.text.startswith("Es kommt darauf an, was zählt.")


def test_one_leader_does_not_and_a_table_without_amounts_has_no_verdict() -> None:
    cells = CELLS | {("Alder", "weight"): Cell("5 kg", ("E3",))}
    verdict = verdict_of(Relations(True, {}, ("Alder", "Birch"), ("price", "weight"), cells),
                         labels_for("en"), "en")  # fmt: skip
    assert verdict and verdict.text == (
        "By the values found, Birch is highest in price and weight; "
        "Alder is lowest in price and weight."
    )
    named = Relations(True, {}, ("Alder", "Birch"), ("maker",), CELLS)
    assert verdict_of(named, labels_for("en"), "en") is None


def test_the_status_says_what_is_disputed_and_what_is_missing() -> None:
    words = labels_for("en")
    assert status_of(words, Tally(3, 3), [], []) == "", "nothing is to be said"
    assert status_of(words, Tally(3, 3), ["Cost"], []) == ("Sources disagree on points of “Cost”.")
    assert status_of(words, Tally(3, 4), ["Cost"], ["Fish", "Birds"]) == (
        "3 of the 4 parts of the question are answered; sources disagree on points of “Cost”; "
        "nothing was found on “Fish”, “Birds”."
    )
    assert status_of(words, Tally(3, 4), [], [], partly=["Fish"]) == (
        "3 of the 4 parts of the question are answered; “Fish” only in part."
    )
    assert "“4” and 2 more." in status_of(words, Tally(6, 6), [*"123456"], [])
    told = status_of(words, Tally(6, 6), [*"123456"], [], marks_many=True)
    assert told.endswith("sources disagree on points of 6 of them.")
    told = status_of(labels_for("de"), Tally(3, 3), ["Preis"], [])
    assert told == "Zum Teil widersprechen sich die Quellen bei “Preis”."


def test_a_verdict_that_nothing_vouches_for_is_left_out() -> None:
    known, _ = ledger("Who?", "What?", question="Who did what?")
    verdict = Statement("All is well.", ("E1",), is_verdict=True)
    left = quote_instead(Draft((verdict,), ()), [verdict], known)
    assert left.short_answer == () and left.quoted_instead == 1


def test_a_drafted_verdict_opens_the_short_answer() -> None:
    known, _ = ledger("Who?", "What?", "When?", question="Who did what, and when?")
    answer = WholeDraftAnswer(
        statements=[], short_answer=["Ann did. [E1]"], verdict=["It is so. [E1]", "Well.", "No."]
    )
    draft = read_draft(known, answer)
    assert [(each.text, each.is_verdict) for each in draft.short_answer] == [
        ("It is so.", True),
        ("Ann did.", False),
    ]
    led = lead_with_findings(known, draft.short_answer[:1], [Section("A1", ())], 80, {})
    assert [each.text for each in led] == ["It is so."]


@pytest.mark.parametrize("depth", ["standard", "thorough"])
async def test_a_checked_verdict_stands_before_items_that_name_what_they_answer(
    depth: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = next(row for row in rows("questions.jsonl") if row["id"] == "s11")
    plain = SurveyOracle.summary, SurveyOracle.draft
    opening: list[str] = []

    def summary(self: SurveyOracle, envelope: Envelope) -> dict[str, Any]:
        answer = plain[0](self, envelope)
        opening.append(answer["sentences"][0].partition(" [")[0])
        return answer | {"verdict": [answer["sentences"][0], "Pigs fly over all cities. [1]"]}

    def draft(self: SurveyOracle, envelope: Envelope) -> dict[str, Any]:
        answer = plain[1](self, envelope)
        first = answer["sections"][0]["statements"][0]
        opening.append(first.partition(" [")[0])
        verdict = [first, f"Pigs fly over all cities. [{first.partition(' [')[2]}"]
        return answer | {"verdict": verdict}

    monkeypatch.setattr(SurveyOracle, "summary", summary)
    monkeypatch.setattr(SurveyOracle, "draft", draft)
    report = (await research(question, depth)).report
    top = report.markdown.partition("\n## ")[0]
    assert top.split("**Short answer.** ")[1].startswith(opening[-1].rstrip("."))
    assert "Pigs" not in report.markdown and "parts of the question are answered" in top
    items = [line for line in top.splitlines() if line.startswith("- ")]
    is_named = all(line.startswith("- **") for line in items)
    assert items and is_named is (depth == "thorough"), (
        "the author of a standard report chooses the points and names them"
    )
    assert opening[-1] not in " ".join(items)
