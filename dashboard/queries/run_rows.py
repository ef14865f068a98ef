"""The rows of a run's page, loaded lazily: a part of the page reads only what it shows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cached_property
from typing import Any

from django.db.models import Count, F, QuerySet, prefetch_related_objects

from dashboard.addresses import is_shared
from dashboard.markdown.parsing import markers_in_text
from dashboard.markdown.report import open_points
from dashboard.markdown.sources import shareable
from dashboard.markdown.statements import CitedText, cited_texts
from dashboard.queries.lineage import run_that_searched
from dashboard.titles import name_parts, planned_headings
from research.engine.assessment.answer_status import Trust
from research.engine.evidence.origin import lone_origin
from research.engine.records import Status
from research.engine.text.similarity import near_copies
from research.engine.text.tokens import capitalize_heading
from research.engine.untrusted.search_words import USER
from research.fetch.sites import independence_key
from research.models import (
    Collection,
    Evidence,
    EvidenceSource,
    PageText,
    Problem,
    RefusedQuote,
    Report,
    Run,
    Source,
    Verdict,
)
from research.models.journal import PUBLIC
from research.models.runs import REWRITES
from research.readmodel.progress import build_payload
from research.readmodel.progress_parts import Progress
from research.readmodel.run_rows import Committed, trust_of
from research.worker.commands import Kind

EVIDENCE_SHOWN = 60
LEAST_COPIED = 0.5
"""Share of the longer of two pages that the shorter one has to be as long as to be a copy."""
REFUSED_SHOWN = 40


class RunRows(Committed):
    @cached_property
    def research(self) -> RunRows:
        """Return the rows that tell how the report was researched: of an ended version that was
        only rewritten, those of the run that searched, unless it was deleted.
        """
        if not self.run.ended or self.run.kind not in REWRITES:
            return self
        searched = run_that_searched(self.run)
        return RunRows(searched) if searched else self

    @cached_property
    def progress(self) -> Progress:
        return build_payload(self)

    @cached_property
    def trust(self) -> Trust | None:
        """Return how far a completed run answers its question; None for other runs."""
        return trust_of(self.aspects) if self.run.status == Status.COMPLETED else None

    @cached_property
    def told(self) -> frozenset[str]:
        """Return the kinds of commands that no worker has processed yet, and that which holds to
        the end of the run.
        """
        return frozenset(
            row.kind
            for row in self.commands
            if row.taken_at_place is None or row.kind == Kind.FINISH_BY_CODE
        )

    @cached_property
    def left_out(self) -> frozenset[str]:
        """Return the ids of the gaps that were closed as a person removed their sub-question."""
        return frozenset(row.label for row in self.gaps if USER in row.closed_by)

    @cached_property
    def headings(self) -> dict[str, str]:
        """Return the headings that the plan gives its sub-questions, by their texts; if it gives
        any, also those of later ones that can be shortened.
        """
        planned = planned_headings(self.run.plan)
        named = name_parts([row.text for row in self.aspects], self.run.plan) if planned else {}
        return planned | {text: name for text, name in named.items() if len(name) < len(text)}

    @cached_property
    def parts_left(self) -> dict[str, str]:
        """Return what sub-questions are answered but for, by their ids, where it is one point: of
        those that the report lists as open, or before there is a report of the gaps that matter.
        """
        if self.report:
            points = [(part, text) for part, text in self.report.checks.get("left_open", ())]
        else:
            gaps = [g for g in self.progress.gaps if g.critical and g.closed_round is None]
            points = [(gap.aspect or "", gap.text) for gap in gaps]
        counts, asked = Counter(part for part, _ in points), {each.text for each in self.aspects}
        return {part: text for part, text in points if counts[part] == 1 and text not in asked}

    @cached_property
    def points_open(self) -> list[str] | None:
        """Return the points that the report says it leaves open; None if it has no such list."""
        if self.report is None or self.report.checks.get("open_points") is None:
            return None
        if left := self.report.checks.get("left_open"):
            return [capitalize_heading(text) for _, text in left]
        return open_points(self.report.markdown, self.run.language)

    @cached_property
    def unread_files(self) -> list[tuple[str, str]]:
        """Return the attached files that could not be read, each with the reason."""
        attached = Collection.objects.filter(thread=self.run.thread_id, deleted_at=None)
        listed = attached.exclude(unreadable=[]).values_list("unreadable", flat=True)
        return [(path, reason) for files in listed for path, reason in files if path]

    @cached_property
    def voice_noun(self) -> str:
        """Return what is counted as independent: sites, or documents if all quotes are of files."""
        keys = {key for _, key, _ in self.quotes}
        return "document" if keys and all(key.startswith("file:") for key in keys) else "site"

    @cached_property
    def has_lone_origin(self) -> bool:
        """Return whether (nearly) all evidence is from one site or collection, so that no statement
        is marked as resting on one.
        """
        keys = defaultdict[int, set[str]](set)
        for evidence, key, _ in self.quotes:
            keys[evidence].add(key)
        return bool(lone_origin(keys.values()))

    @cached_property
    def alone(self) -> Mapping[CitedText, frozenset[str]]:
        """Return what the report says by one site only, each statement once, with the labels of the
        records behind it.
        """
        labels = {row.pk: row.label for row in self.evidence}
        sites = defaultdict[str, set[str]](set)
        for evidence, key, _ in self.quotes:
            sites[labels[evidence]].add(key)
        alone = statements_alone(self.report, sites) if self.report else ()
        said = {(text.label, text.bare): (text, behind) for text, behind in reversed([*alone])}
        return dict(reversed(said.values()))

    @cached_property
    def shown(self) -> Sequence[Evidence]:
        """Return evidence records up to a limit, with their quotes: those that the report cites in
        the order of their numbers, then the newest.
        """
        last = len(self.numbers) + 1
        ordered = sorted(self._quoted, key=lambda row: self.numbers.get(row.label, last))
        return ordered[:EVIDENCE_SHOWN]

    @cached_property
    def cited(self) -> dict[int, list[EvidenceSource]]:
        """Return the quotes behind each marker of the report."""
        return behind_markers(self.report, self._quoted) if self.report else {}

    @cached_property
    def _sources(self) -> Sequence[tuple[str, str, str, str]]:
        """Return address, name of the site, title and status of each page."""
        found = Source.objects.filter(run=self.run).order_by()
        return list(found.values_list("url", "site", "title", "status"))

    @cached_property
    def site_names(self) -> dict[str, str]:
        """Return the names of sites by the addresses of their pages; see `site_names`."""
        return {url: site for url, site, title, _ in self._sources if site not in {"", title}}

    @cached_property
    def pages_read(self) -> int:
        return sum(status in {"read", "cited"} for *_, status in self._sources)

    @cached_property
    def _quoted(self) -> Sequence[Evidence]:
        """Return the newest records, then older ones the report cites; one query for all quotes."""
        newest = self.evidence[::-1]
        older = [row for row in newest[EVIDENCE_SHOWN:] if row.label in self.cited_labels]
        shown = [*newest[:EVIDENCE_SHOWN], *older]
        prefetch_related_objects(shown, "quotes")
        return shown

    @cached_property
    def refused(self) -> Sequence[RefusedQuote]:
        """Return the newest rejected quotes first, up to a limit."""
        newest = self.run.refused_quotes.order_by("-round", "-unit", "-ordinal")
        return list(newest[:REFUSED_SHOWN])

    @cached_property
    def refused_count(self) -> int:
        return sum(self.refused_by_round.values())

    @cached_property
    def refused_by_round(self) -> dict[int, int]:
        """Return how many quotes were rejected in each round."""
        if len(self.refused) < REFUSED_SHOWN:
            return Counter(row.round for row in self.refused)
        counted = self.run.refused_quotes.order_by().values_list("round")
        return dict(counted.annotate(Count("pk")))

    @cached_property
    def problems(self) -> Sequence[Problem]:
        return list(self.run.problems.all())

    @cached_property
    def report(self) -> Report | None:
        return latest_report(self.run) if self.run.ended else None

    @cached_property
    def cited_labels(self) -> frozenset[str]:
        """Return the labels of the records that the report cites."""
        return labels_cited(self.report) if self.report else frozenset()

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Return the first number with which the report cites each record, by label."""
        return first_numbers(self.report) if self.report else {}

    @cached_property
    def resting(self) -> Sequence[frozenset[str]]:
        """Return the labels of the records behind each statement of the report that cites any."""
        if self.report is None:
            return ()
        citations = {entry["marker"]: entry for entry in self.report.citations}
        said = (each.markers for each in cited_texts(self.report.markdown))
        found = ([labels_at(citations[n], at) for n, at in each if n in citations] for each in said)
        return [frozenset().union(*labels) for labels in found if labels]

    @cached_property
    def earlier(self) -> frozenset[str]:
        """Return the labels of records that the report gives as an earlier value."""
        return labels_of_earlier(self.report) if self.report else frozenset()

    @cached_property
    def rejected(self) -> frozenset[str]:
        """Return the labels of records rejected by a reviewer; empty until the run has ended."""
        return self._judged(Verdict.Kind.REJECT)

    @cached_property
    def flagged(self) -> frozenset[str]:
        """Return the labels of records flagged as doubtful; empty until the run has ended."""
        return self._judged(Verdict.Kind.FLAG)

    def _judged(self, verdict: Verdict.Kind) -> frozenset[str]:
        return frozenset(label for label, said in self._verdicts.items() if said == verdict)

    @cached_property
    def _verdicts(self) -> dict[str, str]:
        """Return the last verdict on each record, by label."""
        if not self.run.ended:
            return {}
        said = Verdict.objects.filter(evidence__run=self.run).order_by("pk")
        return dict(said.values_list("evidence__label", "verdict"))


