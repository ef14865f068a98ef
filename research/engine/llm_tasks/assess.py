"""Task `assess`: how good the research is, what is missing, and whether to report.

One call a round. The model judges; what its marks are worth is capped by the ledger in
`research/engine/assessment/score.py`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import islice
from typing import Any

from research.engine.assessment.assessment import Assessment, MissingInfo
from research.engine.assessment.gaps import same_gap
from research.engine.evidence.ledger import Ledger
from research.engine.journal.forms import Form
from research.engine.llm_tasks.answers import Answer, id_in
from research.engine.llm_tasks.prompting.ask import Task
from research.engine.llm_tasks.prompting.fences import fences
from research.engine.llm_tasks.prompting.fit_to_context import (
    ask_fitting,
    most_relevant,
    size_of,
)
from research.engine.offline.questions.question import asked_parts
from research.engine.records import Dimensions, Evidence, Gap
from research.engine.report.parts.dating import is_alike
from research.engine.report.parts.inline_quotes import quotable_parts
from research.engine.run import Run
from research.engine.text.entities import find_numbers
from research.engine.text.quantities import written_amounts
from research.engine.text.similarity import find_twin
from research.engine.text.tokens import normalise_space, term_set, words_in

MOST_GAPS = 10
GAPS_SHOWN = 12
SEARCHES_SHOWN = 24
FIRST_WORDS, ALSO_FOUND, ALSO_FOUND_BEFORE = 9, 60, 60
"""Words of a finding that is only named to the assessment, if its first clauses with a figure are
long, and how many such there are, for each of two or more sub-questions.
"""
LEAST_LEFT_OUT = 20
"""Findings that a question of few sub-questions has to leave out for them to be named."""
FEWEST_WORDS, MOST_WORDS, TOLD_WHOLE = 5, 20, 28
"""Words of the clauses of such a finding that are told, and up to which it is told whole."""
FIGURE_WORDS = 4
"""Those of them that are its figure, if the claim begins with others."""
FINDINGS_OF_A_PART = 6
"""Findings on each sub-question of a broad question that are shown: enough to tell what is
missing.
"""
REPEATED = 0.7
"""Share of the words of a finding without figures from which it repeats another."""
DISPUTES_SHOWN = 12
_CLAUSE_END = re.compile(r"[,;:](?=\s)")


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
    """Return the model's assessment of the ledger. Raises `TaskFailedError`."""
    answer, _ = await ask_fitting(run, place, TASK, partial(_prompt_context, run))
    return _to_assessment(run, answer)


