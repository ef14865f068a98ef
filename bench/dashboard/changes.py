"""Synthetic changes of a run, one per numbered step.

Long words, six sub-questions and later ones, gaps that open and close, a score and a verdict of
varying length per round, rejected quotes, a failed page and a growing report.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from research.engine import AspectState, Stage, Status, records

QUESTION = (
    "How are medium-sized harbours on exposed coasts kept open in winter, who pays for it, and "
    "what has been learnt since the storms?"
)
PARTS = (
    "Which harbours on the exposed coast were closed by ice or storm in the last ten winters?",
    "What does it cost a medium-sized harbour in a year to keep its entrance free and lit?",
    "Which part of these costs is carried by the state, the region, and the ships themselves?",
    "What did the inquiries after the storms find about breakwaters, pilots and warnings?",
    "Which measures were taken since, and which of them were shown to work by measurements?",
    "How do neighbouring countries with as much ice organise and pay for the same service?",
)
NAMES = (
    "Closures by ice and storm in ten winters",
    "Yearly cost of an open entrance",
)
"""What a verdict calls the first of them: their headings."""
RAISED = {
    61: "Which of the breakwaters were raised after the second storm, and by how much?",
    101: "How many pilots does a medium-sized harbour keep through the winter?",
}
"""Sub-questions raised by pages, by step."""
CLAIM = (
    "The harbour board spent a third of its yearly income on keeping the entrance free, most of "
    "it in the two months when hardly any ship called"
)
QUOTE = "A sentence of usual length that stands word for word on the page which was read for it."
SITES = 7
ROUND_STEPS = 10
GAPS = 3
FAILS, DRAFTS = 71, 121
"""Steps of a failing page and of the first sentence of the report."""
VERDICTS = (
    "Going on.",
    "Going on: {0} of 6 answered after step {1}. Missing: “{2}”, “{3}” and 2 more. Round {1} "
    "looks for “{2}”, “{3}” and 1 more.",
    "Going on: {0} of 6 answered after step {1}. Missing: what the state pays; which measures were "
    "shown to work. The next round looks for both, about 40 s, $0.02.",
)


def step(number: int) -> list[Any]:
    """Return the records of a step.

    The first sets up sub-questions and gaps, most others change only the action.
    """
    if number == 1:
        return [*(aspect(n) for n in range(len(PARTS))), *(gap(n) for n in range(GAPS)), *judged(1)]
    changed: list[Any] = [records.Action(f"Reading site-{number % SITES}.test/page-{number}")]
    if number % 3 == 0:
        changed += [evidence(number // 3), aspect(number % len(PARTS), AspectState.ANSWERED)]
    if number % ROUND_STEPS == 1:
        changed += [*judged(number), *news(number)]
    return changed


def judged(number: int) -> list[Any]:
    this = number // ROUND_STEPS + 1
    return [
        records.Round(this, Stage.OVERVIEW, score=5 + number % 4 / 2),
        state(number, Status.RESEARCHING),
        records.Usage(searches=number),
    ]


def news(number: int) -> Iterator[Any]:
    """Yield the records of a round other than evidence."""
    this = number // ROUND_STEPS + 1
    yield gap(this + 1, opened=this)
    yield gap(this - 2, closed=this)
    yield records.RefusedQuote(this, 1, 1, CLAIM, "https://site-1.test/", "no such words there")
    if number in RAISED:
        label, text = f"A{len(PARTS) + 1 + list(RAISED).index(number)}", RAISED[number]
        yield records.Aspect(label, text, text, "https://site-2.test/", this)
    if number == FAILS:
        yield records.Problem("site-3.test", "A page of site-3.test was not there.")
    if number >= DRAFTS:
        written = range((number - DRAFTS) // ROUND_STEPS + 1)
        yield records.Drafted(tuple(records.DraftedSentence(f"{CLAIM} ({n}).") for n in written))


def state(number: int, status: Status) -> records.RunState:
    this = number // ROUND_STEPS + 1
    return records.RunState(
        status,
        round=this,
        quality_score=5 + number % 4 / 2,
        verdict=VERDICTS[this % len(VERDICTS)].format(3, number, *NAMES),
    )


def aspect(number: int, state: AspectState = AspectState.OPEN) -> records.Aspect:
    return records.Aspect(f"A{number + 1}", PARTS[number], PARTS[number], "plan", 1, state)


def gap(number: int, opened: int = 1, closed: int | None = None) -> records.Gap:
    part = number % len(PARTS)
    text = f"Nothing was found yet that answers: {PARTS[part]}"
    label, aspect_label = f"G{number + 1}", f"A{part + 1}"
    return records.Gap(label, text, aspect_label, number == 0, opened, closed_round=closed)


def evidence(number: int) -> records.Evidence:
    site = f"site-{number % SITES}.test"
    quoted = records.QuoteSource(
        url=f"https://{site}/page-{number}",
        title=f"Page {number}",
        domain=site,
        independence_key=site,
        quote=f"{QUOTE} ({number})",
        start=0,
        end=len(QUOTE),
        text_sha256=hashlib.sha256(QUOTE.encode()).hexdigest(),
        fetched_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    place = number % len(PARTS) + 1
    return records.Evidence(f"E{number}", f"{CLAIM} ({number}).", f"A{place}", 1, (quoted,), 0.8)
