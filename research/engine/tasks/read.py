"""Task `read`: what the fetched pages of one unit say on the sub-questions.

The model points at numbered sentences and never retypes a quote; code takes the quote out
of the stored page and compares the claim with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from research.engine import quotes
from research.engine.evidence import SERIOUS, Finding
from research.engine.extractive import reading
from research.engine.ledger import Lead
from research.engine.records import Aspect, Quoted
from research.engine.relevance import term_weights
from research.engine.run import Run
from research.engine.tasks.ask import Answer, Task, TaskFailed, ask
from research.engine.text import Sentence, sentences, term_set
from research.engine.tools import Page

PAGE_CHARACTERS = 8000
SUPPORTED_SHARE = 0.4


class ReadFinding(Answer):
    claim: str
    sentences: list[int]
    sub_question: str
    names: list[str]
    dates: list[str]
    numbers: list[str]
    definitions: list[str]


class ReadLead(Answer):
    topic: str
    query: str
    sentence: int


class ReadAnswer(Answer):
    findings: list[ReadFinding]
    leads: list[ReadLead]


TASK = Task("read", ReadAnswer, 3000)


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


@dataclass(frozen=True)
class Numbered:
    """A sentence as the prompt shows it."""

    number: int
    sentence: Sentence
    page: Page


@dataclass(frozen=True)
class Sheet:
    """A page as the prompt shows it: the sentences that fit, in the page's order."""

    number: int
    page: Page
    lines: tuple[Numbered, ...]


async def read(
    run: Run, place: str, topic: str, pages: Sequence[Page], aspects: Sequence[Aspect]
) -> Reading:
    """Findings and leads of the pages of one unit; falls back to the extractive reader."""
    if run.has_model and pages:
        try:
            return await _read_with_model(run, place, topic, pages, aspects)
        except TaskFailed as failed:
            run.fell_back(TASK.name, failed.cause)
    return read_extractively(run, pages, aspects)


def read_extractively(run: Run, pages: Sequence[Page], aspects: Sequence[Aspect]) -> Reading:
    per_page = run.config.max_evidence_claims_per_research_unit
    scored = reading.read_pages(pages, aspects, per_page)
    return Reading([_finding(item) for item in scored])


def _finding(item: reading.Scored) -> Finding:
    """The passage as a claim in its own words, with the term that it defines."""
    passage = item.passage
    section = passage.section
    return Finding(
        claim=passage.claim,
        aspect_id=item.aspect_id,
        source=quoted(passage.page, passage.start, passage.end, section),
        relevance=item.score,
        also=(quoted(passage.page, *passage.label, section),) if passage.label else (),
    )


async def _read_with_model(
    run: Run, place: str, topic: str, pages: Sequence[Page], aspects: Sequence[Aspect]
) -> Reading:
    sheets = _sheets(pages, f"{run.question.text} {topic}")
    answer = await ask(
        run.journal,
        run.config.max_model_attempts,
        place,
        TASK,
        {
            "question": run.question.text,
            "today": run.question.today,
            "topic": topic,
            "aspects": aspects,
            "sheets": sheets,
            "most": run.config.max_evidence_claims_per_research_unit * len(pages),
        },
    )
    lines = {line.number: line for sheet in sheets for line in sheet.lines}
    known = {aspect.id for aspect in aspects}
    result = Reading()
    for found in answer.findings:
        aspect_id = found.sub_question if found.sub_question in known else aspects[0].id
        _check(run, found, [lines[n] for n in found.sentences if n in lines], aspect_id, result)
    for lead in answer.leads:
        line = lines.get(lead.sentence)
        if line is not None and lead.topic.strip():
            query = lead.query.strip() or lead.topic
            result.leads.append(Lead(lead.topic.strip(), query, line.page.url, 1.0))
    return result


def _check(
    run: Run, found: ReadFinding, lines: list[Numbered], aspect_id: str, result: Reading
) -> None:
    """Take the quote from the page; a claim that says something else gives way to it."""
    claim = " ".join(found.claim.split())
    lines = [line for line in lines if line.page is lines[0].page]
    place = quotes.span([line.sentence for line in lines], lines[0].page.text) if lines else None
    if place is None or not claim:
        result.refusals.append(Refusal(claim, "", "no such sentence in the pages read"))
        return
    page = lines[0].page
    source = quoted(page, *place, lines[0].sentence.section)
    context = f"{page.title} {source.section}"
    differing = [
        flag for flag in quotes.differences(claim, source.quote, context) if flag in SERIOUS
    ]
    share = quotes.share_supported(claim, source.quote, f"{context} {run.question.text}")
    if differing or share < SUPPORTED_SHARE:
        reason = ", ".join(flag.replace("_", " ") for flag in differing) or "not on the page"
        result.refusals.append(Refusal(claim, page.url, reason))
        claim = quotes.plain(source.quote)
    hedged = ("hedged",) if quotes.stronger(claim, source.quote) else ()
    result.findings.append(Finding(claim, aspect_id, source, 1.0, hedged))  # type: ignore[arg-type]


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


def _sheets(pages: Sequence[Page], wanted: str) -> list[Sheet]:
    """Number the sentences of all pages through, each page cut to `PAGE_CHARACTERS`."""
    sheets, number = [], 0
    for position, page in enumerate(pages, 1):
        lines = []
        for sentence in _fitting(sentences(page.text), wanted):
            number += 1
            lines.append(Numbered(number, sentence, page))
        sheets.append(Sheet(position, page, tuple(lines)))
    return sheets


def _fitting(found: Sequence[Sentence], wanted: str) -> Sequence[Sentence]:
    """The most relevant sentences that fit, in the page's order; the opening always."""
    if sum(len(s.text) for s in found) <= PAGE_CHARACTERS:
        return found
    weights = term_weights(wanted)

    def worth(sentence: Sentence) -> float:
        held = term_set(f"{sentence.section} {sentence.text}")
        return sum(weight for term, weight in weights.items() if term in held)

    room, kept = PAGE_CHARACTERS, []
    for sentence in sorted(found, key=lambda s: (s.number > 1, -worth(s), s.number)):
        if len(sentence.text) <= room:
            kept.append(sentence)
            room -= len(sentence.text)
    return sorted(kept, key=lambda s: s.number)
