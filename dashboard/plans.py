"""The plan that a run asks to approve, what it takes, and how much room its report has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from dashboard import words
from dashboard.prices import describe_price, is_model_local
from dashboard.stored_texts import worded
from research.models import Run
from research.worker.commands import Kind

AS_WORDED = "The question as it is worded."
INTAKE_FAILED = "model, intake"
"""Scope of a plan that code made, and where the model failed at one."""

DEPTH_NAMES = {"quick": _("Quick"), "standard": _("Standard"), "thorough": _("Thorough")}
CROWDED = {
    "quick": _(
        "%(parts)s in a quick report: about %(n)s words for each. Fewer sub-questions get more "
        "words each, and so does a standard report."
    ),
    "standard": _(
        "%(parts)s in a standard report: about %(n)s words for each. Fewer sub-questions get more "
        "words each, and so does a thorough report."
    ),
}
"""What is said of a plan of this depth with few words for each sub-question."""

FORM_NAMES = {
    "shorter": _("brief"),
    "table": _("table"),
    "memo": _("memo"),
    "faq": _("questions and answers"),
    "review": _("review of literature"),
}
"""Forms of the report that a plan may have taken from the question."""


def plan_context(run: Run) -> dict[str, Any]:
    """Return the read-only parts of the plan, shown next to the approval form; `taken` are the form
    and the reader that the question asks for, and what people told the run or the one before it.
    """
    stored = run.plan or {}
    names = (
        (gettext("Scope"), "scope"),
        (gettext("Evidence"), "evidence_strategy"),
        (gettext("Output"), "output_format"),
    )
    form = FORM_NAMES.get(stored.get("form", ""), "")
    told = run.commands.filter(kind=Kind.INSTRUCT).values_list("payload", flat=True)
    own = {payload["text"] for payload in told}
    added = stored.get("instructions", ())
    taken = (
        (gettext("Form"), str(form)),
        (gettext("Reader"), stored.get("reader", "")),
        (gettext("From before"), _quoted(text for text in added if text not in own)),
        (gettext("You added"), _quoted(text for text in added if text in own)),
    )
    return {
        "brief": "" if run.question in stored.get("brief", "") else stored.get("brief", ""),
        "facts": [{"name": name, "text": stored[key]} for name, key in names if stored.get(key)],
        "taken": [{"name": name, "text": text} for name, text in taken if text],
        "estimate": describe_estimate(stored.get("estimate"), is_local=is_model_local()),
        "crowded": describe_crowding(run),
        "is_by_code": (is_by_code := is_planned_by_code(run)),
        "why_by_code": why_planned_by_code(run) if is_by_code else "",
    }


def _quoted(texts: Iterable[str]) -> str:
    return "; ".join(f"“{text}”" for text in texts)


def is_planned_by_code(run: Run) -> bool:
    """Return whether the model was asked for the plan and gave none."""
    is_worded = (run.plan or {}).get("scope") == AS_WORDED
    return is_worded and run.plans_anew and run.problems.filter(where=INTAKE_FAILED).exists()


def why_planned_by_code(run: Run) -> str:
    """Return what the model's server did instead of planning; '' if that is not known."""
    failed = run.problems.filter(where=INTAKE_FAILED).order_by("-pk")
    return worded(failed.values_list("message", flat=True).first() or "")


def describe_estimate(stored: dict[str, Any] | None, *, is_local: bool) -> dict[str, str]:
    """Return price and time as `effort`, such as “No cost, about 1–3 min.”, and as `details` what
    that is for: “About 600–900 words from 8–16 pages, 4–13 model calls.”
    """
    if not stored:
        return {"effort": "", "details": ""}
    least, most = stored["llm_calls"]
    low, high = (stored.get("cost_usd") or (None, None)) if most else (0.0, 0.0)
    price = describe_price(low, high, is_local=is_local)
    time = span_of_time(*stored["seconds"])
    calls = ngettext("%(n)s model call", "%(n)s model calls", most) % {"n": _span(least, most)}
    parts = [*filter(None, [_describe_report(stored)]), *[calls] * bool(most)]
    details = gettext("About %(details)s.") % {"details": ", ".join(parts)} if parts else ""
    return {
        "effort": gettext("%(price)s, about %(time)s.") % {"price": price, "time": time},
        "details": details,
    }


def _describe_report(stored: dict[str, Any]) -> str:
    """Return what the report will hold; runs from before it was estimated have nothing."""
    length, sources = stored.get("words"), stored.get("sources")
    if not length or not sources:
        return ""
    values = {"words": _span_of_words(length), "pages": _span(*sources)}
    return gettext("%(words)s words from %(pages)s pages") % values


def span_of_time(low: float, high: float) -> str:
    if high < 90:
        return gettext("%(n)s s") % {"n": _span(round(low), round(high))}
    return gettext("%(n)s min") % {"n": _span(max(1, round(low / 60)), round(high / 60))}


def _span(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low}–{high}"


# --- its depth ------------------------------------------------------------------


def describe_crowding(run: Run) -> str:
    """Return that a report of the run's depth has few words for each sub-question; '' if it has
    enough or no depth has more.
    """
    stored = run.plan or {}
    if not (crowded := stored.get("crowded")):
        return ""
    return str(CROWDED[run.config["research_depth"]]) % {
        "parts": words.count_noun(len(stored["aspects"]), "sub-question"),
        "n": words.format_number(crowded["words"]),
    }


def depth_choices(run: Run) -> list[tuple[str, str]]:
    """Return the depth of a crowded plan and the deeper one, each with its length, price and time;
    [] for any other plan.
    """
    stored = run.plan or {}
    crowded = stored.get("crowded")
    if not crowded:
        return []
    return [
        _depth_choice(run.config["research_depth"], stored["estimate"]),
        _depth_choice(crowded["depth"], crowded["estimate"], crowded["words_there"]),
    ]


def _depth_choice(
    depth: str, estimate: dict[str, Any], words_each: list[int] | None = None
) -> tuple[str, str]:
    length = gettext("%(words)s words") % {"words": _span_of_words(estimate["words"])}
    if words_each:
        length = gettext("%(words)s words, %(each)s for each sub-question") % {
            "words": _span_of_words(estimate["words"]),
            "each": _span_of_words(words_each),
        }
    effort = describe_estimate(estimate, is_local=is_model_local())["effort"]
    return depth, f"{DEPTH_NAMES[depth]}: {length}. {effort}"


def _span_of_words(length: list[int]) -> str:
    return "–".join(map(words.format_number, length))
