"""Where a run stands: its state, sentences and offers. `live.py` puts its page together."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import Any
from zlib import crc32

from django.urls import reverse

from dashboard import words
from dashboard.contexts.aspects import answered, asked
from dashboard.contexts.heard import is_refused_wish
from dashboard.contexts.rounds import searches_tried
from dashboard.run_rows import RunRows
from research.commands import WAKES, Kind, possible
from research.engine.records import Status
from research.models import Problem, Run
from research.progress import how_far
from research.progress_parts import DraftedPart, Progress

LENGTHS = {"longest": 370, "longer": 270, "long": 170}
"""Characters from which a verdict is set smaller, so that it keeps to the room it has."""

BEGUN = frozenset({Status.RESEARCHING, Status.PAUSED, Status.WRITING, Status.STALLED})
"""Where something may have been found that is lost to a report when the run is cancelled."""

OFFERS = ("can_pause", "can_resume", "can_retry", "can_stop", "can_cancel", "can_steer")
MARKS = {"good": "✓", "bad": "✗", "asks": "?"}
FAVICONS = {"good": "done", "bad": "failed", "asks": "asks"}
STANDING = {
    Status.QUEUED: "Waiting for a free worker.",
    Status.INTAKE: "Reading the question.",
    Status.AWAITING_CLARIFICATION: "It needs an answer from you before it starts.",
    Status.AWAITING_APPROVAL: "The plan is ready. It starts when you say so.",
    Status.RESEARCHING: "Researching.",
    Status.PAUSED: "Paused. Nothing is searched or spent.",
    Status.WRITING: "Writing the report.",
    Status.STALLED: "Put aside after its worker stopped unexpectedly, again and again.",
}
ENDINGS = {
    Status.COMPLETED: "Done.",
    Status.FAILED: "It could not be finished.",
    Status.CANCELLED: "Cancelled.",
}


def head(run: Run, told: Container[str] = frozenset()) -> dict[str, Any]:
    """`told` are the commands that no worker has taken up yet: they count as heard."""
    heard = goes_on(run, told)
    state = state_of(run, told)
    can = set(possible(run.status, run.mode, run.asks))
    return {
        "id": run.public_id,
        "url": reverse("run", args=[run.public_id]),
        "question": run.question,
        "state": state,
        "mark": MARKS.get(state.tone, "–" if run.ended else "…"),
        "favicon": FAVICONS.get(state.tone, "idle" if run.ended else "busy"),
        "live": not run.ended and (heard or not run.waiting),
        "asks": run.waiting and not heard,
        "can_pause": Kind.PAUSE in can and Kind.PAUSE not in told,
        "can_resume": Kind.RESUME in can and not heard,
        "can_retry": Kind.RETRY in can,
        "can_stop": Kind.STOP in can and Kind.STOP not in told,
        "can_cancel": Kind.CANCEL in can and Kind.CANCEL not in told,
        "can_steer": Kind.ADD_TOPIC in can,
        "has_begun": run.status in BEGUN,
        "ended": run.ended,
        "completed": run.status == Status.COMPLETED,
        "failed": run.status == Status.FAILED,
        "created": run.created_at,
    }


def state_of(run: Run, told: Container[str]) -> words.State:
    if goes_on(run, told):
        return words.GOES_ON
    return words.status(run.status, run.termination_reason)


def goes_on(run: Run, told: Container[str]) -> bool:
    """Whether a person has already said what the run waits for."""
    return any(kind in told for kind in WAKES.get(Status(run.status), ()))


def sentence(rows: RunRows) -> str:
    """The one sentence that says where the run stands and why."""
    run, told = rows.run, rows.told
    if run.ended:
        return run.termination_text or ENDINGS[Status(run.status)]
    if Kind.CANCEL in told:
        return "Cancelling."
    if Kind.STOP in told:
        return "Stopping: the report is written from what was found so far."
    if goes_on(run, told):
        return "Understood. It goes on in a moment."
    if run.status == Status.PAUSED:
        return run.asks or STANDING[Status.PAUSED]
    return run.verdict or standing(rows)


def length(sentence: str) -> str:
    """How a sentence is set, by its length; '' for a usual one."""
    return next((name for name, most in LENGTHS.items() if len(sentence) > most), "")


def standing(rows: RunRows) -> str:
    """Before the first verdict."""
    aspects = asked(rows.progress.aspects)
    if rows.run.status == Status.RESEARCHING and aspects:
        return f"Researching: {answered(aspects)} of {len(aspects)} answered so far."
    return STANDING[Status(rows.run.status)]


def verdict_line(payload: Progress, *, ended: bool) -> Iterator[str]:
    """Round or level, score and gaps, once there are any."""
    run, quality = payload.run, payload.quality
    if run.round:
        one = "level" if payload.level else "round"
        yield words.count(run.round, one) if ended else how_far(payload)
    if quality.score is not None:
        yield f"score {quality.score:.1f}, goal {quality.threshold:.1f}"
    if payload.gaps or quality.score is not None:
        yield words.count(sum(gap.closed_round is None for gap in payload.gaps), "gap")


def desk_key(row: Run, run: dict[str, Any]) -> str:
    """Changes whenever a viewer is to be offered something else: other buttons, other forms."""
    flags = [name for name in ("live", "has_begun", *OFFERS) if run[name]]
    asked = f"{row.status} {row.plan}" if run["asks"] else ""
    return "-".join([*flags, f"{crc32(asked.encode()):08x}"])


def action(rows: RunRows) -> dict[str, Any]:
    """What is being done, and since when."""
    part = rows.progress.action
    if part is None:
        return {"text": state_of(rows.run, rows.told).word, "since": rows.run.created_at}
    return {"text": part.text, "since": part.since}


def drafted(sentences: Sequence[DraftedPart]) -> list[dict[str, Any]]:
    """The sentences so far; the first one on each sub-question names it."""
    named = ["", *(said.about for said in sentences)]
    return [
        {"id": str(number), "text": said.text, "about": said.about if said.about != before else ""}
        for number, (before, said) in enumerate(zip(named, sentences, strict=False), 1)
    ]


def failure(rows: RunRows) -> dict[str, Any]:
    """Why a run failed, in sentences for people."""
    failed = rows.run.status == Status.FAILED
    return {"failed": failed, "problems": [row.message for row in rows.problems] if failed else []}


def survived(rows: RunRows) -> Sequence[Problem]:
    """What went wrong; a refused wish stands among what was heard."""
    failed = rows.run.status == Status.FAILED
    return [] if failed else [row for row in rows.problems if not is_refused_wish(row)]


def outcome(rows: RunRows, written: dict[str, Any]) -> dict[str, Any]:
    """The report once there is one, or the honest end without it."""
    if not rows.run.ended:
        return {"ended": False}
    completed = rows.run.status == Status.COMPLETED
    searches = [] if written or not completed else searches_tried(rows.units)
    return {"ended": True, "completed": completed, "report": written, "searches": searches}


def foot(run: Run) -> list[str]:
    """Who worked on it and what it took."""
    usage = run.usage
    parts = [analyst(run.analyst)]
    if usage:
        parts.append(words.seconds(usage.get("seconds", 0)))
        parts.append(words.count(usage.get("searches", 0), "search", "searches"))
        parts.append(words.count(usage.get("fetches", 0), "page") + " fetched")
    if usage.get("llm_calls"):
        parts.append(words.count(usage["llm_calls"], "model call"))
        cost = usage.get("cost_usd")
        parts.append("price unknown" if cost is None else f"${cost:.2f}")
    return parts


def analyst(name: str) -> str:
    return "no model, passages quoted" if name == "extractive" else name
