"""Base of the admin's lists: read-only, and fast over millions of rows."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any

from django.contrib import admin
from django.core.paginator import Page, Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from research.models import Run

COUNTED = 1_000
NEWEST_RUNS = 10


class ReadOnly:
    """Rows that only the engine or a service may write."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class BoundedPaginator(Paginator):
    """Paginates at most `COUNTED` rows: beyond that, users need a filter rather than a page number.

    The filters are evaluated once, for the keys of all pages; the rows of the requested page are
    then loaded from `rows` by key.
    """

    rows: QuerySet[Any]

    @cached_property
    def keys(self) -> list[Any]:
        return list(self.object_list.values_list("pk", flat=True)[:COUNTED])

    @cached_property
    def count(self) -> int:
        return len(self.keys)

    @property
    def is_cut(self) -> bool:
        return self.count == COUNTED

    def page(self, number: Any) -> Page[Any]:
        number = self.validate_number(number)
        first = (number - 1) * self.per_page
        rows = self.rows.filter(pk__in=self.keys[first : first + self.per_page])
        return self._get_page(rows, number, self)


class InRun(admin.SimpleListFilter):
    """Filter by run; offers the selected and the newest runs."""

    title = "run"
    parameter_name = "run"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        newest = list(Run.objects.only("pk", "question", "public_id")[:NEWEST_RUNS])
        chosen = self.used_parameters.get(self.parameter_name, "")
        if chosen.isdecimal() and int(chosen) not in {run.pk for run in newest}:
            newest = [*Run.objects.filter(pk=int(chosen)), *newest]
        return [(str(run.pk), str(run)) for run in newest]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        chosen = self.value()
        if not chosen:
            return queryset
        return queryset.filter(run=int(chosen)) if chosen.isdecimal() else queryset.none()


class ReadOnlyAdmin(ReadOnly, admin.ModelAdmin):
    """Newest first, and not sortable, since no other order has an index."""

    list_per_page = 50
    ordering = ("-pk",)
    sortable_by = ()
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    list_select_related: tuple[str, ...] = ()

    def get_paginator(
        self, request: HttpRequest, queryset: QuerySet[Any], per_page: int, *more: Any, **named: Any
    ) -> BoundedPaginator:
        paginator = BoundedPaginator(queryset, per_page, *more, **named)
        paginator.rows = self.listed(request).order_by(*queryset.query.order_by)
        return paginator

    def listed(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the rows with the columns that lists need; of the related run only its name."""
        related = self.list_select_related or ()
        rows = self.get_queryset(request).select_related(*related)
        if "run" not in related:
            return rows
        own = (field.name for field in self.model._meta.concrete_fields)
        return rows.only(*own, "run__public_id", "run__question")


class RunRecordAdmin(ReadOnlyAdmin):
    """Records of runs, searchable by run."""

    list_select_related: tuple[str, ...] = ("run",)
    search_fields = ("run__question",)
    search_help_text = _("A run’s id, or words of its question.")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        words = search_term.split()
        if not words:
            return queryset, False
        named = Run.objects.filter(public_id=words[0]) if len(words) == 1 else Run.objects.none()
        if named.exists():
            return queryset.filter(run__in=named), False
        runs = Run.objects.all()
        for word in words:
            runs = runs.filter(question__icontains=word)
        return queryset.filter(run__in=runs), False


class ReadOnlyInline(ReadOnly):
    """Mixin for `TabularInline` and `StackedInline`."""

    fields: Any
    extra = 0
    can_delete = False
    show_change_link = True

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return self.fields


def format_readable(value: object) -> SafeString:
    """Return text verbatim and data as indented JSON, preformatted."""
    is_text = isinstance(value, str)
    text = value if is_text else json.dumps(value, indent=2, ensure_ascii=False)
    return format_html('<pre class="readable">{}</pre>', text)
