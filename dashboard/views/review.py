"""Review of evidence: claims with their quotes in context, and a verdict on each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
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
from dashboard.forms.form_errors import by_form
from dashboard.queries.queries import Viewer
from dashboard.queries.run_rows import first_numbers, site_names
from dashboard.stored_texts import worded
from dashboard.titles import shorten, title_of
from research.models import Evidence, EvidenceSource, Report, Run
from research.models.findings import EvidenceQuerySet
from research.models.lookups import keep_alphanumeric
from research.readmodel.quote_context import InContext, split_context, with_context
from research.services import reviews, runs
from research.services.errors import ServiceError

ON_A_PAGE = 20
AROUND = 110
"""Characters of the stored copy on each side of a quote."""
NAMED = 80
"""Characters of a claim that identify it in a message."""
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
    of = {row.run_id for row in rows}
    names, numbers = site_names(*of), cited_numbers(of)
    kept = {name: wanted.get(name) or "" for name in ("text", "review", "run")}
    context = {
        "page": "review",
        "find": form,
        "run": kept["run"],
        "left": wanted_evidence(request.user, **wanted).count() if kept["run"] else None,
        "groups": [
            _group(run, list(of_run), names, numbers)
            for run, of_run in groupby(rows, key=lambda row: row.run)
        ],
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
        claim = shorten(evidence.claim, NAMED)
        messages.success(request, f"“{claim}”: {words.VERDICT[given.verdict].word}.")
    except ServiceError as error:
        messages.error(request, worded(str(error)))
    wanted = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(wanted, {request.get_host()})
    return redirect(wanted if is_ours else "review")


def _group(
    run: Run, rows: Sequence[Any], names: Mapping[str, str], numbers: Mapping[tuple[int, str], int]
) -> dict[str, Any]:
    """Return the claims of a run that follow one another in the list."""
    return {
        "question": run.question,
        "title": title_of(run),
        "url": reverse("run", args=[run.public_id]),
        "claims": [_claim(row, names, numbers.get((run.pk, row.label))) for row in rows],
    }


def _claim(row: Any, names: Mapping[str, str], number: int | None) -> dict[str, Any]:
    return {
        "id": row.pk,
        "label": row.label,
        "claim": row.claim,
        "number": number,
        "address": reverse("citation", args=[row.run.public_id, number]) if number else "",
        "review": words.VERDICT[row.last_verdict] if row.last_verdict else None,
        "caveats": [text for flag in row.uncertainty if (text := words.CAVEATS.get(flag, flag))],
        "disputed": bool(row.contradicts),
        "quotes": _quotes(row, names),
    }


def _quotes(row: Evidence, names: Mapping[str, str]) -> list[dict[str, Any]]:
    return [
        {
            "quote": quote.quote,
            "in_context": _in_short(split_context(quote)),
            "title": quote.title or quote.domain,
            "site": words.site_of(quote.url, names.get(quote.url)),
            "published": describe_published(quote.published, quote.fetched_at),
        }
        for quote in row.quotes.all()
    ]


def _in_short(found: InContext | None) -> InContext | None:
    """Return a quote with a few words of the stored copy on each side."""
    if found is None:
        return None
    before, after = (" ".join(text.split()) for text in (found.before, found.after))
    if len(before) > AROUND:
        before = f"… {before[-AROUND:].partition(' ')[2]}"
    if len(after) > AROUND:
        after = f"{after[:AROUND].rpartition(' ')[0]} …"
    return InContext(f"{before} ", found.quote, f" {after}")


def cited_numbers(of: Iterable[int]) -> dict[tuple[int, str], int]:
    """Return the first number with which the newest report of runs cites each record, by the run
    and the label.
    """
    newest = Report.objects.filter(run__in=of).order_by("run", "number")
    return {
        (report.run_id, label): number
        for report in {report.run_id: report for report in newest}.values()
        for label, number in first_numbers(report).items()
    }


def evidence_to_review(
    viewer: Viewer, *, before: int | None = None, **wanted: str
) -> tuple[Sequence[Evidence], int | None]:
    """Return records, newest first, and the key to continue before; None at the end."""
    found = wanted_evidence(viewer, **wanted)
    if before is not None:
        found = found.filter(pk__lt=before)
    quotes = Prefetch("quotes", with_context(EvidenceSource.objects.all()))
    shown = found.with_review().select_related("run").prefetch_related(quotes).order_by("-pk")
    rows = list(shown[: ON_A_PAGE + 1])
    return rows[:ON_A_PAGE], rows[ON_A_PAGE - 1].pk if len(rows) > ON_A_PAGE else None


def wanted_evidence(
    viewer: Viewer, *, review: str = "", text: str = "", run: str = "", **_others: object
) -> EvidenceQuerySet:
    """Return the records that are wanted. `review` is a verdict, `UNREVIEWED`, or '' for all;
    `text` are words of the claim.
    """
    found = _visible(viewer).of_newest_versions()
    if review:
        found = found.unreviewed() if review == UNREVIEWED else found.judged(review)
    for word in filter(keep_alphanumeric, text.split()):
        found = found.filter(claim__has_word=word)
    return found.filter(run__public_id=run) if run else found


def find_evidence(viewer: Viewer, pk: int) -> Evidence:
    """Return a record. Raise `Http404` also for those of other users' runs."""
    found = _visible(viewer).filter(pk=pk).first()
    if found is None:
        raise Http404("no such evidence")
    return found


def _visible(viewer: Viewer) -> EvidenceQuerySet:
    return Evidence.objects.filter(run__in=runs.visible_to(viewer))
