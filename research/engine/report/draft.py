"""A report before it is Markdown: statements that rest on ledger ids."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from research.engine.evidence.claims.formulas import (
    Formula,
    makes_figure_of,
    split_formulas,
    without_formulas,
)
from research.engine.evidence.ledger import Ledger
from research.engine.evidence.relations import Cell
from research.engine.journal.forms import Form
from research.engine.records import OpenPoint
from research.engine.text.tokens import normalise_space, unique_texts, words_in
from research.engine.untrusted.address_wall import AddressWall

_IDS = re.compile(r"(?:(?<!\s)\s+)?[\[(]E\d+(?:\s*[,;]\s*E\d+)*[\])]")
LINE_MARK, SPACE_MARK = " ⏎ ", "␣"
"""The end of a line and a space of an indent in code of several lines, such as a file to write."""
_INDENT = re.compile(r"^[ \t]+")
_ITEM = re.compile(r"\s*[-*•]\s+(?=\S)")
_ID = re.compile(r"E\d+")
_CONCLUSION = re.compile(r"\s*=+>\s*(?=\S)")
_PARAGRAPH = re.compile(r"\s*¶\s*(?=\S)")
_PART = re.compile(r"\s*(?:[-*•]\s+)?[\[(*]*(A\d+)[\])*]*\s*[:：]\s*(?=\S)")


@dataclass(frozen=True)
class Computation:
    """Operation behind a computed statement, and the ids of the evidence with its operands."""

    operation: str
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class Statement:
    """One sentence of the report. `quoted` is a passage with its lead-in, made by code; `computed`
    is how the sentence follows from several quotes, `is_item` that it stands in a list, `is_column`
    that code made it of a column of the comparison. `earlier` are ids of evidence with values that
    its own has replaced. `is_verdict` says that it answers the question as a whole. `clauses` are
    beginnings of the text, up to where the model cited evidence within it, with the ids.
    `replaced_words` counts the words of the statement in whose place a quotation stands. `part` is
    the sub-question that it stands under in the short answer if its evidence belongs to another,
    `about` the one that its author put it under. `formulas` make figures of the text of those in
    the quotes and the question. One `by_number` was put into the short answer
    instead of a new sentence. `spare` is its place among those that its author would leave out of a
    report that is too long, from 1; 0 if it is none of them. `behind_gap` says of a step that the
    one before it was left out, `is_unplaced` of a
    quotation that code put among statements. One that `concludes` ranks, orders or judges by
    findings, which no quote need say. With one that `opens_paragraph` its author begins a
    paragraph; `head` is what a step stands under.
    """

    text: str
    evidence: tuple[str, ...] = ()
    quoted: bool = False
    lead_in: str = ""
    is_item: bool = False
    computed: Computation | None = None
    formulas: tuple[Formula, ...] = ()
    is_column: bool = False
    earlier: tuple[str, ...] = ()
    is_verdict: bool = False
    concludes: bool = False
    clauses: tuple[tuple[str, tuple[str, ...]], ...] = ()
    replaced_words: int = field(default=0, compare=False)
    part: str = field(default="", compare=False)
    about: str = field(default="", compare=False)
    by_number: bool = field(default=False, compare=False)
    spare: int = field(default=0, compare=False)
    behind_gap: bool = field(default=False, compare=False)
    is_unplaced: bool = field(default=False, compare=False)
    opens_paragraph: bool = field(default=False, compare=False)
    head: str = field(default="", compare=False)

    @property
    def body(self) -> str:
        """Return the text without the lead-in of a quotation."""
        return self.text.removeprefix(self.lead_in)

    @property
    def words(self) -> int:
        return words_in(self.body)

    @property
    def cost(self) -> int:
        """Return the words that it counts for in a report of limited length: those of the statement
        whose place it takes.
        """
        return self.replaced_words or self.words

    @property
    def parts(self) -> list[tuple[str, tuple[str, ...]]]:
        """Return the text in parts, each with the ids that stand behind it, as far as it still has
        the clauses that the model wrote.
        """
        rest, left, parts = self.body, list(self.evidence), list[tuple[str, tuple[str, ...]]]()
        for beginning, ids in self.clauses:
            clause = beginning[len(self.body) - len(rest) :]
            if self.quoted or not clause or not self.body.startswith(beginning):
                continue
            parts.append((clause, tuple(i for i in ids if i in left)))
            rest = rest[len(clause) :]
            left = [i for i in left if i not in ids]
        return [*parts, (rest, tuple(left))]


@dataclass(frozen=True)
class Clash:
    """Two statements of which only one can be right, and in few words what they disagree on."""

    one: Statement
    other: Statement
    about: str


@dataclass(frozen=True)
class Section:
    """Statements on one sub-question; `all_found` marks a short section with every finding. Its
    author may have given it a `heading` and other sub-questions that it `covers`.
    """

    aspect_id: str
    statements: tuple[Statement, ...]
    all_found: bool = False
    heading: str = ""
    covers: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the sub-questions that it is on."""
        return (self.aspect_id, *self.covers)


