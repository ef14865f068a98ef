"""The page of a run, part by part; each part is what one partial template shows."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any

from django.urls import reverse

from dashboard import words
from dashboard.contexts.report import report
from dashboard.queries import RunRows
from research.commands import ALLOWED, WAKES, Kind
from research.engine.records import Status
from research.models import Evidence, EvidenceSource, Round, Run, Unit
from research.progress import AspectPart, GapPart, Progress

CLAIMS_FIRST = 6
NOT_JUDGED = "not judged"
MARKS = {"good": "✓", "bad": "✗", "asks": "?"}
STANDING = {
    Status.QUEUED: "Waiting for a free worker.",
    Status.INTAKE: "Reading the question.",
    Status.AWAITING_CLARIFICATION: "It needs an answer from you before it starts.",
    Status.AWAITING_APPROVAL: "The plan is ready. It starts when you say so.",
    Status.RESEARCHING: "Researching.",
    Status.PAUSED: "Paused. Nothing is searched or spent.",
    Status.WRITING: "Writing the report.",
}
ENDINGS = {
    Status.COMPLETED: "Done.",
    Status.FAILED: "It could not be finished.",
    Status.CANCELLED: "Cancelled.",
}


def run_page(rows: RunRows) -> dict[str, Any]:
    """Everything but the forms."""
    return {
        "run": head(rows.run, rows.told),
        "verdict": verdict(rows),
        "action": action(rows),
        "problems": [problem.message for problem in rows.problems],
        "aspects": [aspect(part) for part in rows.progress.aspects],
        "gaps": gaps(rows.progress.gaps),
        "evidence": evidence(rows),
        "rounds": [round_column(row, rows) for row in rows.rounds],
        "report": report(rows.run, rows.report),
        "searches": searches_tried(rows.units),
        "foot": foot(rows.run),
    }


def head(run: Run, told: Container[str] = frozenset()) -> dict[str, Any]:
    """`told` are the commands that no worker has taken up yet: they count as heard."""
    state = words.status(run.status, run.termination_reason)
    heard = goes_on(run, told)
    return {
        "id": run.public_id,
        "url": reverse("run", args=[run.public_id]),
        "question": run.question,
        "state": state,
        "mark": MARKS.get(state.tone, "…"),
        "live": not run.ended and (heard or not run.waiting),
        "asks": run.waiting and not heard,
        "can_stop": run.status in ALLOWED[Kind.STOP] and Kind.STOP not in told,
        "can_resume": run.status in ALLOWED[Kind.RESUME] and not heard,
        "can_cancel": not run.ended and Kind.CANCEL not in told,
        "ended": run.ended,
        "completed": run.status == Status.COMPLETED,
        "failed": run.status == Status.FAILED,
        "created": run.created_at,
    }


def goes_on(run: Run, told: Container[str]) -> bool:
    """Whether a person has already said what the run waits for."""
    return any(kind in told for kind in WAKES.get(Status(run.status), ()))


def verdict(rows: RunRows) -> dict[str, Any]:
    line = verdict_line(rows.progress, ended=rows.run.ended)
    return {"sentence": sentence(rows.run, rows.told), "line": list(line)}


def sentence(run: Run, told: Container[str]) -> str:
    """The one sentence that says where the run stands and why."""
    if run.ended:
        return run.termination_text or ENDINGS[Status(run.status)]
    if Kind.CANCEL in told:
        return "Cancelling."
    if Kind.STOP in told:
        return "Stopping: the report is written from what was found so far."
    if goes_on(run, told):
        return "Understood. It goes on in a moment."
    return run.verdict or STANDING[Status(run.status)]


def verdict_line(payload: Progress, *, ended: bool) -> Iterator[str]:
    """Round, score and gaps, once there are any."""
    run, quality = payload.run, payload.quality
    if run.round:
        at_most = f"round {run.round} of at most {run.rounds_at_most}"
        yield words.count(run.round, "round") if ended else at_most
    if quality.score is not None:
        yield f"score {quality.score:.1f} of {quality.threshold:.1f}"
    if payload.aspects:
        yield words.count(sum(gap.closed_round is None for gap in payload.gaps), "gap")


def action(rows: RunRows) -> dict[str, Any]:
    """What is being done, and since when."""
    part = rows.progress.action
    if part is None:
        return {"text": words.status(rows.run.status).word, "since": rows.run.created_at}
    return {"text": part.text, "since": part.since}


def aspect(part: AspectPart) -> dict[str, Any]:
    return {
        "id": part.id,
        "text": part.text,
        "state": words.aspect(part.state, part.sources),
        "claim": part.best_claim or "",
        "raised_by": raised_by(part.raised_by),
    }


def raised_by(origin: str) -> str:
    if origin in ("", "plan"):
        return ""
    return "you" if origin == "user" else words.place(origin)


def gaps(parts: Sequence[GapPart]) -> dict[str, Any]:
    return {
        "open": [gap for gap in parts if gap.closed_round is None],
        "closed": [gap for gap in parts if gap.closed_round is not None],
    }


def evidence(rows: RunRows) -> dict[str, Any]:
    claims = [claim(row) for row in rows.evidence]
    counts = rows.progress.evidence
    return {
        "first": claims[:CLAIMS_FIRST],
        "more": claims[CLAIMS_FIRST:],
        "total": counts.count,
        "sources": counts.sources,
        "refused": rows.refused_quotes,
        "left_out": counts.count - len(claims),
    }


def claim(row: Evidence) -> dict[str, Any]:
    quotes = list(row.quotes.all())
    return {
        "id": row.label,
        "claim": "" if all(source.quote == row.claim for source in quotes) else row.claim,
        "quotes": [quote(source) for source in quotes],
        "support": support(quotes),
        "caveats": [words.CAVEATS[flag] for flag in row.uncertainty if words.CAVEATS.get(flag)],
        "contradicts": ", ".join(row.contradicts),
    }


def quote(row: EvidenceSource) -> dict[str, Any]:
    return {
        "text": row.quote,
        "title": row.title or row.domain,
        "section": row.section,
        "place": words.place(row.url),
        "day": dated(row),
    }


def dated(row: EvidenceSource) -> str:
    """When the page is from, else when it was read."""
    if row.published:
        return f"of {words.published(row.published)}"
    return f"read {words.day(row.fetched_at)}"


def support(quotes: Iterable[EvidenceSource]) -> str:
    """Independent sources, sites and documents told apart."""
    keys = {row.independence_key: row.url.startswith("file:") for row in quotes}
    documents = sum(keys.values())
    return words.support(len(keys) - documents, documents)


def round_column(row: Round, rows: RunRows) -> dict[str, Any]:
    return {
        "number": row.number,
        "stage": words.STAGE[row.stage],
        "answered": row.answered,
        "aspects": len(rows.progress.aspects),
        "score": row.score,
        "pages": row.pages_read,
        "found": row.new_evidence,
        "decision": row.decision,
        "units": [unit(each) for each in rows.units if each.round == row.number],
        "skipped": row.skipped,
        "judged": judged(row),
        "cap": row.cap_reason,
    }


def unit(row: Unit) -> dict[str, Any]:
    return {
        "topic": row.topic,
        "state": words.UNIT[row.status] if row.status else words.UNIT_RUNNING,
        "seconds": row.seconds,
        "failure": row.failure,
    }


def judged(row: Round) -> list[dict[str, Any]]:
    return [
        {"name": name, "text": NOT_JUDGED if mark is None else f"{mark:.1f} of 10"}
        for name, mark in row.dimensions.items()
    ]


def searches_tried(units: Sequence[Unit]) -> list[str]:
    """Each query once, in the order in which they were put."""
    return list(dict.fromkeys(query for unit in units for query in unit.queries))


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
    return "extractive analyst, no model" if name == "extractive" else name