def latest_report(run: Run) -> Report | None:
    """Return the report of a run, as its readers may see it where it is shared."""
    report = run.reports.order_by("-number").first()
    if report and is_shared():
        report.markdown = shareable(report.markdown)
    return report


def stored_texts(run: Run) -> QuerySet[PageText]:
    """Return the stored copies of a run's pages; where its report is shared, of public ones."""
    pages = PageText.objects.filter(uses__run=run)
    return pages.filter(scope=PUBLIC) if is_shared() else pages


def site_names(*runs: Run | int) -> dict[str, str]:
    """Return the names that the pages of runs give their sites, by address. One that only repeats
    the title of its page is no name.
    """
    named = Source.objects.filter(run__in=runs).exclude(site__in=("", F("title")))
    return dict(named.order_by().values_list("url", "site"))


def cited_rows(run: Run, report: Report) -> dict[int, list[EvidenceSource]]:
    """Return the quotes behind each marker in order, with the other quotes of their records."""
    cited = run.evidence.filter(label__in=labels_cited(report)).prefetch_related("quotes")
    return behind_markers(report, list(cited.order_by()))


def copied_pages(run: Run) -> dict[str, str]:
    """Return the pages that have the text of another one, by address with that one's. The engine
    counts them as one source: quotes of a copy have the key of the site that it copies. A page
    whose text is only a part of a longer one stays a page of its own.
    """
    quotes = EvidenceSource.objects.filter(evidence__run=run).order_by("evidence", "position")
    read = quotes.values_list("url", "independence_key", "text_sha256")
    pages = {url: (key, sha256) for url, key, sha256 in read}
    copies = {url for url, (key, _) in pages.items() if key != independence_key(url)}
    keys = {pages[url][0] for url in copies}
    compared = {sha256 for key, sha256 in pages.values() if key in keys}
    stored = PageText.objects.filter(uses__run=run, sha256__in=compared) if compared else ()
    texts = {page.sha256: page.text for page in stored}
    found, originals = dict[str, str](), dict[str, list[str]]()
    for url in sorted(pages, key=lambda url: url in copies):
        key, sha256 = pages[url]
        for other in originals.setdefault(key, []):
            text, others = texts.get(sha256), texts.get(pages[other][1])
            is_near = url in copies and text and others and _is_whole_copy(text, others)
            if sha256 == pages[other][1] or is_near:
                found[url] = other
                break
        else:
            originals[key].append(url)
    return found


