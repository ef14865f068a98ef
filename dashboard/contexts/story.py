"""What a run did, round by round: what it searched, read, found and refused, and what that took."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext, ngettext

from dashboard import words
from dashboard.contexts.activity import TASK_NAMES, call_outcome, count_tokens
from dashboard.contexts.aspects import exclude_dropped, lead_of, raised_by
from dashboard.contexts.report import describe_checks
from dashboard.contexts.rounds import decision_of, told_instructions, unit_context
from dashboard.queries.run_rows import RunRows
from dashboard.stored_texts import worded
from dashboard.titles import without_lead
from research.engine.text.tokens import capitalize_heading
from research.models import JournalEntry, RefusedQuote, Round, Run

BEFORE, REPORT = 0, -1
"""Parts of a run that are no round."""
PLACE = re.compile(r"(?:^|/)(?:round|tree)/(\d+)(?:/|$)")
"""Where the journal names a round: "round/2/unit/1/search/1", "tree/1/3/queries"."""
Item = dict[str, Any]
PREVIEWED = 4
LISTED = 40
"""Items of a line; the list of all calls has the others."""


@dataclass
class Part:
    """The calls of a round, of what came before the first, or of the report."""

    number: int
    calls: list[JournalEntry] = field(default_factory=list)

    def of(self, kind: str) -> list[JournalEntry]:
        return [call for call in self.calls if call.kind == kind]


def divide(calls: Sequence[JournalEntry], places: Sequence[tuple[int, str]]) -> list[Part]:
    """Return the calls by round; `places` are those of all entries, by key in their order.

    A page is fetched for whoever asks first, so its place names no round: it belongs to the round
    that the entries before it belong to.
    """
    by_key = {call.pk: call for call in calls}
    parts, number = dict[int, Part](), BEFORE
    for key, place in places:
        number = _part_of(place, number)
        if call := by_key.get(key):
            parts.setdefault(number, Part(number)).calls.append(call)
    return sorted(parts.values(), key=lambda part: (part.number == REPORT, part.number))


def _part_of(place: str, before: int) -> int:
    if place.startswith("report/"):
        return REPORT
    named = PLACE.search(place)
    return max(int(named[1]), BEFORE) if named else before


def tell(rows: RunRows, parts: Sequence[Part]) -> list[dict[str, Any]]:
    """Return the parts of a run in order, each with its lines."""
    rounds = {row.number: row for row in rows.rounds if row.number}
    by_number = {part.number: part for part in parts}
    numbers = sorted({*by_number, *rounds}, key=lambda number: (number == REPORT, number))
    refused = list(rows.run.refused_quotes.order_by("round", "unit", "ordinal"))
    return [
        _tell_part(rows, by_number.get(n, Part(n)), rounds.get(n), _of_round(refused, n))
        for n in numbers
    ]


def _of_round(refused: Sequence[RefusedQuote], number: int) -> list[RefusedQuote]:
    return [row for row in refused if row.round == number]


def _tell_part(
    rows: RunRows, part: Part, row: Round | None, refused: Sequence[RefusedQuote]
) -> dict[str, Any]:
    lines = (
        _sub_questions(rows, part.number),
        _topics(rows, part.number),
        _searches(part),
        _pages(part, rows.site_names),
        _found(row, rows.run),
        _refused(refused),
        _judged(row, rows.progress.quality.threshold),
        _instructed(row, rows),
        _models(part),
        _checked(rows, part.number),
    )
    return {
        "title": _title(part.number),
        "stage": str(words.STAGE[row.stage]) if row else "",
        "took": _took(part.calls),
        "lines": [line for line in lines if line],
        "decision": decision_of(row, rows) if row else "",
    }


def _title(number: int) -> str:
    if number == BEFORE:
        return gettext("The question")
    if number == REPORT:
        return gettext("The report")
    return gettext("Round %(number)s") % {"number": number}


def _took(calls: Sequence[JournalEntry]) -> str:
    """Return the time from the first call's begin to the last one's end; '' without calls."""
    if not calls:
        return ""
    begun = min(call.created_at for call in calls)
    ends = ((call.created_at - begun).total_seconds() + call.seconds for call in calls)
    return words.format_seconds(max(ends))


def _line(name: str, text: str, items: Sequence[Item] = (), **more: Any) -> dict[str, Any]:
    """Return a line: its name, what it says, and the items that it opens to."""
    return {
        "name": name,
        "text": text,
        "items": items[:LISTED],
        "left_out": len(items) - LISTED,
        **more,
    }


def _sub_questions(rows: RunRows, number: int) -> dict[str, Any] | None:
    """Return what the question was split into before the first round."""
    if number != BEFORE:
        return None
    asked = [row for row in exclude_dropped(rows.progress.aspects) if not raised_by(row.raised_by)]
    if len(asked) < 2:
        return None
    told = words.count_noun(len(asked), "sub-question")
    lead = lead_of(rows.progress.aspects)
    shown = [
        {"text": heading, "note": row.text}
        if (heading := rows.headings.get(row.text))
        else {"text": capitalize_heading(without_lead(row.text, lead))}
        for row in asked
    ]
    return _line(gettext("Split into"), told, shown, preview=_preview(shown))


def _preview(items: Sequence[Item]) -> str:
    """Return the first items as a text that is cut off where the line ends."""
    return "; ".join(item["text"].rstrip("?？ ") for item in items[:PREVIEWED])


def _topics(rows: RunRows, number: int) -> dict[str, Any] | None:
    units = [unit_context(row, rows) for row in rows.units if row.round == number]
    if not units:
        return None
    told = ngettext("%(n)s topic", "%(n)s topics", len(units)) % {
        "n": words.format_number(len(units))
    }
    lead = lead_of(rows.progress.aspects)
    shown = [
        {
            "text": unit["heading"] or capitalize_heading(without_lead(unit["topic"], lead)),
            "place": unit["topic"] if unit["heading"] else "",
            "note": unit["failure"],
            "outcome": unit["state"] if unit["state"] != words.UNIT["done"] else None,
        }
        for unit in units
    ]
    return _line(gettext("Looked into"), told, shown, preview=_preview(shown))


def _searches(part: Part) -> dict[str, Any] | None:
    calls = part.of("search")
    if not calls:
        return None
    hits = [len(_answer(call).get("hits", ())) for call in calls]
    told = gettext("%(searches)s, %(results)s") % {
        "searches": words.count_noun(len(calls), "search"),
        "results": words.count_noun(sum(hits), "result"),
    }
    if failed := sum(call.status == "failed" for call in calls):
        told = gettext("%(told)s; %(n)s failed") % {"told": told, "n": words.format_number(failed)}
    shown = [
        {
            "text": call.request["query"],
            "note": _reason(call) or words.count_noun(number, "result"),
            "outcome": call_outcome(call),
        }
        for call, number in zip(calls, hits, strict=True)
    ]
    return _line(gettext("Searched"), told, shown, kind="search")


def _pages(part: Part, site_names: Mapping[str, str]) -> dict[str, Any] | None:
    calls = part.of("fetch")
    if not calls:
        return None
    read = [call.request["url"] for call in calls if call.status == "done"]
    told = words.describe_pages(read) if read else words.count_noun(0, "page")
    if lost := len(calls) - len(read):
        told = ngettext(
            "%(pages)s; %(n)s could not be read", "%(pages)s; %(n)s could not be read", lost
        ) % {"pages": told, "n": words.format_number(lost)}
    shown = [_page(call, site_names) for call in sorted(calls, key=lambda c: c.status == "done")]
    return _line(gettext("Read"), told, shown, kind="fetch")


def _page(call: JournalEntry, site_names: Mapping[str, str]) -> dict[str, Any]:
    url, answer = call.request["url"], _answer(call)
    note = _reason(call) or worded(str(answer.get("note") or ""))
    return {
        "text": answer.get("title") or words.readable_url(url),
        "note": " · ".join(filter(None, (words.site_of(url, site_names.get(url)).name, note))),
        "place": words.readable_url(url),
        "outcome": call_outcome(call),
    }


def _found(row: Round | None, run: Run) -> dict[str, Any] | None:
    if row is None:
        return None
    told = ngettext("%(n)s new claim", "%(n)s new claims", row.new_evidence) % {
        "n": words.format_number(row.new_evidence)
    }
    url = reverse("evidence", args=[run.public_id]) if row.new_evidence else ""
    return _line(gettext("Found"), told, url=url)


def _refused(rows: Sequence[RefusedQuote]) -> dict[str, Any] | None:
    if not rows:
        return None
    told = ngettext("%(n)s quote refused", "%(n)s quotes refused", len(rows)) % {
        "n": words.format_number(len(rows))
    }
    shown = [
        {"text": row.claim, "note": f"{worded(row.reason)} · {words.short_place(row.url)}"}
        for row in rows
    ]
    return _line(gettext("Refused"), told, shown)


def _judged(row: Round | None, goal: float) -> dict[str, Any] | None:
    if row is None or row.score is None:
        return None
    told = gettext("%(score)s of 10; research can stop at %(goal)s") % {
        "score": words.format_score(row.score),
        "goal": words.format_score(goal),
    }
    return _line(gettext("Judged"), told)


def _instructed(row: Round | None, rows: RunRows) -> dict[str, Any] | None:
    """Return the line with a round's instructions and the round that followed them first."""
    if row is None or not row.instructions:
        return None
    return _line(gettext("You added"), "; ".join(told_instructions(row, rows)))


