"""What a report that is there can become: other versions, more research, the next question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from django.urls import reverse

from dashboard import thread_queries, words
from dashboard.contexts.aspects import asked
from dashboard.contexts.lists import run_line
from dashboard.markdown import MARKER
from dashboard.run_rows import RunRows
from dashboard.thread_forms import DeeperForm, FollowUpForm, ReshapeForm
from research import installation
from research.engine.marks import ANSWERED
from research.engine.text import heading
from research.models import Run, Thread
from research.progress import evidence_gate

FIRST = "First report"
DOUBTED_SHOWN = 5


def afterwards(rows: RunRows, **forms: object) -> dict[str, Any]:
    """The versions of a run's question and, once it has ended, what can follow.

    `forms` replaces those that were sent with mistakes.
    """
    run = rows.run
    shown: dict[str, Any] = {"versions": versions(run)}
    if run.ended and run.plan is not None:
        shown |= {"follow_up_form": FollowUpForm(), "deeper": deeper(rows), **review(rows)}
    if rows.flagged:
        shown["doubted"] = doubted(rows)
    if rows.report and rows.report.markdown:
        shown |= {"reshape_form": ReshapeForm(), "can_rephrase": has_model()}
    return {"afterwards": shown | forms}


def has_model() -> bool:
    return bool(installation.current()["RESEARCH_MODEL"])


def place(run: Run) -> dict[str, Any]:
    """Which question of its thread a run answers; empty where it is the only one."""
    number, total = thread_queries.place(run)
    address = reverse("thread", args=[run.thread.public_id])
    return {"thread": {"number": number, "total": total, "url": address}} if total > 1 else {}


def review(rows: RunRows) -> dict[str, Any]:
    """How many records were rejected since the report was written, whether it cites one of them,
    and what the evidence gate lacks without them.
    """
    if not rows.rejected:
        return {"rejected": 0}
    return {
        "rejected": len(rows.rejected),
        "rests_on": bool(rows.rejected & rows.cited_labels),
        "lacking": evidence_gate(rows).reason,
    }


def doubted(rows: RunRows) -> dict[str, Any]:
    """How many records a reviewer called doubtful, and the citations that rest on them."""
    citations = rows.report.citations if rows.report else ()
    markers = [
        entry["marker"] for entry in citations if rows.flagged.intersection(entry["evidence_ids"])
    ]
    run = rows.run.public_id
    return {
        "count": len(rows.flagged),
        "cited": len(rows.flagged & rows.cited_labels),
        "links": [(n, reverse("citation", args=[run, n])) for n in markers[:DOUBTED_SHOWN]],
        "more": max(0, len(markers) - DOUBTED_SHOWN),
    }


def versions(run: Run) -> dict[str, Any]:
    """`number` counts from 1; `newest` is the last one with an outcome of its own, if another."""
    rows = thread_queries.versions(run)
    lines = [version(number, row, row == run) for number, row in enumerate(rows, 1)]
    good = [line for line in lines if not line["lost"]]
    newest = good[-1] if good and not good[-1]["current"] else None
    number = next(line["number"] for line in lines if line["current"])
    return {"lines": lines, "number": number, "newest": newest}


def version(number: int, row: Run, current: bool) -> dict[str, Any]:
    is_first = row.kind in {"initial", "follow_up"}
    return {
        "number": number,
        "url": reverse("run", args=[row.public_id]),
        "why": FIRST if is_first else row.reason,
        "state": None if row.status == "completed" else words.status(row.status),
        "lost": row.status in {"failed", "cancelled"},
        "created": row.created_at,
        "current": current,
    }


def deeper(rows: RunRows) -> dict[str, Any]:
    """The sub-questions that may be dug for; what is missing is ticked, or all that was asked
    where the money ran out.
    """
    spent_out = rows.run.termination_reason == "budget_cost"
    gaps = {row.aspect_label for row in rows.gaps if row.closed_round is None}
    parts = asked(rows.progress.aspects)
    missing = [part.id for part in parts if part.mark not in ANSWERED or part.id in gaps]
    lines = [(part.id, part.text, words.aspect(part.mark, part.sources)) for part in parts]
    capped = rows.run.config.get("max_cost_usd") is not None
    ticked = missing or [label for label, *_ in lines if spent_out]
    form = DeeperForm([(label, text) for label, text, _ in lines], ticked, capped)
    rows_shown = [
        {"tag": choice.tag, "id": choice.id_for_label, "text": heading(text), "state": state}
        for choice, (_, text, state) in zip(form["aspects"], lines, strict=True)
    ]
    return {
        "form": form,
        "rows": rows_shown,
        "missing": len(missing),
        "spent_out": spent_out,
    }


# --- the thread's own page ------------------------------------------------------------------


def thread(row: Thread, rows: Sequence[Run]) -> dict[str, Any]:
    return {
        "title": row.title,
        "questions": [question(number, run) for number, run in enumerate(rows, 1)],
    }


def question(number: int, run: Run) -> dict[str, Any]:
    answer = re.sub(rf"\s*{MARKER.pattern}", "", getattr(run, "answer", None) or "")
    return {"number": number, "answer": answer.replace("**", ""), **run_line(run)}
