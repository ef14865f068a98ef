"""Results of reading a unit's pages: findings checked against the page, leads, and refusals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from research.engine.evidence import claim_check, quotes
from research.engine.evidence.claim_check import RefusesBy
from research.engine.evidence.claims.figures import foreign_dates
from research.engine.evidence.claims.names import lent_by_page
from research.engine.evidence.ledger import Lead
from research.engine.evidence.store import Finding
from research.engine.llm_tasks.prompting.prompt_pages import NumberedSentence
from research.engine.offline.answering import is_answer
from research.engine.ports import Page
from research.engine.records import Aspect, QuoteSource, Uncertainty
from research.engine.report.parts.subjects import opens_with_reference
from research.engine.text import entities
from research.engine.text.language import language_of
from research.engine.text.sentences import (
    QUESTION_MARKS,
    Sentence,
    split_sentences,
    with_parent_heading,
)
from research.engine.text.tokens import term_set, unique_texts
from research.engine.untrusted.dictation import without_dictated
from research.engine.untrusted.embedded_parts import without_foreign_end
from research.engine.untrusted.order_words import content_terms
from research.engine.untrusted.prompt_injection import is_order, only_quoted, removed_orders
from research.engine.untrusted.screening import label_of


@dataclass(frozen=True)
class Asked:
    """Purpose of reading a unit's pages: the topics, the queries that found them, the reason, and
    by address the topics of other units whose searches named a page among the first and the numbers
    of the sentences that were shown of it in an earlier round.
    """

    topics: tuple[str, ...]
    queries: tuple[str, ...] = ()
    reason: str = ""
    beside: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    known: Mapping[str, frozenset[int]] = field(default_factory=dict, hash=False)

    @property
    def topic(self) -> str:
        return " ".join(self.topics)

    @property
    def told(self) -> str:
        """Return the topics for the prompt, one per line."""
        return "\n".join(self.topics)

    def aims(self, question: str) -> tuple[str, ...]:
        """Return the texts that a page may be relevant to."""
        return (question, self.topic, *self.queries)


BEYOND = "beyond the most findings that are kept of a page, {n} in all"
"""Why the first of the findings was not taken that a model named in excess."""


@dataclass(frozen=True)
class Refusal:
    claim: str
    url: str
    reason: str


_OF_FORM_COMPUTED = frozenset((
    "number differs", "date differs", "name differs", "pairs mixed up", "negation differs",
    "direction differs", "hedge lost",
))  # fmt: skip
"""Differences between a claim and its quotes that left no finding to a good verifier then."""


LANGUAGE_CHARACTERS = 2000
"""Of a page's text, enough to tell its language."""


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
    reading: Reading,
    said: str,
    lines: Sequence[NumberedSentence],
    aspect: Aspect,
    question: str,
    most_quotes: int = 1,
    refuses_by: RefusesBy = "likeness",
    beside: Sequence[NumberedSentence] = (),
    in_context: bool = False,
) -> None:
    """Add a finding with its quote from the page to a reading, or at most so many quotes where its
    sentences stand apart.

    What dictates the words of others becomes a quotation, whatever the model made of it. A claim
    that its quote doesn't support is replaced by the quote if that has most of its words or answers
    the sub-question, since `Form.EDITED` by each of several quotes, and refused otherwise. `lines`
    are the sentences that the claim refers to; the page of the first one counts. Where a good
    verifier judges later what the report says, `refuses_by` is "things": claims are kept whose
    figures, dates and names are those of all of their quotes. A date or number may then stand in
    the heads of the page, and a name in sentences `beside` them on other pages, as in "A and B both
    give this date". With `in_context` each quote keeps to one section and has its heading, and one
    that refers back begins with the sentence before it; in runs before `Form.EDITED` all have the
    heading of the first.
    """
    claim = " ".join(said.split())
    lines = [line for line in lines if line.page is lines[0].page]
    sources = _sources_of(claim, lines, aspect, question, most_quotes, in_context)
    if not sources or not claim:
        reading.refusals.append(Refusal(claim, "", "no such sentence in the pages read"))
        return
    page = lines[0].page
    if all(line.sentence.text.endswith(QUESTION_MARKS) for line in lines):
        reading.refusals.append(Refusal(claim, page.url, "the page asks this and doesn't say it"))
        return
    reasons = (_unfit(claim, each, page, question, aspect) for each in sources)
    if reason := next(filter(None, reasons), ""):
        reading.refusals.append(Refusal(claim, page.url, reason))
        return
    keeps_all = refuses_by != "likeness"
    if any(line.dictated for line in lines):
        reading.findings += _as_quotations(sources, aspect, keeps_all, in_context)
        return
    source, *also = sources
    context = f"{page.title} {_sections_of(sources)} {question}"
    if in_context:  # "The Debian Reference advises": a claim may say whose page it is from
        context = f"{context} {page.site} {page.domain}"
    lent = _lent(claim, context, (lines[0], *beside), sources, in_context) if keeps_all else None
    if _is_carried_together(claim, sources, context, lent, refuses_by):
        found = Finding(claim, aspect.id, source, 1.0, claim_doubts(claim), tuple(also))
        reading.findings.append(found)
        return
    if reason := find_claim_fault(claim, source.quote, context, source.day):
        reading.refusals.append(Refusal(claim, page.url, reason))
        if also and keeps_all and in_context:
            reading.findings += _quotes_on(claim, sources, aspect)
            return
        refused, claim = claim, quotes.plain_quote(source.quote)
        heads = f"{page.title} {source.section}"
        if not _is_on(refused, claim) and not is_answer(claim, heads, aspect.text):
            return
    kept = tuple(also) if keeps_all or not reason else ()
    reading.findings.append(Finding(claim, aspect.id, source, 1.0, claim_doubts(claim), kept))