def _prompt_context(run: Run, room: int) -> dict[str, Any]:
    ledger = run.ledger
    findings = most_relevant(_some_of_each_part(run, running_summary(run)), room)
    return {
        "question": run.question.text,
        "today": run.question.today,
        "instructions": ledger.instructions,
        "brief": ledger.plan.brief if ledger.plan.brief != run.question.text else "",
        "scope": ledger.plan.scope,
        "evidence_strategy": ledger.plan.evidence_strategy,
        "aspects": list(ledger.aspects.values()),
        "findings": findings,
        "fence": fences(run),
        "left_out": len(ledger.statable) - len(findings),
        "also_found": also_found(run, findings, room - sum(map(size_of, findings))),
        "only_quoted": quotable_parts(ledger),
        "disputes": newest_disputes(ledger),
        "gaps": gaps_shown(ledger),
        "leads": unsearched_leads(ledger),
        "searched": list(ledger.queries)[-SEARCHES_SHOWN * run.limits.notes :],
        "directions": run.limits.directions,
        "has_parts": run.form >= Form.EDITED
        and any(len(asked_parts(each.text)) > 1 for each in ledger.aspects.values()),
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


def _named_gaps(run: Run, gaps: Sequence[AssessedGap]) -> Iterator[MissingInfo]:
    """Yield the gaps, each once: those that are open under their ids, near-duplicates left out. One
    that is named by its id may be worded anew, as less of it is missing.
    """
    ledger, threshold = run.ledger, run.config.duplicate_topic_similarity_threshold
    known, queries = set[str](), list[str]()
    for gap in gaps:
        text = run.admitted(gap.text)
        query = run.admitted(gap.query) or text
        named = _open_id(ledger, gap.id)
        gap_id = named or same_gap(ledger, text, query, threshold)
        if not text or gap_id in known or find_twin(query, queries, threshold):
            continue
        known |= {gap_id} if gap_id else set()
        queries.append(query)
        aspect_id = id_in(gap.sub_question)
        asked = aspect_id if aspect_id in ledger.aspects else None
        yield MissingInfo(text, query, asked, gap.critical, gap_id=gap_id, is_reworded=bool(named))


def _open_id(ledger: Ledger, said: str) -> str | None:
    gap = ledger.gaps.get(id_in(said))
    return gap.id if gap and gap.open else None


def _clamp_mark(value: float) -> float:
    return round(min(10.0, max(1.0, value)), 2)


def running_summary(run: Run) -> list[Evidence]:
    """Return the running summary: key claims first, then the newest, within the notes' budget; both
    of all sub-questions in turn, so that none is crowded out.
    """
    scale, kept = run.limits.notes, []
    words = scale * run.config.supervisor_notes_word_budget
    ordered = sorted(run.ledger.statable, key=lambda r: (not r.key, -r.round, -r.relevance))
    for record in _in_turns(ordered)[: scale * run.config.supervisor_notes_max_bullets]:
        words -= words_in(record.claim)
        if words < 0:
            break
        kept.append(record)
    return sorted(kept, key=lambda record: int(record.id[1:]))


def _in_turns(ordered: Sequence[Evidence]) -> list[Evidence]:
    """Return key claims before others, each of the two groups round-robin by sub-question."""
    seen, turns = Counter[tuple[bool, str | None]](), dict[str, int]()
    for record in ordered:
        turns[record.id] = seen[record.key, record.aspect_id]
        seen[record.key, record.aspect_id] += 1
    return sorted(ordered, key=lambda record: (not record.key, turns[record.id]))


def _some_of_each_part(run: Run, records: Sequence[Evidence]) -> list[Evidence]:
    """Return, of a broad question, a few findings on each sub-question of which none repeats
    another: those that sources dispute, key claims and those with most sources.
    """
    if run.limits.notes < 2:
        return list(records)
    disputed = {record.id for pair in newest_disputes(run.ledger) for record in pair}
    parts: dict[str | None, list[Evidence]] = {}
    order = sorted(records, key=lambda r: (r.id not in disputed, not r.key, -len(r.keys)))
    for record in order:
        kept = parts.setdefault(record.aspect_id, [])
        if len(kept) < FINDINGS_OF_A_PART and not any(_repeats(record, each) for each in kept):
            kept.append(record)
    ids = {record.id for kept in parts.values() for record in kept}
    return [record for record in records if record.id in ids]


def _repeats(record: Evidence, shown: Evidence) -> bool:
    """Return whether a finding says in most of its words what a shown one on the same sub-question
    says, with no other figure; without figures it takes more of its words.
    """
    if record.aspect_id != shown.aspect_id or shown.id in record.contradicts:
        return False
    own, others = _figures(record.claim), _figures(shown.claim)
    if own or others:
        return bool(own) and own <= others and is_alike(record, shown)
    words = term_set(record.claim)
    shared = len(words & term_set(shown.claim))
    return is_alike(record, shown) and shared >= REPEATED * len(words)


@lru_cache(maxsize=4096)
def _figures(claim: str) -> frozenset[str]:
    return frozenset(find_numbers(claim))


def also_found(run: Run, shown: Sequence[Evidence], room: int) -> list[tuple[str, str]]:
    """Return sub-question and first clauses of the findings that aren't shown, so that no gap is
    named for them: of all sub-questions in turn, the newest of each first, within this number of
    characters, where they are many. Before `Form.EDITED` they are the newest of all, and only where
    the question is broad.
    """
    left_out = len(run.ledger.statable) - len(shown)
    if run.limits.notes < 2 and (run.form < Form.EDITED or left_out < LEAST_LEFT_OUT):
        return []
    known, is_edited = {record.id for record in shown}, run.form >= Form.EDITED
    rest = [record for record in reversed(run.ledger.statable) if record.id not in known]
    new = _in_turns(rest) if is_edited else rest
    told: list[Evidence] = []
    for record in islice(
        _different_from(new, shown),
        ALSO_FOUND * max(2, len(run.ledger.aspects)) if is_edited else ALSO_FOUND_BEFORE,
    ):
        room -= len(_in_brief(record.claim, run.form))
        if room < 0:
            break
        told.append(record)
    ordered = sorted(told, key=lambda record: int(record.id[1:]))
    return [(str(record.aspect_id), _in_brief(record.claim, run.form)) for record in ordered]


def _different_from(records: Iterable[Evidence], shown: Iterable[Evidence]) -> Iterator[Evidence]:
    """Yield the findings that repeat none that is shown, and none before them."""
    known: dict[str | None, list[Evidence]] = {}
    for record in shown:
        known.setdefault(record.aspect_id, []).append(record)
    for record in records:
        others = known.setdefault(record.aspect_id, [])
        if not any(_repeats(record, each) for each in others):
            others.append(record)
            yield record


def _in_brief(claim: str, form: Form) -> str:
    """Return a claim as the list of findings that aren't shown has it: since `Form.EDITED` a short
    one whole, as its end may tell what its first clause doesn't.
    """
    is_short = form >= Form.EDITED and words_in(claim) <= TOLD_WHOLE
    return claim if is_short else _first_clauses(claim)


def _first_clauses(claim: str) -> str:
    """Return a claim up to the first end of a clause behind its first figure, if that isn't far."""
    told = next((text for value, text in written_amounts(claim) if value != "1"), "")
    start = max(0, claim.find(told)) + len(told)
    for end in (*(found.start() for found in _CLAUSE_END.finditer(claim, start)), len(claim)):
        words = words_in(claim[:end])
        if words > MOST_WORDS:
            break
        if words >= FEWEST_WORDS or end == len(claim):
            return claim if end == len(claim) else f"{claim[:end]} …"
    return f"{_words_with_figure(claim)} …"


def _words_with_figure(claim: str) -> str:
    """Return the first words of a claim, the last of them exchanged for its first figure if that
    comes later.
    """
    words, opening = claim.split(), claim.split()[:FIRST_WORDS]
    told = next((text for value, text in written_amounts(claim) if value != "1"), "")
    at = len(claim[: claim.find(told)].split()) if told in claim else 0
    if not told or at + len(told.split()) <= FIRST_WORDS:
        return " ".join(opening)
    figure = words[at : at + FIGURE_WORDS]
    return " ".join([*opening[: FIRST_WORDS - FIGURE_WORDS], "…", *figure])


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
