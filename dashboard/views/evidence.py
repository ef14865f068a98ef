"""All evidence of a run by sub-question, filtered by how the report uses it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from dashboard import words
from dashboard.contexts.evidence import (
    EvidenceList,
    count_sources,
    listed_claim,
    refused_quote_context,
    statement_context,
)
from dashboard.contexts.lists import paging_context
from dashboard.contexts.run import run_head
from dashboard.markdown.statements import CitedText
from dashboard.queries import queries
from research.models import Evidence, RefusedQuote

CLAIMS_ON_A_PAGE = 200
OPEN_CLAIMS = 24
"""Claims that are unfolded, twice as many if they are sought; those of further sub-questions are
folded.
"""
REFUSED = "refused"
ALONE = "alone"
Standing = Callable[[Evidence, EvidenceList], bool]
Others = Mapping[str, Sequence[RefusedQuote] | Sequence[CitedText]]
"""What is listed that is no claim, by the value of `?standing=`."""
STANDINGS: Mapping[str, tuple[words.Text, Standing]] = {
    "used": (gettext_lazy("Used in the report"), lambda row, rows: row.label in rows.cited),
    "unused": (gettext_lazy("Not used"), lambda row, rows: row.label not in rows.cited),
    "confirmed": (
        gettext_lazy("Confirmed by several sources"),
        lambda row, rows: rows.voices(row) > 1,
    ),
    "single": (gettext_lazy("One source only"), lambda row, rows: rows.voices(row) == 1),
    "disputed": (gettext_lazy("Sources disagree"), lambda row, rows: bool(row.contradicts)),
    "earlier": (gettext_lazy("Earlier value"), lambda row, rows: row.label in rows.earlier),
    "reworded": (gettext_lazy("Reworded"), lambda row, rows: not rows.is_verbatim(row)),
    "reviewed": (gettext_lazy("Reviewed"), lambda row, rows: rows.verdict(row) is not None),
}
"""What claims can be narrowed down to, by the value of `?standing=`."""


class EvidenceForm(forms.Form):
    """The filter of the list; `parts` are labels and names of the sub-questions."""

    text = forms.CharField(
        required=False,
        max_length=200,
        label=gettext_lazy("Search claims and quotes"),
        widget=forms.TextInput(
            attrs={"type": "search", "placeholder": gettext_lazy("Search claims and quotes")}
        ),
    )
    part = forms.ChoiceField(required=False, label=gettext_lazy("Sub-question"))
    standing = forms.ChoiceField(
        required=False,
        choices=[(name, name) for name in ("", *STANDINGS, ALONE, REFUSED)],
        widget=forms.HiddenInput,
    )

    def __init__(self, data: Mapping[str, str], parts: Sequence[tuple[str, str]]) -> None:
        super().__init__(data)
        self.fields["part"].choices = [("", _("All sub-questions")), *parts]

    def wanted(self) -> dict[str, str]:
        """Return what is filled in and valid."""
        self.is_valid()
        return {name: value for name, value in self.cleaned_data.items() if value}


@never_cache
@require_GET
def show_evidence(request: HttpRequest, public_id: str) -> HttpResponse:
    """Render all evidence records, or those that are wanted; the run's own page has only some."""
    rows = EvidenceList(queries.find_run(request.user, public_id))
    form = EvidenceForm(request.GET.dict(), list(rows.parts.items()))
    wanted = form.wanted()
    found = [row for row in rows.in_order if _is_wanted(row, rows, wanted)]
    refused = _refused(rows, wanted)
    standing = wanted.get("standing", "")
    others: Others = {REFUSED: refused, ALONE: _alone(rows, wanted)}
    listed = _of_standing(found, rows, standing)
    page = Paginator(others.get(standing, listed), CLAIMS_ON_A_PAGE).get_page(
        request.GET.get("page")
    )
    quotes = (quote for row in rows.in_order for quote in row.quotes.all())
    context = {
        "run": run_head(rows.run),
        "find": form,
        "wanted": wanted,
        "total": len(rows.in_order),
        "support": count_sources(quotes) if rows.in_order else "",
        "standings": _filters(found, rows, others, wanted),
        "paging": paging_context(page, wanted),
    }
    if standing == REFUSED:
        context["refused"] = [refused_quote_context(row) for row in page]
    elif standing == ALONE:
        context["statements"] = [statement_context(said, rows.run) for said in page]
    else:
        context["groups"] = _groups(listed, page.object_list, rows, is_narrowed=bool(wanted))
    return render(request, "dashboard/evidence.html", context)


