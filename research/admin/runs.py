"""Runs with their rounds, gates, reports, and the calls in their journals, prompts included."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from research.admin.base import (
    InRun,
    ReadOnlyAdmin,
    ReadOnlyInline,
    RunRecordAdmin,
    format_readable,
)
from research.models import (
    Aspect,
    Gap,
    GateResult,
    JournalEntry,
    Problem,
    Report,
    Round,
    Run,
    ShareLink,
)

RECORDS = {
    "evidence": _("evidence, to be reviewed"),
    "round": _("rounds"),
    "gateresult": _("gates"),
    "journalentry": _("calls, with prompts and answers"),
    "report": _("reports"),
}


class AspectInline(ReadOnlyInline, admin.TabularInline):
    model = Aspect
    fields = ("label", "text", "state", "raised_by", "evidence_labels")


class RoundInline(ReadOnlyInline, admin.TabularInline):
    model = Round
    fields = ("number", "stage", "score", "novelty", "topics", "decision")


class GapInline(ReadOnlyInline, admin.TabularInline):
    model = Gap
    fields = ("label", "text", "critical", "opened_round", "closed_round", "closed_by")


class ProblemInline(ReadOnlyInline, admin.TabularInline):
    model = Problem
    fields = ("where", "message", "created_at")


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    list_display = ("question", "owner", "status", "quality_score", "round", "created_at")
    list_filter = ("status", "mode", "complexity", "termination_reason", "created_at")
    list_select_related = ("owner",)
    search_fields = ("question", "public_id")
    inlines = (AspectInline, RoundInline, GapInline, ProblemInline)
    fieldsets = (
        (None, {"fields": ("question", "owner", "status", "verdict", "termination_text")}),
        (None, {"fields": ("records",)}),
        (
            _("Course of the run"),
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
            _("Frozen configuration"),
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
    readonly_fields = ("records", "planned", "used", "knobs", "prompts")

    @admin.display(description=_("records"))
    def records(self, run: Run) -> SafeString:
        """Return links to everything recorded of this run."""
        links = (
            (f"{reverse(f'admin:research_{table}_changelist')}?run={run.pk}", name)
            for table, name in RECORDS.items()
        )
        return format_html_join(" · ", '<a href="{}">{}</a>', links)

    @admin.display(description=_("plan"))
    def planned(self, run: Run) -> SafeString:
        return format_readable(run.plan)

    @admin.display(description=_("usage"))
    def used(self, run: Run) -> SafeString:
        return format_readable(run.usage)

    @admin.display(description=_("knobs"))
    def knobs(self, run: Run) -> SafeString:
        return format_readable(run.config)

    @admin.display(description=_("prompt digests"))
    def prompts(self, run: Run) -> SafeString:
        return format_readable(run.prompt_digests)


@admin.register(GateResult)
class GateResultAdmin(RunRecordAdmin):
    list_display = ("run", "round", "gate", "decision", "score", "threshold", "at")
    list_filter = (InRun, "gate", "decision")
    fields = ("run", "round", "gate", "decision", "score", "threshold", "looked_at", "asked", "at")
    readonly_fields = fields

    @admin.display(description=_("criteria"))
    def looked_at(self, result: GateResult) -> SafeString:
        """Return one line per criterion: value and minimum."""
        told = (f"{c['name']}: {c['value']:g} of {c['minimum']:g}" for c in result.criteria)
        return format_readable("\n".join(told))

    @admin.display(description=_("what it asked for"), empty_value=_("nothing"))
    def asked(self, result: GateResult) -> SafeString | None:
        return format_readable("\n".join(result.feedback)) if result.feedback else None


@admin.register(Round)
class RoundAdmin(RunRecordAdmin):
    list_display = ("run", "number", "stage", "score", "novelty", "pages_read", "decision")
    list_filter = (InRun, "stage")


@admin.register(Report)
class ReportAdmin(RunRecordAdmin):
    list_display = ("run", "number", "short_answer", "created_at")
    list_filter = (InRun,)


@admin.register(ShareLink)
class ShareLinkAdmin(RunRecordAdmin):
    """Links to reports. Deleting one revokes it; the tokens aren't shown."""

    list_display = ("run", "actor", "created_at")
    list_select_related = ("run", "actor")
    fields = ("run", "actor", "created_at")
    readonly_fields = fields

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return admin.ModelAdmin.has_delete_permission(self, request, obj)


@admin.register(JournalEntry)
class JournalEntryAdmin(RunRecordAdmin):
    list_display = ("place", "run", "attempt", "kind", "status", "seconds", "created_at")
    list_filter = (InRun, "kind", "status")
    fields = (
        "run",
        "place",
        "attempt",
        "kind",
        "status",
        "seconds",
        "created_at",
        "asked",
        "answered",
    )
    readonly_fields = fields

    @admin.display(description=_("asked"))
    def asked(self, entry: JournalEntry) -> SafeString:
        request = entry.request
        if entry.kind == "model":
            return format_readable(f"{request['system']}\n\n{request['prompt']}")
        return format_readable(request)

    @admin.display(description=_("answered"))
    def answered(self, entry: JournalEntry) -> SafeString:
        return format_readable(entry.answer)

    def get_queryset(self, request: HttpRequest) -> QuerySet[JournalEntry]:
        """Defer prompts and responses in lists, which don't show them."""
        found = super().get_queryset(request)
        match = request.resolver_match
        is_list = match is not None and (match.url_name or "").endswith("_changelist")
        return found.defer("request", "answer") if is_list else found
