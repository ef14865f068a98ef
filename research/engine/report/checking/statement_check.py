"""Check a draft's statements by code: against the quotes that they cite, and by computing again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import zip_longest
from urllib.parse import unquote, urlsplit

from research.engine.evidence import claim_check
from research.engine.evidence.claim_check import ClaimCheck
from research.engine.evidence.claims.computed import compute
from research.engine.evidence.claims.figures import foreign_dates
from research.engine.evidence.claims.formulas import compute_formulas, has_foreign_figure
from research.engine.evidence.claims.names import (
    exchanges_identifiers,
    has_unknown_name,
    lent_by_page,
    unknown_names,
)
from research.engine.evidence.claims.operands import ASKED, Calculation, NotComputedError
from research.engine.evidence.ledger import Ledger
from research.engine.evidence.quotes import without_version_marks
from research.engine.journal.forms import Form
from research.engine.records import Evidence, QuoteSource
from research.engine.report.draft import Draft, Fault, Statement
from research.engine.text import entities
from research.engine.text.tokens import unique_texts

CONNECTIONS = 10
CONNECTION_WORDS = 15
_COUNT = re.compile(r"\b(?:two|three|four|five|six|seven|eight)\b", re.IGNORECASE)
FIGURES = frozenset({"number differs", "date differs", "name differs"})

_CODE = re.compile(r"`([^`]+)`")
_NAME = re.compile(r"[^/.]+")
OWN = ""
"""Source of a figure that a conclusion sets itself, in code."""


def find_faults(draft: Draft, ledger: Ledger) -> list[Fault]:
    """Return the statements that their evidence does not support. The short answer may not contain
    connecting sentences."""
    found, connections = [], 0
    total, idle = len(draft.statements), idle_sentences(draft, ledger)
    for number, statement in enumerate(draft.statements, 1):
        if not statement.evidence:
            connections += 1
            amiss = number <= len(draft.short_answer) or statement in idle
            if ledger.began < Form.EDITED:
                amiss = amiss or connections * CONNECTIONS > total
                amiss = amiss or _says_too_much(statement, ledger.question, ledger)
            if amiss:
                found.append(Fault(number, statement, "it cites no evidence"))
        elif reason := find_fault(statement, ledger):
            found.append(Fault(number, statement, reason))
    return found


def idle_sentences(draft: Draft, ledger: Ledger) -> set[Statement]:
    """Return the uncited sentences of sections that don't only lead over to a cited statement; none
    in runs before `Form.EDITED`.
    """
    if ledger.began < Form.EDITED:
        return set()
    idle = unfollowed_sentences(draft)
    for section in draft.sections:
        part = ledger.aspects.get(section.aspect_id)
        cited = (said.body for said in section.statements if said.evidence)
        known = " ".join((ledger.question, part.text if part else "", *cited))
        uncited = (said for said in section.statements if not said.evidence)
        idle |= {said for said in uncited if _says_too_much(said, known, ledger)}
    return idle


def unfollowed_sentences(draft: Draft) -> set[Statement]:
    """Return the uncited sentences of sections that no cited statement follows."""
    return {
        said
        for section in draft.sections
        for said, behind in zip_longest(section.statements, section.statements[1:])
        if not said.evidence and not (behind and behind.evidence)
    }


def _says_too_much(statement: Statement, known: str, ledger: Ledger) -> bool:
    """Return whether an uncited sentence has too much content for a connection: a number, a name
    that isn't known, or too many words.
    """
    if ledger.began < Form.EDITED:
        folded = known.casefold()
        names = [n for n in entities.find_names(statement.text) if n.casefold() not in folded]
    else:
        said = statement.text[:1].lower() + statement.text[1:]  # "Opinions differ" has no name
        names = [*unknown_names(said, known, ledger.plan.language)]
    long = statement.words > CONNECTION_WORDS
    text = statement.text
    if text.endswith(":"):
        text = _COUNT.sub("", text)  # "Three things hold it up:"
    return bool(long or names or entities.find_numbers(text))


def find_fault(statement: Statement, ledger: Ledger) -> str:
    """Return why a cited sentence can't be shown; "" where code finds nothing."""
    unknown = [i for i in statement.evidence if i not in ledger.book.records]
    if unknown:
        return f"there is no evidence {', '.join(unknown)}"
    if statement.quoted or statement.concludes:
        return ""
    check = check_statement(statement, ledger)
    tells_result = ledger.began >= Form.EDITED and statement.formulas and check.outcome != "refused"
    if check.outcome != "carried" and not tells_result and not _is_supported(statement, ledger):
        return "its quotes don't say it"
    if check.outcome == "refused":
        return f"{', '.join(check.reasons)}, compared with its quotes"
    records = [ledger.book.records[i] for i in statement.evidence]
    quoted = " ".join(source.quote for record in records for source in record.sources)
    if exchanges_identifiers(statement.text, quoted, claim_context(records, ledger)):
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
    if statement.concludes:  # what it has of its own is looked for by itself
        return ClaimCheck("undecided")
    if rests_on_question(statement, ledger):
        return _check_with_formulas(statement, ledger)
    records = [ledger.book.records[i] for i in statement.evidence]
    by_record = [join_quotes(record.sources, ledger) for record in records]
    single = (join_quotes([source], ledger) for record in records for source in record.sources)
    every = [source for record in records for source in record.sources]
    together, context = join_quotes(every, ledger), claim_context(records, ledger)
    if ledger.began >= Form.EDITED and ledger.refuses_by == "things":
        read = [
            ledger.pages[url].text
            for url in unique_texts(s.url for s in every)
            if url in ledger.pages
        ]
        context += " ".join(
            lent_by_page(statement.text, together[0], context, text) for text in read
        )
    checks = []
    for quote, dated in dict.fromkeys((together, *by_record, *single)):
        supported = claim_check.is_supported(statement.text, quote, context)
        if quote == together[0] or supported:
            check = claim_check.check_claim(
                statement.text, quote, context, by=ledger.refuses_by, dated=dated
            )
            checks.append(check)
    best = min(checks, key=_rank)
    is_amiss = not FIGURES.isdisjoint(set(best.reasons) & set(checks[0].reasons))
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
    _, dated = join_quotes([s for record in records for s in record.sources], ledger)
    known = " ".join((*(text for _, text in given), claim_context(records, ledger), dated))
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
        quote, dated = join_quotes(rest, ledger)
        if claim_check.is_supported(statement.text, quote, context):
            check = claim_check.check_claim(
                statement.text, quote, context, by=ledger.refuses_by, dated=dated
            )
            if check.outcome != "refused":
                return True
    return False


