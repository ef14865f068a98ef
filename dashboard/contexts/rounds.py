"""The rounds of a run as columns, with the topics of each, and the steps of a run under way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from dashboard import words
from dashboard.contexts.aspects import (
    count_answered,
    exclude_dropped,
    gap_context,
    lead_of,
    told_gaps,
)
from dashboard.contexts.quality import cap_sentence, dimension_scores
from dashboard.queries.run_rows import RunRows
from dashboard.stored_texts import worded
from dashboard.titles import shorten, without_lead_within
from research.engine.records import Status
from research.engine.report.messages import bar_percent, format_percent
from research.engine.text.tokens import capitalize_heading
from research.models import Round, Unit
from research.models.runs import Mode
from research.readmodel.phases import Phase
from research.readmodel.progress_parts import GapPart

NAMED = 3
"""Topics and gaps of a round that are named; more are counted."""
LONGEST_NAME = 70
TREND = 5
"""Number of recent rounds whose novelty is shown."""


def list_rounds(rows: RunRows) -> list[dict[str, Any]]:
    """Return a row for each round, which says what it changed since the one before it."""
    return [
        _round_row(row, before, rows)
        for before, row in zip([None, *rows.rounds], rows.rounds, strict=False)
    ]


def _round_row(row: Round, before: Round | None, rows: RunRows) -> dict[str, Any]:
    """Return a round in a few lines, and the details that it expands to."""
    own = [each for each in rows.units if each.round == row.number]
    lead = lead_of(rows.progress.aspects)
    closed = [
        gap_context(gap, lead)["text"]
        for gap in rows.progress.gaps
        if row.number and gap.closed_round == row.number and gap.id not in rows.left_out
    ]
    missing = [gap for gap in told_gaps(rows) if row.number and _was_open_after(gap, row.number)]
    topics = [_name_topic(unit, rows, lead) for unit in own]
    others = [text for text in closed if text.rstrip("?？ ") not in topics]
    head = {
        "number": row.number,
        "stage": str(words.STAGE[row.stage]),
        "closed": row.closed,
        "answered": row.answered
        if row.closed
        else count_answered(exclude_dropped(rows.progress.aspects)),
        "answered_before": before.answered if before else 0,
        "aspects": len(exclude_dropped(rows.progress.aspects)),
        "score": row.score,
        "score_before": before.score if before else None,
        "topics": _name_some(topics),
        "closed_of_these": len(closed) - len(others),
        "queries": len(searches_tried(own)),
        "pages": row.pages_read,
        "found": row.new_evidence,
        "refused": rows.refused_by_round.get(row.number, 0),
        "gaps": _name_some(others),
        "missing": len(missing) if row.closed else 0,
        "needed": sum(gap.critical for gap in missing),
        "instructions": "; ".join(told_instructions(row, rows)),
        "decision": decision_of(row, rows),
        "ended": rows.run.ended,
    }
    more = {
        "units": [unit_context(each, rows) for each in own],
        "skipped": row.skipped,
        "marks": dimension_scores(row),
        "cap": cap_sentence(row),
    }
    return {"id": str(row.number), "head": head, "more": more}


def _was_open_after(gap: GapPart, number: int) -> bool:
    """Return whether a gap was open when a round ended."""
    return gap.opened_round <= number and (gap.closed_round is None or gap.closed_round > number)


def told_instructions(row: Round, rows: RunRows) -> list[str]:
    """Return the instructions that a round ended with, each with what followed it first."""
    later = next((each.number for each in rows.rounds if each.number > row.number), None)
    if later is not None:
        text = _("“%(text)s” (from round %(n)s on)")
    else:
        text = _("“%(text)s” (for the report)") if rows.run.ended else "“%(text)s”"
    return [text % {"text": each, "n": later} for each in row.instructions]


def decision_of(row: Round, rows: RunRows) -> str:
    """Return what a round ended with; '' if the last one says so, which looks for other sources
    after the decision to stop.
    """
    is_said_later = row != rows.rounds[-1] and row.decision == rows.run.termination_text
    return "" if is_said_later else worded(row.decision)


def _name_topic(unit: Unit, rows: RunRows, lead: str) -> str:
    named = rows.headings.get(unit.topic)
    return named or capitalize_heading(without_lead_within(unit.topic, lead)).rstrip("?？ ")


def _name_some(texts: Sequence[str]) -> str:
    """Return the first of several texts, and how many more there are."""
    some = [shorten(text, LONGEST_NAME) for text in texts[:NAMED]]
    more = len(texts) - len(some)
    counted = ngettext("%(n)s more", "%(n)s more", more) % {"n": words.format_number(more)}
    return "; ".join([*some, *([counted] if more else [])])


def novelty_context(rows: RunRows) -> dict[str, Any]:
    """Return the novelty of recent rounds; the first round has nothing to compare with.

    `bar` is the novelty below which research can end; '' if the run never ends for that reason.
    """
    config, ends = rows.config, rows.run.mode == Mode.ADAPTIVE
    shares = [
        _("%(share)s in round %(n)s") % {"share": format_percent(row.novelty), "n": row.number}
        for row in rows.rounds
        if row.number > 1 and row.novelty is not None
    ]
    bar = config.min_novelty_threshold if ends and config.enable_early_termination else 0
    return {
        "shares": shares[-TREND:],
        "waits": bool(rows.rounds) and not rows.run.ended,
        "bar": bar_percent(bar) if bar else "",
    }


def unit_context(row: Unit, rows: RunRows) -> dict[str, Any]:
    return {
        "topic": row.topic,
        "heading": rows.headings.get(row.topic, ""),
        "state": words.UNIT[row.status] if row.status else words.UNIT_RUNNING,
        "seconds": row.seconds,
        "failure": worded(row.failure or ""),
    }


def searches_tried(units: Sequence[Unit]) -> list[str]:
    """Return the distinct queries in the order in which they were sent."""
    return list(dict.fromkeys(query for unit in units for query in unit.queries))


def describe_pages(rows: RunRows) -> str:
    """Return how many pages were read in rounds, and how many more for what was left open."""
    read = rows.pages_read
    pages = sum(row.pages_read for row in rows.rounds)
    told = words.count_noun(pages, "page")
    if read <= pages:
        return told
    return _("%(pages)s and %(more)s more for open points") % {
        "pages": told,
        "more": words.format_number(read - pages),
    }


def describe_searching(rows: RunRows) -> str:
    """Return how many searches were made, and how many queries they asked if those are fewer: some
    are made again, or of several providers.
    """
    searches, queries = rows.progress.usage["searches"], len(searches_tried(rows.units))
    told = words.count_noun(searches, "search")
    if not 0 < queries < searches:
        return told
    return _("%(searches)s with %(queries)s") % {
        "searches": told,
        "queries": ngettext("%(n)s query", "%(n)s different queries", queries)
        % {"n": words.format_number(queries)},
    }


UNDER_WAY = frozenset({Status.INTAKE, Status.RESEARCHING, Status.PAUSED, Status.WRITING})
STEPS = (
    gettext_lazy("Planning"),
    gettext_lazy("Searching"),
    gettext_lazy("Reading"),
    gettext_lazy("Judging"),
    gettext_lazy("Writing"),
)
PLANNING, SEARCHING, READING, JUDGING, WRITING = range(len(STEPS))
READS = "Reading"
"""How the engine's own words for reading begin."""


