"""What a run did: in a few lines, call by call, by kind of call, and by its use of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from dashboard import words
from dashboard.contexts.aspects import describe_asking, exclude_dropped, may_answer
from dashboard.contexts.evidence import describe_cited
from dashboard.contexts.pending_commands import is_taken_over
from dashboard.contexts.quality import cap_sentence, describe_left_open
from dashboard.contexts.report import check_details, summarize_checks
from dashboard.contexts.rounds import describe_pages, describe_searching, told_instructions
from dashboard.contexts.run import verdict_sentence
from dashboard.queries.run_rows import RunRows
from dashboard.stored_texts import cause_in_words, worded
from research.engine.records import Status
from research.engine.untrusted.search_words import USER
from research.models import Aspect, JournalEntry

TASKS = {
    "follow_up": _("Asked the model what the follow-up is about"),
    "intake": _("Asked the model to understand the question"),
    "read": _("Asked the model to read pages"),
    "assess": _("Asked the model to judge the round"),
    "compare": _("Asked the model to compare the findings"),
    "draft": _("Asked the model to write the report"),
    "section": _("Asked the model for a section of the report"),
    "summary": _("Asked the model for the summary"),
    "last_look": _("Asked the model what pages tell of open points"),
    "repair": _("Asked the model to revise the report"),
    "verify": _("Asked the model to check statements"),
    "tree_queries": _("Asked the model for queries"),
    "tree_extract": _("Asked the model to read pages"),
}
"""Model calls in the log, by task."""

OUTCOMES = {
    "pending": words.State(_("in progress, or cut off"), "spinner", "busy"),
    "failed": words.State(_("failed"), "cross", "bad"),
    "refused": words.State(_("refused by a budget"), "cross", "fair"),
}
NAMED = 4
"""Open sub-questions that are named; more are counted."""


def activity_line(entry: JournalEntry, begun: datetime) -> dict[str, Any]:
    """Return one line of the log; `begun` is the moment from which its time is counted."""
    did = describe_call(entry)
    if entry.attempt > 1:
        did = gettext("%(call)s (attempt %(n)s)") % {"call": did, "n": entry.attempt}
    return {
        "at": entry.created_at,
        "after": words.format_seconds((entry.created_at - begun).total_seconds()),
        "did": did,
        "outcome": call_outcome(entry),
        "told": summarize_result(entry),
        "seconds": entry.seconds,
    }


def call_outcome(entry: JournalEntry) -> words.State | None:
    """Return how a call turned out; None if it did what it was to do."""
    return OUTCOMES.get(entry.status)


def count_tokens(entry: JournalEntry) -> int:
    return _tokens(entry.answer) if isinstance(entry.answer, dict) else 0


def describe_call(entry: JournalEntry) -> str:
    asked: Mapping[str, Any] = entry.request
    if entry.kind == "search":
        return gettext("Searched “%(query)s”") % {"query": asked["query"]}
    if entry.kind == "fetch":
        return gettext("Fetched %(page)s") % {"page": words.readable_url(asked["url"])}
    named = TASKS.get(asked["task"])
    return str(named or gettext("Asked the model (%(task)s)") % {"task": asked["task"]})


def summarize_result(entry: JournalEntry) -> str:
    """Return the result of a call in a few words; '' if it has none to show."""
    answer = entry.answer
    if not isinstance(answer, dict):
        return ""
    if reason := answer.get("reason"):
        return worded(str(reason))
    if entry.kind == "search":
        return words.count_noun(len(answer.get("hits", ())), "result")
    if entry.kind == "fetch":
        return worded(str(answer.get("note") or "")) or str(answer.get("title", ""))
    return words.count_noun(count_tokens(entry), "token")


def spending_lines(totals: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return calls and seconds by kind and task, slowest first."""
    kinds = {"search": _("Searching"), "fetch": _("Fetching pages")}
    return [
        {
            "what": kinds.get(row["kind"]) or TASKS.get(row["task"], row["task"]),
            "calls": row["calls"],
            "failed": row["failed"],
            "seconds": row["seconds"] or 0,
        }
        for row in sorted(totals, key=lambda row: -(row["seconds"] or 0))
    ]


SHOWN: dict[str, dict[str, str]] = {
    "all": {},
    "search": {"kind": "search"},
    "fetch": {"kind": "fetch"},
    "model": {"kind": "model"},
    "failed": {"status": "failed"},
}
"""Calls that can be listed, by the value of `?show=`: their columns."""
SHOWN_NAMES = {
    "": _("By round"),
    "all": _("All calls"),
    "search": _("Searches"),
    "fetch": _("Pages"),
    "model": _("Model calls"),
    "failed": _("Failed"),
}


