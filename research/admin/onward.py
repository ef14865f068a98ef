"""Navigation from one evidence record to the next unreviewed one of the same list."""

from __future__ import annotations

from copy import copy

from django.contrib.admin import ModelAdmin
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, QueryDict
from django.utils.translation import gettext_lazy as _

from research.models import Evidence

NOTHING_LEFT = _("Nothing unreviewed is left in this list.")


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
