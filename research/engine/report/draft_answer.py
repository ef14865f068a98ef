"""Reading of the answers to task `draft`: statements, short answer, steps and open points."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from research.engine.evidence.claims.computed import OPERATIONS
from research.engine.evidence.claims.operands import ASKED
from research.engine.evidence.ledger import ANSWERING, Ledger
from research.engine.evidence.relations import Cell
from research.engine.journal.forms import Form
from research.engine.llm_tasks.answers import (
    ComputedStatement,
    DraftAnswer,
    OpenDraftAnswer,
    SectionAnswer,
    TabledDraftAnswer,
    WholeDraftAnswer,
    id_in,
)
from research.engine.records import OpenPoint
from research.engine.report.draft import (
    Computation,
    Draft,
    Section,
    Statement,
    aspect_of,
    cite_ids,
    owners_of,
    split_part,
    with_known_figures,
    without_ids,
)
from research.engine.report.parts.inline_quotes import quoted_if_due

MOST_OF_A_VERDICT, MOST_STEPS, MOST_POINTS = 3, 16, 6
"""Sentences of a verdict, next steps, and points beside the verdict in an author's report."""
MOST_SOUGHT = 12
"""Words that an open point is looked for by, besides its own."""


def read_draft(ledger: Ledger, answer: DraftAnswer) -> Draft:
    """Return the draft with each statement in the section that it was put in, otherwise that of its
    first evidence; one without evidence belongs where `owners_of` puts it. An author's sections
    stay as they are.
    """
    if isinstance(answer, WholeDraftAnswer) and answer.sections:
        said = _all_statements(ledger, texts_of(answer.sections), answer.computed)
        said = _with_spare(said, answer.spare)
        sections = read_sections(answer.sections, said, ledger)
        draft = replace(_read_around(ledger, answer, said, sections), is_authored=True)
        return _with_open_first(draft, answer)
    said = _placed(_all_statements(ledger, answer.statements, answer.computed), ledger)
    if isinstance(answer, WholeDraftAnswer):
        said = _with_spare(said, answer.spare)
    by_part: dict[str, list[Statement]] = {}
    told_in_sections = [*filter(_has_text, said)]
    own = [each.about or aspect_of(each, ledger) or "" for each in told_in_sections]
    owners = owners_of(own, next(iter(ledger.aspects)), ledger)
    for aspect_id, statement in zip(owners, told_in_sections, strict=True):
        by_part.setdefault(aspect_id, []).append(statement)
    return _read_around(
        ledger, answer, said, [Section(i, tuple(part)) for i, part in by_part.items()]
    )


def _with_open_first(draft: Draft, answer: WholeDraftAnswer) -> Draft:
    """Return the draft with the open points that its short answer names by their numbers."""
    numbers = filter(None, map(open_number, answer.short_answer))
    points = draft.open or ()
    named = tuple(points[n - 1] for n in numbers if n <= len(points))
    return replace(draft, open_first=named)


def _read_around(
    ledger: Ledger, answer: DraftAnswer, said: Sequence[Statement], sections: Sequence[Section]
) -> Draft:
    """Return the draft with what its answer has around the sections."""
    points = answer.short_answer
    if isinstance(answer, WholeDraftAnswer) and answer.sections:
        points = [text for text in points if not open_number(text)][:MOST_POINTS]
    short = [_short_statement(ledger, text, said) for text in points]
    told = answer.verdict if isinstance(answer, WholeDraftAnswer) else []
    verdict = [_short_statement(ledger, text, said) for text in told[:MOST_OF_A_VERDICT]]
    opening = [replace(each, is_verdict=True) for each in verdict if each and each.evidence]
    steps = answer.next_steps if isinstance(answer, WholeDraftAnswer) else []
    headed = steps_of(steps)[:MOST_STEPS]
    opened = with_known_figures([*opening, *filter(None, short)], said)
    cited = with_known_figures([cite_ids(text, ledger) for text, _ in headed], said)
    return Draft(
        tuple(filter(_has_text, opened)),
        tuple(sections),
        newer=tuple(answer.newer),
        disagree=tuple(answer.disagree),
        cells=tuple(
            (cell.entity, cell.property, Cell(cell.value, tuple(cell.evidence)))
            for cell in (answer.cells if isinstance(answer, TabledDraftAnswer) else ())
        ),
        open=open_points(ledger, answer.open) if isinstance(answer, OpenDraftAnswer) else None,
        next_steps=tuple(
            replace(step, head=head) for step, (_, head) in zip(cited, headed, strict=True)
        ),
        is_whole=ledger.began >= Form.EDITED,
    )


