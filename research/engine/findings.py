"""What a unit's pages gave: findings checked against the page, leads, and what was refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from research.engine import claims, features, quotes
from research.engine.evidence import Finding
from research.engine.extractive.answering import answers
from research.engine.ledger import Lead
from research.engine.records import Aspect, Quoted, Uncertainty
from research.engine.sentences import QUESTION_MARKS
from research.engine.sheets import Numbered
from research.engine.tools import Page


@dataclass(frozen=True)
class Asked:
    """What a unit's pages are read for: the topic, the queries that found them, and why."""

    topic: str
    queries: tuple[str, ...] = ()
    reason: str = ""

    def aims(self, question: str) -> tuple[str, ...]:
        """The texts that a page may be relevant to."""
        return (question, self.topic, *self.queries)


@dataclass(frozen=True)
class Refusal:
    claim: str
    url: str
    reason: str


@dataclass
class Reading:
    """What one unit's pages gave: checked findings, leads, and what was refused."""

    findings: list[Finding] = field(default_factory=list)
    leads: list[Lead] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)


def check_finding(
    reading: Reading, said: str, lines: Sequence[Numbered], aspect: Aspect, question: str
) -> None:
    """Take the quote from the page; a claim that says something else gives way to it, where the
    quote's own words answer the sub-question, and is refused where they don't.

    `lines` are the sentences that the claim points at; those of the first one's page count.
    """
    claim = " ".join(said.split())
    lines = [line for line in lines if line.page is lines[0].page]
    place = quotes.span([line.sentence for line in lines], lines[0].page.text) if lines else None
    if place is None or not claim:
        reading.refusals.append(Refusal(claim, "", "no such sentence in the pages read"))
        return
    page = lines[0].page
    if all(line.sentence.text.endswith(QUESTION_MARKS) for line in lines):
        reading.refusals.append(Refusal(claim, page.url, "the page asks this and doesn't say it"))
        return
    source = quoted(page, *place, lines[0].sentence.section)
    if reason := _fault(claim, source, f"{page.title} {source.section} {question}"):
        reading.refusals.append(Refusal(claim, page.url, reason))
        claim = quotes.plain(source.quote)
        if not answers(claim, f"{page.title} {source.section}", aspect.text):
            return
    reading.findings.append(Finding(claim, aspect.id, source, 1.0, doubts(claim)))


def _fault(claim: str, source: Quoted, context: str) -> str:
    """Why a claim may not stand over its quote; "" where it may."""
    if claims.share_supported(claim, source.quote, context) < claims.SUPPORTED_SHARE:
        return "not on the page"
    if differing := claims.differences(claim, source.quote, context):
        return ", ".join(differing)
    return "stated more firmly than on the page" if claims.stronger(claim, source.quote) else ""


def doubts(claim: str) -> tuple[Uncertainty, ...]:
    """The flag of a claim that says only that something may be so."""
    return ("hedged",) if features.uncertain(claim) else ()


def quoted(page: Page, start: int, end: int, section: str) -> Quoted:
    """The quote at these offsets of a stored page."""
    return Quoted(
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
