"""The sub-questions of a run with their answer status, and its gaps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from dashboard import titles, words
from dashboard.contexts.pending_commands import topics_told
from dashboard.queries.run_rows import RunRows
from research.engine.assessment.answer_status import ANSWERED, tally
from research.engine.records import AnswerStatus, Status
from research.engine.text.tokens import capitalize_heading
from research.engine.untrusted.search_words import USER
from research.readmodel.progress_parts import AspectPart, GapPart
from research.worker.commands import Kind, possible_commands

NAMED = 90
UNCERTAIN_ALONE = {
    AnswerStatus.ONE_SOURCE: _("The answer rests on one site."),
    AnswerStatus.DISPUTED: _("Sources disagree on the answer."),
    AnswerStatus.PASSAGES: _("Passages from several sites, which were not compared."),
    AnswerStatus.CLOSE: _("Passages come close; none was confirmed to answer the question."),
    AnswerStatus.OPEN: _("Nothing that was found answers the question."),
    AnswerStatus.NOT_FOUND: _("Nothing that was found answers the question."),
    AnswerStatus.NOT_SEARCHED: _("The research ended before it was searched for."),
}
"""What is uncertain about a question that was not split, by the status of its answer."""
OF_DOCUMENTS = {
    AnswerStatus.ONE_SOURCE: _("The answer rests on one document."),
    AnswerStatus.PASSAGES: _("Passages from several documents, which were not compared."),
}
"""What differs where all evidence is from documents."""


def aspect_rows(rows: RunRows) -> list[dict[str, Any]]:
    """Return a context for each sub-question, and for those that wait to be added.

    The last remaining one cannot be dropped.
    """
    parts = rows.progress.aspects
    known = {part.text for part in parts}
    told = topics_told(rows.progress)
    can_steer = Kind.DROP_TOPIC in possible_commands(rows.run.status, rows.run.mode)
    may_drop = len(exclude_dropped(parts)) > 1
    waits = rows.run.status == Status.PAUSED
    wanted = parts_with_gaps(rows.progress.gaps) if rows.run.ended else set()
    lead = lead_of(parts)
    listed = [
        aspect_context(
            part,
            can_steer and (part.dropped or may_drop),
            noun=rows.voice_noun,
            judged_by_model=rows.judged_by_model,
            more_wanted=part.id in wanted,
            shows_claim=rows.report is None,
            lead=lead,
            heading=rows.headings.get(part.text, ""),
            but_for=rows.parts_left.get(part.id, ""),
        )
        for part in parts
    ]
    for part, row in zip(parts, listed, strict=True):
        if part.text in told and not rows.run.ended:
            row |= _pending_parts(part.text, told[part.text][1], waits=waits)
    pending = [] if rows.run.ended else [each for each in told.items() if each[0] not in known]
    return listed + [
        {
            "id": f"told-{number}",
            "text": {"text": capitalize_heading(topic)},
            **_pending_parts(topic, kind, waits=waits),
        }
        for topic, (number, kind) in pending
    ]


def _pending_parts(topic: str, kind: str, *, waits: bool) -> dict[str, Any]:
    """Return state and menu of a sub-question that a pending command changes."""
    state = words.PENDING_TOPIC[Kind(kind), waits]
    return {
        "standing": {"state": state, "claim": "", "raised_by": ""},
        "menu": {"pending": True, "text": topic},
    }


def aspect_context(
    part: AspectPart,
    can_change: bool,
    *,
    noun: str,
    judged_by_model: bool,
    more_wanted: bool,
    shows_claim: bool,
    lead: str = "",
    heading: str = "",
    but_for: str = "",
) -> dict[str, Any]:
    """Return a sub-question with its state, which names what it is answered `but_for`; beside a
    report, no single claim is its answer.

    `lead` is what most sub-questions begin with, which the question says above them. A plan's
    `heading` stands for the whole text, which is then its title.
    """
    state = words.aspect_state(
        part.mark,
        part.sources,
        part.open_points,
        noun=noun,
        judged_by_model=judged_by_model,
        but_for=titles.shorten(but_for, NAMED),
    )
    is_whole = part.mark is AnswerStatus.ANSWERED and not part.open_points
    if more_wanted and judged_by_model and is_whole and not but_for:
        state = words.MORE_WANTED
    return {
        "id": part.id,
        "text": {
            "text": heading or capitalize_heading(titles.without_lead(part.text, lead)),
            "whole": part.text if heading else "",
        },
        "standing": {
            "state": words.LEFT_OUT if part.dropped else state,
            "claim": (part.best_claim or "") if shows_claim else "",
            "raised_by": raised_by(part.raised_by),
        },
        "menu": {"can_change": can_change, "text": part.text, "dropped": part.dropped},
    }


def raised_by(origin: str) -> str:
    if origin in ("", "plan"):
        return ""
    return gettext("you") if origin == USER else words.short_place(origin)


def exclude_dropped(aspects: Sequence[AspectPart]) -> list[AspectPart]:
    """Return the sub-questions that were not dropped."""
    return [part for part in aspects if not part.dropped]


def describe_asking(aspects: Sequence[AspectPart]) -> str:
    """Return how many sub-questions there were, and how many people and reading added."""
    parts = exclude_dropped(aspects)
    if len(parts) < 2:
        return ""
    told = words.count_noun(len(parts), "sub-question")
    added = sum(part.raised_by == USER for part in parts)
    raised = sum(bool(raised_by(part.raised_by)) for part in parts) - added
    if added:
        told = ngettext(
            "%(asked)s, %(n)s of them added by you", "%(asked)s, %(n)s of them added by you", added
        ) % {"asked": told, "n": words.format_number(added)}
    if not raised:
        return f"{told}."
    return ngettext(
        "%(asked)s, %(n)s of them raised by what was read.",
        "%(asked)s, %(n)s of them raised by what was read.",
        raised,
    ) % {"asked": told, "n": words.format_number(raised)}


def lead_of(aspects: Sequence[AspectPart]) -> str:
    """Return what most of the sub-questions begin with, which needs no saying below each other."""
    return titles.shared_lead([part.text for part in exclude_dropped(aspects)])


def count_answered(aspects: Sequence[AspectPart]) -> int:
    return tally(aspects).answered


def may_answer(aspects: Sequence[AspectPart]) -> bool:
    """Return whether any evidence is close to an answer of a sub-question."""
    return any(part.mark in ANSWERED | {AnswerStatus.CLOSE} for part in aspects)


def describe_uncertainty(aspects: Sequence[AspectPart], by_code: bool, noun: str) -> str:
    """Return what is uncertain about an answer, in up to two sentences; `noun` is what counts as
    independent, "site" or "document". How many points are disputed is said beside the verdict.

    A report that was put together by code begins with how close its passages come.
    """
    asked = exclude_dropped(aspects)
    if len(asked) == 1:
        if by_code and asked[0].mark not in ANSWERED:
            return ""
        told = UNCERTAIN_ALONE | (OF_DOCUMENTS if noun == "document" else {})
        return str(told.get(asked[0].mark, ""))
    counts = Counter(part.mark for part in asked)
    lead = lead_of(aspects)
    missing = [titles.without_lead(part.text, lead) for part in asked if part.mark not in ANSWERED]
    alone = counts[AnswerStatus.ONE_SOURCE]
    parts = []
    if missing:
        parts.append(_name_missing(missing))
    if alone and noun != "document":
        told = ngettext(
            "%(n)s of %(total)s answers rests on one site.",
            "%(n)s of %(total)s answers rest on one site.",
            alone,
        )
        parts.append(told % {"n": alone, "total": len(asked)})
    return " ".join(parts)


def _name_missing(texts: Sequence[str]) -> str:
    if len(texts) == 1:
        question = titles.shorten(texts[0], NAMED)
        return gettext("No confirmed answer to “%(question)s”.") % {"question": question}
    return gettext("%(n)s sub-questions have no confirmed answer.") % {"n": len(texts)}


# --- gaps -----------------------------------------------------------------------


def gap_rows(rows: RunRows) -> list[dict[str, Any]]:
    """Return a context for each gap in the order in which they were raised; only for the open ones
    of an ended run, whose closed ones are a list of their own.
    """
    lead = lead_of(rows.progress.aspects)
    raised = [
        gap_context(part, lead, is_left_out=part.id in rows.left_out) for part in told_gaps(rows)
    ]
    return [gap for gap in raised if not gap["closed"]] if rows.run.ended else raised


def closed_rows(rows: RunRows) -> list[dict[str, Any]]:
    """Return a context for each closed gap of an ended run, but for what people left out."""
    if not rows.run.ended:
        return []
    lead = lead_of(rows.progress.aspects)
    left_open = {part.id for part in rows.progress.aspects if part.open_points}
    return [
        gap_context(part, lead, is_listed=part.aspect in left_open)
        for part in told_gaps(rows)
        if part.closed_round is not None and part.id not in rows.left_out
    ]


def told_gaps(rows: RunRows) -> list[GapPart]:
    """Return the gaps; of an ended run without those that only name a sub-question, since its
    state beside it says whether it is open.
    """
    asked = [part.text.casefold() for part in rows.progress.aspects] if rows.run.ended else []
    return [
        gap for gap in rows.progress.gaps if not any(text in gap.text.casefold() for text in asked)
    ]


def gap_context(
    part: GapPart, lead: str = "", *, is_listed: bool = False, is_left_out: bool = False
) -> dict[str, Any]:
    """Return a gap; `is_listed` says that the report lists open points on its sub-question,
    `is_left_out` that a person removed that.
    """
    closed = part.closed_round is not None
    earlier = gettext("from the earlier run")
    life, number = earlier, part.closed_round if closed else part.opened_round
    if number:
        said = gettext("closed in round %(n)s") if closed else gettext("since round %(n)s")
        if is_left_out:
            said = gettext("left out by you in round %(n)s")
        life = said % {"n": number}
    if closed and is_listed:
        told = gettext("%(closed)s; the report leaves points of its sub-question open")
        life = told % {"closed": life}
    return {
        "id": part.id,
        "text": capitalize_heading(titles.without_lead_within(part.text, lead)),
        "closed": closed,
        "critical": part.critical and not closed,
        "life": life,
    }


def parts_with_gaps(gaps: Sequence[GapPart]) -> set[str | None]:
    """Return the ids of the sub-questions that open gaps are about."""
    return {gap.aspect for gap in gaps if gap.closed_round is None}


def gaps_title(parts: Sequence[GapPart], *, ended: bool, listed: bool) -> dict[str, Any]:
    """Return the heading of the list of gaps. `listed` is True if the report itself lists its open
    points, which were determined after these gaps.
    """
    still_open = sum(part.closed_round is None for part in parts)
    shown = still_open if ended else len(parts)
    return {"any": bool(shown), "open": still_open, "ended": ended, "listed": listed}


OPEN_NAMED, LONGEST_NAME, LONGEST_GAP = 4, 70, 120


def describe_open(rows: RunRows) -> str:
    """Return what several sub-questions left open: the names of those without an answer, the other
    gaps as the report lists them, and the names of those whose gap says no more; '' if nothing is.
    """
    parts = exclude_dropped(rows.progress.aspects)
    lead = lead_of(rows.progress.aspects)
    wanted = [gap for gap in told_gaps(rows) if gap.closed_round is None]
    unnamed = parts_with_gaps(rows.progress.gaps) - {gap.aspect for gap in wanted}
    names = {
        part.id: rows.headings.get(part.text)
        or capitalize_heading(titles.shorten(titles.without_lead(part.text, lead), LONGEST_NAME))
        for part in parts
    }
    unanswered = {part.id for part in parts if part.mark not in ANSWERED}
    left = [names[part.id] for part in parts if part.id in unanswered]
    left += [
        titles.shorten(titles.without_lead_within(gap.text, lead), LONGEST_GAP)
        for gap in wanted
        if gap.aspect not in unanswered
    ]
    left += [
        gettext("more detail on: %(name)s") % {"name": names[part.id]}
        for part in parts
        if part.id in unnamed - unanswered
    ]
    if not left or len(parts) < 2:
        return ""
    left[0] = capitalize_heading(left[0])
    more = len(left) - OPEN_NAMED
    if more > 1:
        counted = ngettext("%(n)s more", "%(n)s more", more) % {"n": words.format_number(more)}
        left = [*left[:OPEN_NAMED], counted]
    return "; ".join(left)
