"""Every call of a run: what was asked and what came back, prompts and answers included."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from research.admin.base import InRun, RunRecordAdmin, readable
from research.models import JournalEntry


@admin.register(JournalEntry)
class JournalEntryAdmin(RunRecordAdmin):
    list_display = ("place", "run", "attempt", "kind", "status", "seconds", "created_at")
    list_filter = (InRun, "kind", "status")
    fields = ("run", "place", "attempt", "kind", "status", "seconds", "created_at")
    fields += ("asked", "answered")
    readonly_fields = fields

    @admin.display(description="asked")
    def asked(self, entry: JournalEntry) -> SafeString:
        request = entry.request
        if entry.kind == "model":
            return readable(f"{request['system']}\n\n{request['prompt']}")
        return readable(request)

    @admin.display(description="answered")
    def answered(self, entry: JournalEntry) -> SafeString:
        return readable(entry.answer)

    def get_queryset(self, request: HttpRequest) -> QuerySet[JournalEntry]:
        """A list of calls need not carry their prompts and answers."""
        found = super().get_queryset(request)
        match = request.resolver_match
        is_list = match is not None and (match.url_name or "").endswith("_changelist")
        return found.defer("request", "answer") if is_list else found