def call_filters(totals: list[dict[str, Any]], shown: str) -> list[dict[str, Any]]:
    """Return the links to what the log can show, with numbers; without those that show nothing."""
    numbers = {
        "all": sum(row["calls"] for row in totals),
        "failed": sum(row["failed"] for row in totals),
        **{
            kind: sum(row["calls"] for row in totals if row["kind"] == kind)
            for kind in ("search", "fetch", "model")
        },
    }
    is_known = shown in SHOWN
    return [
        {
            "query": f"show={key}" if key else "",
            "text": name,
            "number": words.format_number(numbers[key]) if key else "",
            "is_on": key == shown if is_known else not key,
        }
        for key, name in SHOWN_NAMES.items()
        if numbers.get(key, 1)
    ]


# --- model usage ----------------------------------------------------------------


TASK_NAMES = {
    "follow_up": _("Understanding the follow-up"),
    "intake": _("Understanding the question"),
    "read": _("Reading pages"),
    "assess": _("Judging a round"),
    "compare": _("Comparing the findings"),
    "draft": _("Writing the report"),
    "section": _("Writing a section"),
    "summary": _("Writing the summary"),
    "last_look": _("Looking for open points"),
    "repair": _("Revising sentences"),
    "verify": _("Checking statements"),
    "tree_queries": _("Planning searches"),
    "tree_extract": _("Reading pages"),
    "judge": _("Rating the report"),
}
"""Rows of the usage table, by task."""

STAGES = {
    "intake": _("Before research"),
    **{stage.value: name for stage, name in words.STAGE.items()},
}


