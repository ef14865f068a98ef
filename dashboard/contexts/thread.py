"""Follow-ups to a report: versions, deeper research, review and the next question."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence, Set
from typing import Any

from django.db.models import prefetch_related_objects
from django.urls import reverse
from django.utils.translation import get_language, gettext, ngettext, override
from django.utils.translation import gettext_lazy as _

from dashboard import titles, words
from dashboard.addresses import address_of, anchor_of, is_shared
from dashboard.contexts.aspects import exclude_dropped, lead_of
from dashboard.contexts.lists import run_line
from dashboard.contexts.report import cited_answer
from dashboard.forms.thread_forms import DeeperForm, FollowUpForm, ReshapeForm
from dashboard.queries import thread_queries
from dashboard.queries.run_rows import RunRows
from dashboard.stored_texts import cause_in_words, worded
from research.engine.assessment.answer_status import ANSWERED
from research.engine.records import AnswerStatus, Status
from research.engine.text.tokens import capitalize_heading, unique_texts
from research.models import Run, Thread
from research.models.runs import WRITTEN_BY_MODEL, Mode
from research.readmodel.progress import evidence_gate
from research.readmodel.progress_parts import AspectPart
from research.runtime import installation
from research.threads.seeds import labels_left_out

FIRST = _("First report")
WEAK = {AnswerStatus.ONE_SOURCE, AnswerStatus.DISPUTED}
DOUBTED_SHOWN = 5
TITLE_LENGTH = 110
REPORT_TASKS = ("draft", "section", "summary")
"""The tasks in which a model writes the text of a report."""
# "whether it encrypts", "wie lange es dauert"
INDIRECT = re.compile(
    r"(?:whether|how|which|what|when|where|who|why|ob|wie|welche[rsn]?|was|wann|wo|wer|warum)\b",
    re.IGNORECASE,
)
SUGGESTED = 3
"""Maximum follow-up questions that a report suggests."""


def after_report_context(rows: RunRows, **forms: object) -> dict[str, Any]:
    """Return the versions of a run's question and, once the run has ended, the follow-up forms.

    `forms` replaces forms that were submitted with errors.
    """
    run = rows.run
    shown: dict[str, Any] = {"versions": versions_context(run), "can_rephrase": has_model()}
    if run.plan is not None or not run.ended:
        shown |= {"follow_up_form": follow_up_form(run, has_model=shown["can_rephrase"])}
    if run.ended and rows.report and rows.report.markdown:
        shown |= {"suggested": suggested_questions(rows)}
    if run.plan is not None and run.ended:
        shown |= review_context(rows)
        if run.answered_at_once:
            shown["answered_at_once"] = True
        else:
            shown["deeper"] = dig_deeper_context(rows)
    if (without := written_without_model(run)) is not None:
        shown["without_model"] = without
    if rows.flagged:
        shown["doubted"] = doubtful_evidence_context(rows)
    if rows.report and rows.report.markdown:
        shown |= {"reshape_form": ReshapeForm()}
    return {"afterwards": shown | forms}


def follow_up_form(run: Run, data: Any = None, *, has_model: bool) -> FollowUpForm:
    """Return the form for the next question; the earlier findings may answer it only if a model
    that is asked everything says so.
    """
    asks_model = has_model and run.config.get("model_profile") != "small"
    return FollowUpForm(data, at_once=asks_model and run.mode == Mode.ADAPTIVE)


def written_without_model(run: Run) -> dict[str, Any] | None:
    """Return why code wrote a report, or parts of it, in the model's place; None if it didn't."""
    usage = run.usage or {}
    fallbacks, answers = usage.get("fallbacks", {}), usage.get("answers", {})
    causes = [cause for task in REPORT_TASKS for cause in fallbacks.get(task, {})]
    if run.status != Status.COMPLETED or not causes:
        return None
    return {
        "is_whole": not any(answers.get(task) for task in REPORT_TASKS),
        "causes": "; ".join(map(cause_in_words, unique_texts(causes))),
    }


def has_model() -> bool:
    return bool(installation.current_installation()["RESEARCH_MODEL"])


def conversation_context(rows: RunRows) -> dict[str, Any]:
    """Return the other questions of a run's thread with their answers, before and after its own,
    and which of the latter correct its report. The thread's name heads its newest question.
    """
    run = rows.run
    _, total = thread_queries.question_position(run)
    if total < 2:
        return {"thread_name": run.thread.name}
    own = run.origin_id or run.pk
    questions = thread_queries.thread_questions(run.thread_id)
    asked = [
        (row.origin_id or row.pk, question_context(number, row))
        for number, row in enumerate(questions, 1)
    ]
    later = [row for row in questions if (row.origin_id or row.pk) > own]
    return {
        "corrections": corrections_context(rows, later),
        "thread_name": "" if later else run.thread.name,
        "conversation": {
            "url": reverse("thread", args=[run.thread.public_id]),
            "before": [turn for first, turn in asked if first < own],
            "after": [turn for first, turn in asked if first > own],
        },
    }


def corrections_context(rows: RunRows, later: Sequence[Run]) -> list[dict[str, Any]]:
    """Return the later questions whose reports correct that of a run, with links to what they
    correct there; without links to their own pages where it is shared.
    """
    return [
        {
            "title": titles.title_of(each.run),
            "url": address_of(each.run, "run") if not is_shared() else "",
            "at": each.at,
            "newer": _places_in_report(rows, each.newer),
            "disputed": _places_in_report(rows, each.disputed),
        }
        for each in thread_queries.find_corrections(rows, later)
    ]


def _places_in_report(rows: RunRows, labels: Collection[str]) -> list[tuple[int, str]]:
    """Return the first numbers with which a report cites records, with their places there."""
    numbers = sorted({rows.numbers[label] for label in labels})
    return [(number, f"{address_of(rows.run, 'run')}#cite-{number}") for number in numbers]


def review_context(rows: RunRows) -> dict[str, Any]:
    """Return the effect of rejected evidence on the report.

    `rejected` counts the records, `rests_on` is True if the report cites one of them, `sentences`
    has the numbers of those citations with the places of their first sentences, and `lacking` is
    what the evidence gate lacks without them.
    """
    if not rows.rejected:
        return {"rejected": 0}
    return {
        "rejected": len(rows.rejected),
        "rests_on": bool(rows.rejected & rows.cited_labels),
        "sentences": [
            (entry["marker"], reverse("run", args=[rows.run.public_id]) + _anchor_in(entry, rows))
            for entry in (rows.report.citations if rows.report else ())
            if rows.rejected.intersection(entry["evidence_ids"])
        ],
        "lacking": [worded(each) for each in evidence_gate(rows).reason],
    }


def loss_of(rows: RunRows, labels: Collection[str]) -> str:
    """Return what a revision leaves out if the records of these labels are rejected."""
    cited = [row for row in rows.evidence if row.label in rows.cited_labels]
    prefetch_related_objects(cited, "quotes")
    before, gone = (labels_left_out(cited, rejected) for rejected in ((), labels))
    lost = sum(behind <= gone and not behind <= before for behind in rows.resting)
    kept = sum(not behind <= gone and bool(behind & (gone - before)) for behind in rows.resting)
    taken = len(gone - before - set(labels))
    told = [
        ngettext(
            "If you reject it, the next revision loses %(n)s statement.",
            "If you reject it, the next revision loses %(n)s statements.",
            lost,
        )
        if lost
        else gettext("If you reject it, no statement is lost."),
        ngettext(
            "%(n)s other statement that cites it stays, as it has other sources.",
            "%(n)s other statements that cite it stay, as they have other sources.",
            kept,
        )
        if kept
        else "",
        ngettext(
            "%(n)s other finding on the same words is rejected with it, unless marked as "
            "supported.",
            "%(n)s other findings on the same words are rejected with it, unless marked as "
            "supported.",
            taken,
        )
        if taken
        else "",
    ]
    counts = (lost, kept, taken)
    return " ".join(
        text % {"n": words.format_number(n)} for text, n in zip(told, counts, strict=True) if text
    )


def doubtful_evidence_context(rows: RunRows) -> dict[str, Any]:
    """Return the number of records flagged as doubtful, and the citations that rest on them."""
    citations = rows.report.citations if rows.report else ()
    run = rows.run.public_id
    links = [
        (entry["marker"], reverse("citation", args=[run, entry["marker"]]) + _place_of(entry, rows))
        for entry in citations
        if rows.flagged.intersection(entry["evidence_ids"])
    ]
    return {
        "count": len(rows.flagged),
        "cited": len(rows.flagged & rows.cited_labels),
        "links": links[:DOUBTED_SHOWN],
        "more": max(0, len(links) - DOUBTED_SHOWN),
    }


def _place_of(citation: dict[str, Any], rows: RunRows) -> str:
    """Return the query of the first place at which a citation rests on a doubtful record."""
    first = _first_place(citation, rows.flagged)
    return "" if first is None else f"?place={first}"


def _anchor_in(citation: dict[str, Any], rows: RunRows) -> str:
    """Return the anchor of the first place at which a citation rests on a rejected record."""
    return f"#{anchor_of(citation['marker'], _first_place(citation, rows.rejected) or 0)}"


def _first_place(citation: dict[str, Any], labels: Set[str]) -> int | None:
    places = enumerate(citation.get("places") or ())
    return next((n for n, behind in places if not labels.isdisjoint(behind)), None)


def versions_context(run: Run) -> dict[str, Any]:
    """Return all versions, numbered from 1.

    `newest` is the last version that was not lost and is no other form of its report; None if that
    is the current one. `form` names the form of the current one, if it is another.
    """
    rows = thread_queries.run_versions(run)
    lines = [version_context(number, row, row == run) for number, row in enumerate(rows, 1)]
    good = [line for line in lines if not (line["lost"] or line["is_form"])]
    newest = good[-1] if good and not good[-1]["current"] else None
    current = next(line for line in lines if line["current"])
    form = current["why"] if current["is_form"] else ""
    return {"lines": lines, "number": current["number"], "newest": newest, "form": form}


def version_context(number: int, row: Run, current: bool) -> dict[str, Any]:
    is_first = row.kind in {"initial", "follow_up"} and not row.origin_id
    return {
        "number": number,
        "url": reverse("run", args=[row.public_id]),
        "why": str(FIRST) if is_first else worded(row.reason),
        "state": None if row.status == "completed" else words.run_state(row),
        "lost": row.status in {"failed", "cancelled"},
        "is_form": row.kind == "reshape" and bool(row.origin_id) and row.reason != WRITTEN_BY_MODEL,
        "created": row.created_at,
        "current": current,
    }


def dig_deeper_context(rows: RunRows) -> dict[str, Any]:
    """Return the form for deeper research.

    Its button takes the sub-questions that are unanswered or have gaps; where there are none, those
    that are weak, and otherwise all of them, as `why` says. They are ticked for a choice as well.
    """
    spent_out = rows.run.termination_reason == "budget_cost"
    gaps = {row.aspect_label for row in rows.gaps if row.closed_round is None}
    parts = exclude_dropped(rows.progress.aspects)
    missing = [part.id for part in parts if part.mark not in ANSWERED or part.id in gaps]
    weak = [part.id for part in parts if part.mark in WEAK or part.open_points]
    chosen, why = missing, _("Those that are not answered, or have gaps.")
    if not missing:
        chosen, why = weak, _("Those that rest on one source, are disputed, or have open points.")
    if not chosen or (spent_out and not missing):
        chosen, why = [part.id for part in parts], _("All of them: each is answered.")
    lines = [(part.id, part.text, _state_of(part, rows)) for part in parts]
    capped = rows.run.config.get("max_cost_usd") is not None
    form = DeeperForm([(label, text) for label, text, _state in lines], chosen, capped)
    lead = lead_of(parts)
    rows_shown = [
        {
            "tag": choice.tag,
            "id": choice.id_for_label,
            "text": capitalize_heading(titles.without_lead(text, lead)),
            "state": state,
        }
        for choice, (_label, text, state) in zip(form["aspects"], lines, strict=True)
    ]
    return {
        "form": form,
        "rows": rows_shown,
        "default": chosen,
        "why": why if len(parts) > 1 else "",
        "spent_out": spent_out,
    }


def suggested_questions(rows: RunRows) -> list[tuple[str, str]]:
    """Return follow-up questions in the language of the run, each as it is asked and as it is
    shown: what stayed open, then what sources disagree on and, if a model judged them, what only
    one of them says.
    """
    with override(rows.run.language or get_language()):
        return _suggested(rows)


def _suggested(rows: RunRows) -> list[tuple[str, str]]:
    parts = exclude_dropped(rows.progress.aspects)
    unanswered = {part.id: part.text for part in parts if part.mark not in ANSWERED}
    open_texts = [*unanswered.values(), *_points_left(rows, unanswered)]
    doubts = [(AnswerStatus.DISPUTED, gettext("Why do sources disagree on this: %(question)s"))]
    if rows.judged_by_model:
        doubts += [
            (AnswerStatus.ONE_SOURCE, gettext("Do other sources confirm this: %(question)s"))
        ]
    asked = rows.run.question.strip()
    found = [_as_question(text) for text in open_texts if text.strip() != asked]
    found += [
        form % {"question": part.text}
        for mark, form in doubts
        for part in parts
        if part.mark == mark
    ]
    lead = lead_of(parts)
    texts = list(dict.fromkeys(found))[:SUGGESTED]
    return [(text, capitalize_heading(_shown_question(text, lead))) for text in texts]


def _shown_question(text: str, lead: str) -> str:
    return titles.in_plain_words(titles.without_lead_within(text, lead))


def _points_left(rows: RunRows, unanswered: Collection[str]) -> list[str]:
    """Return the points that the report lists as open; of one without such a list, what the last
    assessment missed on other sub-questions than these.
    """
    if rows.points_open is not None:
        return rows.points_open
    return [
        gap.text
        for gap in rows.progress.gaps
        if gap.closed_round is None and gap.aspect not in unanswered
    ]


def _as_question(text: str) -> str:
    text = text.strip().rstrip(".")
    if text.endswith(("?", "？")):
        return capitalize_heading(text)
    within = text[:1].lower() + text[1:] if text[1:2].islower() else text
    if INDIRECT.match(text):
        return gettext("Find out %(question)s.") % {"question": within}
    if within.startswith("that "):
        return gettext("Is it true %(statement)s?") % {"statement": within}
    return gettext("What is known about %(topic)s?") % {"topic": within}


def _state_of(part: AspectPart, rows: RunRows) -> words.State:
    return words.aspect_state(
        part.mark,
        part.sources,
        part.open_points,
        noun=rows.voice_noun,
        judged_by_model=rows.judged_by_model,
    )


# --- the thread's own page ------------------------------------------------------------------


def thread_context(row: Thread, rows: Sequence[Run]) -> dict[str, Any]:
    question = rows[0].question if rows else ""
    is_cut = question.startswith(row.title)
    return {
        "title": row.name
        or (titles.title_of(rows[0]) if rows and is_cut else titles.in_plain_words(row.title)),
        "questions": [question_context(number, run) for number, run in enumerate(rows, 1)],
    }


def question_context(number: int, run: Run) -> dict[str, Any]:
    return {
        "number": number,
        **run_line(run),
        "cited_answer": cited_answer(run),
        "has_report": bool(run.cited),
    }
