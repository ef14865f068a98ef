"""Evidence to review, restricted to runs that the viewer may see."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Prefetch
from django.http import Http404

from dashboard.queries.queries import Viewer
from research.models import Evidence, EvidenceSource
from research.models.findings import EvidenceQuerySet
from research.models.lookups import keep_alphanumeric
from research.readmodel.quote_context import with_context
from research.services import runs

ON_A_PAGE = 20
UNREVIEWED = "none"


def evidence_to_review(
    viewer: Viewer, *, review: str = "", text: str = "", run: str = "", before: int | None = None
) -> tuple[Sequence[Evidence], int | None]:
    """Return records, newest first, and the key to continue before; None at the end.

    `review` is a verdict, `UNREVIEWED`, or '' for all; `text` are words of the claim.
    """
    found = _visible(viewer).of_newest_versions()
    if review:
        found = found.unreviewed() if review == UNREVIEWED else found.judged(review)
    for word in filter(keep_alphanumeric, text.split()):
        found = found.filter(claim__has_word=word)
    if run:
        found = found.filter(run__public_id=run)
    if before is not None:
        found = found.filter(pk__lt=before)
    quotes = Prefetch("quotes", with_context(EvidenceSource.objects.all()))
    shown = found.with_review().select_related("run").prefetch_related(quotes).order_by("-pk")
    rows = list(shown[: ON_A_PAGE + 1])
    return rows[:ON_A_PAGE], rows[ON_A_PAGE - 1].pk if len(rows) > ON_A_PAGE else None


def find_evidence(viewer: Viewer, pk: int) -> Evidence:
    """Return a record. Raise `Http404` also for those of other users' runs."""
    found = _visible(viewer).filter(pk=pk).first()
    if found is None:
        raise Http404("no such evidence")
    return found


def _visible(viewer: Viewer) -> EvidenceQuerySet:
    return Evidence.objects.filter(run__in=runs.visible_to(viewer))
