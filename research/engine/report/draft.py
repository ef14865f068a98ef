"""A report before it is Markdown: statements that rest on ledger ids, and their check."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from research.engine.evidence import claim_check
from research.engine.evidence.claim_check import ClaimCheck
from research.engine.evidence.claims.computed import ASKED, Calculation, compute
from research.engine.evidence.claims.names import exchanges_identifiers
from research.engine.evidence.claims.operands import NotComputedError
from research.engine.evidence.ledger import Ledger
from research.engine.evidence.relations import Cell
from research.engine.journal.forms import Form
from research.engine.records import Evidence, OpenPoint, QuoteSource
from research.engine.text import entities
from research.engine.text.tokens import normalise_space, unique_texts, words_in
from research.engine.untrusted.address_wall import AddressWall

CONNECTIONS = 10
CONNECTION_WORDS = 15
_IDS = re.compile(r"(?:(?<!\s)\s+)?[\[(]E\d+(?:\s*[,;]\s*E\d+)*[\])]")
_ITEM = re.compile(r"\s*[-*•]\s+(?=\S)")
_ID = re.compile(r"E\d+")
_COUNT = re.compile(r"\b(?:two|three|four|five|six|seven|eight)\b", re.IGNORECASE)
_FIGURES = frozenset({"number differs", "date differs", "name differs"})
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
    `about` the one that its author put it under. One `by_number` was put into the short answer
    instead of a new sentence. `spare` is its place among those that its author would leave out of a
    report that is too long, from 1; 0 if it is none of them.
    """

    text: str
    evidence: tuple[str, ...] = ()
    quoted: bool = False
    lead_in: str = ""
    is_item: bool = False
    computed: Computation | None = None
    is_column: bool = False
    earlier: tuple[str, ...] = ()
    is_verdict: bool = False
    clauses: tuple[tuple[str, tuple[str, ...]], ...] = ()
    replaced_words: int = field(default=0, compare=False)
    part: str = field(default="", compare=False)
    about: str = field(default="", compare=False)
    by_number: bool = field(default=False, compare=False)
    spare: int = field(default=0, compare=False)

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
class Section:
    """Statements on one sub-question; `all_found` marks a short section with every finding."""

    aspect_id: str
    statements: tuple[Statement, ...]
    all_found: bool = False


@dataclass(frozen=True)
class Draft:
    """The draft of a report.

    `opening` precedes the short answer if nothing answers directly; if nothing was found, it holds
    the closest passages. `by_code` is True if no model judged the draft; `quoted_instead` are
    statements that were replaced by quotations. `newer` and `disagree` are pairs of ids by which
    the model related the evidence as it wrote, `cells` are things, properties and values of the
    table that it proposed. `next_steps` are what the model infers that the asker should do, `open`
    is what it says the report leaves open; None where no model did.
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

    @property
    def statements(self) -> list[Statement]:
        return [*self.short_answer, *(s for section in self.sections for s in section.statements)]


@dataclass(frozen=True)
class Fault:
    """Defect of a statement; `number` counts the draft's statements from 1."""

    number: int
    statement: Statement
    reason: str


def split_part(text: str, ledger: Ledger) -> tuple[str, str]:
    """Return the sub-question whose id a sentence begins with, "" without one, and the sentence."""
    found = _PART.match(text) if ledger.began >= Form.ORGANISED else None
    if found is None or found[1] not in ledger.aspects:
        return "", text
    return found[1], text[found.end() :]


def cite_ids(text: str, ledger: Ledger) -> Statement:
    """Return a sentence with its bracketed ids, or the claim of a lone id."""
    alone = text.strip(" []")
    if _ID.fullmatch(alone):
        record = ledger.book.records.get(alone)
        return statement_of(record.claim if record else "", [alone])
    item = _ITEM.match(text)
    said = text[item.end() if item else 0 :]
    ids = [i for group in _IDS.findall(text) for i in _ID.findall(group)]
    clauses = _clauses_of(said)
    return replace(statement_of(said, ids), is_item=item is not None, clauses=clauses)


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
    """Return the sentence without ids that the model wrote into it, and the ids that it cites."""
    return Statement(without_ids(text), tuple(dict.fromkeys(i.strip("[] ") for i in evidence)))


