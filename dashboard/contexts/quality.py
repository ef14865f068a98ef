"""How good a run is: the line in its head, its score by round, marks, gates and budget meters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from typing import Any, TypeAlias

from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dashboard import words
from dashboard.addresses import address_of
from dashboard.contexts.aspects import describe_open, exclude_dropped, may_answer
from dashboard.contexts.evidence import describe_cited
from dashboard.markdown.disputes import DISPUTE, DISPUTES
from dashboard.markdown.parsing import DISPUTED
from dashboard.markdown.report import OPEN
from dashboard.queries.run_rows import RunRows
from dashboard.stored_texts import worded
from research.engine.assessment.answer_status import HAS_ANSWER, Trust, tally
from research.engine.evidence.origin import is_collection, work_of
from research.engine.records import AnswerStatus
from research.fetch.sites import independence_key
from research.models import GateResult, Report, Round
from research.readmodel.progress_parts import BudgetPart, GatePart, Progress

WIDTH, HEIGHT = 320, 136
LEFT, TOP, BOTTOM = 74, 20, 108
"""Left, top and bottom edge of the plot area, in SVG units; the axis labels are left of it."""
BEST = 10.0
LEAST_GAP = 0.8
"""Points of the score from which on the name of the target doesn't lie on a number of the axis."""


LEAST_CITED, NEARLY_ALL = 5, 0.9
"""Cited pages from which on this share of them makes nearly all."""
Limits: TypeAlias = list[tuple[str, str]]
"""What limits the answers of a run: kinds, each with its words."""


def limits_of(
    trust: Trust | None,
    marks: Sequence[AnswerStatus],
    cited: Collection[str],
    *,
    open_points: int = 0,
    disputes: int = 0,
) -> Limits:
    """Return what limits a run's answers, as its page and the lists say it beside its state: how
    many points are "open", on how many of its report sources disagree ("disputed"), and how many
    answers rest on one site ("alone"), or that all that is `cited` is from one.
    """
    if trust not in HAS_ANSWER:
        return []
    disputed = max(disputes, Counter(marks)[AnswerStatus.DISPUTED])
    told = []
    if open_points:
        told.append(("open", words.count_open(open_points)))
    if disputed:
        text = ngettext("%(n)s point disputed", "%(n)s points disputed", disputed)
        told.append(("disputed", text % {"n": words.format_number(disputed)}))
    if alone := _describe_alone(marks, cited):
        told.append(("alone", alone))
    return told


def _describe_nearly_alone(cited: Collection[str]) -> str:
    """Return that most pages are from one site or collection: at least `NEARLY_ALL` of some. It
    goes without saying of documents alone, which the asker chose.
    """
    if len(cited) < LEAST_CITED or all(map(is_collection, cited)):
        return ""
    origins = (work_of(u) if is_collection(u) else independence_key(u) for u in cited)
    [(origin, count)] = Counter(origins).most_common(1)
    if count < NEARLY_ALL * len(cited):
        return ""
    if is_collection(origin):
        return _("nearly all from one collection")
    return _("nearly all from one site")


def _describe_alone(marks: Sequence[AnswerStatus], cited: Collection[str]) -> str:
    if cited and words.count_sites(cited) == 1 and AnswerStatus.DISPUTED not in marks:
        return _("one site only")
    if nearly := _describe_nearly_alone(cited):
        return nearly
    alone = Counter(marks)[AnswerStatus.ONE_SOURCE]
    if not alone or len(marks) < 2:
        return ""
    is_files = bool(cited) and all(url.startswith("file:") for url in cited)
    told = (
        ngettext("%(n)s from one document", "%(n)s from one document each", alone)
        if is_files
        else ngettext("%(n)s from one site", "%(n)s from one site each", alone)
    )
    return told % {"n": alone}


def join_limits(limits: Limits) -> str:
    return " · ".join(text for _, text in limits)