def usage_by_task(usage: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return a line for each task that was sent to the model or done by its fallback in code."""
    spent = usage.get("spent_by", {}).get("task", {})
    answers, fallbacks = usage.get("answers", {}), usage.get("fallbacks", {})
    return [
        _task_line(name, answers.get(name, 0), fallbacks.get(name, {}), spent.get(name))
        for name in TASK_NAMES
        if name in spent or name in fallbacks
    ]


def usage_by_stage(usage: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a line for each stage in order, then the total; [] if nothing was recorded."""
    spent = usage.get("spent_by", {}).get("stage", {})
    lines = [_took(STAGES[name], spent[name]) for name in STAGES if name in spent]
    return [*lines, _together(usage, usage.get("seconds"))] if lines else []


def usage_by_model(usage: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a line for each model, one for failed calls, then the total."""
    spent = usage.get("spent_by", {}).get("model", {})
    lines = [_took(name, part) for name, part in sorted(spent.items())]
    if lost := usage.get("llm_calls", 0) - sum(part["calls"] for part in spent.values()):
        lines.append(_took(gettext("No model answered"), {"calls": lost}))
    return [*lines, _together(usage, None)] if lines else []


def _took(what: str, part: Mapping[str, Any]) -> dict[str, Any]:
    """Return a line of the table; `seconds` is None if they were not recorded."""
    tokens = _tokens(part)
    return {
        "what": what,
        "calls": words.format_number(part["calls"]),
        "tokens": words.format_number(tokens),
        "cost": words.format_usd(part.get("cost_usd", 0.0)),
        "seconds": part.get("seconds"),
    }


def _together(usage: Mapping[str, Any], seconds: float | None) -> dict[str, Any]:
    names = ("prompt_tokens", "completion_tokens", "cost_usd")
    part = {name: usage.get(name, 0) for name in names}
    took = _took(gettext("Total"), {**part, "calls": usage.get("llm_calls", 0), "seconds": seconds})
    return {**took, "is_sum": True}


def _task_line(
    name: str, answers: int, fallbacks: Mapping[str, int], spent: Mapping[str, Any] | None
) -> dict[str, str]:
    by_code = sum(fallbacks.values())
    return {
        "task": TASK_NAMES[name],
        "own": gettext("%(n)s of %(total)s") % {"n": answers, "total": answers + by_code},
        "calls": words.format_number(spent["calls"] if spent else 0),
        "tokens": words.format_number(_tokens(spent) if spent else 0),
        "cost": words.format_usd(spent["cost_usd"] if spent else 0.0),
        "why": "; ".join(f"{cause_in_words(c)} ({count})" for c, count in fallbacks.items()),
    }


def _tokens(part: Mapping[str, Any]) -> int:
    return int(part.get("prompt_tokens", 0) + part.get("completion_tokens", 0))


def describe_evaluation(found: Mapping[str, Any] | None) -> str:
    """Return the evaluation of a finished run as a sentence; '' if it was not evaluated."""
    if not found:
        return ""
    marks = {name: words.format_score(found[name]) for name in ("composite", "answer", "process")}
    sentence = gettext(
        "A model rated this run %(composite)s of 10: the answer %(answer)s (60 %%), the research "
        "%(process)s (40 %%)."
    )
    return f"{sentence % marks} {found['reasoning']}".strip()


# --- how an ended run was researched ---------------------------------------------------------

REWRITTEN = _("This version was rewritten from these findings, with no new search.")


def account_lines(rows: RunRows) -> list[dict[str, Any]]:
    """Return what an ended run asked and read, how it was judged, why it stopped, what is open.

    `more` has sentences that are folded.
    """
    if not rows.run.ended:
        return []
    is_done = rows.run.status == Status.COMPLETED
    checks, research = _checks_of(rows), rows.research
    lines = (
        (gettext("Asked"), describe_asking(research.progress.aspects)),
        (gettext("You added"), _describe_added(research)),
        (gettext("You removed"), _quote_parts([row for row in research.aspects if row.dropped])),
        (gettext("Work done"), _describe_reading(rows)),
        (gettext("Judged"), _describe_judging(research)),
        (gettext("Ended"), _describe_end(research) if is_done else ""),
        (gettext("Written"), "" if research is rows else str(REWRITTEN)),
        (gettext("Checked"), summarize_checks(checks)),
        (gettext("Left open"), describe_left_open(rows)),
    )
    folded = {gettext("Checked"): check_details(checks)}
    return [
        {
            "name": name,
            "text": text,
            "more": folded.get(name, []),
            "points": rows.points_open if name == gettext("Left open") else None,
            "is_why": name == gettext("Ended"),
        }
        for name, text in lines
        if text
    ]


def _describe_added(rows: RunRows) -> str:
    """Return what people told the run in words, or the run before it, at its plan and while it was
    under way, and the sub-questions that they added meanwhile.
    """
    planned = [
        (
            gettext("“%(text)s” (from before)")
            if is_taken_over(text, rows)
            else gettext("“%(text)s” (from the start)")
        )
        % {"text": text}
        for text in (rows.run.plan or {}).get("instructions", ())
    ]
    later = [text for row in rows.rounds for text in told_instructions(row, rows)]
    own = _quote_parts([row for row in rows.aspects if row.raised_by == USER and row.round])
    return "; ".join([*planned, *later, *filter(None, [own])])


def _quote_parts(parts: Sequence[Aspect]) -> str:
    """Return the texts of sub-questions; '' if there are none."""
    if not parts:
        return ""
    told = ", ".join(f"“{part.text}”" for part in parts)
    text = ngettext("the sub-question %(told)s", "the sub-questions %(told)s", len(parts))
    return text % {"told": told}


def _describe_reading(rows: RunRows) -> str:
    research = rows.research
    now = research.progress
    if not now.run.round:
        return ""
    told = gettext("%(searches)s in %(rounds)s, %(pages)s read.") % {
        "searches": describe_searching(research),
        "rounds": words.count_noun(now.run.round, "level" if now.level else "round"),
        "pages": describe_pages(research),
    }
    cited = [entry["url"] for entry in rows.report.citations] if rows.report else []
    if not cited:
        return told
    return f"{told} " + gettext("The report cites %(pages)s.") % {
        "pages": describe_cited(cited, chain.from_iterable(rows.cited.values()))
    }


def _describe_end(rows: RunRows) -> str:
    """Return why an ended run stopped, without the "Stopped" that its label says."""
    told = verdict_sentence(rows).removeprefix(gettext("Stopped: "))
    return told[:1].upper() + told[1:]


def _describe_judging(rows: RunRows) -> str:
    quality = rows.progress.quality
    if quality.score is None or rows.run.answered_at_once:
        return ""
    if rows.judged_by_model:
        told = gettext("A model rated the findings %(score)s of 10; research can stop at %(goal)s.")
    else:
        told = gettext(
            "No model judged: code estimates the chance of an answer at %(score)s of 10; research "
            "can stop at %(goal)s."
        )
    told %= {
        "score": words.format_score(quality.score),
        "goal": words.format_score(quality.threshold),
    }
    return " ".join(filter(None, (told, _describe_marks(rows))))


def _describe_marks(rows: RunRows) -> str:
    """Return the marks that the last score is made of, and what capped it."""
    last = next((row for row in reversed(rows.rounds) if row.score is not None), None)
    marks = [
        f"{words.DIMENSION.get(name, name)} {words.format_score(mark)}"
        for name, mark in (last.dimensions if last else {}).items()
        if mark is not None
    ]
    if last is None or len(marks) < 2:
        return ""
    told = gettext("The marks behind it, from 1 to 10: %(marks)s.") % {"marks": ", ".join(marks)}
    return f"{told} {cap_sentence(last)}" if last.cap_reason else told


def _checks_of(rows: RunRows) -> dict[str, Any]:
    """Return how the statements of a report were checked; {} if nothing answers the question."""
    if rows.report is None or not may_answer(exclude_dropped(rows.progress.aspects)):
        return {}
    return dict(rows.report.checks)