def _is_whole_copy(one: str, other: str) -> bool:
    short, long = sorted((len(one), len(other)))
    return short >= LEAST_COPIED * long and near_copies(one, other)


def labels_cited(report: Report) -> frozenset[str]:
    return frozenset(label for entry in report.citations for label in entry["evidence_ids"])


def statements_alone(
    report: Report, sites: Mapping[str, Set[str]]
) -> Iterator[tuple[CitedText, frozenset[str]]]:
    """Yield the statements that rest on one site only, with the labels of their records; none where
    (nearly) all evidence is from one. `sites` are the independence keys of each record.
    """
    citations = {entry["marker"]: entry for entry in report.citations}
    if lone_origin(sites.values()):
        return
    for said in cited_texts(report.markdown):
        of_text = [labels_at(citations[n], at) for n, at in said.markers if n in citations]
        labels = frozenset(label for each in of_text for label in each)
        if len(set[str]().union(*(sites.get(label, ()) for label in labels))) == 1:
            yield said, labels


def first_numbers(report: Report) -> dict[str, int]:
    """Return the first number with which a report cites each record, by label."""
    found: dict[str, int] = {}
    for entry in sorted(report.citations, key=lambda entry: entry["marker"]):
        for label in entry["evidence_ids"]:
            found.setdefault(label, entry["marker"])
    return found


def labels_of_earlier(report: Report) -> frozenset[str]:
    """Return the labels of records that a report cites only for an earlier value."""
    citations = {entry["marker"]: entry for entry in report.citations}
    told: dict[bool, set[str]] = {True: set(), False: set()}
    for marker, place, is_earlier in markers_in_text(report.markdown):
        if marker in citations:
            told[is_earlier].update(labels_at(citations[marker], place))
    return frozenset(told[True] - told[False])


def labels_at(citation: dict[str, Any], place: int | None) -> Sequence[str]:
    """Return the labels of the records behind an occurrence of a marker, or behind all of them.

    Reports that number quotes have no places, nor has the list of sources.
    """
    places = citation.get("places") or ()
    found: Sequence[str] = citation["evidence_ids"]
    return places[place] if place is not None and place < len(places) else found


def behind_markers(report: Report, evidence: Sequence[Evidence]) -> dict[int, list[EvidenceSource]]:
    """Return the quotes behind each marker in order. `evidence` must have its quotes prefetched."""
    quotes = {row.label: list(row.quotes.all()) for row in evidence}
    return {
        entry["marker"]: [
            row
            for label in entry["evidence_ids"]
            for row in quotes.get(label, ())
            if row.url == entry["url"]
        ]
        for entry in report.citations
    }
