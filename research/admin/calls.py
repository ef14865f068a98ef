"""The calls in a run's journal, with requests and responses, prompts included."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from research.admin.base import InRun, RunRecordAdmin, format_readable
from research.models import JournalEntry


@admin.register(JournalEntry)
class JournalEntryAdmin(RunRecordAdmin):
    list_display = ("place", "run", "attempt", "kind", "status", "seconds", "created_at")
    list_filter = (InRun, "kind", "status")
    fields = ("run", "place", "attempt", "kind", "status", "seconds", "created_at")
    fields += ("asked", "answered")
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
