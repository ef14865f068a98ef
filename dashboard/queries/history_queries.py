"""Search in the history: questions, names, reports and the sources that were read."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Exists, OuterRef, Q, QuerySet

from dashboard.queries.queries import Viewer
from research.models import Report, Run, Source, Thread
from research.models.lookups import keep_alphanumeric

MOST_WORDS = 12


def holding_words(found: QuerySet[Run], text: str) -> QuerySet[Run]:
    """Return the runs that hold every word of `text`, each in any of their parts."""
    for word in text.split()[:MOST_WORDS]:
        found = found.filter(_holds(word))
    return found


def list_folders(viewer: Viewer) -> Sequence[str]:
    """Return the names of the viewer's own folders, in order."""
    own = Thread.objects.filter(owner=viewer.pk, deleted_at=None).exclude(folder="")
    return list(own.order_by("folder").values_list("folder", flat=True).distinct())


def _holds(word: str) -> Q:
    asked = Q(question__icontains=word) | Q(thread__name__icontains=word)
    read = Source.objects.filter(run=OuterRef("pk")).exclude(status="not_read")
    held = asked | Q(Exists(read.filter(Q(title__icontains=word) | Q(domain__icontains=word))))
    if not keep_alphanumeric(word):
        return held
    return held | Q(Exists(Report.objects.filter(run=OuterRef("pk"), markdown__has_word=word)))