def open_points(ledger: Ledger, told: Sequence[str]) -> tuple[OpenPoint, ...]:
    """Return what a report leaves open, each with its sub-question; not what names none."""
    points = (split_part(text, ledger) for text in told)
    return tuple(_open_point(part, text, ledger) for part, text in points if part)


def _open_point(part: str, text: str, ledger: Ledger) -> OpenPoint:
    """Return a point and the words behind its bar."""
    said, _, words = text.partition("|") if ledger.began >= Form.COMPUTED else (text, "", "")
    return OpenPoint(part, without_ids(said), " ".join(words.split()[:MOST_SOUGHT]))


def _with_spare(said: Sequence[Statement], numbers: Sequence[int]) -> list[Statement]:
    """Return the statements, those that can be left out with their place among these."""
    places = {number: place for place, number in enumerate(dict.fromkeys(numbers), 1)}
    return [replace(each, spare=places.get(n, 0)) for n, each in enumerate(said, 1)]


def _placed(said: Sequence[Statement], ledger: Ledger) -> list[Statement]:
    """Return the statements, if some are put under sub-questions all of them: one that isn't goes
    with those before it, unless nothing was put under the sub-question of its first evidence.
    """
    opened, about, placed = {each.about for each in said} - {""}, "", list[Statement]()
    for each in said:
        own = aspect_of(each, ledger) or ""
        about = each.about or (own if opened and own not in {"", *opened} else about)
        placed.append(replace(each, about=about))
    return placed


def statements_of(
    ledger: Ledger, texts: Sequence[str], computed: Sequence[ComputedStatement]
) -> list[Statement]:
    """Return the statements of an answer that say something, with what they cite."""
    return [each for each in _all_statements(ledger, texts, computed) if _has_text(each)]


def _all_statements(
    ledger: Ledger, texts: Sequence[str], computed: Sequence[ComputedStatement]
) -> list[Statement]:
    said = [_put_statement(text, ledger) for text in texts]
    return _with_computations(said, computed, ledger.began >= Form.EDITED)


def _put_statement(text: str, ledger: Ledger) -> Statement:
    """Return a sentence with its ids, and the sub-question that it is put under."""
    part, said = split_part(text, ledger)
    return replace(quoted_if_due(cite_ids(said, ledger), ledger), about=part)


def _with_computations(
    said: Sequence[Statement], computed: Sequence[ComputedStatement], is_edited: bool
) -> list[Statement]:
    """Return the statements with what they are computed by, which they cite as well."""
    by_number = {each.statement: each for each in computed}
    return [
        _computed(statement, by_number[number], is_edited) if number in by_number else statement
        for number, statement in enumerate(said, 1)
    ]


def named_operation(said: str) -> str:
    """Return the operation that a longer name begins with, as "duration_between_dates" does."""
    return next((name for name in OPERATIONS if said.startswith(f"{name}_")), said)


def _computed(statement: Statement, answer: ComputedStatement, is_edited: bool) -> Statement:
    evidence = tuple(dict.fromkeys(map(id_in, answer.evidence)))
    operation = "_".join(answer.operation.lower().split())
    operation = named_operation(operation) if is_edited else operation
    return replace(
        statement,
        evidence=tuple(i for i in dict.fromkeys((*statement.evidence, *evidence)) if i != ASKED),
        computed=Computation(operation, evidence),
    )


def _short_statement(ledger: Ledger, text: str, said: Sequence[Statement]) -> Statement | None:
    """Return a statement by its number, or a new sentence; None for an unknown number."""
    number = split_part(text, ledger)[1].strip(" []")
    if not number.isdecimal():
        return _put_statement(text, ledger)
    is_known = 0 < int(number) <= len(said)
    return replace(said[int(number) - 1], by_number=True) if is_known else None


