"""What the steps of an engine change, one numbered step after the other: long words, six
sub-questions, open gaps, a score for each round."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Any

from research.engine import records
from research.engine.records import AspectState, Stage, Status

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
CLAIM = (
    "The harbour board spent a third of its yearly income on keeping the entrance free, most of "
    "it in the two months when hardly any ship called"
)
QUOTE = "A sentence of usual length that stands word for word on the page which was read for it."
SITES = 7
ROUND_STEPS = 10
GAPS = 3


def step(number: int) -> list[Any]:
    """The first step brings what is asked; the others the action, at times much more."""
    if number == 1:
        return [*(aspect(n) for n in range(len(PARTS))), *(gap(n) for n in range(GAPS)), *judged(1)]
    changed: list[Any] = [records.Action(f"Reading site-{number % SITES}.test/page-{number}")]
    if number % 3 == 0:
        changed += [evidence(number // 3), aspect(number % len(PARTS), AspectState.ANSWERED)]
    if number % ROUND_STEPS == 1:
        changed += judged(number)
    return changed


def judged(number: int) -> list[Any]:
    this = number // ROUND_STEPS + 1
    return [
        records.Round(this, Stage.OVERVIEW, score=5 + number % 4 / 2),
        state(number, Status.RESEARCHING),
        records.Usage(searches=number),
    ]


def state(number: int, status: Status) -> records.RunState:
    return records.RunState(
        status,
        round=number // ROUND_STEPS + 1,
        quality_score=5 + number % 4 / 2,
        verdict=(
            f"Going on: 3 of 6 answered after step {number}. Missing: what the state pays; which "
            "measures were shown to work. The next round looks for both, about 40 s, $0.02."
        ),
    )


def aspect(number: int, state: AspectState = AspectState.OPEN) -> records.Aspect:
    return records.Aspect(f"A{number + 1}", PARTS[number], PARTS[number], "plan", 1, state)


def gap(number: int) -> records.Gap:
    text = f"Nothing was found yet that answers: {PARTS[number]}"
    return records.Gap(f"G{number + 1}", text, f"A{number + 1}", number == 0, 1)


def evidence(number: int) -> records.Evidence:
    site = f"site-{number % SITES}.test"
    quoted = records.Quoted(
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
