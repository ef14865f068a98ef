"""The live part of a run's page: the context of each fragment, by fragment name.

Every viewer receives the same fragments, so contexts must not depend on the viewer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from dashboard import words
from dashboard.contexts import activity, aspects, evidence, quality, rounds
from dashboard.contexts import run as parts
from dashboard.contexts.pending_commands import (
    describe_refusal,
    is_refused_wish,
    list_followed,
    list_pending_commands,
)
from dashboard.contexts.report import report_context
from dashboard.contexts.rounds import list_steps
from dashboard.prices import priced_usage
from dashboard.queries.run_rows import RunRows
from dashboard.queries.usage import call_under_way, may_call
from dashboard.stored_texts import worded
from research.models import Run

Context = dict[str, Any]
MANY = 5
"""From this number on, sub-questions take two lines each while a run works."""
SHOWN = 6
"""Evidence records of an ended run that are shown before "Show more"."""


@dataclass(frozen=True)
class LiveParts:
    """Contexts of all fragments: `leaves` by template, `rows` by list with one context per row."""

    leaves: dict[str, Context]
    rows: dict[str, list[Context]]


def live_parts(rows: RunRows) -> LiveParts:
    leaves, lists = leaf_contexts(rows), list_contexts(rows)
    leaves["sequence"]["shows"] = describe(rows, leaves, lists)
    return LiveParts(leaves, lists)


def describe(
    rows: RunRows, leaves: Mapping[str, Context], lists: Mapping[str, Sequence[Context]]
) -> str:
    """Return the names of what is to be seen on the page.

    The style sheet selects by them (`data-shows`). It could look itself, with `:has()`, but then
    the browser would compute the styles of the whole page anew with each update.
    """
    ended, asks = rows.run.ended, bool(leaves["desk-key"]["asks"])
    claims, controls = len(lists["evidence"]), leaves["controls"]
    shown = {
        "live": not ended,
        "ended": ended,
        "works": not ended and not asks,
        "asks": asks,
        "waits": asks or controls["can_retry"],
        "controls": any(controls[name] for name in parts.BUTTONS),
        "steers": leaves["desk-key"]["can_steer"],
        "failure": leaves["failure"]["failed"],
        "answer": bool(leaves["answer"]["answer"]),
        "outcome": bool(leaves["report"].get("report") or leaves["report"].get("completed")),
        "report": bool(leaves["report"].get("report")),
        "account": bool(leaves["summary"]["lines"]),
        "why": any(line["is_why"] for line in leaves["summary"]["lines"]),
        "many": len(lists["aspects"]) >= MANY,
        "evidence": claims > 0,
        "more": claims > (SHOWN if ended else 1),
        "refused": bool(lists["refused"]),
        "survived": bool(lists["problems"]),
        "closed": bool(lists["closed"]),
        "drafting": bool(lists["draft"]),
    }
    return " ".join(name for name, holds in shown.items() if holds)


def leaf_contexts(rows: RunRows) -> dict[str, Context]:
    run = parts.run_head(rows.run, rows.told, rows.trust, judged_by_model=rows.judged_by_model)
    ended = run["ended"]
    put_aside = run["put_aside"]
    steps = list_steps(rows)
    written, research = report_context(rows), rows.research
    return {
        "title": {"mark": run["mark"], "title": run["title"]},
        "icon": {"name": run["favicon"]},
        "sequence": {"sequence": rows.run.sequence, "ended": ended},
        "state": {
            "state": run["state"],
            "note": quality.limits_note(rows, lists_disputes=bool(written.get("disputes"))),
            "is_told": bool(steps),
        },
        "verdict": {"sentence": parts.verdict_sentence(rows)},
        "line": quality.line_context(rows)
        if ended
        else {"parts": [{"text": part} for part in parts.running_line(rows)]},
        "summary": {"lines": activity.account_lines(rows)},
        "controls": parts.controls_context(run),
        "action": {
            "live": run["live"],
            "steps": steps,
            "call": call_context(rows.run),
            **parts.action_context(rows),
            **(parts.clock_context(rows) if steps else {}),
        },
        "heard": {
            "heard": list_pending_commands(rows),
            "followed": list_followed(rows),
            "unread": [
                {"name": name, "reason": worded(reason)} for name, reason in rows.unread_files
            ],
        },
        "failure": parts.failure_context(rows),
        "survived": {"count": len(parts.visible_problems(rows))},
        "desk-key": {
            "key": parts.desk_key(rows.run, run),
            "asks": run["asks"] and rows.run.status in parts.ASKING,
            "can_steer": run["can_steer"],
        },
        "answer": parts.answer_context(rows, written),
        "contents": {
            "headings": written.get("headings", ()),
            "disputes": written.get("disputes", ()),
            "cites": bool(written),
            "has_lone": written.get("has_lone", False),
        },
        "report": parts.outcome_context(rows, written),
        "aspects-none": {"ended": ended, "put_aside": put_aside},
        "gaps-title": aspects.gaps_title(
            aspects.told_gaps(research), ended=ended, listed=quality.listed_open(rows) is not None
        ),
        "closed-count": {"count": len(aspects.closed_rows(research))},
        "evidence-count": evidence.count_evidence(rows),
        "evidence-none": {
            "ended": ended,
            "put_aside": put_aside,
            "pages": parts.pages_under_way(rows),
        },
        "evidence-more": evidence.shown_counts(rows),
        "evidence-rest": evidence.all_evidence_link(rows),
        "refused-count": {"count": research.refused_count},
        "chart": quality.score_chart(research.progress),
        "news": rounds.novelty_context(research),
        "rounds-none": {"ended": ended, "put_aside": put_aside},
        "quality": quality.make_up(research),
        "meters": {"meters": quality.budget_meters(research.progress)},
        "foot": {
            "foot": parts.run_footer(rows.run),
            "created": rows.run.created_at,
            "spending": activity.usage_by_task(priced_usage(rows.run)),
            "estimated": rows.run.usage.get("tokens_estimated", False),
            "evaluation": activity.describe_evaluation(rows.run.evaluation),
            "activity": reverse("activity", args=[rows.run.public_id]),
            "sources": reverse("sources", args=[rows.run.public_id]),
            "delete": reverse("delete_run", args=[rows.run.public_id]) if ended else "",
        },
    }


def list_contexts(rows: RunRows) -> dict[str, list[Context]]:
    research = rows.research
    return {
        "problems": [
            {
                "id": row.key,
                "message": describe_refusal(row) if is_refused_wish(row) else worded(row.message),
            }
            for row in parts.visible_problems(rows)
        ],
        "draft": parts.draft_sentences(rows.progress.draft),
        "aspects": aspects.aspect_rows(rows),
        "gaps": aspects.gap_rows(research),
        "closed": aspects.closed_rows(research),
        "evidence": evidence.evidence_rows(rows),
        "refused": [evidence.refused_quote_context(row) for row in research.refused],
        "rounds": rounds.list_rounds(research),
    }


def call_context(run: Run) -> dict[str, Any] | None:
    """Return the pending model call for display; None if the run makes no calls in its state.

    `key` identifies the rendered content: it changes whenever the text would.
    """
    if not may_call(run):
        return None
    call = call_under_way(run)
    if call is None:
        return {"key": "", "task": ""}
    usual = call.usual_seconds
    return {
        "key": f"{call.task} {call.since.timestamp()} {usual} {call.is_long}",
        "task": str(activity.TASK_NAMES.get(call.task, call.task)),
        "since": call.since,
        "usual": "" if usual is None else words.format_seconds(max(1, round(usual))),
        "is_long": call.is_long,
    }