def aspect_of(statement: Statement, ledger: Ledger) -> str | None:
    """Return the sub-question of the first evidence that a statement cites."""
    records = (ledger.book.records.get(i) for i in statement.evidence)
    return next((r.aspect_id for r in records if r and r.aspect_id in ledger.aspects), None)


def without_ids(text: str) -> str:
    """Return a sentence without the ids of evidence that a model wrote into it."""
    return normalise_space(_IDS.sub("", text))


def find_faults(draft: Draft, ledger: Ledger) -> list[Fault]:
    """Return the statements that their evidence does not support. The short answer may not contain
    connecting sentences."""
    found, connections = [], 0
    total = len(draft.statements)
    for number, statement in enumerate(draft.statements, 1):
        if not statement.evidence:
            connections += 1
            misplaced = number <= len(draft.short_answer)
            if misplaced or connections * CONNECTIONS > total or _says_too_much(statement, ledger):
                found.append(Fault(number, statement, "it cites no evidence"))
        elif reason := _find_fault(statement, ledger):
            found.append(Fault(number, statement, reason))
    return found


def _says_too_much(statement: Statement, ledger: Ledger) -> bool:
    """Return whether an uncited sentence has too much content for a connection: a number, a new
    name, or too many words.
    """
    known = ledger.question.casefold()
    names = [name for name in entities.find_names(statement.text) if name.casefold() not in known]
    long = statement.words > CONNECTION_WORDS
    text = statement.text
    if text.endswith(":") and ledger.began >= Form.REPAIRED:
        text = _COUNT.sub("", text)  # "Three things hold it up:"
    return bool(long or names or entities.find_numbers(text))


def _find_fault(statement: Statement, ledger: Ledger) -> str:
    unknown = [i for i in statement.evidence if i not in ledger.book.records]
    if unknown:
        return f"there is no evidence {', '.join(unknown)}"
    if statement.quoted:
        return ""
    check = check_statement(statement, ledger)
    if check.outcome != "carried" and not _is_supported(statement, ledger):
        return "its quotes don't say it"
    if check.outcome == "refused":
        return f"{', '.join(check.reasons)}, compared with its quotes"
    records = [ledger.book.records[i] for i in statement.evidence]
    quoted = " ".join(source.quote for record in records for source in record.sources)
    is_compared = ledger.began >= Form.REPAIRED
    if is_compared and exchanges_identifiers(
        statement.text, quoted, _claim_context(records, ledger)
    ):
        return "it names another identifier than its quotes do for the same"
    return ""


def check_statements(
    statements: Iterable[Statement], ledger: Ledger
) -> dict[Statement, ClaimCheck]:
    """Return how each statement compares with its quotes."""
    return {each: check_statement(each, ledger) for each in statements}


def check_statement(statement: Statement, ledger: Ledger) -> ClaimCheck:
    """Compare a statement with its quotes, all together and each that says most of it alone; the
    best outcome counts, and where none carries it that of all together. What is computed is vouched
    for if code computes the same.

    All records that it cites have to be known.
    """
    records = [ledger.book.records[i] for i in statement.evidence]
    by_record = [_joined(record.sources, ledger) for record in records]
    single = (_joined([source], ledger) for record in records for source in record.sources)
    every = [source for record in records for source in record.sources]
    together, context = _joined(every, ledger), _claim_context(records, ledger)
    checks = []
    for quote, dated in dict.fromkeys((together, *by_record, *single)):
        supported = claim_check.is_supported(statement.text, quote, context)
        if quote == together[0] or supported:
            check = claim_check.check_claim(
                statement.text, quote, context, by=ledger.refuses_by, dated=dated
            )
            checks.append(check)
    best = min(checks, key=_rank)
    is_amiss = not _FIGURES.isdisjoint(set(best.reasons) & set(checks[0].reasons))
    if ledger.began >= Form.ORGANISED and best.outcome == "refused" and not is_amiss:
        best = checks[0]  # one quote of several lacks what the others give
        if best.outcome == "refused" and _holds_without_one(statement, every, context, ledger):
            best = ClaimCheck("undecided", best.reasons)
    if best.outcome == "carried" or statement.computed is None:
        return best
    try:
        calculate(statement, ledger)
    except NotComputedError as error:
        return ClaimCheck("refused", (str(error),))
    return ClaimCheck("carried")


