"""Review of evidence: claims with their quotes in context, and a verdict on each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.db.models import Prefetch
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from dashboard import words
from dashboard.contexts.evidence import describe_published
from dashboard.queries.queries import Viewer
from dashboard.queries.run_rows import site_names
from dashboard.stored_texts import worded
from dashboard.titles import title_of
from dashboard.views.sending import by_form
from research.models import Evidence, EvidenceSource
from research.models.findings import EvidenceQuerySet
from research.models.lookups import keep_alphanumeric
from research.readmodel.quote_context import split_context, with_context
from research.services import reviews, runs
from research.services.errors import ServiceError

ON_A_PAGE = 20
UNREVIEWED = "none"


class ReviewForm(forms.Form):
    """The filter of the list."""

    text = forms.CharField(
        required=False,
        max_length=200,
        label=_("Search claims"),
        widget=forms.TextInput(attrs={"type": "search", "placeholder": _("Search claims")}),
    )
    review = forms.ChoiceField(
        required=False,
        label=_("Verdict"),
        choices=[
            (UNREVIEWED, _("Not reviewed")),
            ("accept", _("Accepted")),
            ("reject", _("Rejected")),
            ("flag", _("Flagged")),
            ("", _("All evidence")),
        ],
    )
    run = forms.CharField(required=False, max_length=22, widget=forms.HiddenInput)
    before = forms.IntegerField(required=False, min_value=1, widget=forms.HiddenInput)


@never_cache
@require_GET
def list_evidence(request: HttpRequest) -> HttpResponse:
    form = ReviewForm({"review": UNREVIEWED, **request.GET.dict()})
    wanted = form.cleaned_data if form.is_valid() else {"review": UNREVIEWED}
    rows, older = evidence_to_review(request.user, **wanted)
    names = site_names(*{row.run_id for row in rows})
    kept = {name: wanted.get(name) or "" for name in ("text", "review", "run")}
    context = {
        "page": "review",
        "find": form,
        "run": kept["run"],
        "claims": [_claim(row, names) for row in rows],
        "older": urlencode({**kept, "before": older}) if older else "",
        "here": request.get_full_path(),
    }
    return render(request, "dashboard/review.html", context)


@by_form
def judge_evidence(request: HttpRequest, pk: int) -> HttpResponse:
    """Record a verdict and return to the list that the reviewer came from."""
    evidence = find_evidence(request.user, pk)
    verdict, note = request.POST.get("verdict", ""), request.POST.get("note", "")
    try:
        given = reviews.record_verdict(request.user, evidence, verdict, note)
        messages.success(request, f"{evidence.label}: {words.VERDICT[given.verdict].word}.")
    except ServiceError as error:
        messages.error(request, worded(str(error)))
    wanted = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(wanted, {request.get_host()})
    return redirect(wanted if is_ours else "review")


def _claim(row: Any, names: Mapping[str, str]) -> dict[str, Any]:
    return {
        "id": row.pk,
        "label": row.label,
        "claim": row.claim,
        "question": row.run.question,
        "title": title_of(row.run),
        "url": reverse("run", args=[row.run.public_id]),
        "review": words.VERDICT[row.last_verdict] if row.last_verdict else None,
        "caveats": [text for flag in row.uncertainty if (text := words.CAVEATS.get(flag, flag))],
        "disputed": ", ".join(row.contradicts),
        "quotes": _quotes(row, names),
    }


def _quotes(row: Evidence, names: Mapping[str, str]) -> list[dict[str, Any]]:
    return [
        {
            "quote": "" if quote.quote == row.claim else quote.quote,
            "in_context": split_context(quote),
            "title": quote.title or quote.domain,
            "site": words.site_of(quote.url, names.get(quote.url)),
            "published": describe_published(quote.published, quote.fetched_at),
        }
        for quote in row.quotes.all()
    ]


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
