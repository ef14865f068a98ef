"""What a unit's pages gave: findings checked against the page, leads, and what was refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from research.engine import quotes
from research.engine.evidence import SERIOUS, Finding
from research.engine.ledger import Lead
from research.engine.records import Quoted
from research.engine.sheets import Numbered
from research.engine.tools import Page

SUPPORTED_SHARE = 0.4


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
    reading: Reading, said: str, lines: Sequence[Numbered], aspect_id: str, question: str
) -> None:
    """Take the quote from the page; a claim that says something else gives way to it.

    `lines` are the sentences that the claim points at; those of the first one's page count.
    """
    claim = " ".join(said.split())
    lines = [line for line in lines if line.page is lines[0].page]
    place = quotes.span([line.sentence for line in lines], lines[0].page.text) if lines else None
    if place is None or not claim:
        reading.refusals.append(Refusal(claim, "", "no such sentence in the pages read"))
        return
    page = lines[0].page
    source = quoted(page, *place, lines[0].sentence.section)
    context = f"{page.title} {source.section}"
    differing = [
        flag for flag in quotes.differences(claim, source.quote, context) if flag in SERIOUS
    ]
    share = quotes.share_supported(claim, source.quote, f"{context} {question}")
    if differing or share < SUPPORTED_SHARE:
        reason = ", ".join(flag.replace("_", " ") for flag in differing) or "not on the page"
        reading.refusals.append(Refusal(claim, page.url, reason))
        claim = quotes.plain(source.quote)
    hedged = ("hedged",) if quotes.stronger(claim, source.quote) else ()
    reading.findings.append(Finding(claim, aspect_id, source, 1.0, hedged))  # type: ignore[arg-type]


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
