"""Results of reading a unit's pages: findings checked against the page, leads, and refusals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from research.engine.evidence import claim_check, quotes
from research.engine.evidence.ledger import Lead
from research.engine.evidence.store import Finding
from research.engine.journal.forms import Form
from research.engine.llm_tasks.prompting.prompt_pages import NumberedSentence
from research.engine.offline.answering import is_answer
from research.engine.ports import Page
from research.engine.records import Aspect, QuoteSource, Uncertainty
from research.engine.text import entities
from research.engine.text.sentences import QUESTION_MARKS, split_sentences
from research.engine.untrusted.dictation import without_dictated
from research.engine.untrusted.prompt_injection import (
    is_beside_the_point,
    is_order,
    removed_orders,
)
from research.engine.untrusted.screening import label_of


@dataclass(frozen=True)
class Asked:
    """Purpose of reading a unit's pages: the topic, the queries that found them, and the reason."""

    topic: str
    queries: tuple[str, ...] = ()
    reason: str = ""

    def aims(self, question: str) -> tuple[str, ...]:
        """Return the texts that a page may be relevant to."""
        return (question, self.topic, *self.queries)


@dataclass(frozen=True)
class Refusal:
    claim: str
    url: str
    reason: str


@dataclass
class Reading:
    """Result of reading one unit's pages: checked findings, leads and refusals.

    `unread` are the addresses of pages that were not needed.
    """

    findings: list[Finding] = field(default_factory=list)
    leads: list[Lead] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    def take(self, other: Reading) -> None:
        """Merge the results of another reading."""
        self.findings += other.findings
        self.leads += other.leads
        self.refusals += other.refusals


def check_finding(
    reading: Reading, said: str, lines: Sequence[NumberedSentence], aspect: Aspect, question: str
) -> None:
    """Return the finding with its quote from the page.

    What dictates the words of others becomes a quotation, whatever the model made of it. A claim
    that its quote doesn't support is replaced by the quote if the quote answers the sub-question,
    and refused otherwise. `lines` are the sentences that the claim refers to; the page of the first
    one counts.
    """
    claim = " ".join(said.split())
    lines = [line for line in lines if line.page is lines[0].page]
    place = (
        quotes.quote_span([line.sentence for line in lines], lines[0].page.text) if lines else None
    )
    if place is None or not claim:
        reading.refusals.append(Refusal(claim, "", "no such sentence in the pages read"))
        return
    page = lines[0].page
    if all(line.sentence.text.endswith(QUESTION_MARKS) for line in lines):
        reading.refusals.append(Refusal(claim, page.url, "the page asks this and doesn't say it"))
        return
    section = label_of(lines[0].sentence.section, question, lines[0].form or Form.FIRST)
    if lines[0].dictated is not None:
        section = without_dictated(section)
    source = quote_source(page, *place, section)
    if reason := _unfit(claim, source, page, lines, question, aspect):
        reading.refusals.append(Refusal(claim, page.url, reason))
        return
    if any(line.dictated for line in lines):
        quote = quotes.plain_quote(source.quote)
        reading.findings.append(Finding(quote, aspect.id, source, 1.0, ("dictated",)))
        return
    if reason := _find_fault(claim, source, f"{page.title} {source.section} {question}"):
        reading.refusals.append(Refusal(claim, page.url, reason))
        claim = quotes.plain_quote(source.quote)
        if not is_answer(claim, f"{page.title} {source.section}", aspect.text):
            return
    reading.findings.append(Finding(claim, aspect.id, source, 1.0, claim_doubts(claim)))


def _unfit(
    claim: str,
    source: QuoteSource,
    page: Page,
    lines: Sequence[NumberedSentence],
    question: str,
    aspect: Aspect,
) -> str:
    """Return why neither a claim nor its quote is evidence; "" if one of them may be.

    A claim in the words of a sentence that is no order on its page is none either.
    """
    asked = f"{question} {aspect.text}"
    every = split_sentences(page.text)
    told = removed_orders(every, question, lines[0].form)
    quoted = [each for each in every if source.start < each.end and each.start < source.end]
    is_reworded = claim not in quotes.plain_quote(source.quote)
    if (is_reworded and is_order(claim, asked)) or any(each.number in told for each in quoted):
        return "it tells its readers what to say or do, and asserts nothing"
    blocks = {line.sentence.block for line in lines}
    if lines[0].dictated is None and is_beside_the_point(blocks, page, asked):
        return "it has nothing to do with the question or the rest of its page"
    return ""


def _find_fault(claim: str, source: QuoteSource, context: str) -> str:
    """Return why a claim may not be supported by its quote; "" if nothing speaks against it.

    A suspicion is enough: its quote, which takes its place, is certain.
    """
    if claim_check.share_supported(claim, source.quote, context) < claim_check.SUPPORTED_SHARE:
        return "not on the page"
    return ", ".join(claim_check.check_claim(claim, source.quote, context).reasons)


def claim_doubts(claim: str) -> tuple[Uncertainty, ...]:
    """Return the uncertainty flag of a hedged claim."""
    return ("hedged",) if entities.is_uncertain(claim) else ()


def quote_source(page: Page, start: int, end: int, section: str) -> QuoteSource:
    """Return the quote at these offsets of a stored page."""
    return QuoteSource(
        url=page.url,
        title=page.title,
        domain=page.domain,
        independence_key=page.independence_key,
        quote=page.text[start:end],
        start=start,
        end=end,
        text_sha256=page.sha256,
        fetched_at=page.fetched_at,
        section=section,
        published=page.published,
    )
