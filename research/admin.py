"""Review in Django's admin: what the engine recorded is read, evidence is judged."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from research.models import (
    Aspect,
    Collection,
    Document,
    Evidence,
    EvidenceSource,
    Gap,
    GateResult,
    JournalEntry,
    Problem,
    Report,
    Round,
    Run,
    Verdict,
)
from research.models.findings import EvidenceQuerySet
from research.services import ServiceError, reviews


class ReadOnly:
    """Rows that only the engine or a service writes."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class ReadOnlyAdmin(ReadOnly, admin.ModelAdmin):
    list_select_related = ("run",)
    list_per_page = 50
    show_full_result_count = False


class ReadOnlyInline(ReadOnly, admin.TabularInline):
    extra = 0
    can_delete = False
    show_change_link = True

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return self.fields


class AspectInline(ReadOnlyInline):
    model = Aspect
    fields = ("label", "text", "state", "raised_by", "evidence_labels")


class RoundInline(ReadOnlyInline):
    model = Round
    fields = ("number", "stage", "score", "novelty", "topics", "decision")


class GapInline(ReadOnlyInline):
    model = Gap
    fields = ("label", "text", "critical", "opened_round", "closed_round", "closed_by")


class ProblemInline(ReadOnlyInline):
    model = Problem
    fields = ("where", "message", "created_at")


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    list_display = ("question", "owner", "status", "quality_score", "round", "created_at")
    list_filter = ("status", "mode", "complexity", "termination_reason", "created_at")
    list_select_related = ("owner",)
    search_fields = ("question", "public_id")
    date_hierarchy = "created_at"
    inlines = (AspectInline, RoundInline, GapInline, ProblemInline)
    fieldsets = (
        (None, {"fields": ("question", "owner", "status", "verdict", "termination_text")}),
        (
            "How it went",
            {
                "fields": (
                    ("stage", "round", "complexity", "language"),
                    ("quality_score", "termination_reason", "analyst"),
                    ("created_at", "started_at", "finished_at"),
                    "planned",
                    "used",
                )
            },
        ),
        (
            "What was frozen for it",
            {
                "classes": ("collapse",),
                "fields": (
                    ("public_id", "thread", "parent", "kind"),
                    ("agreed", "today", "mode", "engine_version"),
                    "sources",
                    "knobs",
                    "prompts",
                ),
            },
        ),
    )
    readonly_fields = ("planned", "used", "knobs", "prompts")

    @admin.display(description="plan")
    def planned(self, run: Run) -> SafeString:
        return _readable(run.plan)

    @admin.display(description="usage")
    def used(self, run: Run) -> SafeString:
        return _readable(run.usage)

    @admin.display(description="knobs")
    def knobs(self, run: Run) -> SafeString:
        return _readable(run.config)

    @admin.display(description="prompt digests")
    def prompts(self, run: Run) -> SafeString:
        return _readable(run.prompt_digests)


class QuoteInline(ReadOnlyInline):
    model = EvidenceSource
    fields = ("quote", "title", "domain", "url", "section", "published", "fetched_at")
    show_change_link = False


class VerdictInline(ReadOnlyInline):
    model = Verdict
    fields = ("verdict", "note", "actor", "created_at")
    show_change_link = False


class ReviewFilter(admin.SimpleListFilter):
    title = "review"
    parameter_name = "review"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("none", "unreviewed"), *Verdict.Kind.choices]

    def queryset(self, request: HttpRequest, queryset: EvidenceQuerySet) -> EvidenceQuerySet:
        if self.value() is None:
            return queryset
        wanted = None if self.value() == "none" else self.value()
        return queryset.filter(last_verdict=wanted)


@admin.register(Evidence)
class EvidenceAdmin(ReadOnlyAdmin):
    list_display = ("label", "claim", "site", "question", "confidence", "review")
    list_filter = (ReviewFilter, "key", "round")
    search_fields = ("claim", "run__public_id", "quotes__domain")
    inlines = (QuoteInline, VerdictInline)
    actions = ("accept", "reject", "flag")

    def get_queryset(self, request: HttpRequest) -> EvidenceQuerySet:
        found: EvidenceQuerySet = super().get_queryset(request)
        return found.with_review().prefetch_related("quotes")

    @admin.display(description="source")
    def site(self, evidence: Evidence) -> str:
        return ", ".join(dict.fromkeys(quote.domain for quote in evidence.quotes.all()))

    @admin.display(description="run", ordering="run")
    def question(self, evidence: Evidence) -> str:
        return str(evidence.run)

    @admin.display(description="review", empty_value="unreviewed", ordering="last_verdict")
    def review(self, evidence: Any) -> str | None:
        said = evidence.last_verdict
        return Verdict.Kind(said).label if said else None

    @admin.action(description="Accept the selected evidence", permissions=("view",))
    def accept(self, request: HttpRequest, chosen: QuerySet[Evidence]) -> None:
        self._judge(request, chosen, Verdict.Kind.ACCEPT)

    @admin.action(description="Reject the selected evidence", permissions=("view",))
    def reject(self, request: HttpRequest, chosen: QuerySet[Evidence]) -> None:
        self._judge(request, chosen, Verdict.Kind.REJECT)

    @admin.action(description="Flag the selected evidence as doubtful", permissions=("view",))
    def flag(self, request: HttpRequest, chosen: QuerySet[Evidence]) -> None:
        self._judge(request, chosen, Verdict.Kind.FLAG)

    def _judge(
        self, request: HttpRequest, chosen: QuerySet[Evidence], verdict: Verdict.Kind
    ) -> None:
        try:
            given = reviews.review_all(request.user, chosen, verdict.value)
        except ServiceError as error:
            self.message_user(request, str(error), messages.ERROR)
            return
        self.message_user(request, f"{len(given)} {verdict.label}.", messages.SUCCESS)