def _sources_of(
    claim: str,
    lines: Sequence[NumberedSentence],
    aspect: Aspect,
    question: str,
    most_quotes: int,
    in_context: bool,
) -> list[QuoteSource]:
    """Return the quotes of a finding, under headings without what the page dictates."""
    if not lines:
        return []
    page, sentences = lines[0].page, [line.sentence for line in lines]
    if in_context:
        sentences = _with_those_before(sentences, page, aspect, question)
    told = " ".join(each.text for each in split_sentences(page.text))
    return [
        replace(each, section=without_foreign_end(without_dictated(each.section), told, question))
        for each in _quoted(page, sentences, most_quotes, question, in_context, claim)
    ]


def _as_quotations(
    sources: Sequence[QuoteSource], aspect: Aspect, keeps_all: bool, is_single: bool
) -> list[Finding]:
    """Return quotes as findings that the report may only quote: each as one if `is_single`, since
    joined quotes can't be placed, otherwise all or the first of them as one.
    """
    told = [quotes.plain_quote(each.quote) for each in sources]
    if is_single:
        return [
            Finding(quote, aspect.id, each, 1.0, ("dictated",))
            for quote, each in zip(told, sources, strict=True)
        ]
    kept = len(sources) if keeps_all else 1
    joined, also = " … ".join(told[:kept]), tuple(sources[1:kept])
    return [Finding(joined, aspect.id, sources[0], 1.0, ("dictated",), also)]


def _quotes_on(claim: str, sources: Sequence[QuoteSource], aspect: Aspect) -> list[Finding]:
    """Return the quotes of a refused claim as findings, each by itself, if they are on it."""
    told = [quotes.plain_quote(each.quote) for each in sources]
    if not _is_on(claim, " ".join(told)):
        return []
    return [
        Finding(quote, aspect.id, each, 1.0, claim_doubts(quote))
        for quote, each in zip(told, sources, strict=True)
    ]


def _is_carried_together(
    claim: str,
    sources: Sequence[QuoteSource],
    context: str,
    lent: tuple[str, str] | None,
    refuses_by: RefusesBy,
) -> bool:
    """Return whether code finds no fault in a claim with all of its quotes: with what is `lent` to
    them, if anything, or with several of them as they are.
    """
    whole = " ".join(each.quote for each in sources)
    if lent and not find_claim_fault(claim, whole, *lent, by=refuses_by):
        return True
    return len(sources) > 1 and not find_claim_fault(claim, whole, context, sources[0].day)


def _with_those_before(
    said: Sequence[Sentence], page: Page, aspect: Aspect, question: str
) -> list[Sentence]:
    """Return the sentences of a finding, each that refers back as one with that before it in its
    block, if a quote has room for both and that one may be stated.
    """
    every = split_sentences(page.text)
    language = language_of(page.text[:LANGUAGE_CHARACTERS])
    known = term_set(f"{question} {aspect.text} {page.title}")
    told: list[Sentence] = []
    for each in said:
        before = every[each.number - 1] if each.number else None
        is_due = before and before not in said and _refers_to(before, each, language, known)
        hidden = removed_orders(every, question) | only_quoted(every, question) if is_due else ()
        begins = before.start if before and is_due and before.number not in hidden else each.start
        told.append(replace(each, start=begins))
    return told


def _refers_to(before: Sentence, said: Sentence, language: str, known: Set[str]) -> bool:
    if before.block != said.block or said.end - before.start > quotes.MAX_QUOTE:
        return False
    return said.kind in {"prose", "item"} and opens_with_reference(said.text, language, known)


