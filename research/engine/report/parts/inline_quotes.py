"""Quotations within sections: what an author may only quote, and what replaces statements."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import replace

from research.engine.evidence.ledger import Ledger
from research.engine.journal.forms import Form
from research.engine.offline.drafting import is_sentence, quote_statement
from research.engine.offline.passages.shown_passages import shown_text, slices_of
from research.engine.records import Evidence
from research.engine.report.draft import Draft, Section, Statement
from research.engine.report.parts.sources import lone_titles, publisher_of
from research.engine.report.parts.subjects import leans_alone, needs_before
from research.engine.report.report_i18n import labels_for
from research.engine.text.entities import find_numbers
from research.engine.text.language import language_of
from research.engine.text.tokens import words_in
from research.engine.untrusted.order_model import is_firmly_an_order
from research.engine.untrusted.order_words import content_terms

MOST_NEW = 0.4
"""Share of a quotation's words that another statement may lack and still say the same."""

MOST_QUOTABLE = 6
"""Most sentences that an author is shown to quote."""

NAME_WORDS = 2
"""Words of the name of a page's site beside a quotation, on average."""

MOST_WORDS = 40
"""Most words of a quotation that code inserts among statements."""

LEAST_SHARED = 2
"""Fewest content words that it shares with its sub-question, unless it has half of those of the
statement that it replaces.
"""


def quotable_parts(ledger: Ledger) -> list[str]:
    """Return the ids of the sub-questions with sentences that the report may only quote."""
    if ledger.began < Form.EDITED:
        return []
    return [part for part in ledger.aspects if quotable(ledger, {part})]


def quotable(ledger: Ledger, aspect_ids: Container[str]) -> list[Evidence]:
    """Return the sentences on some sub-questions that an author may quote where they belong, but
    not state: they read a little like what a page wants others to say.
    """
    if ledger.began < Form.COMPUTED:
        return []
    found = [r for r in ledger.evidence if r.is_dictated and r.aspect_id in aspect_ids]
    sentences = [r for r in found if is_sentence(r) and not is_firmly_an_order(r.claim)]
    if ledger.began >= Form.EDITED:
        sentences = [record for record in sentences if len(slices_of(record)) == 1]
    return sorted(sentences, key=lambda r: -r.relevance)[:MOST_QUOTABLE]


def quoted_if_due(said: Statement, ledger: Ledger) -> Statement:
    """Return a statement without the evidence that may only be quoted; where it has no other, the
    quotation.
    """
    cited = [ledger.book.records[i] for i in said.evidence if i in ledger.book.records]
    due = [record for record in cited if record.is_dictated]
    if not due or ledger.began < Form.COMPUTED:
        return said
    sound = tuple(i for i in said.evidence if i not in {record.id for record in due})
    return replace(said, evidence=sound, clauses=()) if sound else quote_statement(due[0])


def quotation_among_statements(record: Evidence, asked: str, said: str = "") -> Statement | None:
    """Return the shortest quote of a record that code may insert among statements: brief, one
    passage, readable alone, and on the sub-question `asked` or on the statement `said` that it
    replaces; None if there is none.
    """
    single = [replace(record, sources=(source,)) for source in record.sources]
    fitting = [each for each in single if _stands_alone(each) and _serves(each, asked, said)]
    best = min(fitting, key=lambda each: words_in(shown_text(each)), default=None)
    return replace(quote_statement(best), is_unplaced=True) if best else None


def _stands_alone(record: Evidence) -> bool:
    text = shown_text(record)
    language = language_of(text)
    return is_sentence(record) and words_in(text) <= MOST_WORDS and not needs_before(text, language)


def _serves(record: Evidence, asked: str, said: str) -> bool:
    told, replaced, wanted = map(content_terms, (shown_text(record), said, asked))
    if replaced and 2 * len(told & replaced) >= len(replaced):
        return True
    return bool(wanted) and len(told & wanted) >= min(LEAST_SHARED, len(wanted))


