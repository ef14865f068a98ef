"""Reads of citations and sources: the rows behind a number of a report, and behind its list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import Http404

from dashboard.markdown.parsing import markers_beside
from dashboard.markdown.statements import CitedText, cited_texts
from dashboard.queries.queries import Viewer
from dashboard.queries.run_rows import cited_rows, copied_pages, labels_at, labels_of_earlier
from dashboard.titles import name_parts
from research.models import Evidence, EvidenceSource, PageText, Run, Source
from research.services import sites


@dataclass(frozen=True)
class CitedStatement:
    """A statement of a report with the records behind it: the labels of those behind one of its
    numbers, and all with their quotes.
    """

    said: CitedText
    labels: frozenset[str]
    evidence: Sequence[Evidence]


@dataclass(frozen=True)
class CitationRows:
    """The quotes behind `[number]`, at its occurrence `place` if given, and the stored text.

    `numbers` are those of all citations; `verdicts` maps an evidence key to the last verdict, or
    None; `calculations` are those of statements computed from the quotes; `together` has all quotes
    of the statement, also those behind its other markers; `checks` are the counts of the report.
    `statements` are those that cite the number there, `others` counts those that do elsewhere.
    """

    run: Run
    number: int
    numbers: Sequence[int]
    quotes: Sequence[EvidenceSource]
    page: PageText | None
    verdicts: dict[int, str | None]
    calculations: Sequence[str] = ()
    place: int | None = None
    together: Sequence[EvidenceSource] = ()
    checks: Mapping[str, Any] = field(default_factory=dict)
    statements: Sequence[CitedStatement] = ()
    others: int = 0


@dataclass(frozen=True)
class SourceRows:
    """The sources of a run.

    `unopened` counts hits that were not fetched; `cited` has the quotes behind each marker;
    `never` has the viewer's blocked sites, `asked` the names of sub-questions by label, without one
    that is the whole question, `earlier` the labels of records that the report gives as an earlier
    value, `copied_from` the address of the page that another one has the text of.
    """

    sources: Sequence[Source]
    unopened: int
    citations: Sequence[dict[str, Any]]
    cited: Mapping[int, Sequence[EvidenceSource]]
    never: Sequence[str]
    asked: Mapping[str, str]
    earlier: frozenset[str]
    copied_from: Mapping[str, str]


def citation_rows(run: Run, number: int, place: int | None = None) -> CitationRows:
    """Return everything behind `[number]` in the latest report, at one place or at all of them.

    Raise `Http404` if not cited.
    """
    report = run.reports.order_by("-number").first()
    cited = {entry["marker"]: entry for entry in report.citations} if report else {}
    if report is None or number not in cited:
        raise Http404("no such citation")
    group = markers_beside(report.markdown, number, place or 0)
    own = {(cited[number]["url"], label) for label in labels_at(cited[number], place)}
    together = own.union(_pages_behind(group, cited))
    every = [each for each in cited_texts(report.markdown) if each.place_of(number) is not None]
    texts = [each for each in every if place is None or (number, place) in each.markers]
    markers = [marker for each in texts for marker in each.markers]
    wanted = {label for _, label in together.union(_pages_behind(markers, cited))}
    found = list(
        EvidenceSource.objects.filter(evidence__run=run, evidence__label__in=wanted)
        .select_related("evidence")
        .prefetch_related("evidence__quotes")
    )
    quotes = [row for row in found if (row.url, row.evidence.label) in own]
    if not quotes:
        raise Http404("no such citation")
    records = {row.evidence.label: row.evidence for row in found}
    judged = Evidence.objects.with_review().filter(pk__in=[row.evidence_id for row in quotes])
    return CitationRows(
        run=run,
        number=number,
        numbers=sorted(cited),
        quotes=quotes,
        page=PageText.objects.filter(uses__run=run, sha256=quotes[0].text_sha256).first(),
        verdicts=dict(judged.values_list("pk", "last_verdict")),
        calculations=cited[number].get("calculations", ()),
        place=place,
        together=[row for row in found if (row.url, row.evidence.label) in together],
        checks=report.checks,
        statements=[
            CitedStatement(
                said=each,
                labels=frozenset(labels_at(cited[number], each.place_of(number))),
                evidence=[
                    records[label]
                    for label in dict.fromkeys(
                        label for _, label in _pages_behind(each.markers, cited)
                    )
                    if label in records
                ],
            )
            for each in texts
        ],
        others=len(every) - len(texts),
    )


def _pages_behind(
    markers: Iterable[tuple[int, int]], cited: Mapping[int, dict[str, Any]]
) -> list[tuple[str, str]]:
    """Return the pages and the labels of the records behind markers at their occurrences."""
    return [
        (cited[marker]["url"], label)
        for marker, at in markers
        if marker in cited
        for label in labels_at(cited[marker], at)
    ]


def source_rows(viewer: Viewer, run: Run) -> SourceRows:
    report = run.reports.order_by("-number").first()
    asked = dict(run.aspects.values_list("label", "text"))
    names = name_parts(list(asked.values()), run.plan)
    opened = run.source_pages.exclude(status="not_read").order_by("round", "pk")
    return SourceRows(
        sources=list(opened),
        unopened=run.source_pages.filter(status="not_read").count(),
        citations=report.citations if report else (),
        cited=cited_rows(run, report) if report else {},
        never=sites.list_blocked_sites(viewer),
        asked={label: names[text] for label, text in asked.items() if text != run.question},
        earlier=labels_of_earlier(report) if report else frozenset(),
        copied_from=copied_pages(run),
    )
