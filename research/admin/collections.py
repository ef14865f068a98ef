"""Collections of documents: their index state, and unreadable files."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from research.admin.base import ReadOnlyAdmin, ReadOnlyInline, format_readable
from research.models import Collection, Document


class DocumentInline(ReadOnlyInline, admin.TabularInline):
    model = Document
    fields = ("name", "size", "added_at")
    show_change_link = False


@admin.register(Collection)
class CollectionAdmin(ReadOnlyAdmin):
    list_display = (
        "name",
        "owner",
        "is_shared",
        "place",
        "documents",
        "unreadable_count",
        "indexed_at",
    )
    list_filter = ("is_shared", "indexed_at")
    list_select_related = ("owner",)
    search_fields = ("name", "owner__username", "folder")
    inlines = (DocumentInline,)
    fieldsets = (
        (None, {"fields": ("name", "owner", "is_shared", "place", "created_at")}),
        (
            _("In the index"),
            {"fields": ("index_name", "indexed_at", "documents", "problem", "not_read")},
        ),
    )
    readonly_fields = ("place", "not_read")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Collection]:
        return super().get_queryset(request).filter(deleted_at=None)

    @admin.display(description=_("files"))
    def place(self, collection: Collection) -> str:
        return collection.folder or "uploaded"

    @admin.display(description=_("could not be read"))
    def not_read(self, collection: Collection) -> SafeString:
        return format_readable(
            "\n".join(": ".join(filter(None, told)) for told in collection.unreadable)
        )