def limits_note(rows: RunRows, *, lists_disputes: bool) -> SafeString | str:
    """Return what limits the answers of a finished run, each with a link to what it counts: to the
    list of disputes, or to the first one of a report without that list.
    """
    report, research = (address_of(rows.run, name) for name in ("run", "run_research"))
    disputes = _count_disputes(rows.report) if rows.report else 0
    found = limits_of(
        rows.trust,
        [each.mark for each in exclude_dropped(rows.progress.aspects)],
        cited_pages(rows),
        open_points=count_open(rows) if rows.judged_by_model else 0,
        disputes=disputes,
    )
    links = {
        "open": research if listed_open(rows) is None else f"{report}#{OPEN}",
        "disputed": f"{report}#{DISPUTES if lists_disputes else DISPUTE}" if disputes else "",
    }
    told = [_link(links[kind], text) if links.get(kind) else text for kind, text in found]
    return format_html_join(" · ", "{}", ((each,) for each in told))


def _count_disputes(report: Report) -> int:
    """Return the points on which a report says that sources disagree: in boxes, and in sentences
    that give both sides.
    """
    told = report.checks.get("disputes")
    return report.markdown.count(DISPUTED) if told is None else int(told)


def line_context(rows: RunRows) -> dict[str, Any]:
    """Return the line in the head of a finished run: how many of its sub-questions are answered
    unless all are, what it cites, and its date. What limits its answer stands beside its badge,
    what was cut below its report.
    """
    run, aspects = rows.run, exclude_dropped(rows.progress.aspects)
    counted = tally(aspects)
    is_told = len(aspects) > 1 and counted.answered < counted.total
    cited = cited_pages(rows)
    pages = describe_cited(cited, chain.from_iterable(rows.cited.values()))
    is_cited = bool(cited) and may_answer(aspects)
    parts = (
        words.count_answers(aspects, judged_by_model=rows.judged_by_model) if is_told else "",
        _("from earlier findings") if run.answered_at_once else "",
        _link(address_of(run, "sources"), _("cites %(pages)s"), pages=pages) if is_cited else "",
        words.format_day(timezone.localtime(run.finished_at or run.created_at)),
    )
    return {"parts": [{"text": part} for part in parts if part]}


def cited_pages(rows: RunRows) -> list[str]:
    return [entry["url"] for entry in rows.report.citations] if rows.report else []


def count_open(rows: RunRows) -> int:
    """Return how many points are open: those that the report lists, otherwise the open gaps."""
    listed = listed_open(rows)
    if listed is not None:
        return listed
    return sum(gap.closed_round is None for gap in rows.progress.gaps)


def listed_open(rows: RunRows) -> int | None:
    """Return how many points the report lists as open; None of one that has no such list."""
    return rows.report.checks.get("open_points") if rows.report else None


def describe_left_open(rows: RunRows) -> str:
    """Return what the report says it leaves open; of a report that lists no such points, what the
    last assessment found missing.
    """
    points = rows.points_open
    return describe_open(rows.research) if points is None else "; ".join(points)


def _link(address: str, told: str, **values: str) -> SafeString | str:
    """Return a text as a link, or as it is without an address."""
    text = told % values if values else told
    return format_html('<a href="{}">{}</a>', address, text) if address else text


def score_chart(payload: Progress) -> dict[str, Any]:
    """Return the score by round, its axis and the threshold as points of an SVG of `WIDTH` ×
    `HEIGHT`.
    """
    scored = [entry for entry in payload.quality.history if entry.score is not None]
    columns = max(len(scored), payload.run.rounds_at_most, 2)
    points = [
        {
            "x": _across(place, columns),
            "y": _up(entry.score or 0),
            "number": entry.number,
            "score": entry.score,
        }
        for place, entry in enumerate(scored)
    ]
    threshold = payload.quality.threshold
    axis = [end for end in (0.0, BEST) if abs(end - threshold) >= LEAST_GAP]
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "name_x": LEFT - 6,
        "axis": [{"y": _up(score), "text": words.format_number(score, 0)} for score in axis],
        "points": points,
        "line": " ".join(f"{point['x']},{point['y']}" for point in points),
        "threshold": threshold,
        "threshold_y": _up(threshold),
        "told": "; ".join(
            _("round %(n)s: %(score)s")
            % {"n": point["number"], "score": words.format_score(point["score"])}
            for point in points
        ),
    }


def _across(place: int, columns: int) -> float:
    return round(LEFT + (place + 0.5) * (WIDTH - LEFT) / columns, 1)


def _up(score: float) -> float:
    return round(BOTTOM - (BOTTOM - TOP) * score / BEST, 1)


# --- what a score is made of ------------------------------------------------------------------


