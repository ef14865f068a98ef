"""Task `assess`: how good the research is, what is missing, and whether to report.

One call a round. The model judges; what its marks are worth is capped by the ledger in
`research/engine/assessment/score.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from research.engine.assessment.assessment import Assessment, MissingInfo
from research.engine.assessment.gaps import same_gap
from research.engine.evidence.ledger import Ledger
from research.engine.journal.forms import Form
from research.engine.llm_tasks.answers import Answer, id_in
from research.engine.llm_tasks.prompting.ask import Task
from research.engine.llm_tasks.prompting.fences import fences
from research.engine.llm_tasks.prompting.fit_to_context import ask_fitting, most_relevant
from research.engine.records import Dimensions, Evidence, Gap
from research.engine.run import Run
from research.engine.text.similarity import find_twin
from research.engine.text.tokens import normalise_space, term_set, words_in

MOST_GAPS = 10
GAPS_SHOWN = 12
SEARCHES_SHOWN = 24
FINDINGS_OF_A_PART = 6
"""Findings on each sub-question of a broad question that are shown: enough to tell what is
missing.
"""
DISPUTES_SHOWN = 12


class DimensionMarks(Answer):
    completeness: float
    depth: float
    reliability: float
    actionability: float


class AssessedGap(Answer):
    """`id` is that of an open gap, "" or anything else for a new one."""

    id: str = ""
    text: str
    sub_question: str
    query: str
    critical: bool


class AssessAnswer(Answer):
    dimensions: DimensionMarks
    overall: float
    reasoning: str
    unanswered: list[str]
    gaps: list[AssessedGap]
    directions: list[str]
    ready: bool


TASK = Task("assess", AssessAnswer, 1500, role="evaluator")


async def assess_ledger(run: Run, place: str) -> Assessment:
    """Return the model's assessment of the ledger. Raises `TaskFailed`."""
    answer, _ = await ask_fitting(run, place, TASK, partial(_prompt_context, run))
    return _to_assessment(run, answer)


def _prompt_context(run: Run, room: int) -> dict[str, Any]:
    ledger = run.ledger
    findings = most_relevant(_some_of_each_part(run, running_summary(run)), room)
    return {
        "is_short": run.form >= Form.SURROUNDED,
        "question": run.question.text,
        "today": run.question.today,
        "brief": ledger.plan.brief if ledger.plan.brief != run.question.text else "",
        "scope": ledger.plan.scope,
        "evidence_strategy": ledger.plan.evidence_strategy,
        "aspects": list(ledger.aspects.values()),
        "findings": findings,
        "fence": fences(run),
        "left_out": len(ledger.statable) - len(findings),
        "disputes": newest_disputes(ledger),
        "gaps": gaps_shown(ledger),
        "leads": unsearched_leads(ledger),
        "searched": list(ledger.queries)[-SEARCHES_SHOWN * run.limits.notes :],
        "directions": run.limits.directions,
    }


def unsearched_leads(ledger: Ledger) -> list[str]:
    """Return the newest names in pages that no query contains."""
    searched = [term_set(query) for query in ledger.queries]
    named = [lead.text for lead in ledger.leads.values()]
    return [text for text in named if not any(term_set(text) <= words for words in searched)][-12:]


def gaps_shown(ledger: Ledger) -> list[Gap]:
    """Return the open gaps in the order of their ids; of very many the critical and the newest
    ones.
    """
    ordered = sorted(ledger.open_gaps(), key=lambda gap: (not gap.critical, -int(gap.id[1:])))
    return sorted(ordered[:GAPS_SHOWN], key=lambda gap: int(gap.id[1:]))


def _to_assessment(run: Run, answer: AssessAnswer) -> Assessment:
    marks, most = answer.dimensions, run.limits.directions
    return Assessment(
        Dimensions(*(_clamp_mark(m) for m in (
            marks.completeness, marks.depth, marks.reliability, marks.actionability
        ))),
        _clamp_mark(answer.overall),
        run.wall().masked(normalise_space(answer.reasoning)),
        frozenset(map(id_in, answer.unanswered)),
        tuple(_named_gaps(run, answer.gaps[:MOST_GAPS])),
        tuple(filter(None, map(run.admitted, answer.directions)))[: max(5, most)],
        answer.ready,
        by_model=True,
        most_directions=most,
    )  # fmt: skip


def _named_gaps(run: Run, named: Sequence[AssessedGap]) -> Iterator[MissingInfo]:
    """Yield the gaps, each once: those that are open under their ids, near-duplicates left out."""
    ledger, threshold = run.ledger, run.config.duplicate_topic_similarity_threshold
    known, queries = set[str](), list[str]()
    for gap in named:
        text = run.admitted(gap.text)
        query = run.admitted(gap.query) or text
        gap_id = _open_id(ledger, gap.id) or same_gap(ledger, text, query, threshold)
        if not text or gap_id in known or find_twin(query, queries, threshold):
            continue
        known |= {gap_id} if gap_id else set()
        queries.append(query)
        aspect_id = id_in(gap.sub_question)
        asked = aspect_id if aspect_id in ledger.aspects else None
        yield MissingInfo(text, query, asked, gap.critical, gap_id=gap_id)


def _open_id(ledger: Ledger, said: str) -> str | None:
    gap = ledger.gaps.get(id_in(said))
    return gap.id if gap and gap.open else None


def _clamp_mark(value: float) -> float:
    return round(min(10.0, max(1.0, value)), 2)


def running_summary(run: Run) -> list[Evidence]:
    """Return the running summary: key claims first, then the newest, within the notes' budget."""
    scale, kept = run.limits.notes, []
    words = scale * run.config.supervisor_notes_word_budget
    ordered = sorted(run.ledger.statable, key=lambda r: (not r.key, -r.round, -r.relevance))
    for record in ordered[: scale * run.config.supervisor_notes_max_bullets]:
        words -= words_in(record.claim)
        if words < 0:
            break
        kept.append(record)
    return sorted(kept, key=lambda record: int(record.id[1:]))


def _some_of_each_part(run: Run, records: Sequence[Evidence]) -> list[Evidence]:
    """Return, of a broad question, a few findings on each sub-question: those with most sources."""
    if run.form < Form.FIRST_SEEN or run.limits.notes < 2:
        return list(records)
    kept, counts = set[str](), Counter[str | None]()
    for record in sorted(records, key=lambda each: (not each.key, -len(each.keys))):
        counts[record.aspect_id] += 1
        if counts[record.aspect_id] <= FINDINGS_OF_A_PART:
            kept.add(record.id)
    return [record for record in records if record.id in kept]


def newest_disputes(ledger: Ledger) -> list[tuple[Evidence, Evidence]]:
    """Return the newest pairs of claims that contradict each other, each pair once."""
    records = ledger.book.records
    pairs = [
        (record, records[other])
        for record in records.values()
        for other in record.contradicts
        if int(other[1:]) > int(record.id[1:])
    ]
    return pairs[-DISPUTES_SHOWN:]
