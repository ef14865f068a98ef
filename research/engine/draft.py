"""A report before it is Markdown: statements that rest on ledger ids, and their check."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from research.engine import claims, features
from research.engine.ledger import Ledger
from research.engine.records import Evidence
from research.engine.text import normalise, words_in

CONNECTIONS = 10
CONNECTION_WORDS = 15
_IDS = re.compile(r"(?:(?<!\s)\s+)?[\[(]E\d+(?:\s*[,;]\s*E\d+)*[\])]")
_ID = re.compile(r"E\d+")


@dataclass(frozen=True)
class Statement:
    """One sentence of the report. `quoted` is a passage with its lead-in, made by code."""

    text: str
    evidence: tuple[str, ...] = ()
    quoted: bool = False
    lead_in: str = ""

    @property
    def body(self) -> str:
        """What it says, without the name of a quotation's source."""
        return self.text.removeprefix(self.lead_in)

    @property
    def words(self) -> int:
        return words_in(self.body)


@dataclass(frozen=True)
class Section:
    """What the report says on one sub-question."""

    aspect_id: str
    statements: tuple[Statement, ...]


@dataclass(frozen=True)
class Draft:
    """`opening` stands before the short answer where nothing answers directly; where nothing was
    found at all, the closest passages stand in its place.
    """

    short_answer: tuple[Statement, ...]
    sections: tuple[Section, ...]
    opening: str = ""
    found: bool = True

    @property
    def statements(self) -> list[Statement]:
        return [*self.short_answer, *(s for section in self.sections for s in section.statements)]


@dataclass(frozen=True)
class Fault:
    """What is wrong with a statement; `number` counts the draft's statements from 1."""

    number: int
    statement: Statement
    reason: str


def cited(text: str, ledger: Ledger) -> Statement:
    """A sentence and the ids in brackets in it, or the claim that an id alone stands for."""
    alone = text.strip(" []")
    if _ID.fullmatch(alone):
        record = ledger.book.records.get(alone)
        return statement_of(record.claim if record else "", [alone])
    return statement_of(text, [i for group in _IDS.findall(text) for i in _ID.findall(group)])


def statement_of(text: str, evidence: Iterable[str]) -> Statement:
    """The sentence without ids that the model wrote into it, and the ids that it cites."""
    return Statement(without_ids(text), tuple(dict.fromkeys(i.strip("[] ") for i in evidence)))


def aspect_of(statement: Statement, ledger: Ledger) -> str | None:
    """The sub-question of the first evidence that a statement cites."""
    records = (ledger.book.records.get(i) for i in statement.evidence)
    return next((r.aspect_id for r in records if r and r.aspect_id in ledger.aspects), None)


def without_ids(text: str) -> str:
    """A sentence without the ids of evidence that a model wrote into it."""
    return normalise(_IDS.sub("", text))


def faults(draft: Draft, ledger: Ledger) -> list[Fault]:
    """Every statement that its evidence does not carry. The short answer holds no connections."""
    found, connections = [], 0
    total = len(draft.statements)
    for number, statement in enumerate(draft.statements, 1):
        if not statement.evidence:
            connections += 1
            misplaced = number <= len(draft.short_answer)
            if misplaced or connections * CONNECTIONS > total or _states(statement, ledger):
                found.append(Fault(number, statement, "it cites no evidence"))
        elif reason := _fault(statement, ledger):
            found.append(Fault(number, statement, reason))
    return found


def _states(statement: Statement, ledger: Ledger) -> bool:
    """Whether an uncited sentence says more than a connection may: a number, a new name, or
    more words than it takes to connect."""
    known = ledger.question.casefold()
    names = [name for name in features.names(statement.text) if name.casefold() not in known]
    long = statement.words > CONNECTION_WORDS
    return bool(long or names or features.numbers(statement.text))


def _fault(statement: Statement, ledger: Ledger) -> str:
    unknown = [i for i in statement.evidence if i not in ledger.book.records]
    if unknown:
        return f"there is no evidence {', '.join(unknown)}"
    if statement.quoted:
        return ""
    records = [ledger.book.records[i] for i in statement.evidence]
    said = [" ".join(source.quote for source in record.sources) for record in records]
    quoted = " ".join(said)
    context = _context(records, ledger)
    if claims.share_supported(statement.text, quoted, context) < claims.SUPPORTED_SHARE:
        return "its quotes don't say it"
    if differing := claims.differences(statement.text, quoted, context):
        return f"{', '.join(differing)} between it and its quotes"
    if all(claims.stronger(statement.text, each) for each in _carrying(statement, said, context)):
        return "it is stated more firmly than its quotes"
    return ""


def _carrying(statement: Statement, said: Sequence[str], context: str) -> Sequence[str]:
    """The quotes that say what the statement says; all of them where none does so alone."""
    least = claims.SUPPORTED_SHARE
    alone = [q for q in said if claims.share_supported(statement.text, q, context) >= least]
    return alone or said


def _context(records: Iterable[Evidence], ledger: Ledger) -> str:
    shown = [f"{s.title} {s.section}" for record in records for s in record.sources]
    return " ".join((ledger.question, *shown))


def without(draft: Draft, numbers: set[int]) -> Draft:
    """The draft without the statements of these numbers; sections left empty go too."""
    kept = iter([s if n not in numbers else None for n, s in enumerate(draft.statements, 1)])

    def take(statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
        return tuple(s for _ in statements if (s := next(kept)) is not None)

    short = take(draft.short_answer)
    sections = [replace(section, statements=take(section.statements)) for section in draft.sections]
    return replace(draft, short_answer=short, sections=tuple(s for s in sections if s.statements))


def mended(draft: Draft, repaired: dict[int, Statement]) -> Draft:
    """The draft with some statements replaced, by number."""
    new = iter([repaired.get(n, s) for n, s in enumerate(draft.statements, 1)])

    def take(statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
        return tuple(next(new) for _ in statements)

    short = take(draft.short_answer)
    sections = tuple(replace(s, statements=take(s.statements)) for s in draft.sections)
    return replace(draft, short_answer=short, sections=sections)
