"""Review of evidence: quotes in context, verdicts, and the way to the next unreviewed record.

None of the filters scans the whole table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from itertools import islice
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin import ModelAdmin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME, ActionForm
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import flatten_fieldsets
from django.core.exceptions import SuspiciousOperation
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy as _

from research.admin.base import COUNTED, InRun, ReadOnlyAdmin, ReadOnlyInline
from research.models import Evidence, EvidenceSource, Run, Verdict
from research.models.findings import EvidenceQuerySet
from research.models.lookups import keep_alphanumeric
from research.readmodel.quote_context import split_context, with_context

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


RARE = 20_000
NONE = "none"
NOTHING_LEFT = _("Nothing unreviewed is left in this list.")


class QuoteInline(ReadOnlyInline, admin.StackedInline):
    model = EvidenceSource
    fields = ("in_context", "title", ("domain", "published", "fetched_at"), "url", "section")
    show_change_link = False

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return flatten_fieldsets([(None, {"fields": self.fields})])

    def get_queryset(self, request: HttpRequest) -> QuerySet[EvidenceSource]:
        return with_context(super().get_queryset(request))

    @admin.display(description=_("quote in the stored copy"))
    def in_context(self, row: Any) -> SafeString:
        shown = split_context(row)
        if shown is None:
            return format_html("<mark>{}</mark> (the copy is no longer stored)", row.quote)
        return format_html(
            '<div class="readable">{}<mark>{}</mark>{}</div>',
            shown.before, shown.quote, shown.after,
        )  # fmt: skip


class VerdictInline(ReadOnlyInline, admin.TabularInline):
    model = Verdict
    fields = ("verdict", "note", "actor", "created_at")
    show_change_link = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Verdict]:
        return super().get_queryset(request).select_related("actor")


class JudgingForm(ActionForm):
    """Note field next to the action menu; the service rejects notes that are too long."""

    note = forms.CharField(
        required=False,
        label=_("Note: "),
        widget=forms.TextInput(attrs={"placeholder": _("The reason, for later readers")}),
    )


@admin.register(Evidence)
class EvidenceAdmin(ReadOnlyAdmin):
    list_display = ("label", "claim", "review", "site", "sources", "disputed", "run")
    list_display_links = ("label", "claim")
    list_filter = (
        *(ReviewFilter, InRun, VersionFilter, SiteFilter, ConfidenceFilter, DisputedFilter),
        "key",
    )
    list_select_related = ("run",)
    search_fields = ("claim",)
    search_help_text = _("Words of the claim, a run’s id, or a site such as example.org.")
    fields = (
        *("claim", "run", "answers", ("round", "confidence", "relevance")),
        *("caveats", "disputed", "review"),
    )
    readonly_fields = ("answers", "caveats", "disputed", "review")
    inlines = (QuoteInline, VerdictInline)
    actions = ("accept", "reject", "flag")
    action_form = JudgingForm

    def get_queryset(self, request: HttpRequest) -> EvidenceQuerySet:
        found: EvidenceQuerySet = super().get_queryset(request)
        return found.with_review().prefetch_related("quotes")

    def get_search_results(
        self, request: HttpRequest, queryset: EvidenceQuerySet, search_term: str
    ) -> tuple[EvidenceQuerySet, bool]:
        """Search by run id or site if the term is one, else by all words in the claim."""
        words = search_term.split()
        if len(words) == 1:
            run = Run.objects.filter(public_id=words[0]).first()
            if run is not None:
                return queryset.filter(run=run), False
            if "." in words[0]:
                return queryset.from_site(words[0].lower()), False
        return self._with_words(queryset, [*filter(keep_alphanumeric, words)]), False

    def _with_words(self, queryset: EvidenceQuerySet, words: Sequence[str]) -> EvidenceQuerySet:
        """Filter by words in the claim.

        Up to `RARE` matches are found by the word index and sorted here: asked for the newest
        ones, a database may scan row by row. More frequent words occur among the newest rows
        anyway.
        """
        if not words:
            return queryset
        holding = queryset
        for word in words:
            holding = holding.filter(claim__has_word=word)
        found = list(holding.order_by().values_list("pk", flat=True)[: RARE + 1])
        if len(found) > RARE:
            return holding
        return queryset.filter(pk__in=sorted(found)[-COUNTED:])

    @admin.display(description=mark_safe('<input type="checkbox" id="action-toggle">'))
    def action_checkbox(self, evidence: Evidence) -> SafeString:
        """Render the same as Django, without a template for each row."""
        return format_html(
            '<input type="checkbox" name="{}" value="{}" class="action-select" '
            'aria-label="Select this object for an action - {}">',
            ACTION_CHECKBOX_NAME, evidence.pk, evidence,
        )  # fmt: skip

    @admin.display(description=_("sub-question"))
    def answers(self, evidence: Evidence) -> str:
        asked = evidence.run.aspects.filter(label=evidence.aspect_label).first()
        return f"{asked.label}: {asked.text}" if asked else NONE

    @admin.display(description=_("caveats"))
    def caveats(self, evidence: Evidence) -> str:
        return ", ".join(flag.replace("_", " ") for flag in evidence.uncertainty) or NONE

    @admin.display(description=_("site"))
    def site(self, evidence: Evidence) -> str:
        return ", ".join(dict.fromkeys(quote.domain for quote in evidence.quotes.all()))

    @admin.display(description=_("sources"))
    def sources(self, evidence: Evidence) -> int:
        return len({quote.independence_key for quote in evidence.quotes.all()})

    @admin.display(description=_("disagrees with"))
    def disputed(self, evidence: Evidence) -> str:
        return ", ".join(evidence.contradicts) or NONE

    @admin.display(description=_("review"))
    def review(self, evidence: Any) -> str:
        said = evidence.last_verdict
        return Verdict.Kind(said).label if said else "unreviewed"

    @admin.action(description=_("Accept the selected evidence"), permissions=("view",))
    def accept(self, request: HttpRequest, chosen: QuerySet[Evidence]) -> Any:
        return self._judge(request, chosen, Verdict.Kind.ACCEPT)

    @admin.action(description=_("Reject the selected evidence"), permissions=("view",))
    def reject(self, request: HttpRequest, chosen: QuerySet[Evidence]) -> Any:
        return self._judge(request, chosen, Verdict.Kind.REJECT)

    @admin.action(description=_("Flag the selected evidence as doubtful"), permissions=("view",))
    def flag(self, request: HttpRequest, chosen: QuerySet[Evidence]) -> Any:
        return self._judge(request, chosen, Verdict.Kind.FLAG)

    def _judge(
        self, request: HttpRequest, chosen: QuerySet[Evidence], verdict: Verdict.Kind
    ) -> HttpResponseRedirect | None:
        """Record verdicts; redirect from a record's own page, else stay on the list (None)."""
        from research.services import ServiceError, reviews

        try:
            given = reviews.review_all(
                request.user, chosen, verdict.value, request.POST.get("note", "")
            )
        except ServiceError as error:
            self.message_user(request, str(error), messages.ERROR)
            return None
        self.message_user(request, f"{len(given)} {verdict.label}.", messages.SUCCESS)
        self._tell_gates(request, {one.evidence.run_id for one in given})
        if given and "on_its_page" in request.POST:
            return self._onward(request, given[0].evidence)
        return None

    def _onward(self, request: HttpRequest, judged: Evidence) -> HttpResponseRedirect:
        """Redirect to the same record, or to the next one of the list that the user came from."""
        came_from = request.POST.get("came_from", "")
        shown: Evidence | None = judged
        if request.POST.get("then") == "next":
            shown = next_unreviewed(self, request, judged, came_from)
        if shown is None:
            self.message_user(request, NOTHING_LEFT, messages.SUCCESS)
            listed = reverse("admin:research_evidence_changelist")
            return HttpResponseRedirect(f"{listed}?{filters_in(came_from)}")
        page = reverse("admin:research_evidence_change", args=[shown.pk])
        return HttpResponseRedirect(f"{page}?{came_from}" if came_from else page)

    def _tell_gates(self, request: HttpRequest, runs: set[int]) -> None:
        """Warn if the verdicts make a run's evidence gate fail."""
        from research.readmodel.progress import evidence_gate
        from research.readmodel.run_rows import Committed

        for run in Run.objects.filter(pk__in=runs):
            gate = evidence_gate(Committed(run))
            if gate.rejected and gate.status != "pass" and gate.reason:
                told = f"{run}: the evidence gate asks for more now ({'; '.join(gate.reason)})."
                self.message_user(request, told, messages.WARNING)


def filters_in(came_from: str) -> str:
    """Return the list's filters from the query string that Django passes to its records' pages."""
    return QueryDict(came_from).get("_changelist_filters", "")


def next_unreviewed(
    of: ModelAdmin[Evidence], request: HttpRequest, judged: Evidence, came_from: str
) -> Evidence | None:
    """Return the next record down the list, then from its top; ignores review filter and page."""
    chosen = QueryDict(filters_in(came_from), mutable=True)
    for name in ("review", "p"):
        chosen.pop(name, None)
    asked = copy(request)
    asked.GET = chosen
    try:
        unreviewed = of.get_changelist_instance(asked).queryset.unreviewed()
    except IncorrectLookupParameters:
        raise SuspiciousOperation("The list has no such filters.") from None
    return unreviewed.filter(pk__lt=judged.pk).first() or unreviewed.first()