@dataclass(frozen=True)
class Draft:
    """The draft of a report.

    `opening` precedes the short answer if nothing answers directly; if nothing was found, it holds
    the closest passages. `by_code` is True if no model judged the draft; `quoted_instead` are
    statements that were replaced by quotations. `newer` and `disagree` are pairs of ids by which
    the model related the evidence as it wrote, `cells` are things, properties and values of the
    table that it proposed. `next_steps` are what the model infers that the asker should do, `open`
    is what it says the report leaves open; None where no model did. `course` tells the course of
    events across the sections, `clashes` are what contradicts each other. Of one that `is_whole`
    one author wrote all sections, and told the course of events in them; of one that `is_authored`
    named and ordered them, too. `open_first` are open points that the short answer names.
    """

    short_answer: tuple[Statement, ...]
    sections: tuple[Section, ...]
    opening: str = ""
    found: bool = True
    by_code: bool = False
    quoted_instead: int = 0
    newer: tuple[Sequence[str], ...] = ()
    disagree: tuple[Sequence[str], ...] = ()
    cells: tuple[tuple[str, str, Cell], ...] = ()
    next_steps: tuple[Statement, ...] = ()
    open: tuple[OpenPoint, ...] | None = None
    course: tuple[Statement, ...] = ()
    clashes: tuple[Clash, ...] = ()
    is_whole: bool = False
    is_authored: bool = False
    open_first: tuple[OpenPoint, ...] = ()

    @property
    def covered(self) -> frozenset[str]:
        """Return the sub-questions that have a section."""
        return frozenset(part for section in self.sections for part in section.parts)

    @property
    def headings(self) -> dict[str, str]:
        """Return what their author called the sections, by the sub-questions that they are on; the
        one that a section is kept under goes by its own.
        """
        found = {part: each.heading for each in self.sections for part in each.covers}
        found |= {each.aspect_id: each.heading for each in self.sections}
        return {part: heading for part, heading in found.items() if heading}

    def section_of(self, part: str) -> Section | None:
        """Return the section on a sub-question."""
        return next((each for each in self.sections if part in each.parts), None)

    @property
    def statements(self) -> list[Statement]:
        told = (said for section in self.sections for said in section.statements)
        return [*self.short_answer, *self.course, *told]


@dataclass(frozen=True)
class Fault:
    """Defect of a statement; `number` counts the draft's statements from 1."""

    number: int
    statement: Statement
    reason: str


def split_part(text: str, ledger: Ledger) -> tuple[str, str]:
    """Return the sub-question whose id a sentence begins with, "" without one, and the sentence."""
    found = _PART.match(text)
    if found is None or found[1] not in ledger.aspects:
        return "", text
    return found[1], text[found.end() :]


def cite_ids(text: str, ledger: Ledger) -> Statement:
    """Return a sentence with its bracketed ids, or the claim of a lone id. The lines of code are
    joined by marks.
    """
    text = with_lines_joined(text)
    alone = text.strip(" []")
    if _ID.fullmatch(alone):
        record = ledger.book.records.get(alone)
        return statement_of(record.claim if record else "", [alone])
    opening = _PARAGRAPH.match(text)
    text = text[opening.end() if opening else 0 :]
    item = _ITEM.match(text)
    said, is_marked = split_conclusion(text[item.end() if item else 0 :], ledger)
    ids = unique_texts(i for group in _IDS.findall(text) for i in _ID.findall(group))
    return replace(
        statement_of(said, ids),
        is_item=item is not None,
        clauses=_clauses_of(said),
        concludes=is_marked and bool(ids),
        opens_paragraph=opening is not None,
    )


def with_lines_joined(text: str) -> str:
    """Return a text whose code of several lines is in one, with marks for their ends."""
    parts = text.split("`")
    if "\n" not in text or len(parts) % 2 == 0:
        return text
    parts[1::2] = [_with_line_marks(code) if "\n" in code else code for code in parts[1::2]]
    return "`".join(parts)


def without_layout(text: str) -> str:
    """Return a sentence without the marks of a paragraph and of an item before it."""
    opening = _PARAGRAPH.match(text)
    text = text[opening.end() if opening else 0 :]
    item = _ITEM.match(text)
    return text[item.end() if item else 0 :]


def _with_line_marks(code: str) -> str:
    lines = code.strip().splitlines()
    return LINE_MARK.join(_INDENT.sub(_as_marks, line.rstrip()) for line in lines)


def _as_marks(spaces: re.Match[str]) -> str:
    return SPACE_MARK * len(spaces[0].expandtabs())


def lines_of(code: str) -> list[str]:
    """Return the lines of code in which their ends and indents are marks."""
    return [line.strip().replace(SPACE_MARK, " ") for line in code.split(LINE_MARK.strip())]


