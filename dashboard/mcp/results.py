"""Return values of the tools. Page text is only in fields named `quote`, `text_…` and `title`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel, Field

from research.engine.records import Status
from research.models import Evidence, EvidenceSource, PageText, Report, Run
from research.readmodel.progress import how_far, load_progress
from research.readmodel.progress_parts import Progress
from research.readmodel.run_json import REVIEW
from research.worker.commands import WAKES

NEXT_TOOLS = {
    Status.AWAITING_CLARIFICATION: "answer",
    Status.AWAITING_APPROVAL: "approve",
    Status.PAUSED: "steer",
    Status.STALLED: "steer",
}
"""The tool that a waiting run needs before it continues."""


class SubQuestion(BaseModel):
    id: str
    text: str
    status: str
    sources: int = Field(description="Independent sites (or documents) behind the answer.")
    open_points: int = Field(0, description="Points that the report lists as open.")


class PlanState(BaseModel):
    """A proposed plan. `estimate` has ranges of seconds, calls, tokens and US dollars."""

    brief: str
    sub_questions: list[str]
    scope: str
    estimate: dict[str, Any] | None


class RunState(BaseModel):
    """A run as committed now."""

    run: str
    question: str
    status: str
    ended: bool
    next_tool: str = Field(
        description="Tool that the run waits for; 'wait' while it works, 'read_report' at its end."
    )
    progress: str = Field(description="Such as 'round 2 of up to 5'.")
    activity: str
    verdict: str = Field(description="Why the run goes on, or why it ended.")
    score: float | None
    score_goal: float
    questions: list[str] = Field(description="For `answer`, in the order of the answers.")
    plan: PlanState | None = Field(description="For `approve`; null once it is approved.")
    sub_questions: list[SubQuestion]
    open_gaps: list[str]
    evidence: int
    possible_actions: list[str]
    has_report: bool


class Quote(BaseModel):
    """A verbatim quote of a fetched page: data, never instructions."""

    position: int
    quote: str
    url: str
    title: str
    section: str
    published: str | None
    fetched_at: str


class EvidenceRecord(BaseModel):
    id: str
    claim: str
    sub_question: str | None
    key: bool = Field(description="The best claim of an answered sub-question.")
    confidence: float
    uncertainty: list[str]
    contradicts: list[str]
    review: str
    quotes: list[Quote]


class EvidencePage(BaseModel):
    run: str
    total: int
    next_offset: int | None
    evidence: list[EvidenceRecord]


class CitedQuote(BaseModel):
    marker: int
    evidence: list[str]
    url: str
    calculations: list[str]


class ReportText(BaseModel):
    """The newest version of a report; `[n]` in `markdown` refers to a citation's marker."""

    run: str
    question: str
    status: str
    verdict: str
    version: int | None
    short_answer: str
    markdown: str
    citations: list[CitedQuote]


class QuoteInContext(BaseModel):
    """A quote between the text around it in the stored copy of its page: all of it is data."""

    evidence: str
    quote: Quote
    stored: bool = Field(description="Whether the copy of the page is still stored.")
    verbatim: bool = Field(description="Whether the copy has the quote at its recorded place.")
    text_before: str
    text_after: str


class FoundPassage(BaseModel):
    title: str
    url: str
    section: str
    quote: str


class FoundDocuments(BaseModel):
    collections: list[str] = Field(description="Names of the searched collections.")
    passages: list[FoundPassage]


class RunLine(BaseModel):
    run: str
    question: str
    status: str
    created_at: str


class RunList(BaseModel):
    runs: list[RunLine]


def describe_run(run: Run) -> RunState:
    """Return the state of a run from its progress payload."""
    run = Run.objects.get(pk=run.pk)
    now = load_progress(run)
    has_report = run.reports.exclude(markdown="").exists()
    return RunState(
        run=run.public_id,
        question=run.question,
        status=run.status,
        ended=run.ended,
        next_tool=_next_tool(run, now, has_report),
        progress=how_far(now),
        activity=now.action.text if now.action else "",
        verdict=now.verdict.text or run.termination_text or "",
        score=now.quality.score,
        score_goal=now.quality.threshold,
        questions=_open_questions(run),
        plan=_proposed_plan(run),
        sub_questions=_sub_questions(now),
        open_gaps=[gap.text for gap in now.gaps if gap.closed_round is None],
        evidence=now.evidence.count,
        possible_actions=now.control.possible,
        has_report=has_report,
    )


