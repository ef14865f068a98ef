"""What a run without a model says of its sources is what its evidence shows."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from research.engine import wording
from research.engine.config import ResearchConfig
from research.engine.draft import Draft
from research.engine.evidence import Finding
from research.engine.extractive.standing import standing, standings
from research.engine.labels import labels
from research.engine.ledger import Ledger
from research.engine.markdown import render
from research.engine.marks import Marked, answered, mark_of
from research.engine.records import AspectState, Mark, StopReason
from tests.engine.scripted import Ran, Web, World, ledger, page, quoted

HEIGHT = "How tall is the Harrow Point lighthouse?"
TALL = ("https://coast.example/a", "The Harrow Point lighthouse is 34 metres tall.")
TALL_TOO = ("https://guide.example/a", "At 34 metres, Harrow Point lighthouse is tall for a cape.")
STEPS = ("https://stairs.example/b", "The Harrow Point lighthouse has 180 steps of oak.")
LIT = ("https://lamps.example/b", "The Harrow Point lighthouse was lit in 1887 by two keepers.")
ANOTHER = ("https://other.example/c", "The Cape Wrack lighthouse is 51 metres tall.")

WHEN = "When was the Harrow Point lighthouse first lit?"
FIRST = ("https://coast.example/w", "The Harrow Point lighthouse was first lit on 14 March 1887.")
FIRST_TOO = ("https://guide.example/w", "In 1887 they first lit the lighthouse of Harrow Point.")
AGAIN = ("https://lamps.example/w", "Harrow Point lighthouse was first lit by gas in 1921.")

WHO = "Who designed the Harrow Point lighthouse?"
MARLOW = ("https://coast.example/d", "The Harrow Point lighthouse was designed by Edda Marlow.")
MARLOW_TOO = ("https://guide.example/d", "In youth Marlow designed Harrow Point lighthouse alone.")
DATED = ("https://dates.example/d", "On 14 March 1887 Harrow Point lighthouse was designed.")
VANE = ("https://masons.example/d", "For Tom Vane the Harrow Point lighthouse was designed twice.")

WHY = "Why do storms put out the lamps of lighthouses?"
GLASS = ("https://a.example/", "Storms put out the lamps of lighthouses because glass breaks.")
WICKS = ("https://b.example/", "Lamps of lighthouses that storms put out fail due to short wicks.")
COAST = ("https://c.example/", "Storms are frequent on the northern coast in the autumn.")

DUNMORE = page(
    "https://dunmore.example/",
    "# History of the Dunmore lighthouse\n\n"
    "The Dunmore lighthouse was first lit on 17 October 1851. It was automated in 1988. "
    "The last keeper, Eilidh Buchan, left the station on 31 March 1988.\n\n"
    "The tower is 38 metres high and has 187 steps.\n\n"
    "The lighthouse was built by the engineer Alasdair Strachan. "
    "It was not damaged in the storm of 1953.\n\n"
    "The lamp was changed from oil to electricity because oil had become too expensive.",
    "History of the Dunmore lighthouse",
)

Text = tuple[str, str]
CALM: dict[str, Any] = {
    "adaptive_quality_threshold": 2,
    "min_evidence_records": 1,
    "min_source_domains": 1,
    "min_sources_per_aspect": (1, 1, 1),
    "gate_overview_min_sources": 1,
    "gate_overview_pass_score": 0.3,
}


async def asked(question: str, *texts: Text) -> Ran:
    """A run that ends as soon as anything is found; all pages are about lighthouses."""
    pages = [page(url, text, "Lighthouses") for url, text in texts]
    ran = await World(Web(pages)).ask(question, **CALM)
    assert ran.state.termination_reason is StopReason.QUALITY_MET
    return ran


@pytest.mark.parametrize(
    "question, texts, sources",
    [
        (HEIGHT, [TALL], "1 independent source"),
        (HEIGHT, [TALL, TALL_TOO], "2 independent sources"),
        (HEIGHT, [TALL, STEPS], "1 independent source"),
        (HEIGHT, [TALL, ANOTHER], "1 independent source"),
        (HEIGHT, [TALL, LIT], "1 independent source"),
        (HEIGHT, [TALL, TALL_TOO, STEPS, ANOTHER, LIT], "2 independent sources"),
        (WHEN, [FIRST, FIRST_TOO], "2 independent sources"),
        (WHO, [MARLOW, MARLOW_TOO], "2 independent sources"),
        (WHO, [MARLOW, VANE], "1 independent source"),
        (WHO, [MARLOW, DATED], "1 independent source"),
    ],
)
async def test_only_sources_that_give_the_answer_are_said_to_answer(
    question: str, texts: list[Text], sources: str
) -> None:
    ran = await asked(question, *texts)
    assert len(ran.evidence) >= len(texts) - 1, "what does not answer was read all the same"
    assert ran.state.termination_text == f"Stopped: the question is answered by {sources}."


async def test_the_report_says_as_the_verdict_that_passages_only_come_close() -> None:
    wide = ("https://lamps.example/h", "The heavy lighthouse lamp is 2 m wide.")
    ran = await asked("How heavy is the lighthouse lamp?", wide)
    assert ran.state.termination_text == "Stopped: passages come close to an answer."
    assert "No passage answers this directly" in ran.report.markdown
    assert "*○ Not settled" in ran.report.markdown


async def test_one_passage_that_answers_is_a_short_answer() -> None:
    ran = await asked(HEIGHT, TALL)
    assert "**Short answer.** **Lighthouses:** “The Harrow Point" in ran.report.markdown


async def test_an_answer_that_sources_disagree_on_is_not_called_one() -> None:
    ran = await asked(WHEN, FIRST, AGAIN)
    assert ran.state.termination_text == "Stopped: sources disagree on the answer."
    assert "## Sources disagree" in ran.report.markdown
    assert "1 of 1 answered" not in ran.report.markdown


async def test_where_no_date_name_or_number_decides_only_passages_are_counted() -> None:
    ran = await asked(WHY, GLASS, WICKS, COAST)
    assert ran.state.termination_text == (
        "Stopped: the question is answered with passages from 2 independent sources."
    )


async def test_what_only_comes_close_is_not_called_an_answer() -> None:
    ran = await asked("Compare Harrow Point lighthouse and Cape Wrack lighthouse", TALL, ANOTHER)
    assert ran.state.termination_text == "Stopped: passages come close to an answer."
    assert "No passage answers this directly" in ran.report.markdown
    assert "answered" not in ran.report.markdown


@pytest.mark.parametrize(
    "question",
    [
        "Why was the Dunmore lighthouse automated?",
        "Who automated the Dunmore lighthouse?",
        "Where is the Dunmore lighthouse?",
        "What did the automation of the Dunmore lighthouse cost?",
        "Who was the first keeper of the Dunmore lighthouse?",
    ],
)
async def test_what_a_page_on_the_subject_does_not_say_is_not_called_answered(
    question: str,
) -> None:
    ran = await World(Web([DUNMORE])).ask(question, **CALM)
    assert "assages come close to an answer" in ran.state.termination_text
    assert "No passage answers this directly" in ran.report.markdown
    assert "answered" not in ran.report.markdown


@pytest.mark.parametrize(
    "question, said",
    [
        ("Why was the lamp of the Dunmore lighthouse changed?", "too expensive"),
        ("Who built the Dunmore lighthouse?", "Alasdair Strachan"),
        ("Who was the last keeper of the Dunmore lighthouse?", "Eilidh Buchan"),
        ("When was the Dunmore lighthouse automated?", "in 1988"),
    ],
)
async def test_what_a_page_on_the_subject_says_is_called_answered(question: str, said: str) -> None:
    ran = await World(Web([DUNMORE])).ask(question, **CALM)
    assert "question is answered" in ran.state.termination_text
    assert said in ran.report.short_answer and "No passage" not in ran.report.short_answer


async def test_a_number_of_something_else_is_no_answer() -> None:
    ran = await asked(HEIGHT, STEPS)
    assert ran.state.termination_text == "Stopped: passages come close to an answer."
    assert "answered" not in ran.report.markdown


# --- what counts as the same answer -----------------------------------------------------------


def known(*said: tuple[str, Sequence[str]]) -> Ledger:
    """A ledger in which each sub-question was read of from one site a text."""
    made, _ = ledger(*(question for question, _ in said))
    for number, (_, texts) in enumerate(said, 1):
        for at, text in enumerate(texts):
            read = page(f"https://s{number}{at}.example/", text)
            made.pages[read.url] = read
            source = quoted(read, text)
            made.book.add(Finding(text, f"A{number}", source, 0.8 - at / 100), 1)
    made.refresh_aspects(standings(made))
    return made


@pytest.mark.parametrize(
    "question, texts, sources, agree",
    [
        ("How many keepers had the lighthouse?",
         ["The lighthouse had four keepers.", "In all, 4 keepers had the lighthouse."], 2, True),
        ("How many keepers had the lighthouse?",
         ["The lighthouse had 180 steps. Keepers swept them."], 0, False),
        ("Wie viele Wärter hatte der Leuchtturm?",
         ["Der Leuchtturm hatte 4 Wärter.", "4 Wärter hatte der Leuchtturm damals."], 2, True),
        ("How many metres tall is the lighthouse?",
         ["The lighthouse is 34 metres tall.", "34 m tall, the lighthouse has 9 floors."], 2, True),
        ("How heavy is the lighthouse lamp?",
         ["The heavy lighthouse lamp is 2 m wide.", "The heavy lighthouse lamp has 3 tons."],
         1, True),
        ("How heavy is the lighthouse lamp?", ["The heavy lighthouse lamp is 2 m wide."], 0, False),
        ("How fast does the lamp turn?",
         ["The lamp makes 9 turns, as fast as it can.", "The lamp can turn fast, at 5 Hz."],
         1, True),
        ("How much does the lamp cost?",
         ["The lamp costs €40.", "In shops, the lamp costs 40 euros.",
          "The lamp costs nothing in use: fill it with 1 l of oil."], 2, True),
        ("How much does the lamp cost?", ["Fill the lamp, which costs us, with 1 l."], 0, False),
        ("When was the lamp lit?",
         ["The lamp was lit in May 1887.", "In 1887, after ten years, masons lit it: the lamp."],
         2, True),
        ("When was the lamp lit?", ["The lamp was lit on 3 May.", "On 4 May the lamp was lit."],
         1, True),
        ("When is the lamp lit?", ["The lamp is lit after dusk.", "Once it rains the lamp is lit."],
         2, False),
        ("Where was the lamp made?",
         ["The lamp was made in Leith.", "At Leith, they made the lamp."],
         2, True),
        ("Where was the lamp made?", ["The lamp was made in Leith.", "They made the lamp in Oban."],
         1, True),
        ("Which oil feeds the lamp?", ["Whale oil feeds the lamp.", "The lamp is what oil feeds."],
         2, False),
        ("Which oil does the Orrin Institute burn, and since when?",
         ["Since 1921 the Vane Institute burns an oil of whales."], 0, False),
        ("Which oil does the Orrin Institute burn, and since when?",
         ["Since 1921 the Orrin Institute burns an oil of whales."], 1, True),
        ("What feeds the lamp?", ["Oil of whales feeds the lamp.", "A pump feeds the lamp by day."],
         2, False),
        ("What feeds the lamp?", ["Dogs sleep on the stairs.", "The tower is cold."], 0, False),
    ],
)  # fmt: skip
def test_sources_agree_where_they_bring_the_same_thing(
    question: str, texts: list[str], sources: int, agree: bool
) -> None:
    made = known((question, texts))
    found = standing(made, made.aspects["A1"])
    assert (len(found.sources), found.agree) == (sources, agree)


def test_of_several_sub_questions_those_that_two_sources_answer_are_counted() -> None:
    made = known((WHEN, [FIRST[1], FIRST_TOO[1]]), (WHO, [MARLOW[1], VANE[1]]))
    assert [aspect.state for aspect in made.aspects.values()] == [AspectState.ANSWERED] * 2

    def said() -> str:
        return wording.stopped(StopReason.QUALITY_MET, made, ResearchConfig())

    assert said() == "Stopped: both sub-questions answered, 1 from two or more sources."
    made.refresh_aspects()
    assert said() == "Stopped: both sub-questions answered, 2 from two or more sources."


PRICE = "How much does the Korvan K3 cost?"
CARD = "Korvan library: the card costs €18 a year, whatever the reader's age."
PRICED = "What does the Korvan K3 cost? In all shops, the Korvan K3 costs €40."
MANUAL = "The Korvan K3 is a kettle. What it costs in use depends on the water."


PEN = "When was the Larkin pen designed?"
PENS = [
    "The Larkin pen was designed in 1967 by a team in Oslo.",
    "A tool of clerks, the Larkin pen was, after years of trials, designed in 1971.",
]


@pytest.mark.parametrize(
    "question, texts, shown, verdict",
    [
        (PRICE, [CARD, MANUAL], Marked(Mark.CLOSE, 2), "passages come close to an answer"),
        (HEIGHT, [TALL[1], LIT[1] + " It is tall."], Marked(Mark.ONE_SOURCE, 1),
         "the question is answered by 1 independent source"),
        (HEIGHT, [TALL[1], TALL_TOO[1]], Marked(Mark.ANSWERED, 2),
         "the question is answered by 2 independent sources"),
        (PEN, PENS, Marked(Mark.ONE_SOURCE, 1),
         "the question is answered by 1 independent source, while 1 other gives another"),
        (WHY, [GLASS[1], WICKS[1]], Marked(Mark.PASSAGES, 2),
         "the question is answered with passages from 2 independent sources"),
    ],
)  # fmt: skip
def test_the_mark_of_a_sub_question_is_what_the_verdict_says(
    question: str, texts: list[str], shown: Marked, verdict: str
) -> None:
    made = known((question, texts))
    first = made.aspects["A1"]
    assert first.state is AspectState.ANSWERED, "the stop rule counts the pages"
    assert mark_of(made, first) == shown
    assert wording.stopped(StopReason.QUALITY_MET, made, ResearchConfig()) == f"Stopped: {verdict}."


def test_nothing_more_is_missing_only_where_no_source_gives_another_answer() -> None:
    made = known((PEN, PENS))
    assert wording.stopped(StopReason.NO_GAPS, made, ResearchConfig()).endswith("no gap was left.")
    made = known((PEN, PENS[:1]))
    ended = wording.stopped(StopReason.NO_GAPS, made, ResearchConfig())
    assert ended.endswith("and nothing more is missing.")


@pytest.mark.requirement("F11")
@pytest.mark.parametrize("language, counted", [("en", "1 of 1"), ("es", "1 de 1")])
@pytest.mark.parametrize("texts, is_counted", [([CARD, MANUAL], False), ([PRICED], True)])
def test_no_report_counts_an_answer_that_passages_only_come_close_to(
    language: str, counted: str, texts: list[str], is_counted: bool
) -> None:
    made = known((PRICE, texts))
    made.plan = replace(made.plan, language=language)
    shown = render(
        made, Draft((), ()), labels(language).ended(StopReason.NO_GAPS, "Stopped."), 0, 0
    )
    assert (counted in shown.markdown) is is_counted


def test_passages_that_only_come_close_are_not_counted_among_the_answered() -> None:
    made = known((PRICE, [CARD, MANUAL]), (HEIGHT, [TALL[1], TALL_TOO[1]]))
    assert (made.answered(), answered(made)) == (2, 1)
    assert wording.stopped(StopReason.NO_GAPS, made, ResearchConfig()) == (
        "Stopped: 1 of 2 answered, passages come close to 1, 1 from two or more sources, "
        "and no gap was left."
    )
