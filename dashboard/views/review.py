"""Review of evidence: claims with their quotes in context, and a verdict on each.

Of each run those come first that its report cites, in the order of the report, and among them those
that deserve doubt.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.db.models import Exists, OuterRef, Prefetch, prefetch_related_objects
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from dashboard import words
from dashboard.contexts.evidence import describe_published, says_itself
from dashboard.forms.form_errors import by_form
from dashboard.markdown.statements import cited_texts
from dashboard.queries.queries import Viewer
from dashboard.queries.run_rows import first_numbers, labels_at, site_names, statements_alone
from dashboard.stored_texts import worded
from dashboard.titles import shorten, title_of
from research.engine.evidence.claim_check import check_claim
from research.models import Evidence, EvidenceSource, Report, Run, Verdict
from research.models.findings import EvidenceQuerySet
from research.models.lookups import keep_alphanumeric
from research.readmodel.quote_context import InContext, split_context, with_context
from research.services import reviews, runs
from research.services.errors import ServiceError

RUNS_ON_A_PAGE = 5
OF_EACH_RUN, OF_ONE_RUN = 5, 20
"""Claims that a page shows of each of several runs, or of the only one."""
DIFFERS = frozenset({"number_differs", "name_differs", "negation_differs"})
AROUND = 110
"""Characters of the stored copy on each side of a quote."""
NAMED = 80
"""Characters of a claim that identify it in a message."""
UNREVIEWED = "none"
GIVEN = "verdict"
"""Key of the session for the verdict that the next list can take back."""
HEADING = re.compile(r"^#{1,6} (.*)$", re.MULTILINE)


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
            ("accept", _("Supports")),
            ("reject", _("Doesn’t support")),
            ("flag", _("Doubtful")),
            ("", _("All evidence")),
        ],
    )
    run = forms.CharField(required=False, max_length=22, widget=forms.HiddenInput)
    before = forms.IntegerField(required=False, min_value=1, widget=forms.HiddenInput)
    after = forms.IntegerField(required=False, min_value=1, widget=forms.HiddenInput)


@dataclass(frozen=True)
class Cited:
    """The first number with which a report cites a record, the place of its first statement there,
    and whether one of its statements rests on one site only, while the evidence of the run is from
    several.
    """

    number: int
    place: int
    is_alone: bool


@dataclass(frozen=True)
class ToReview:
    """The claims of a run, in the order of their review: of `rows` those from `start` on are shown.
    `cited` has those that the report cites, by label.
    """

    run: Run
    rows: Sequence[Any]
    cited: Mapping[str, Cited]
    start: int
    size: int

    @property
    def shown(self) -> Sequence[Any]:
        return self.rows[self.start : self.start + self.size]

    @property
    def goes_on(self) -> bool:
        return len(self.rows) > self.start + self.size


@never_cache
@require_GET
def list_evidence(request: HttpRequest) -> HttpResponse:
    form = ReviewForm({"review": UNREVIEWED, **request.GET.dict()})
    wanted = form.cleaned_data if form.is_valid() else {"review": UNREVIEWED}
    found, older = runs_to_review(request.user, **wanted)
    names = site_names(*(each.run for each in found))
    kept = {name: wanted.get(name) or "" for name in ("text", "review", "run")}
    context = {
        "page": "review",
        "find": form,
        "run": kept["run"],
        "left": sum(len(each.rows) for each in found),
        "groups": [_group(each, names, kept) for each in found],
        "older": urlencode({**kept, **older}) if older else "",
        "here": request.get_full_path(),
        "given": request.session.pop(GIVEN, None),
        "narrowed": kept != {"text": "", "review": UNREVIEWED, "run": ""},
    }
    return render(request, "dashboard/review.html", context)


@by_form
def judge_evidence(request: HttpRequest, pk: int) -> HttpResponse:
    """Record a verdict and return to the list that the reviewer came from."""
    evidence = find_evidence(request.user, pk)
    verdict, note = request.POST.get("verdict", ""), request.POST.get("note", "")
    try:
        given = reviews.record_verdict(request.user, evidence, verdict, note)
        if given.verdict == Verdict.Kind.WITHDRAW:
            messages.success(request, _("The verdict was taken back."))
        else:
            told = f"“{shorten(evidence.claim, NAMED)}”: {words.VERDICT[given.verdict].word}."
            request.session[GIVEN] = {"id": evidence.pk, "text": told}
    except ServiceError as error:
        messages.error(request, worded(str(error)))
    wanted = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(wanted, {request.get_host()})
    return redirect(wanted if is_ours else "review")


def _group(each: ToReview, names: Mapping[str, str], kept: Mapping[str, str]) -> dict[str, Any]:
    """Return the claims of a run in parts; those that its report doesn't cite are folded, unless
    they are all there is.
    """
    claims = [_claim(row, names, each.cited.get(row.label)) for row in each.shown]
    first = [claim for claim in claims if claim["doubts"]]
    others = [claim for claim in claims if claim["number"] and not claim["doubts"]]
    uncited = [claim for claim in claims if not claim["number"]]
    cited = sum(row.label in each.cited for row in each.rows)
    return {
        "question": each.run.question,
        "title": title_of(each.run),
        "url": reverse("run", args=[each.run.public_id]),
        "parts": [
            (title, part)
            for title, part in (
                (_("Look at these first"), first),
                (_("In the order of the report") if first else "", others),
            )
            if part
        ],
        "uncited": uncited,
        "opens": not each.cited or (len(uncited) == len(claims) and bool(kept["run"])),
        "numbers": (cited, len(each.rows) - cited) if each.cited else None,
        "more": len(each.rows) if each.goes_on and not kept["run"] else 0,
        "all": urlencode({**kept, "run": each.run.public_id}),
    }


def _claim(row: Any, names: Mapping[str, str], cited: Cited | None) -> dict[str, Any]:
    number = cited.number if cited else None
    return {
        "id": row.pk,
        "label": row.label,
        "claim": row.claim,
        "number": number,
        "address": reverse("citation", args=[row.run.public_id, number]) if number else "",
        "review": words.VERDICT[row.last_verdict] if row.last_verdict else None,
        "caveats": [text for flag in row.uncertainty if (text := words.CAVEATS.get(flag, flag))],
        "doubts": _doubts(row, cited) if cited else [],
        "disputed": bool(row.contradicts),
        "by_model": row.run.has_model and not _is_vouched_for(row),
        "quotes": _quotes(row, names),
    }


def _doubts(row: Evidence, cited: Cited) -> list[Any]:
    """Return why a cited claim is looked at first."""
    return [
        *([_("Sources disagree")] if row.contradicts else ()),
        *([_("Differs from its quote")] if not DIFFERS.isdisjoint(row.uncertainty) else ()),
        *([_("Its statement rests on one site")] if cited.is_alone else ()),
    ]


def _is_vouched_for(row: Evidence) -> bool:
    """Return whether code finds a claim in its quotes."""
    quotes = list(row.quotes.all())
    if says_itself(row.claim, quotes):
        return True
    context = " ".join(f"{quote.title} {quote.section}" for quote in quotes)
    told = " ".join(quote.quote for quote in quotes)
    return check_claim(row.claim, told, context).outcome == "carried"


def _quotes(row: Evidence, names: Mapping[str, str]) -> list[dict[str, Any]]:
    return [
        {
            "quote": quote.quote,
            "in_context": _in_short(found := split_context(quote)),
            "parts": _parts(quote.quote, found),
            "title": quote.title or quote.domain,
            "section": "" if quote.section == quote.title else quote.section,
            "site": words.site_of(quote.url, names.get(quote.url)),
            "published": describe_published(quote.published, quote.fetched_at),
        }
        for quote in row.quotes.all()
    ]


def _parts(quote: str, found: InContext | None) -> list[dict[str, Any]]:
    """Return a quote in parts, its headings apart, also one whose mark precedes the quote."""
    begun = found.before.rpartition("\n")[2] if found else ""
    parts = enumerate(HEADING.split(f"{begun if HEADING.match(begun) else ''}{quote}"))
    return [{"text": text, "is_heading": n % 2} for n, text in parts if text.strip()]


def _in_short(found: InContext | None) -> InContext | None:
    """Return a quote with a few words of the stored copy on each side, up to the next heading."""
    if found is None:
        return None
    of_section = "" if HEADING.match(found.quote) else HEADING.split(found.before)[-1]
    before = " ".join(of_section.split())
    after = " ".join(HEADING.split(found.after)[0].split())
    if len(before) > AROUND:
        before = f"… {before[-AROUND:].partition(' ')[2]}"
    if len(after) > AROUND:
        after = f"{after[:AROUND].rpartition(' ')[0]} …"
    return InContext(f"{before} ", found.quote, f" {after}")


def runs_to_review(
    viewer: Viewer,
    *,
    run: str = "",
    before: int | None = None,
    after: int | None = None,
    **wanted: str,
) -> tuple[list[ToReview], dict[str, int]]:
    """Return the newest runs with such claims, or the only one that is asked for, with the claims
    that a page shows of each, and the parameters of the next page; {} at the end.
    """
    found = wanted_evidence(viewer, run=run, **wanted)
    older: dict[str, int] = {}
    runs_shown = Run.objects.filter(Exists(found.filter(run=OuterRef("pk")))).order_by("-pk")
    if before is not None:
        runs_shown = runs_shown.filter(pk__lt=before)
    of = list(runs_shown[: RUNS_ON_A_PAGE + 1])
    if len(of) > RUNS_ON_A_PAGE:
        of = of[:RUNS_ON_A_PAGE]
        older = {"before": of[-1].pk}
    cited = _cited_in(of)
    of.sort(key=lambda each: not cited[each.pk])  # claims of reports before those of runs under way
    last = _visible(viewer).filter(pk=after, run__in=of).first() if run and after else None
    rows: dict[int, list[Evidence]] = defaultdict(list)
    for row in found.filter(run__in=of).with_review().order_by("-pk"):
        rows[row.run_id].append(row)
    groups = []
    for each in of:

        def order(row: Evidence, of_run: Mapping[str, Cited] = cited[each.pk]) -> tuple[int, int]:
            return _order(row, of_run.get(row.label))

        ordered = sorted(rows[each.pk], key=order)
        for row in ordered:
            row.run = each
        start = sum(order(row) <= order(last) for row in ordered) if last else 0
        size = OF_ONE_RUN if run else OF_EACH_RUN
        groups.append(ToReview(each, ordered, cited[each.pk], start, size))
    shown = [row for group in groups for row in group.shown]
    prefetch_related_objects(shown, Prefetch("quotes", with_context(EvidenceSource.objects.all())))
    if run and groups and groups[0].goes_on:
        older = {"after": shown[-1].pk}
    return groups, older


def _order(row: Evidence, cited: Cited | None) -> tuple[int, int]:
    """Return the place of a claim: those cited that are disputed or differ from their quotes, those
    that rest on one site, others cited, the rest from the newest on.
    """
    if cited is None:
        return 3, -row.pk
    if row.contradicts or not DIFFERS.isdisjoint(row.uncertainty):
        return 0, cited.place
    return 1 if cited.is_alone else 2, cited.place


def _cited_in(of: Sequence[Run]) -> dict[int, dict[str, Cited]]:
    """Return what the newest report of each run cites, by label."""
    reports = {row.run_id: row for row in Report.objects.filter(run__in=of).order_by("number")}
    keys: dict[tuple[int, str], set[str]] = defaultdict(set)
    quotes = EvidenceSource.objects.filter(evidence__run__in=reports).order_by()
    read = quotes.values_list("evidence__run_id", "evidence__label", "independence_key")
    for run_id, label, key in read:
        keys[run_id, label].add(key)
    found: dict[int, dict[str, Cited]] = {run.pk: {} for run in of}
    for run_id, report in reports.items():
        sites = {label: keys[run_id, label] for each, label in list(keys) if each == run_id}
        found[run_id] = _cited_by(report, sites)
    return found


def _cited_by(report: Report, sites: Mapping[str, set[str]]) -> dict[str, Cited]:
    citations = {entry["marker"]: entry for entry in report.citations}
    places = dict[str, int]()
    alone = {label for _, labels in statements_alone(report, sites) for label in labels}
    for place, said in enumerate(cited_texts(report.markdown)):
        of_text = [labels_at(citations[n], at) for n, at in said.markers if n in citations]
        for label in {label for each in of_text for label in each}:
            places.setdefault(label, place)
    return {
        label: Cited(number, places.get(label, len(report.markdown)), label in alone)
        for label, number in first_numbers(report).items()
    }


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
