"""Filters of evidence: by review, version, site, confidence and contradiction.

None of them scans the whole table.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from research.models import EvidenceSource, Run, Verdict
from research.models.findings import EvidenceQuerySet

NEWEST_QUOTES = 300
SITES_SHOWN = 40

SURE = {
    "low": (_("one source, or in doubt (to 0.5)"), Q(confidence__lte=0.5)),
    "middle": (_("two sources (to 0.75)"), Q(confidence__gt=0.5, confidence__lte=0.75)),
    "high": (_("three or more"), Q(confidence__gt=0.75)),
}


class ReviewFilter(admin.SimpleListFilter):
    title = "review"
    parameter_name = "review"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("none", "unreviewed"), *Verdict.Kind.choices]

    def queryset(self, request: HttpRequest, queryset: EvidenceQuerySet) -> EvidenceQuerySet:
        wanted = self.value()
        if wanted is None:
            return queryset
        return queryset.unreviewed() if wanted == "none" else queryset.judged(wanted)


class VersionFilter(admin.SimpleListFilter):
    """Shows only the newest report version of each question, unless a run is selected."""

    title = "version"
    parameter_name = "version"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("all", _("all versions"))]

    def choices(self, changelist: Any) -> Iterator[Any]:
        first, *others = super().choices(changelist)
        yield {**first, "display": "newest"}
        yield from others

    def queryset(self, request: HttpRequest, queryset: EvidenceQuerySet) -> EvidenceQuerySet:
        named = Run.objects.filter(public_id=request.GET.get("q", "").strip())
        if self.value() or request.GET.get("run") or named.exists():
            return queryset
        return queryset.of_newest_versions()


class SiteFilter(admin.SimpleListFilter):
    """Offers the newest sites of the selected run, or of all; others can be searched by name."""

    title = "site"
    parameter_name = "site"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        quotes = EvidenceSource.objects.order_by("-pk")
        run = request.GET.get("run", "")
        if run.isdecimal():
            quotes = quotes.filter(evidence__run=int(run))
        newest = dict.fromkeys(quotes.values_list("domain", flat=True)[:NEWEST_QUOTES])
        found = set(islice(filter(None, newest), SITES_SHOWN))
        chosen = self.used_parameters.get(self.parameter_name)
        found |= {chosen} if chosen else set()
        return [(site, site) for site in sorted(found)]

    def queryset(self, request: HttpRequest, queryset: EvidenceQuerySet) -> EvidenceQuerySet:
        return queryset.from_site(self.value()) if self.value() else queryset


class ConfidenceFilter(admin.SimpleListFilter):
    """Uses the readers' wording; confidence is 1 − 0.5ⁿ for n sources."""

    title = "confidence"
    parameter_name = "sure"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, told) for name, (told, _) in SURE.items()]

    def queryset(self, request: HttpRequest, queryset: EvidenceQuerySet) -> EvidenceQuerySet:
        return queryset.filter(SURE[self.value()][1]) if self.value() in SURE else queryset


class DisputedFilter(admin.SimpleListFilter):
    title = "contradiction"
    parameter_name = "disputed"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", _("sources disagree")), ("no", _("sources agree"))]

    def queryset(self, request: HttpRequest, queryset: EvidenceQuerySet) -> EvidenceQuerySet:
        if self.value() == "yes":
            return queryset.exclude(contradicts=[])
        return queryset.filter(contradicts=[]) if self.value() == "no" else queryset