def list_steps(rows: RunRows) -> list[dict[str, Any]]:
    """Return name, number and noun of each step; a round goes from searching to judging again.

    Nothing is returned while a run waits for its turn or for a person.
    """
    run, now = rows.run, rows.progress
    if run.ended or run.status not in UNDER_WAY:
        return []
    current = _current(rows)
    score = now.quality.score
    counts = (
        (len(exclude_dropped(now.aspects)), "sub-question"),
        (now.usage["searches"], "search"),
        (sum(row.pages_read for row in rows.rounds), "page"),
        (now.evidence.count, "claim"),
    )
    shown = [_counted(number, noun) for number, noun in counts]
    if score is not None:
        shown[JUDGING] = {"number": words.format_score(score), "noun": str(_("of 10"))}
    return [
        {"name": str(name), "is_now": place == current, "is_done": place < current, **told}
        for place, (name, told) in enumerate(zip(STEPS, [*shown, _counted(0, "")], strict=True))
    ]


def _counted(number: int, noun: str) -> dict[str, str]:
    if not number:
        return {"number": "", "noun": ""}
    value, _space, name = words.count_noun(number, noun).partition(" ")
    return {"number": value, "noun": name}


def _current(rows: RunRows) -> int:
    status = rows.run.status
    if status == Status.INTAKE:
        return PLANNING
    if status == Status.WRITING:
        return WRITING
    if rows.progress.run.phase is Phase.EVALUATING:
        return JUDGING
    action = rows.progress.action
    return READING if action and action.text.startswith(READS) else SEARCHING
