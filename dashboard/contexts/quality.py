"""How good the research is: the score's history, what it is made of, the gates, the meters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dashboard import words
from dashboard.run_rows import RunRows
from research.models import GateResult, Round
from research.progress_parts import BudgetPart, GatePart, Progress

WIDTH, HEIGHT = 320, 80
TOP, BOTTOM = 8, 72
BEST = 10.0


def chart(payload: Progress) -> dict[str, Any]:
    """The score by round against the threshold, as places in a drawing of `WIDTH` × `HEIGHT`."""
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
        "told": "; ".join(f"round {p['number']}: {words.score(p['score'])}" for p in points),
    }


def _across(place: int, columns: int) -> float:
    return round((place + 0.5) * WIDTH / columns, 1)


def _up(score: float) -> float:
    return round(BOTTOM - (BOTTOM - TOP) * score / BEST, 1)


# --- what a score is made of ------------------------------------------------------------------


def make_up(rows: RunRows) -> dict[str, Any]:
    """The last judged round's marks and cap, and every gate as it was evaluated last."""
    judged = [row for row in rows.rounds if row.score is not None]
    last = judged[-1] if judged else None
    return {
        "marks": marks(last) if last else [],
        "sentence": cap_sentence(last) if last else "",
        "reasoning": last.reasoning if last else "",
        "gates": [
            reviewed(row, rows.progress.gate) if row.gate == "evidence" else gate(row)
            for row in latest_gates(rows.gates)
        ],
    }


def marks(row: Round) -> list[dict[str, str]]:
    return [
        {"name": name, "text": words.NOT_JUDGED if mark is None else f"{mark:.1f} of 10"}
        for name, mark in row.dimensions.items()
    ]


def cap_sentence(row: Round) -> str:
    """What held the score below the mean of its marks, in the words of the record."""
    said = row.model_overall if row.model_overall is not None else row.model_score
    if said is None:
        return ""
    who = "Model said" if row.model_overall is not None else "The marks give"
    if row.cap_reason:
        return f"{who} {said:.1f}; capped at {row.cap or 0:.1f}: {row.cap_reason}."
    return f"{who} {said:.1f}; nothing capped it."


def latest_gates(gates: Sequence[GateResult]) -> list[GateResult]:
    return list({row.gate: row for row in gates}.values())


def gate(row: GateResult) -> dict[str, Any]:
    return {
        "name": words.GATE[row.gate],
        "state": words.GATE_DECISION[row.decision],
        "round": row.round,
        "criteria": [criterion(each) for each in row.criteria],
    }


def reviewed(row: GateResult, part: GatePart) -> dict[str, Any]:
    """The evidence gate without what a reviewer rejected."""
    shown = gate(row)
    if not part.rejected:
        return shown
    return shown | {
        "state": words.GATE_DECISION[part.status],
        "criteria": [criterion(each.model_dump()) for each in part.criteria],
        "rejected": part.rejected,
    }


def criterion(stored: dict[str, Any]) -> dict[str, Any]:
    """What was counted and what is asked for; where it is short and no more is to be had, why."""
    met = stored["value"] >= stored["minimum"]
    text = f"{stored['name']}: {stored['value']:g} of {stored['minimum']:g}"
    reason = "" if met else stored.get("unavailable", "")
    return {
        "text": f"{text}; not to be had: {reason}" if reason else text,
        "icon": "check" if met else "circle",
        "tone": "tone-good" if met else "tone-idle",
    }


# --- what it took -------------------------------------------------------------------------------


def meters(payload: Progress) -> list[dict[str, Any]]:
    return [meter for part in payload.budget for meter in _meter(part)]


def _meter(part: BudgetPart) -> Iterator[dict[str, Any]]:
    """Only what was used; a price that nobody knows is said in the foot."""
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
        return words.seconds(amount if amount < 10 else round(amount))
    if part.name == "cost":
        return f"${amount:.2f}"
    one, many = words.METER[part.name]
    return words.count(int(amount), one, many)