def _is_wanted(row: Evidence, rows: EvidenceList, wanted: Mapping[str, str]) -> bool:
    if wanted.get("part") not in (None, rows.part_of(row)):
        return False
    quoted = (f"{each.quote} {each.title} {each.domain}" for each in row.quotes.all())
    return _has_words(" ".join((row.claim, *quoted)), wanted.get("text", ""))


def _has_words(text: str, sought: str) -> bool:
    text = text.casefold()
    return all(word in text for word in sought.casefold().split())


def _of_standing(found: Sequence[Evidence], rows: EvidenceList, name: str) -> list[Evidence]:
    return [row for row in found if name not in STANDINGS or STANDINGS[name][1](row, rows)]


def _refused(rows: EvidenceList, wanted: Mapping[str, str]) -> list[RefusedQuote]:
    """Return the refused quotes with the words that are sought; they are of no sub-question."""
    if wanted.get("part"):
        return []
    sought = wanted.get("text", "")
    return [row for row in rows.refused if _has_words(f"{row.claim} {row.url}", sought)]


def _alone(rows: EvidenceList, wanted: Mapping[str, str]) -> list[CitedText]:
    """Return the statements on one site with the words that are sought, of a sub-question those
    with evidence on it.
    """
    parts = {row.label: rows.part_of(row) for row in rows.in_order}
    return [
        said
        for said, labels in rows.alone.items()
        if _has_words(said.text, wanted.get("text", ""))
        and wanted.get("part") in (None, *(parts[label] for label in labels if label in parts))
    ]


def _filters(
    found: Sequence[Evidence],
    rows: EvidenceList,
    others: Others,
    wanted: Mapping[str, str],
) -> list[dict[str, Any]]:
    """Return the standings of the claims that are sought, and what `others` are listed, each with
    its number and the query that shows only those, or all again.
    """
    chosen = wanted.get("standing", "")
    kept = {name: value for name, value in wanted.items() if name != "standing"}
    counts = {name: len(_of_standing(found, rows, name)) for name in STANDINGS}
    if not rows.cited:
        del counts["used"], counts["unused"]
    texts = {name: text for name, (text, _standing) in STANDINGS.items()}
    texts |= {ALONE: _("Points on one site"), REFUSED: _("Refused")}
    counts |= {name: len(others[name]) for name in (ALONE, REFUSED)}
    return [
        {
            "text": texts[name],
            "number": words.format_number(number),
            "query": urlencode(kept if name == chosen else {**kept, "standing": name}),
            "is_on": name == chosen,
        }
        for name, number in counts.items()
        if number or name == chosen
    ]


def _groups(
    listed: Sequence[Evidence], page: Sequence[Evidence], rows: EvidenceList, *, is_narrowed: bool
) -> list[dict[str, Any]]:
    """Return the claims of a page by sub-question, with what there are in all; the first ones are
    unfolded.
    """
    groups, shown = list[dict[str, Any]](), 0
    most = OPEN_CLAIMS * (2 if is_narrowed else 1)
    for part in dict.fromkeys(rows.part_of(row) for row in page):
        of_part = [row for row in listed if rows.part_of(row) == part]
        claims = [listed_claim(row, rows) for row in page if rows.part_of(row) == part]
        is_open = not shown or shown + len(claims) <= most
        shown += len(claims) if is_open else 0
        used = sum(row.label in rows.cited for row in of_part)
        groups.append(
            {
                "title": rows.parts.get(part, _("Other claims")),
                "claims": claims,
                "number": len(of_part),
                "used": words.format_number(used) if rows.cited else "",
                "open": is_open,
            }
        )
    return groups
