"""The score of a run: history, marks, gates and budget meters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dashboard import words
from dashboard.queries.run_rows import RunRows
from research.models import GateResult, Round
from research.readmodel.progress_parts import BudgetPart, GatePart, Progress

WIDTH, HEIGHT = 320, 80
TOP, BOTTOM = 8, 72
BEST = 10.0


def score_chart(payload: Progress) -> dict[str, Any]:
    """Return the score by round and the threshold as points of an SVG of `WIDTH` × `HEIGHT`."""
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
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "points": points,
        "line": " ".join(f"{point['x']},{point['y']}" for point in points),
        "threshold": threshold,
        "threshold_y": _up(threshold),
        "told": "; ".join(f"round {p['number']}: {words.format_score(p['score'])}" for p in points),
    }


def _across(place: int, columns: int) -> float:
    return round((place + 0.5) * WIDTH / columns, 1)


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
        "reasoning": last.reasoning if last else "",
        "gates": [
            reviewed_gate_context(row, rows.progress.gate)
            if row.gate == "evidence"
            else gate_context(row)
            for row in latest_gates(rows.gates)
        ],
    }


def dimension_scores(row: Round) -> list[dict[str, str]]:
    return [
        {"name": name, "text": words.NOT_JUDGED if mark is None else f"{mark:.1f} of 10"}
        for name, mark in row.dimensions.items()
    ]


def cap_sentence(row: Round) -> str:
    """Return a sentence about what capped the score below the mean of its marks."""
    said = row.model_overall if row.model_overall is not None else row.model_score
    if said is None:
        return ""
    who = "Model said" if row.model_overall is not None else "The marks give"
    if row.cap_reason:
        return f"{who} {said:.1f}; capped at {row.cap or 0:.1f}: {row.cap_reason}."
    return f"{who} {said:.1f}; nothing capped it."


def latest_gates(gates: Sequence[GateResult]) -> list[GateResult]:
    return list({row.gate: row for row in gates}.values())


def gate_context(row: GateResult) -> dict[str, Any]:
    return {
        "name": words.GATE[row.gate],
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
    text = f"{stored['name']}: {stored['value']:g} of {stored['minimum']:g}"
    reason = "" if met else stored.get("unavailable", "")
    return {
        "text": f"{text}; no further sources found: {reason}" if reason else text,
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
        text = f"{part.used:,.0f} of {_amount(part, part.limit)}"
    else:
        text = f"{_amount(part, part.used)} of {_amount(part, part.limit)}"
    yield {"text": text, "used": part.used, "limit": part.limit}


def _amount(part: BudgetPart, amount: float) -> str:
    if part.name == "time":
        return words.format_seconds(amount if amount < 10 else round(amount))
    if part.name == "cost":
        return f"${amount:.2f}"
    one, many = words.METER[part.name]
    return words.count_noun(int(amount), one, many)