def split_conclusion(text: str, ledger: Ledger) -> tuple[str, bool]:
    """Return a sentence without the mark of a conclusion ("=> …"), and whether it had it; none has
    in runs before `Form.EDITED`.
    """
    mark = _CONCLUSION.match(text) if ledger.began >= Form.EDITED else None
    return text[mark.end() if mark else 0 :], mark is not None


def _clauses_of(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the clauses of a sentence with the ids that stand behind them and not again behind a
    later one; () if none stand at its end.
    """
    groups = [*_IDS.finditer(text)]
    if not groups or any(map(str.isalnum, text[groups[-1].end() :])):
        return ()
    later = set(_ID.findall(groups.pop().group()))
    clauses = []
    for group in reversed(groups):
        ids = [i for i in _ID.findall(group.group()) if i not in later]
        beginning = without_ids(text[: group.start()])
        if ids and beginning.count("`") % 2 == 0:
            clauses.append((beginning, tuple(dict.fromkeys(ids))))
            later.update(ids)
    return tuple(reversed(clauses))


def statement_of(text: str, evidence: Iterable[str]) -> Statement:
    """Return the sentence without ids and formulas that the model wrote into it, and these."""
    plain, formulas = split_formulas(_IDS.sub("", text))
    ids = tuple(dict.fromkeys(i.strip("[] ") for i in evidence))
    return Statement(normalise_space(plain), ids, formulas=formulas)


def aspect_of(statement: Statement, ledger: Ledger) -> str | None:
    """Return the sub-question of the first evidence that a statement cites."""
    records = (ledger.book.records.get(i) for i in statement.evidence)
    return next((r.aspect_id for r in records if r and r.aspect_id in ledger.aspects), None)


def owners_of(own: Sequence[str], first: str, ledger: Ledger) -> list[str]:
    """Return the sub-question of each of a draft's statements by those that they have of their own:
    one that has none goes with the next one, to which it may lead over, and at the end, or in runs
    before `Form.EDITED`, with the one before it, or the `first`.
    """
    owners = [*own]
    for at in reversed(range(len(owners) - 1)) if ledger.began >= Form.EDITED else ():
        owners[at] = owners[at] or owners[at + 1]
    for at, owner in enumerate(owners):
        owners[at] = owner or (owners[at - 1] if at else first)
    return owners


def without_ids(text: str) -> str:
    """Return a sentence without the ids of evidence and the formulas that a model wrote into it."""
    return normalise_space(without_formulas(_IDS.sub("", text)))


def with_known_figures(
    statements: Iterable[Statement], others: Iterable[Statement] = ()
) -> list[Statement]:
    """Return the statements, each with the formulas and the evidence of those, and of `others`,
    that make a figure which it gives, or calculates with, and makes by no formula of its own.
    """
    given = [*statements]
    sources = sorted((*given, *others), key=lambda each: len(each.evidence))
    made = [(formula, each) for each in sources for formula in each.formulas]
    return [reduce(_with_figure, made, said) for said in given]


def _with_figure(said: Statement, made: tuple[Formula, Statement]) -> Statement:
    formula, source = made
    own = {each.terms for each in said.formulas}
    text = " ".join((said.text, *own))
    if formula.terms in own or not makes_figure_of(formula, text):
        return said
    before = source.formulas[: source.formulas.index(formula)]
    known = tuple(each for each in (*before, formula) if each.terms not in own)
    evidence = tuple(dict.fromkeys((*said.evidence, *source.evidence)))
    return replace(said, formulas=(*known, *said.formulas), evidence=evidence)


def put_instead(draft: Draft, new: Mapping[Statement, Statement | None]) -> Draft:
    """Return the draft with statements replaced, and without those that None takes the place of;
    sections left empty go too.
    """

    def take(statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
        return tuple(said for each in statements if (said := new.get(each, each)))

    sections = [replace(section, statements=take(section.statements)) for section in draft.sections]
    kept = tuple(section for section in sections if section.statements)
    short, steps, course = map(take, (draft.short_answer, draft.next_steps, draft.course))
    return replace(draft, short_answer=short, sections=kept, next_steps=steps, course=course)


def walled(draft: Draft, wall: AddressWall) -> Draft:
    """Return the draft with an elision for each address that a statement may not give."""

    def said(statement: Statement) -> Statement:
        lead_in = wall.masked(statement.lead_in)
        return replace(statement, text=lead_in + wall.masked(statement.body), lead_in=lead_in)

    sections = tuple(replace(s, statements=tuple(map(said, s.statements))) for s in draft.sections)
    short, steps, course = (
        tuple(map(said, told)) for told in (draft.short_answer, draft.next_steps, draft.course)
    )
    return replace(draft, short_answer=short, sections=sections, next_steps=steps, course=course)