def make_up(rows: RunRows) -> dict[str, Any]:
    """Return marks and cap of the last judged round, and the latest result of each gate."""
    judged = [row for row in rows.rounds if row.score is not None]
    last = judged[-1] if judged else None
    return {
        "marks": dimension_scores(last) if last else [],
        "sentence": cap_sentence(last) if last else "",
        "reasoning": worded(last.reasoning) if last else "",
        "gates": [
            reviewed_gate_context(row, rows.progress.gate)
            if row.gate == "evidence"
            else gate_context(row)
            for row in latest_gates(rows.gates)
        ],
    }


def dimension_scores(row: Round) -> list[dict[str, str]]:
    return [
        {
            "name": str(words.DIMENSION.get(name, name)),
            "text": str(words.NOT_JUDGED)
            if mark is None
            else _("%(score)s of 10") % {"score": words.format_score(mark)},
        }
        for name, mark in row.dimensions.items()
    ]


def cap_sentence(row: Round) -> str:
    """Return a sentence about what capped the score below the mean of its marks."""
    said = row.model_overall if row.model_overall is not None else row.model_score
    if said is None:
        return ""
    values = {
        "score": words.format_score(said),
        "cap": words.format_score(row.cap or 0),
        "reason": ", ".join(worded(each) for each in re.split("[,;] ", row.cap_reason)),
    }
    if row.model_overall is None:
        capped = _("The marks give %(score)s; capped at %(cap)s: %(reason)s.")
        free = _("The marks give %(score)s; not capped.")
    else:
        capped = _("The model gave %(score)s; capped at %(cap)s: %(reason)s.")
        free = _("The model gave %(score)s; not capped.")
    return (capped if row.cap_reason else free) % values


def latest_gates(gates: Sequence[GateResult]) -> list[GateResult]:
    return list({row.gate: row for row in gates}.values())


def gate_context(row: GateResult) -> dict[str, Any]:
    return {
        "name": str(words.GATE[row.gate]),
        "state": words.GATE_DECISION[row.decision],
        "round": row.round,
        "criteria": [criterion_context(each) for each in row.criteria],
    }


def reviewed_gate_context(row: GateResult, part: GatePart) -> dict[str, Any]:
    """Return the evidence gate, counted without records that a reviewer rejected."""
    shown = gate_context(row)
    if not part.rejected:
        return shown
    return shown | {
        "state": words.GATE_DECISION[part.status],
        "criteria": [criterion_context(each.model_dump()) for each in part.criteria],
        "rejected": part.rejected,
    }


def criterion_context(stored: dict[str, Any]) -> dict[str, Any]:
    """Return the measured value and the minimum of a criterion.

    If it is below the minimum and marked unavailable, the text includes the reason.
    """
    met = stored["value"] >= stored["minimum"]
    text = _("%(criterion)s: %(value)s (at least %(minimum)s)") % {
        "criterion": worded(stored["name"]),
        "value": words.format_number(round(stored["value"], 2)),
        "minimum": words.format_number(round(stored["minimum"], 2)),
    }
    reason = "" if met else worded(stored.get("unavailable", ""))
    missing = words.GATE_DECISION["not_to_be_had"].word
    return {
        "text": f"{text}; {missing}: {reason}" if reason else text,
        "icon": "check" if met else "circle",
        "tone": "tone-good" if met else "tone-idle",
    }


# --- what it took -------------------------------------------------------------------------------


def budget_meters(payload: Progress) -> list[dict[str, Any]]:
    return [meter for part in payload.budget for meter in _meter(part)]


def _meter(part: BudgetPart) -> Iterator[dict[str, Any]]:
    """Yield a meter if anything was used. An unknown price appears in the footer instead."""
    if not part.used:
        return
    if part.limit is None:
        text = _amount(part, part.used)
    elif part.name in words.METER:
        text = _used_of(words.format_number(part.used, 0), part)
    else:
        text = _used_of(_amount(part, part.used), part)
    yield {"text": text, "used": part.used, "limit": part.limit}


def _used_of(used: str, part: BudgetPart) -> str:
    return _("%(used)s of %(limit)s") % {"used": used, "limit": _amount(part, part.limit or 0)}


def _amount(part: BudgetPart, amount: float) -> str:
    if part.name == "time":
        return words.format_seconds(amount if amount < 10 else round(amount))
    if part.name == "cost":
        return words.format_usd(amount, 2)
    return words.count_noun(int(amount), words.METER[part.name])
