"""Check a draft's statements by code: against the quotes that they cite, and by computing again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from research.engine.evidence import claim_check
from research.engine.evidence.claim_check import ClaimCheck
from research.engine.evidence.claims.computed import compute
from research.engine.evidence.claims.figures import foreign_dates
from research.engine.evidence.claims.formulas import compute_formulas, has_foreign_figure
from research.engine.evidence.claims.names import exchanges_identifiers, has_unknown_name
from research.engine.evidence.claims.operands import ASKED, Calculation, NotComputedError
from research.engine.evidence.ledger import Ledger
from research.engine.journal.forms import Form
from research.engine.records import Evidence, QuoteSource
from research.engine.report.draft import Draft, Fault, Statement
from research.engine.text import entities
from research.engine.text.tokens import unique_texts

CONNECTIONS = 10
CONNECTION_WORDS = 15
_COUNT = re.compile(r"\b(?:two|three|four|five|six|seven|eight)\b", re.IGNORECASE)
_FIGURES = frozenset({"number differs", "date differs", "name differs"})


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
    if text.endswith(":"):
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
    if exchanges_identifiers(statement.text, quoted, _claim_context(records, ledger)):
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
    for if code computes the same; the words around a formula remain for the verifier.

    All records that it cites have to be known.
    """
    if rests_on_question(statement, ledger):
        return _check_with_formulas(statement, ledger)
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
    if best.outcome == "refused" and not is_amiss:
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


def rests_on_question(statement: Statement, ledger: Ledger) -> bool:
    """Return whether a statement has formulas, or a figure that the question gives and none of its
    quotes.
    """
    if statement.formulas or ledger.began < Form.COMPUTED or statement.computed:
        return bool(statement.formulas)
    *quoted, asked = sources_of_formulas(statement, ledger)
    lacks = has_foreign_figure(statement.text, (), quoted)
    return lacks and not has_foreign_figure(statement.text, (), [*quoted, asked])


def _check_with_formulas(statement: Statement, ledger: Ledger) -> ClaimCheck:
    """Compute the formulas of a statement if it has any, and look for names, dates and figures that
    nothing gives. What its words say is left to the verifier.
    """
    try:
        calculate(statement, ledger)
    except NotComputedError as error:
        return ClaimCheck("refused", (str(error),))
    given = sources_of_formulas(statement, ledger)
    if has_foreign_figure(statement.text, statement.formulas, given):
        return ClaimCheck("refused", ("it has a figure that neither quotes nor formulas give",))
    records = [ledger.book.records[i] for i in statement.evidence]
    _, dated = _joined([s for record in records for s in record.sources], ledger)
    known = " ".join((*(text for _, text in given), _claim_context(records, ledger), dated))
    if foreign_dates(statement.text, known, ""):
        return ClaimCheck("refused", ("date differs",))
    if has_unknown_name(statement.text, known, ledger.plan.language):
        return ClaimCheck("refused", ("name differs",))
    return ClaimCheck("undecided")


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
    """Return the quotes of sources as one, and when their pages were published, since
    `Form.COMPUTED` with their heads, which may tell a date or version ("Release 15.8").
    """
    dates = unique_texts(source.day for source in sources)
    if ledger.began >= Form.COMPUTED:
        heads = (head for source in sources for head in (source.title, source.section))
        dates = unique_texts(filter(None, (*dates, *heads)))
    return " ".join(source.quote for source in sources), ", ".join(dates)


def _rank(check: ClaimCheck) -> int:
    """Return the place of an outcome from the best on; a suspicion against one quote does not
    outweigh a refusal by another.
    """
    if check.outcome == "undecided":
        return 3 if check.reasons else 1
    return 0 if check.outcome == "carried" else 2


def calculate(statement: Statement, ledger: Ledger) -> tuple[Calculation, ...]:
    """Return the calculations behind a statement: of its operation, and of its formulas.

    Raises `NotComputedError` if its quotes, and for a formula the question, don't make them.
    """
    return (*_calculate_operation(statement, ledger), *calculate_formulas(statement, ledger))


def calculate_formulas(statement: Statement, ledger: Ledger) -> tuple[Calculation, ...]:
    """Return the calculations of a statement's formulas. Raises `NotComputedError`."""
    if not statement.formulas:
        return ()
    return compute_formulas(statement.formulas, sources_of_formulas(statement, ledger))


def sources_of_formulas(statement: Statement, ledger: Ledger) -> list[tuple[str, str]]:
    """Return the quotes that a statement cites, by their records, and the question."""
    cited = [ledger.book.records[i] for i in statement.evidence if i in ledger.book.records]
    quoted = [(each.id, " ".join(source.quote for source in each.sources)) for each in cited]
    return [*quoted, (ASKED, ledger.question)]


def _calculate_operation(statement: Statement, ledger: Ledger) -> tuple[Calculation, ...]:
    computed, records = statement.computed, ledger.book.records
    if computed is None:
        return ()
    known = [records[i] for i in computed.evidence if i in records]
    is_asked = ASKED in computed.evidence
    if len(known) + is_asked < len(computed.evidence):
        raise NotComputedError("it is computed from evidence that doesn't exist")
    quotes = [(record.id, record.sources[0].quote) for record in known]
    if is_asked:
        whole = ((r.id, " ".join(source.quote for source in r.sources)) for r in known)
        quotes = [*whole, (ASKED, ledger.question)]
    context = _claim_context(known, ledger)
    reads_limits = ledger.began >= Form.COMPUTED
    return (
        compute(statement.text, computed.operation, quotes, context, reads_limits=reads_limits),
    )


def _is_supported(statement: Statement, ledger: Ledger) -> bool:
    records = [ledger.book.records[i] for i in statement.evidence]
    quoted = " ".join(source.quote for record in records for source in record.sources)
    context = _claim_context(records, ledger)
    return claim_check.is_supported(statement.text, quoted, context)


def _claim_context(records: Iterable[Evidence], ledger: Ledger) -> str:
    shown = [f"{s.title} {s.section}" for record in records for s in record.sources]
    return " ".join((ledger.question, *shown))