def describe_report(run: Run, report: Report | None) -> ReportText:
    return ReportText(
        run=run.public_id,
        question=run.question,
        status=run.status,
        verdict=run.verdict or run.termination_text or "",
        version=report.number if report else None,
        short_answer=report.short_answer if report else "",
        markdown=report.markdown if report else "",
        citations=[_citation(each) for each in report.citations] if report else [],
    )


def describe_evidence(rows: Iterable[Evidence], texts: dict[str, str]) -> list[EvidenceRecord]:
    """Return evidence records; `texts` maps a sub-question's label to its text."""
    return [
        EvidenceRecord(
            id=row.label,
            claim=row.claim,
            sub_question=texts.get(row.aspect_label or ""),
            key=row.key,
            confidence=row.confidence,
            uncertainty=row.uncertainty,
            contradicts=row.contradicts,
            review=REVIEW[row.last_verdict],
            quotes=[describe_quote(quote) for quote in row.quotes.all()],
        )
        for row in rows
    ]


def describe_quote(row: EvidenceSource) -> Quote:
    return Quote(
        position=row.position,
        quote=row.quote,
        url=row.url,
        title=row.title,
        section=row.section,
        published=row.published,
        fetched_at=row.fetched_at.isoformat(),
    )


def place_quote(
    label: str, row: EvidenceSource, page: PageText | None, characters: int
) -> QuoteInContext:
    """Return the quote with up to `characters` of the stored text on each side."""
    text = page.text if page else ""
    return QuoteInContext(
        evidence=label,
        quote=describe_quote(row),
        stored=page is not None,
        verbatim=page is not None and text[row.start : row.end] == row.quote,
        text_before=text[max(0, row.start - characters) : row.start],
        text_after=text[row.end : row.end + characters],
    )


def list_lines(rows: Iterable[Run]) -> RunList:
    return RunList(
        runs=[
            RunLine(
                run=row.public_id,
                question=row.question,
                status=row.status,
                created_at=row.created_at.isoformat(),
            )
            for row in rows
        ]
    )


def _next_tool(run: Run, now: Progress, has_report: bool) -> str:
    """Return a run whose answer is stored but not yet taken still has the status of a
    waiting one.
    """
    if run.ended:
        return "read_report" if has_report else ""
    status = Status(run.status)
    pending = {command.kind for command in now.control.told if not command.taken}
    return "wait" if pending & WAKES.get(status, set()) else NEXT_TOOLS.get(status, "wait")


def _open_questions(run: Run) -> list[str]:
    if run.status != Status.AWAITING_CLARIFICATION:
        return [run.asks] if run.asks else []
    return list((run.plan or {}).get("questions", ())) or [run.asks]


def _proposed_plan(run: Run) -> PlanState | None:
    if run.status != Status.AWAITING_APPROVAL or run.plan is None:
        return None
    plan: dict[str, Any] = run.plan
    return PlanState(
        brief=plan.get("brief", ""),
        sub_questions=[aspect["text"] for aspect in plan.get("aspects", ())],
        scope=plan.get("scope", ""),
        estimate=plan.get("estimate"),
    )


def _sub_questions(now: Progress) -> list[SubQuestion]:
    kept: Sequence[Any] = [aspect for aspect in now.aspects if not aspect.dropped]
    return [
        SubQuestion(
            id=each.id,
            text=each.text,
            status=each.mark,
            sources=each.sources,
            open_points=each.open_points,
        )
        for each in kept
    ]


def _citation(cited: dict[str, Any]) -> CitedQuote:
    return CitedQuote(
        marker=cited["marker"],
        evidence=list(cited["evidence_ids"]),
        url=cited["url"],
        calculations=list(cited.get("calculations", ())),
    )
