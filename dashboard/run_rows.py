"""What the page of a run is made of; a part of the page reads only the rows that it shows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from django.db.models import prefetch_related_objects

from research.committed import Committed
from research.models import Evidence, EvidenceSource, Problem, RefusedQuote, Report, Verdict
from research.progress import payload
from research.progress_parts import Progress

EVIDENCE_SHOWN = 60
REFUSED_SHOWN = 40


class RunRows(Committed):
    @cached_property
    def progress(self) -> Progress:
        return payload(self)

    @cached_property
    def told(self) -> frozenset[str]:
        """The kinds of what people said and no worker has taken up yet."""
        return frozenset(row.kind for row in self.commands if row.taken_at_place is None)

    @cached_property
    def newest(self) -> Sequence[Evidence]:
        """The newest evidence first, cut to a limit, with its quotes."""
        return self._quoted[:EVIDENCE_SHOWN]

    @cached_property
    def cited(self) -> dict[int, list[EvidenceSource]]:
        """The report's markers and the quotes behind each."""
        return behind_markers(self.report, self._quoted) if self.report else {}

    @cached_property
    def _quoted(self) -> Sequence[Evidence]:
        """The newest evidence, then what else the report cites: their quotes in one query."""
        newest = self.evidence[::-1]
        older = [row for row in newest[EVIDENCE_SHOWN:] if row.label in self.cited_labels]
        shown = [*newest[:EVIDENCE_SHOWN], *older]
        prefetch_related_objects(shown, "quotes")
        return shown

    @cached_property
    def refused(self) -> Sequence[RefusedQuote]:
        """The newest first, cut to a limit."""
        newest = self.run.refused_quotes.order_by("-round", "-unit", "-ordinal")
        return list(newest[:REFUSED_SHOWN])

    @cached_property
    def refused_count(self) -> int:
        shown = len(self.refused)
        return shown if shown < REFUSED_SHOWN else self.run.refused_quotes.count()

    @cached_property
    def problems(self) -> Sequence[Problem]:
        return list(self.run.problems.all())

    @cached_property
    def report(self) -> Report | None:
        return self.run.reports.order_by("-number").first() if self.run.ended else None

    @cached_property
    def cited_labels(self) -> frozenset[str]:
        """The evidence that the report cites."""
        return labels_cited(self.report) if self.report else frozenset()

    @cached_property
    def rejected(self) -> frozenset[str]:
        """The evidence that a reviewer refused, once the run has ended."""
        return self._judged(Verdict.Kind.REJECT)

    @cached_property
    def flagged(self) -> frozenset[str]:
        """The evidence that a reviewer called doubtful, once the run has ended."""
        return self._judged(Verdict.Kind.FLAG)

    def _judged(self, verdict: Verdict.Kind) -> frozenset[str]:
        return frozenset(label for label, said in self._verdicts.items() if said == verdict)

    @cached_property
    def _verdicts(self) -> dict[str, str]:
        """The last word on each record."""
        if not self.run.ended:
            return {}
        said = Verdict.objects.filter(evidence__run=self.run).order_by("pk")
        return dict(said.values_list("evidence__label", "verdict"))


def labels_cited(report: Report) -> frozenset[str]:
    return frozenset(label for entry in report.citations for label in entry["evidence_ids"])


def behind_markers(report: Report, evidence: Sequence[Evidence]) -> dict[int, list[EvidenceSource]]:
    """Marker → the quotes behind it, in order, from `evidence` with its quotes."""
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
