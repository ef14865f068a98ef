"""A report without a model: the passages that most likely answer, each quoted whole."""

from __future__ import annotations

from dataclasses import replace

from research.engine.assessment.answer_status import is_judged_by_code
from research.engine.evidence.ledger import Ledger
from research.engine.offline.passages.passage_model import SHOWN
from research.engine.offline.passages.shown_passages import shown_text
from research.engine.records import AnswerSupport, Aspect, Evidence, QuoteSource
from research.engine.report.draft import Draft, Section, Statement
from research.engine.report.report_i18n import labels_for
from research.engine.text.tokens import unique_texts, words_in

CLOSEST = 2
LEAST_WORDS = 6
"""Words that a quotation in a model's report has at least."""
LONG_QUOTE = 350
"""Characters from which on a quote may have been cut."""
_ENDS = (".", "!", "?", "…", ".”", '."', ".)", "。", "！", "？")


def draft_offline(ledger: Ledger) -> Draft:
    """Return a section of passages for each sub-question; the first one is the short answer if it
    is likely to answer.
    """
    main = next(iter(ledger.aspects.values()))
    shown = {aspect.id: shown_passages(ledger, aspect) for aspect in ledger.aspects.values()}
    short = shown[main.id][:1] if _is_answered(main) else []
    sections = [
        Section(
            aspect_id, tuple(map(quote_statement, records[bool(short) and aspect_id == main.id :]))
        )
        for aspect_id, records in shown.items()
    ]
    return Draft(
        tuple(map(quote_statement, short)),
        tuple(section for section in sections if section.statements),
        opening="" if short else labels_for(ledger.plan.language)[unjudged_words(main.standing)],
        by_code=is_judged_by_code(ledger),
    )


def draft_closest(ledger: Ledger) -> Draft:
    """Return the passages that come closest if no sub-question is answered."""
    if is_judged_by_code(ledger):
        return replace(draft_offline(ledger), found=False)
    best = sorted(ledger.evidence, key=lambda r: (-r.relevance, -len(r.keys), int(r.id[1:])))
    opening = labels_for(ledger.plan.language)["no_direct"]
    return Draft(tuple(map(quote_statement, best[:CLOSEST])), (), opening, found=False)


def shown_passages(ledger: Ledger, aspect: Aspect) -> list[Evidence]:
    """Return the passages shown for a sub-question, best first; its best evidence if a model read
    the pages.
    """
    if aspect.standing is None or aspect.standing.probability is None:
        return ledger.supporting(aspect.id)[:SHOWN]
    return [ledger.book.records[record_id] for record_id in aspect.standing.passages]


def quote_statement(record: Evidence) -> Statement:
    """Return the passage as a quotation behind the name of its source and section."""
    named = f"**{lead_in(record.sources[0])}:** "
    return Statement(f"{named}“{shown_text(record)}”", (record.id,), quoted=True, lead_in=named)


def is_sentence(record: Evidence) -> bool:
    """Return whether a record's quote reads alone: no heading, row of a table or lead-in of a list;
    a long one may have been cut before its end.
    """
    quote = shown_text(record)
    is_whole = quote.endswith(_ENDS) or len(quote) >= LONG_QUOTE
    return is_whole and words_in(quote) >= LEAST_WORDS


def lead_in(source: QuoteSource) -> str:
    """Return title and section of a source, each named once."""
    parts = [source.title or source.domain, *source.section.split(" › ")]
    return " › ".join(part for part in unique_texts(parts) if part)


def _is_answered(aspect: Aspect) -> bool:
    return (
        aspect.standing is None
        or aspect.standing.probability is None
        or (aspect.standing.is_answer)
    )


def unjudged_words(standing: AnswerSupport | None) -> str:
    """Return the label that says how close the passages of a sub-question come."""
    if standing is not None and standing.lacks_kind:
        return "lacking"
    return "nothing_here" if standing is not None and standing.is_off_topic else "unjudged"