def lines_that_carry(
    said: str,
    lines: Sequence[NumberedSentence],
    question: str,
    most_quotes: int,
    by_section: bool = False,
) -> Sequence[NumberedSentence]:
    """Return the sentences of a finding without those that may only be quoted, if the others carry
    the claim as far as code can tell and the claim has no word of those alone, such as a condition.
    """
    claim, sound = " ".join(said.split()), [line for line in lines if not line.dictated]
    if not 0 < len(sound) < len(lines):
        return lines
    sentences = [line.sentence for line in sound]
    sources = _quoted(sound[0].page, sentences, most_quotes, question, by_section)
    quote = " ".join(source.quote for source in sources)
    context = f"{sound[0].page.title} {_sections_of(sources)} {question}"
    day = sources[0].day if sources else ""
    told = content_terms(" ".join(line.sentence.text for line in lines if line.dictated))
    lost = (content_terms(claim) & told) - content_terms(f"{quote} {context}")
    return lines if lost or find_claim_fault(claim, quote, context, day) else sound


def _quoted(
    page: Page,
    sentences: Sequence[Sentence],
    most_quotes: int,
    question: str,
    by_section: bool,
    claim: str = "",
) -> list[QuoteSource]:
    """Return the quotes that sentences of a page make up, with the headings above them; of many,
    where each has its own heading, those that tell most of a `claim`.
    """
    sections = {each.start: each.section for each in sentences}
    wanted = claim if by_section else ""
    spans = quotes.quote_spans(sentences, page.text, most_quotes, by_section, wanted)
    if not by_section:
        label = label_of(sentences[0].section, question)
        return [quotes.quote_source(page, *each, label) for each in spans]
    begins = (max(start for start in sections if start <= each[0]) for each in spans)
    paths = (with_parent_heading(page.text, start, sections[start]) for start in begins)
    told = zip(spans, paths, strict=True)
    return [quotes.quote_source(page, *span, label_of(path, question)) for span, path in told]


def _sections_of(sources: Iterable[QuoteSource]) -> str:
    return " ".join(unique_texts(source.section for source in sources))


def _is_on(claim: str, quote: str) -> bool:
    """Return whether the claim was made of this quote, though not as the quote says it."""
    said = content_terms(claim)
    return bool(said) and 2 * len(said & content_terms(quote)) >= len(said)


def _unfit(
    claim: str,
    source: QuoteSource,
    page: Page,
    question: str,
    aspect: Aspect,
) -> str:
    """Return why neither a claim nor its quote is evidence; "" if one of them may be.

    A claim in the words of a sentence that is no order on its page is none either.
    """
    asked = f"{question} {aspect.text}"
    every = split_sentences(page.text)
    told = removed_orders(every, question)
    quoted = [each for each in every if source.start < each.end and each.start < source.end]
    is_reworded = claim not in quotes.plain_quote(source.quote)
    if (is_reworded and is_order(claim, asked)) or any(each.number in told for each in quoted):
        return "it tells its readers what to say or do, and asserts nothing"
    return ""


def find_claim_fault(
    claim: str, quote: str, context: str, dated: str = "", *, by: RefusesBy = "likeness"
) -> str:
    """Return why a claim gives way to its quote as evidence; "" if code can't refuse it.

    Its dates have to be those of the quote or of the page. What is only suspected otherwise stays a
    claim, which has to be verified before a report may state it.
    """
    if not claim_check.is_supported(claim, quote, context):
        return "not on the page"
    check = claim_check.check_claim(claim, quote, context, by=by, dated=dated)
    differs = check.outcome == "refused"
    if by == "floor":
        differs = (differs or check.is_left) and not _OF_FORM_COMPUTED.isdisjoint(check.reasons)
    if differs:
        return ", ".join(check.reasons)
    is_foreign = foreign_dates(claim, f"{quote} ({dated})", f"{context} ({dated})")
    return "date differs" if is_foreign else ""


def _lent(
    claim: str,
    context: str,
    lines: Sequence[NumberedSentence],
    sources: Sequence[QuoteSource],
    by_page: bool,
) -> tuple[str, str]:
    """Return what lends a claim names, `by_page` all that its page has, and what lends it dates and
    numbers of its pages: heads and days. Of other pages those count whose sentences are on the
    claim.
    """
    own, *beside = lines
    others = [
        each
        for each in beside
        if each.page is not own.page and claim_check.is_supported(claim, each.sentence.text, "")
    ]
    names = [f"{each.page.title} {each.sentence.text}" for each in others]
    if by_page:
        names.append(
            lent_by_page(claim, " ".join(s.quote for s in sources), context, own.page.text)
        )
    days = (quotes.quote_source(each.page, 0, 0, "").day for each in others)
    heads = (sources[0].day, sources[0].title, *(source.section for source in sources))
    dated = unique_texts(map(quotes.without_version_marks, filter(None, (*heads, *days))))
    return " ".join((context, *names)), ", ".join(dated)


def claim_doubts(claim: str) -> tuple[Uncertainty, ...]:
    """Return the uncertainty flag of a hedged claim."""
    return ("hedged",) if entities.is_uncertain(claim) else ()
