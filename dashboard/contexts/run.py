"""State, sentences and available actions of a run, and the plan that it asks to approve."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import Any
from zlib import crc32

from django.urls import reverse
from django.utils import timezone

from dashboard import words
from dashboard.contexts.aspects import (
    count_answered,
    describe_uncertainty,
    exclude_dropped,
)
from dashboard.contexts.pending_commands import is_refused_wish
from dashboard.contexts.rounds import searches_tried
from dashboard.queries.run_rows import RunRows
from research.engine.assessment.answer_status import Trust
from research.engine.records import Status
from research.models import Problem, Run
from research.queue.admission import Place
from research.readmodel.progress import how_far
from research.readmodel.progress_parts import DraftedPart, Progress
from research.readmodel.waiting import Waiting, why_waiting
from research.services.runs import REPEATABLE_STATUSES
from research.worker.commands import WAKES, Kind, possible_commands

BEGUN = frozenset({Status.RESEARCHING, Status.PAUSED, Status.WRITING, Status.STALLED})
"""Statuses in which cancelling can discard evidence: the user is asked to confirm."""

BUTTONS = ("can_pause", "can_resume", "can_retry", "can_stop", "can_cancel", "can_ask_again")
TITLE_MARKS = {
    Status.FAILED: "✗",
    Status.CANCELLED: "–",
    Trust.ANSWERED: "✓",
    Trust.PARTLY: "◐",
    Trust.NOT_ANSWERED: "–",
    Trust.NOTHING_FOUND: "–",
}
FAVICONS = {
    Status.FAILED: "failed",
    Status.CANCELLED: "idle",
    Trust.ANSWERED: "done",
    Trust.PARTLY: "done",
    Trust.NOT_ANSWERED: "idle",
    Trust.NOTHING_FOUND: "idle",
}
"""Mark in the title and icon of the browser tab, by how an ended run turned out."""

STANDING = {
    Status.QUEUED: "Starts as soon as a worker is free.",
    Status.INTAKE: "Reading the question.",
    Status.AWAITING_CLARIFICATION: "It needs an answer from you before it starts.",
    Status.AWAITING_APPROVAL: "The plan is ready. Review it, then start.",
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
NO_MODEL = "Passages chosen by code; no model has judged whether they answer the question."


def run_head(
    run: Run, told: Container[str] = frozenset(), trust: Trust | None = None
) -> dict[str, Any]:
    """Return the header of a run's page.

    `told` has the kinds of pending commands. The header already shows their effect.
    """
    heard = goes_on(run, told)
    state = state_of(run, told, trust)
    asks = run.waiting and not heard
    turned_out = trust or Status(run.status)
    can = set(possible_commands(run.status, run.mode, run.asks))
    return {
        "id": run.public_id,
        "url": reverse("run", args=[run.public_id]),
        "question": run.question,
        "state": state,
        "mark": TITLE_MARKS.get(turned_out, "?" if asks else "…"),
        "favicon": FAVICONS.get(turned_out, "asks" if asks else "busy"),
        "live": not run.ended and (heard or not run.waiting),
        "asks": asks,
        "can_pause": Kind.PAUSE in can and Kind.PAUSE not in told,
        "can_resume": Kind.RESUME in can and not heard,
        "can_retry": Kind.RETRY in can,
        "can_stop": Kind.STOP in can and Kind.STOP not in told,
        "can_cancel": Kind.CANCEL in can and Kind.CANCEL not in told,
        "can_steer": Kind.ADD_TOPIC in can,
        "can_ask_again": run.status in REPEATABLE_STATUSES,
        "has_begun": run.status in BEGUN,
        "ended": run.ended,
        "completed": run.status == Status.COMPLETED,
        "failed": run.status == Status.FAILED,
        "created": run.created_at,
    }


def state_of(run: Run, told: Container[str], trust: Trust | None) -> words.State:
    if goes_on(run, told):
        return words.GOES_ON
    return words.run_state(run.status, run.termination_reason, trust)


def goes_on(run: Run, told: Container[str]) -> bool:
    """Return whether a pending command resumes the waiting run."""
    return any(kind in told for kind in WAKES.get(Status(run.status), ()))


def verdict_sentence(rows: RunRows) -> str:
    """Return the sentence that summarizes the current state of the run and its reason."""
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
    return run.verdict or interim_sentence(rows)


def interim_sentence(rows: RunRows) -> str:
    """Return the sentence shown until the first verdict."""
    aspects = exclude_dropped(rows.progress.aspects)
    if rows.run.status == Status.RESEARCHING and aspects:
        return f"Researching: {count_answered(aspects)} of {len(aspects)} answered so far."
    if rows.place is not None:
        return queue_sentence(rows.place)
    return STANDING[Status(rows.run.status)]


def queue_sentence(place: Place) -> str:
    """Return why a run waits; `waiting_sentence` says for how many others."""
    if not place.has_worker:
        return "No worker is running at the moment. It starts as soon as one is."
    return STANDING[Status.QUEUED]


def result_line(rows: RunRows) -> Iterator[str]:
    """Yield what the report of a finished run rests on, and when it was written."""
    payload, run = rows.progress, rows.run
    aspects = exclude_dropped(payload.aspects)
    if len(aspects) > 1:
        yield f"{count_answered(aspects)} of {len(aspects)} sub-questions answered"
    if payload.evidence.count:
        yield words.count_noun(payload.evidence.sources, "source")
    yield words.format_day(timezone.localtime(run.finished_at or run.created_at))


def verdict_line(payload: Progress, *, ended: bool) -> Iterator[str]:
    """Yield round or level, score and number of gaps, as far as they exist."""
    run, quality = payload.run, payload.quality
    if run.round:
        one = "level" if payload.level else "round"
        yield words.count_noun(run.round, one) if ended else how_far(payload)
    if quality.score is not None:
        yield f"score {quality.score:.1f}, goal {quality.threshold:.1f}"
    if payload.gaps or quality.score is not None:
        yield words.count_noun(sum(gap.closed_round is None for gap in payload.gaps), "gap")


def desk_key(row: Run, run: dict[str, Any]) -> str:
    """Return a key that changes whenever the forms offered to viewers change."""
    flags = [name for name in ("ended", "can_steer") if run[name]]
    asked = f"{row.status} {row.plan}" if run["asks"] else ""
    return "-".join([*flags, f"{crc32(asked.encode()):08x}"])


def controls_context(run: dict[str, Any]) -> dict[str, Any]:
    """Return which buttons are offered; everyone who may see a run gets the same ones."""
    return {name: run[name] for name in ("has_begun", *BUTTONS)}


def action_context(rows: RunRows) -> dict[str, Any]:
    """Return the current action of the run and its start time."""
    part = rows.progress.action
    if part is not None:
        return {"text": part.text, "since": part.since}
    queued = why_waiting(rows.run)
    text = waiting_sentence(queued) if queued else state_of(rows.run, rows.told, None).word
    return {"text": text, "since": rows.run.created_at, "queued": queued is not None}


def waiting_sentence(queued: Waiting) -> str:
    """Return what a queued run waits for."""
    if queued.files:
        return f"Reading your documents: {queued.read:,} of {queued.files:,}"
    if queued.ahead:
        return f"{words.count_noun(queued.ahead, 'run')} ahead of yours"
    return "Next in line"


def draft_sentences(sentences: Sequence[DraftedPart]) -> list[dict[str, Any]]:
    """Return the drafted sentences. The first one about each sub-question carries its name."""
    named = ["", *(said.about for said in sentences)]
    return [
        {"id": str(number), "text": said.text, "about": said.about if said.about != before else ""}
        for number, (before, said) in enumerate(zip(named, sentences, strict=False), 1)
    ]


def failure_context(rows: RunRows) -> dict[str, Any]:
    """Return what went wrong in a failed run, beside the sentence that says how it ended.

    `model` tells whether the model was at fault, so that its server should be checked.
    """
    failed = rows.run.status == Status.FAILED
    said = verdict_sentence(rows) if failed else ""
    problems = dict.fromkeys(row.message for row in rows.problems if row.message != said)
    return {
        "failed": failed,
        "problems": list(problems) if failed else [],
        "model": failed and any(row.where.startswith("model") for row in rows.problems),
    }


def visible_problems(rows: RunRows) -> Sequence[Problem]:
    """Return the problems of a run, without rejected topics: those are shown as notices."""
    failed = rows.run.status == Status.FAILED
    return [] if failed else [row for row in rows.problems if not is_refused_wish(row)]


def answer_context(rows: RunRows, written: dict[str, Any]) -> dict[str, Any]:
    """Return the answer of a finished run, and what is uncertain about it."""
    if not written:
        return {"answer": ""}
    parts = [describe_uncertainty(rows.progress.aspects)]
    if rows.run.analyst == "extractive":
        parts.append(NO_MODEL)
    return {"answer": written["answer"], "uncertain": " ".join(filter(None, parts))}


def outcome_context(rows: RunRows, written: dict[str, Any]) -> dict[str, Any]:
    """Return the report of an ended run, or the queries tried if it found nothing."""
    if not rows.run.ended:
        return {"ended": False}
    completed = rows.run.status == Status.COMPLETED
    searches = [] if written or not completed else searches_tried(rows.units)
    return {"ended": True, "completed": completed, "report": written, "searches": searches}


def run_footer(run: Run) -> list[str]:
    """Return the analyst and the resources used."""
    usage = run.usage
    parts = [analyst_label(run.analyst)]
    if usage:
        parts.append(words.format_seconds(usage.get("seconds", 0)))
        parts.append(words.count_noun(usage.get("searches", 0), "search", "searches"))
        parts.append(words.count_noun(usage.get("fetches", 0), "page") + " fetched")
    if usage.get("llm_calls"):
        parts.append(words.count_noun(usage["llm_calls"], "model call"))
        cost = usage.get("cost_usd")
        parts.append("price unknown" if cost is None else f"${cost:.2f}")
    return parts


def analyst_label(name: str) -> str:
    return "no model, passages quoted" if name == "extractive" else name


# --- the plan -------------------------------------------------------------------


def plan_context(run: Run) -> dict[str, Any]:
    """Return the read-only parts of the plan, shown next to the approval form."""
    stored = run.plan or {}
    names = (
        ("Scope", "scope"),
        ("Evidence", "evidence_strategy"),
        ("Output", "output_format"),
    )
    return {
        "brief": stored.get("brief", ""),
        "facts": [{"name": name, "text": stored[key]} for name, key in names if stored.get(key)],
        "estimate": describe_estimate(stored.get("estimate")),
    }


def describe_estimate(stored: dict[str, Any] | None) -> str:
    """Return the estimate as a sentence, such as “About 600–900 words from 8–16 sources; 1–3 min,
    4–13 model calls, free.”
    """
    if not stored:
        return ""
    least, most = stored["llm_calls"]
    calls = [f"{_span(least, most)} model call{'' if most == 1 else 's'}"] if most else []
    parts = [_span_of_time(*stored["seconds"]), *calls, format_price_range(stored)]
    return f"About {_describe_report(stored)}{', '.join(parts)}."


def _describe_report(stored: dict[str, Any]) -> str:
    """Return what the report will hold; runs from before it was estimated have nothing."""
    words, sources = stored.get("words"), stored.get("sources")
    if not words or not sources:
        return ""
    return f"{words[0]:,}–{words[1]:,} words from {_span(*sources)} sources; "


def format_price_range(stored: dict[str, Any]) -> str:
    if not stored["llm_calls"][1]:
        return "free"
    if stored.get("cost_usd") is None:
        return "price unknown"
    low, high = stored["cost_usd"]
    return f"${low:.2f}–{high:.2f}" if high else "free"


def _span_of_time(low: float, high: float) -> str:
    if high < 90:
        return f"{_span(round(low), round(high))} s"
    return f"{_span(max(1, round(low / 60)), round(high / 60))} min"


def _span(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low}–{high}"