def is_mostly_quoted(draft: Draft) -> bool:
    """Return whether most statements of a draft's sections are quotations."""
    every = [said for section in draft.sections for said in section.statements]
    return 2 * sum(said.quoted for said in every) > len(every)


def without_told_quotes(draft: Draft) -> Draft:
    """Return the draft whose sections leave out a quotation that says again, with the same numbers,
    what a statement or a quotation before it says, unless nothing else would be left of its
    section.
    """
    told = [_content(said) for section in draft.sections for said in section.statements
            if not said.quoted]  # fmt: skip

    def new_of(section: Section) -> tuple[Statement, ...]:
        kept: list[Statement] = []
        for said in section.statements:
            if said.quoted:
                content = _content(said)
                if _is_told(content, told):
                    continue
                told.append(content)
            kept.append(said)
        return tuple(kept)

    sections = (replace(each, statements=new_of(each) or each.statements)
                for each in draft.sections)  # fmt: skip
    return replace(draft, sections=tuple(sections))


def _content(said: Statement) -> tuple[frozenset[str], frozenset[str]]:
    return content_terms(said.body), frozenset(find_numbers(said.body))


def _is_told(
    content: tuple[frozenset[str], frozenset[str]],
    told: Iterable[tuple[frozenset[str], frozenset[str]]],
) -> bool:
    words, numbers = content
    return bool(words) and any(
        numbers <= known and len(words - terms) <= MOST_NEW * len(words) for terms, known in told
    )


def quote_inline(draft: Draft, ledger: Ledger) -> Draft:
    """Return the draft whose quotations stand within its paragraphs, without the name of their page
    before them, where most of it is statements. What a page dictates and is firmly an order stays
    apart, as the words of its site, and so does what points at a sentence that isn't quoted, behind
    the heads of its page. A report on one question that only quotes keeps the names of pages.
    """
    if len(ledger.aspects) == 1 and all(said.quoted for said in draft.statements):
        return draft

    def inline(said: Statement) -> Statement:
        if not said.quoted:
            return said
        cited = [ledger.book.records[i] for i in said.evidence]
        if any(leans_alone(each, ledger) for each in cited):
            return said
        is_order = any(each.is_dictated and is_firmly_an_order(each.claim) for each in cited)
        lead_in = _own_words(said, ledger) if is_order else ""
        return replace(said, text=lead_in + said.body, lead_in=lead_in)

    def all_inline(statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
        return tuple(map(inline, statements))

    short = all_inline(draft.short_answer)
    if is_mostly_quoted(draft):
        return replace(draft, short_answer=short)
    sections = (replace(each, statements=all_inline(each.statements)) for each in draft.sections)
    return replace(draft, short_answer=short, sections=tuple(sections))


def _own_words(said: Statement, ledger: Ledger) -> str:
    """Return what names the site of a quotation, and that the words are its own."""
    source = ledger.book.records[said.evidence[0]].sources[0]
    told = labels_for(ledger.plan.language)["own_words"]
    name = lone_titles(ledger).get(source.url) or publisher_of(source, ledger)
    return f"**{told.format(name=name)}:** "


def words_of_quoting(draft: Draft) -> int:
    """Return how many words more the quotations of a draft take than the statements in whose place
    they stand, each once: a report that may only quote says no less for it. 0 where most of it is
    statements.
    """
    said = {*draft.statements}
    quoted = [each for each in said if each.replaced_words]
    if 2 * len(quoted) < len(said):
        return 0
    return sum(max(0, each.words + NAME_WORDS - each.replaced_words) for each in quoted)


def unplaced_quotes(draft: Draft) -> frozenset[Statement]:
    """Return the quotations that code put among statements; none where most of a draft is
    quotations.
    """
    if is_mostly_quoted(draft):
        return frozenset()
    return frozenset(said for section in draft.sections for said in section.statements
                     if said.is_unplaced)  # fmt: skip
