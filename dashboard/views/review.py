"""Review of evidence: claims with their quotes in context, and a verdict on each."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from dashboard import words
from dashboard.queries.review_queries import UNREVIEWED, evidence_to_review, find_evidence
from dashboard.stored_texts import worded
from dashboard.views.sending import by_form
from research.models import Evidence
from research.readmodel.quote_context import split_context
from research.services import reviews
from research.services.errors import ServiceError


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
    kept = {name: wanted.get(name) or "" for name in ("text", "review", "run")}
    context = {
        "page": "review",
        "find": form,
        "run": kept["run"],
        "claims": [_claim(row) for row in rows],
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


def _claim(row: Any) -> dict[str, Any]:
    return {
        "id": row.pk,
        "label": row.label,
        "claim": row.claim,
        "question": row.run.question,
        "url": reverse("run", args=[row.run.public_id]),
        "review": words.VERDICT[row.last_verdict] if row.last_verdict else None,
        "caveats": [text for flag in row.uncertainty if (text := words.CAVEATS.get(flag, flag))],
        "disputed": ", ".join(row.contradicts),
        "quotes": _quotes(row),
    }


def _quotes(row: Evidence) -> list[dict[str, Any]]:
    return [
        {
            "quote": "" if quote.quote == row.claim else quote.quote,
            "in_context": split_context(quote),
            "title": quote.title or quote.domain,
            "domain": quote.domain,
            "published": words.format_partial_date(quote.published) if quote.published else "",
        }
        for quote in row.quotes.all()
    ]