def _holds_without_one(
    statement: Statement, sources: Sequence[QuoteSource], context: str, ledger: Ledger
) -> bool:
    """Return whether the other quotes don't refuse a statement that one of several is set against,
    such as by a condition or a speaker that the others don't name.
    """
    for left_out in sources if len(sources) > 1 else ():
        rest = [source for source in sources if source is not left_out]
        quote, dated = _joined(rest, ledger)
        if claim_check.is_supported(statement.text, quote, context):
            check = claim_check.check_claim(
                statement.text, quote, context, by=ledger.refuses_by, dated=dated
            )
            if check.outcome != "refused":
                return True
    return False


def _joined(sources: Sequence[QuoteSource], ledger: Ledger) -> tuple[str, str]:
    """Return the quotes of sources as one, and when their pages were published."""
    dates = unique_texts(source.day for source in sources)
    return " ".join(source.quote for source in sources), ", ".join(dates)


def _rank(check: ClaimCheck) -> int:
    """Return the place of an outcome from the best on; a suspicion against one quote does not
    outweigh a refusal by another.
    """
    if check.outcome == "undecided":
        return 3 if check.reasons else 1
    return 0 if check.outcome == "carried" else 2


def calculate(statement: Statement, ledger: Ledger) -> Calculation | None:
    """Return the calculation behind a statement; None if it isn't said to be computed.

    Raises `NotComputedError` if its quotes don't make it.
    """
    computed, records = statement.computed, ledger.book.records
    if computed is None:
        return None
    known = [records[i] for i in computed.evidence if i in records]
    is_asked = ASKED in computed.evidence
    if len(known) + is_asked < len(computed.evidence):
        raise NotComputedError("it is computed from evidence that doesn't exist")
    quotes = [(record.id, record.sources[0].quote) for record in known]
    if is_asked:
        whole = ((r.id, " ".join(source.quote for source in r.sources)) for r in known)
        quotes = [*whole, (ASKED, ledger.question)]
    return compute(statement.text, computed.operation, quotes, _claim_context(known, ledger))


def _is_supported(statement: Statement, ledger: Ledger) -> bool:
    records = [ledger.book.records[i] for i in statement.evidence]
    quoted = " ".join(source.quote for record in records for source in record.sources)
    context = _claim_context(records, ledger)
    return claim_check.is_supported(statement.text, quoted, context)


def _claim_context(records: Iterable[Evidence], ledger: Ledger) -> str:
    shown = [f"{s.title} {s.section}" for record in records for s in record.sources]
    return " ".join((ledger.question, *shown))


def put_instead(draft: Draft, new: Mapping[Statement, Statement | None]) -> Draft:
    """Return the draft with statements replaced, and without those that None takes the place of;
    sections left empty go too.
    """

    def take(statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
        return tuple(said for each in statements if (said := new.get(each, each)))

    sections = [replace(section, statements=take(section.statements)) for section in draft.sections]
    kept = tuple(section for section in sections if section.statements)
    short, steps = take(draft.short_answer), take(draft.next_steps)
    return replace(draft, short_answer=short, sections=kept, next_steps=steps)


def walled(draft: Draft, wall: AddressWall) -> Draft:
    """Return the draft with an elision for each address that a statement may not give."""

    def said(statement: Statement) -> Statement:
        lead_in = wall.masked(statement.lead_in)
        return replace(statement, text=lead_in + wall.masked(statement.body), lead_in=lead_in)

    sections = tuple(replace(s, statements=tuple(map(said, s.statements))) for s in draft.sections)
    short, steps = (tuple(map(said, told)) for told in (draft.short_answer, draft.next_steps))
    return replace(draft, short_answer=short, sections=sections, next_steps=steps)


def replace_statements(draft: Draft, repaired: dict[int, Statement]) -> Draft:
    """Return the draft with some statements replaced, by number."""
    new = iter(
        [
            replace(repaired.get(n, s), is_item=s.is_item, is_verdict=s.is_verdict)
            for n, s in enumerate(draft.statements, 1)
        ]
    )

    def take(statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
        return tuple(next(new) for _ in statements)

    short = take(draft.short_answer)
    sections = tuple(replace(s, statements=take(s.statements)) for s in draft.sections)
    return replace(draft, short_answer=short, sections=sections)