def _has_text(statement: Statement) -> bool:
    return bool(statement.text)


# --- sections of an author ---------------------------------------------------------------


_REFERENCE = re.compile(r" ?\(open \d{1,2}\)", re.IGNORECASE)
_OPEN_NUMBER = re.compile(r"\b(open) \d{1,2}(?=[.,;:)]|$)", re.IGNORECASE)
_OPEN = re.compile(r"\s*open\s+(\d{1,2})\W*", re.IGNORECASE)


def texts_of(sections: Iterable[SectionAnswer]) -> list[str]:
    """Return the statements of all sections, in order."""
    return [without_references(text) for section in sections for text in section.statements]


def without_references(text: str) -> str:
    """Return a text without references to open points, such as "(open 2)" and "is open 2"."""
    return _OPEN_NUMBER.sub(r"\1", _REFERENCE.sub("", text))


def read_sections(
    answer: Sequence[SectionAnswer], said: Sequence[Statement], ledger: Ledger
) -> tuple[Section, ...]:
    """Return the sections with their statements, of which `said` are those of all.

    Each is kept under one sub-question, the first of its own that no other section is under, and
    covers the others; one for which none is left goes on in the section before. A sub-question that
    no section names is covered by the one that cites most of its evidence.
    """
    sections, place = list[Section](), 0
    for told in answer:
        own = [*filter(_has_text, said[place : place + len(told.statements)])]
        place += len(told.statements)
        _add_section(sections, told, own, ledger)
    return _covering_all(sections, ledger)


def _add_section(
    sections: list[Section], told: SectionAnswer, own: list[Statement], ledger: Ledger
) -> None:
    heading = heading_of(told.heading)
    named = [part for part in map(_id_of, told.on) if part in ledger.aspects]
    if own:
        taken = {each.aspect_id for each in sections}
        cited = Counter(filter(None, (aspect_of(each, ledger) for each in own)))
        wanted = (*named, *(part for part, _ in cited.most_common()), *ledger.aspects)
        part = next((each for each in wanted if each not in taken), "")
        if part:
            covers = tuple(each for each in dict.fromkeys(named) if each != part)
            own = [replace(each, about=part) for each in own]
            sections.append(Section(part, tuple(own), heading=heading, covers=covers))
        else:
            own[0] = replace(own[0], opens_paragraph=True)
            own = [replace(each, about=sections[-1].aspect_id) for each in own]
    if sections and (not own or not part):
        last = sections[-1]
        covers = tuple(dict.fromkeys((*last.covers, *named)))
        sections[-1] = replace(last, statements=(*last.statements, *own), covers=covers)


def _id_of(text: str) -> str:
    return text.strip(" []()*:")


def _covering_all(sections: Sequence[Section], ledger: Ledger) -> tuple[Section, ...]:
    """Return the sections, the answered sub-questions that none covers put under the one that cites
    most of their evidence.
    """
    covered = {part for each in sections for part in each.parts}
    result, records = [*sections], ledger.book.records
    for aspect in ledger.aspects.values():
        if aspect.id in covered or aspect.state not in ANSWERING:
            continue
        cited = [
            sum(
                aspect.id in records[i].answers
                for said in section.statements
                for i in said.evidence
                if i in records
            )
            for section in result
        ]
        if any(cited):
            at = cited.index(max(cited))
            result[at] = replace(result[at], covers=(*result[at].covers, aspect.id))
    return tuple(result)


def heading_of(text: str) -> str:
    """Return a heading without leading "#" signs, evidence ids and final punctuation."""
    return without_ids(text.lstrip("# ")).rstrip(".:")


def steps_of(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Return each step with the subheading above it, "" if there is none."""
    found, head = list[tuple[str, str]](), ""
    for text in texts:
        if text.lstrip().startswith("#"):
            head = heading_of(text)
        else:
            found.append((without_references(text), head))
    return found


def open_number(text: str) -> int:
    """Return N if the text is a reference "open N" to an open point, else 0."""
    found = _OPEN.fullmatch(text)
    return int(found[1]) if found else 0