def join_quotes(sources: Sequence[QuoteSource], ledger: Ledger) -> tuple[str, str]:
    """Return the quotes of sources as one, and when their pages were published, since
    `Form.COMPUTED` with their heads, which may tell a date or version ("Release 15.8").
    """
    dates = unique_texts(source.day for source in sources)
    if ledger.began >= Form.COMPUTED:
        heads = (head for source in sources for head in (source.title, source.section))
        dates = unique_texts(map(without_version_marks, filter(None, (*dates, *heads))))
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
    sources = sources_of_formulas(statement, ledger)
    marks_asked = ledger.began >= Form.EDITED
    return compute_formulas(statement.formulas, sources, marks_asked=marks_asked)


def sources_of_formulas(statement: Statement, ledger: Ledger) -> list[tuple[str, str]]:
    """Return the quotes that a statement cites, by their records, what was asked, and the code of a
    conclusion, whose values may be its own.
    """
    cited = [ledger.book.records[i] for i in statement.evidence if i in ledger.book.records]
    quoted = [(each.id, " ".join(source.quote for source in each.sources)) for each in cited]
    is_own = statement.concludes and ledger.began >= Form.EDITED
    codes = " ".join(_CODE.findall(statement.text)) if is_own else ""
    return [*quoted, (ASKED, ledger.asked), *([(OWN, codes)] if codes else [])]


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
        quotes = [*whole, (ASKED, ledger.asked)]
    context = claim_context(known, ledger)
    reads_limits = ledger.began >= Form.COMPUTED
    made = compute(statement.text, computed.operation, quotes, context, reads_limits=reads_limits)
    return (replace(made, marks_asked=ledger.began >= Form.EDITED),)


def _is_supported(statement: Statement, ledger: Ledger) -> bool:
    records = [ledger.book.records[i] for i in statement.evidence]
    quoted = " ".join(source.quote for record in records for source in record.sources)
    context = claim_context(records, ledger)
    return claim_check.is_supported(statement.text, quoted, context)


def claim_context(records: Iterable[Evidence], ledger: Ledger) -> str:
    """Return what may lend a statement names beside its quotes: the question, the heads of the
    quotes, and since `Form.EDITED` the sites, which who writes sees beside them.
    """
    sources = [source for record in records for source in record.sources]
    shown = [f"{source.title} {source.section}" for source in sources]
    if ledger.began >= Form.EDITED:
        shown += unique_texts(name for source in sources for name in site_names(source, ledger))
    return " ".join((ledger.question, *shown))


def site_names(source: QuoteSource, ledger: Ledger) -> tuple[str, ...]:
    """Return the name that a source's site gives itself, if that is known, and its domain; of a
    document the names of its folders and file, which tell that it is a program's FAQ.
    """
    page = ledger.pages.get(source.url)
    path = unquote(urlsplit(source.url).path) if source.url.startswith("file:") else ""
    return tuple(filter(None, (page.site if page else "", source.domain, *_NAME.findall(path))))
