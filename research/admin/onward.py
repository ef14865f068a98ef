"""From one record of evidence to the next that nobody judged, in the list one came from."""

from __future__ import annotations

from copy import copy

from django.contrib.admin import ModelAdmin
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, QueryDict

from research.models import Evidence

NOTHING_LEFT = "Nothing unreviewed is left in this list."


def filters_in(came_from: str) -> str:
    """A list's filters, in what Django hands on of them to the pages of its records."""
    return QueryDict(came_from).get("_changelist_filters", "")


def next_unreviewed(
    of: ModelAdmin[Evidence], request: HttpRequest, judged: Evidence, came_from: str
) -> Evidence | None:
    """Down the list, then from its beginning; reviews and pages of the list don't count."""
    chosen = QueryDict(filters_in(came_from), mutable=True)
    for name in ("review", "p"):
        chosen.pop(name, None)
    asked = copy(request)
    asked.GET = chosen
    try:
        unreviewed = of.get_changelist_instance(asked).queryset.unreviewed()
    except IncorrectLookupParameters:
        raise SuspiciousOperation("These are no filters of the list.") from None
    return unreviewed.filter(pk__lt=judged.pk).first() or unreviewed.first()