@admin.register(GateResult)
class GateResultAdmin(ReadOnlyAdmin):
    list_display = ("run", "round", "gate", "decision", "score", "threshold", "at")
    list_filter = ("gate", "decision")
    search_fields = ("run__public_id", "run__question")
    fields = ("run", "round", "gate", "decision", "score", "threshold", "looked_at", "asked", "at")
    readonly_fields = fields

    @admin.display(description="criteria")
    def looked_at(self, result: GateResult) -> SafeString:
        """One line each: what was counted, and what is enough."""
        told = (f"{c['name']}: {c['value']:g} of {c['minimum']:g}" for c in result.criteria)
        return _readable("\n".join(told))

    @admin.display(description="what it asked for", empty_value="nothing")
    def asked(self, result: GateResult) -> SafeString | None:
        return _readable("\n".join(result.feedback)) if result.feedback else None


@admin.register(Round)
class RoundAdmin(ReadOnlyAdmin):
    list_display = ("run", "number", "stage", "score", "novelty", "pages_read", "decision")
    list_filter = ("stage",)
    search_fields = ("run__public_id", "run__question")


@admin.register(JournalEntry)
class JournalEntryAdmin(ReadOnlyAdmin):
    list_display = ("place", "run", "attempt", "kind", "status", "seconds", "created_at")
    list_filter = ("kind", "status")
    search_fields = ("place", "run__public_id")
    fields = ("run", "place", "attempt", "kind", "status", "seconds", "created_at")
    fields += ("asked", "answered")
    readonly_fields = fields

    @admin.display(description="asked")
    def asked(self, entry: JournalEntry) -> SafeString:
        request = entry.request
        if entry.kind == "model":
            return _readable(f"{request['system']}\n\n{request['prompt']}")
        return _readable(request)

    @admin.display(description="answered")
    def answered(self, entry: JournalEntry) -> SafeString:
        return _readable(entry.answer)

    def get_queryset(self, request: HttpRequest) -> QuerySet[JournalEntry]:
        """A list of calls need not carry their prompts and answers."""
        found = super().get_queryset(request)
        match = request.resolver_match
        is_list = match is not None and (match.url_name or "").endswith("_changelist")
        return found.defer("request", "answer") if is_list else found


def _readable(value: object) -> SafeString:
    """Text as it is, data with its lines indented."""
    is_text = isinstance(value, str)
    text = value if is_text else json.dumps(value, indent=2, ensure_ascii=False)
    return format_html("<pre>{}</pre>", text)


@admin.register(Report)
class ReportAdmin(ReadOnlyAdmin):
    list_display = ("run", "number", "short_answer", "created_at")
    search_fields = ("run__public_id", "run__question")


class DocumentInline(ReadOnlyInline):
    model = Document
    fields = ("name", "size", "added_at")
    show_change_link = False


@admin.register(Collection)
class CollectionAdmin(ReadOnlyAdmin):
    list_display = ("name", "owner", "is_shared", "place", "documents", "unreadable_count")
    list_display += ("indexed_at",)
    list_filter = ("is_shared", "indexed_at")
    list_select_related = ("owner",)
    search_fields = ("name", "owner__username", "folder")
    inlines = (DocumentInline,)
    fieldsets = (
        (None, {"fields": ("name", "owner", "is_shared", "place", "created_at")}),
        (
            "In the index",
            {"fields": ("index_name", "indexed_at", "documents", "problem", "not_read")},
        ),
    )
    readonly_fields = ("place", "not_read")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Collection]:
        return super().get_queryset(request).filter(deleted_at=None)

    @admin.display(description="files", ordering="folder")
    def place(self, collection: Collection) -> str:
        return collection.folder or "uploaded"

    @admin.display(description="could not be read")
    def not_read(self, collection: Collection) -> SafeString:
        return _readable("\n".join(f"{path}: {reason}" for path, reason in collection.unreadable))