def _models(part: Part) -> dict[str, Any] | None:
    """Return the calls of models, those of one task together."""
    calls = part.of("model")
    if not calls:
        return None
    told = gettext("%(calls)s, %(tokens)s") % {
        "calls": words.count_noun(len(calls), "model call"),
        "tokens": words.count_noun(sum(map(count_tokens, calls)), "token"),
    }
    return _line(gettext("Model"), told, list(_by_task(calls)), kind="model")


def _by_task(calls: Sequence[JournalEntry]) -> Iterator[dict[str, Any]]:
    numbers = Counter(call.request["task"] for call in calls)
    for task, number in numbers.items():
        own = [call for call in calls if call.request["task"] == task]
        worst = next((call for call in own if call_outcome(call)), own[0])
        yield {
            "text": str(TASK_NAMES.get(task, task)),
            "note": " · ".join(
                (
                    words.count_noun(number, "model call"),
                    words.count_noun(sum(map(count_tokens, own)), "token"),
                    words.format_seconds(sum(call.seconds for call in own)),
                )
            ),
            "outcome": call_outcome(worst),
        }


def _checked(rows: RunRows, number: int) -> dict[str, Any] | None:
    told = describe_checks(rows.report.checks) if rows.report and number == REPORT else ""
    return _line(gettext("Checked"), told) if told else None


def _reason(call: JournalEntry) -> str:
    return worded(str(_answer(call).get("reason") or ""))


def _answer(call: JournalEntry) -> Mapping[str, Any]:
    return call.answer if isinstance(call.answer, dict) else {}
