"""A report without a model: passages chosen and ordered by code, quoted whole.

Rules of `docs/reports.md`, "With no model": no faked prose, a lead-in names source and
section, the passage follows as a quotation.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from research.engine import features
from research.engine.draft import Draft, Section, Statement
from research.engine.extractive.answering import direct
from research.engine.extractive.passages import is_closed, reads_well
from research.engine.extractive.procedures import instructs
from research.engine.extractive.question import read_question
from research.engine.labels import labels
from research.engine.languages import ENGLISH
from research.engine.ledger import Ledger
from research.engine.quotes import plain
from research.engine.records import Aspect, Evidence, Quoted
from research.engine.similarity import jaccard
from research.engine.text import term_set, unique, words_in

SHORT_ANSWER_WORDS = 80
SECTION_PASSAGES = 4
CLOSEST = 2
FAR_BEHIND = 0.65
BREVITY = 0.015
CUT_OPEN = 0.05
OF_A_SECTION = 3
SHORTEST_QUOTE = 8
_STEP = re.compile(r"(?:^|\n)\s*(?:[-*•]|\d{1,3}[.)])\s+$")


def draft(ledger: Ledger) -> Draft:
    """Short answer and a section for each sub-question that has an answer."""
    sections = [
        Section(aspect.id, tuple(statement(record) for record in records))
        for aspect in ledger.aspects.values()
        if (records := _chosen(ledger, aspect))
    ]
    short = _short_answer(ledger)
    asked = read_question(next(iter(ledger.aspects.values())).text)
    return Draft(
        tuple(statement(record) for record in short),
        tuple(sections),
        "" if direct(short, asked) else labels(ledger.plan.language)["no_direct"],
    )


def closest(ledger: Ledger) -> Draft:
    """The passages that come closest where none answers."""
    best = sorted(ledger.evidence, key=_rank)[:CLOSEST]
    opening = labels(ledger.plan.language)["no_direct"]
    return Draft(tuple(statement(record) for record in best), (), opening, found=False)


def statement(record: Evidence) -> Statement:
    """The passage as a quotation behind the name of its source and section."""
    source = record.sources[0]
    named = f"**{lead_in(source)}:** "
    return Statement(f"{named}“{plain(source.quote)}”", (record.id,), quoted=True, lead_in=named)


def lead_in(source: Quoted) -> str:
    """Title and section of a source, each said once."""
    parts = [source.title or source.domain, *source.section.split(" › ")]
    return " › ".join(part for part in unique(parts) if part)


def _short_answer(ledger: Ledger) -> list[Evidence]:
    """The passages that answer best, at most 80 words; the best one whatever its length."""
    main = next(iter(ledger.aspects.values()))
    pool = ledger.supporting(main.id) or [
        record for aspect in ledger.aspects for record in ledger.supporting(aspect)
    ]
    ranked = sorted(pool, key=_short_rank)
    steps = _procedure(ledger, pool) if read_question(main.text).kind == "how_to" else []
    listed = {step.id for step in steps}
    if steps and ranked[0].sources[0].url != steps[0].sources[0].url:
        # Where another page answers best, steps are told whole in their section alone.
        ranked, steps = [record for record in ranked if record.id not in listed], []
    ranked = steps or ranked
    chosen: list[Evidence] = []
    room = SHORT_ANSWER_WORDS
    best = max((record.relevance for record in pool), default=0.0)
    for record in ranked:
        words = words_in(record.sources[0].quote)
        if chosen and record.relevance < FAR_BEHIND * best:
            continue
        if steps and chosen and words > room:
            break
        if (chosen and words > room) or (not steps and _crowded(record, chosen)):
            continue
        chosen.append(record)
        room -= words
        if room < SHORTEST_QUOTE:
            break
    return chosen if steps else _in_page_order(chosen)


def _in_page_order(chosen: Sequence[Evidence]) -> list[Evidence]:
    """Source by source, the best passage's first, each in its page's order."""
    order = {record.sources[0].url: i for i, record in reversed(list(enumerate(chosen)))}
    return sorted(chosen, key=lambda r: (order[r.sources[0].url], r.sources[0].start))


def _short_rank(record: Evidence) -> tuple[float, int, int]:
    """Relevance, with brevity rewarded: several short quotes say more than a long one.

    One that is cut within brackets loses by it.
    """
    quote = plain(record.sources[0].quote)
    worth = record.relevance - BREVITY * math.log(max(1, words_in(quote)))
    if not is_closed(quote):
        worth -= CUT_OPEN
    return (-worth, -len(record.keys), int(record.id[1:]))


def _crowded(record: Evidence, chosen: Sequence[Evidence]) -> bool:
    """Whether it repeats another, or its section has had its say."""
    source = record.sources[0]
    places = [(other.sources[0].url, other.sources[0].section) for other in chosen]
    return _said(record, chosen) or places.count((source.url, source.section)) == OF_A_SECTION


def _chosen(ledger: Ledger, aspect: Aspect) -> list[Evidence]:
    """Two to four passages, the best one among them, from two sources where there are two; a
    how-to list whole."""
    pool = ledger.supporting(aspect.id)
    if read_question(aspect.text).kind == "how_to":
        steps = _procedure(ledger, pool)
        if steps:
            return steps
    chosen = pool[:1]
    for record in sorted(pool[1:], key=_rank):
        if len(chosen) == SECTION_PASSAGES:
            break
        if not _said(record, chosen) and _eligible(record):
            chosen.append(record)
    return _in_page_order(_from_two_sources(chosen, pool))


def _rank(record: Evidence) -> tuple[float, int, int]:
    return (-record.relevance, -len(record.keys), int(record.id[1:]))


def _said(record: Evidence, chosen: Sequence[Evidence]) -> bool:
    """Whether another says the same; one with numbers of its own says more."""
    words, numbers = term_set(record.claim), set(features.numbers(record.claim))
    return any(
        jaccard(words, term_set(other.claim)) > 0.6
        and numbers <= set(features.numbers(other.claim))
        for other in chosen
    )


def _from_two_sources(chosen: list[Evidence], pool: Sequence[Evidence]) -> list[Evidence]:
    """Let the best passage of a second source take the last place where one source has all."""
    keys = {key for record in chosen for key in record.keys}
    if len(keys) != 1 or len(chosen) < 2:
        return chosen
    second = next((r for r in pool if not r.keys & keys and _eligible(r)), None)
    return [*chosen[:-1], second] if second else chosen


def _procedure(ledger: Ledger, pool: Sequence[Evidence]) -> list[Evidence]:
    """The steps of the best source's list, whole and in order; never mixed from several.

    A list in English of which less than half tells what to do is none of steps.
    """
    steps: dict[tuple[str, str], list[Evidence]] = {}
    for record in pool:
        source = record.sources[0]
        if is_step(ledger.pages[source.url].text, source.start):
            steps.setdefault((source.url, source.section), []).append(record)
    english = ledger.plan.language in {"", ENGLISH}
    lists = [
        found
        for found in steps.values()
        if len(found) >= 3 and (not english or _tells_what_to_do(found))
    ]
    if not lists:
        return []
    best = max(lists, key=lambda found: (sum(r.relevance for r in found) / len(found), len(found)))
    return sorted(best, key=lambda record: record.sources[0].start)


def _tells_what_to_do(found: Sequence[Evidence]) -> bool:
    return 2 * sum(instructs(plain(record.sources[0].quote)) for record in found) >= len(found)


def is_step(text: str, start: int) -> bool:
    """Whether a quote stands at the head of a list item."""
    return bool(_STEP.search(text[max(0, start - 12) : start]))


def _eligible(record: Evidence) -> bool:
    return reads_well(plain(record.sources[0].quote))
