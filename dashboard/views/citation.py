"""A citation as a page and as a panel next to the report."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote as percent_encode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET
from django.views.decorators.vary import vary_on_headers

from dashboard import words
from dashboard.addresses import address_of, is_shared
from dashboard.contexts.evidence import count_sources, describe_published, says_itself
from dashboard.contexts.quotes import shown_page, statement_context, stored_copy
from dashboard.contexts.report import report_context
from dashboard.contexts.run import answer_context, run_head
from dashboard.contexts.thread import loss_of, review_context
from dashboard.forms.form_errors import by_form
from dashboard.queries import queries
from dashboard.queries.citation_queries import CitationRows, citation_rows
from dashboard.queries.run_rows import RunRows, site_names
from dashboard.stored_texts import worded
from research.engine.text.entities import find_numbers
from research.models import EvidenceSource, Run
from research.services import reviews
from research.services.errors import ServiceError

PANEL = "citation-panel"


@never_cache
@vary_on_headers("HX-Request")
@require_GET
def show_citation(request: HttpRequest, public_id: str, number: int) -> HttpResponse:
    return render_citation(request, queries.find_run(request.user, public_id), number)


@by_form
def judge_citation(request: HttpRequest, public_id: str, number: int) -> HttpResponse:
    """Record a reviewer's verdict on the records behind a citation, or on the one that is named as
    `finding`; the latest verdict counts.
    """
    run = queries.find_run(request.user, public_id)
    place, only = place_in(request), request.POST.get("finding")
    quotes = citation_rows(run, number, place).quotes
    claims = {row.evidence for row in quotes if only in (None, row.evidence.label)}
    if not claims:
        raise Http404("no such finding")
    try:
        reviews.review_all(request.user, claims, request.POST.get("verdict", ""))
    except ServiceError as error:
        messages.error(request, worded(str(error)))
    if is_panel(request):
        return render_judged_citation(request, run, number)
    address = address_of(run, "citation", number)
    return redirect(address if place is None else f"{address}?place={place}")


def render_citation(request: HttpRequest, run: Run, number: int) -> HttpResponse:
    rows, in_panel = citation_rows(run, number, place_in(request)), is_panel(request)
    context = citation_context(rows, in_panel=in_panel)
    if is_shared():
        context["is_shared"] = True
    else:
        context |= reviewing_context(context["citation"], RunRows(run))
    template = "dashboard/_citation_panel.html" if in_panel else "dashboard/citation.html"
    return render(request, template, context)


def render_judged_citation(request: HttpRequest, run: Run, number: int) -> HttpResponse:
    """Render the panel with the offer to revise the report, and the report with rejections marked.

    The offer above the report appears on the next page load only, so that no text moves.
    """
    rows, of_run = citation_rows(run, number, place_in(request)), RunRows(run)
    context = citation_context(rows, in_panel=True)
    context |= reviewing_context(context["citation"], of_run)
    written = report_context(of_run)
    context |= {
        "run_id": run.public_id,
        "report": written,
        "element": f"run-{run.public_id}-answer",
    }
    context |= answer_context(of_run, written)
    return render(request, "dashboard/judged.html", context)


def reviewing_context(citation: Mapping[str, Any], rows: RunRows) -> dict[str, Any]:
    """Return what rejections did to the report, and what rejecting all findings of a citation would
    do to it; of several `findings`, each claim has the `loss` of its own.
    """
    claims = citation["claims"]
    loss = loss_of(rows, [claim["label"] for claim in claims])
    if len(claims) > 1:
        claims = [{**claim, "loss": loss_of(rows, [claim["label"]])} for claim in claims]
    return {
        "afterwards": review_context(rows),
        "loss": loss,
        "findings": len(claims) if len(claims) > 1 else 0,
        "citation": {**citation, "claims": claims},
    }


def place_in(request: HttpRequest) -> int | None:
    """Return the occurrence of the marker that was followed, counted from 0; of the panel, which
    shows one statement, the first without any.
    """
    place = request.GET.get("place", "")
    if re.fullmatch(r"[0-9]{1,4}", place):
        return int(place)
    return 0 if is_panel(request) else None


def is_panel(request: HttpRequest) -> bool:
    return bool(request.htmx) and request.htmx.target == PANEL


NAMES = {
    "numbers": gettext_lazy("numbers"),
    "names": gettext_lazy("names"),
    "negations": gettext_lazy("negations"),
}
IN_THE_COPY = words.State(gettext_lazy("Quote: word for word in the stored copy"), "check", "good")
NOT_IN_THE_COPY = words.State(gettext_lazy("Quote: not in the stored copy"), "cross", "bad")
COPY_DELETED = words.State(gettext_lazy("Quote: the copy is no longer stored"), "none", "idle")
TONES = ("good", "idle", "bad")
"""The outcomes of a check, the worst last."""
COMPARED = {
    "numbers": "number_differs",
    "names": "name_differs",
    "negations": "negation_differs",
}


def citation_context(rows: CitationRows, *, in_panel: bool = False) -> dict[str, Any]:
    """Return the context of a citation page or panel.

    A citation of one place has its `statement`; one of several has each below its quote.
    """
    run, first, page = rows.run, rows.quotes[0], shown_page(rows)
    place = rows.numbers.index(rows.number)
    claims = [checked_claim(quotes, rows) for quotes in by_evidence(rows.quotes)]
    told = [(said.labels, statement_context(said, rows)) for said in rows.statements]
    statement = told[0][1] if len(told) == 1 else None
    supports = {
        row.evidence.label: [each for labels, each in told if row.evidence.label in labels]
        for row in (rows.quotes if len(told) > 1 else ())
    }
    return {
        "run": run_head(run),
        "citation": {
            "number": rows.number,
            "address": address_of(run, "citation", rows.number),
            "at": "" if rows.place is None else f"?place={rows.place}",
            "previous": neighbour(run, rows.numbers[:place][-1:]),
            "next": neighbour(run, rows.numbers[place + 1 :][:1]),
            "title": first.title or first.domain,
            "site": words.site_of(first.url, site_names(run).get(first.url)),
            "place": words.readable_url(first.url),
            "published": describe_published(first.published, first.fetched_at),
            "fetched": first.fetched_at,
            "kept": first.fetched_at < run.created_at and not first.url.startswith("file:"),
            "statement": statement,
            "statements": len(told),
            "others": rows.others,
            "claims": claims,
            "checks": summarize_checks(claims, statement),
            "said": common_verdict(rows),
            "calculations": [line for line in rows.calculations if _is_behind(line, rows)],
            "support": "" if len(told) > 1 else support_of(rows),
            "live": live_link(first, rows.page.text if rows.page else ""),
            "quotes": [
                {"text": row.quote, "supports": supports.get(row.evidence.label, ())}
                for row in (rows.quotes if page is None else ())
            ],
            "withheld": rows.page is not page,
            **stored_copy(rows, supports, in_panel=in_panel),
        },
    }


def _is_behind(line: str, rows: CitationRows) -> bool:
    """Return whether a calculation makes a figure of the statements that are shown."""
    made = set(find_numbers(line.rpartition("=")[2]))
    return any(made.intersection(find_numbers(each.said.text)) for each in rows.statements)


def common_verdict(rows: CitationRows) -> str:
    """Return the last verdict on all records behind a citation; '' where they have none, or not
    the same.
    """
    said = {rows.verdicts.get(row.evidence_id) for row in rows.quotes}
    return (said.pop() or "") if len(said) == 1 else ""


def neighbour(run: Run, numbers: Sequence[int]) -> dict[str, Any] | None:
    """Return number and address of the first of the citations; None without any."""
    if not numbers:
        return None
    return {"number": numbers[0], "address": address_of(run, "citation", numbers[0])}


def support_of(rows: CitationRows) -> str:
    """Return the sources behind the statement, as the mark below its numbers counts them; and those
    of the claim behind this number if the statement says more than it.
    """
    told = _sources_behind(rows.together)
    own = _sources_behind(rows.quotes)
    if own == told:
        return _("The statement rests on %(sources)s.") % {"sources": told}
    return _("This citation rests on %(own)s, the whole statement on %(sources)s.") % {
        "own": own,
        "sources": told,
    }


def _sources_behind(quotes: Iterable[EvidenceSource]) -> str:
    return count_sources(row for each in quotes for row in each.evidence.quotes.all())


def by_evidence(quotes: Sequence[EvidenceSource]) -> list[list[EvidenceSource]]:
    """Group quotes by evidence record, as a claim can rest on several passages of one page."""
    found: dict[int, list[EvidenceSource]] = {}
    for row in quotes:
        found.setdefault(row.evidence_id, []).append(row)
    return list(found.values())


def checked_claim(quotes: Sequence[EvidenceSource], rows: CitationRows) -> dict[str, Any]:
    """Return a claim with the outcome of its checks.

    Quotes are compared with the stored copy again; the other checks were made during the run.
    `shown` is True if the highlighted quote already contains the claim.
    """
    evidence = quotes[0].evidence
    is_quoted = says_itself(evidence.claim, quotes)
    said = rows.verdicts.get(evidence.pk)
    return {
        "label": evidence.label,
        "said": said or "",
        "elsewhere": len({row.url for row in evidence.quotes.all()} - {row.url for row in quotes}),
        "text": evidence.claim,
        "shown": rows.page is not None and is_quoted,
        "quoted": word_for_word(quotes, rows),
        "compared": list(comparison_states(set(evidence.uncertainty), is_quoted=is_quoted)),
        "verdict": words.VERDICT[said] if said else None,
    }


def summarize_checks(
    claims: Sequence[dict[str, Any]], statement: Mapping[str, Any] | None
) -> list[words.State]:
    """Return what was checked: the worst outcome of the quotes, what found that they say the
    statement, all that differs, and what a reviewer said.
    """
    quoted = max((claim["quoted"] for claim in claims), key=lambda state: TONES.index(state.tone))
    checks = (statement["clause_check"], statement["check"]) if statement else ()
    stated = [check for check in checks if check]
    compared = (state for claim in claims for state in claim["compared"])
    differs = dict.fromkeys(state for state in compared if state.tone == "bad")
    reviewed = dict.fromkeys(claim["verdict"] for claim in claims if claim["verdict"])
    return [quoted, *stated, *differs, *reviewed]


def word_for_word(quotes: Sequence[EvidenceSource], rows: CitationRows) -> words.State:
    if rows.page is None:
        return COPY_DELETED
    is_there = all(rows.page.text[row.start : row.end] == row.quote for row in quotes)
    return IN_THE_COPY if is_there else NOT_IN_THE_COPY


def comparison_states(flags: Container[str], *, is_quoted: bool) -> Iterator[words.State]:
    """Yield one state for all features that match the quote, then one for each that differs; that a
    quote matches itself is not said.
    """
    same = [what for what, flag in COMPARED.items() if flag not in flags]
    if same and not (is_quoted and len(same) == len(COMPARED)):
        names = words.join_words([str(NAMES[what]) for what in same])
        yield words.State(_("%(names)s match") % {"names": names}, "check", "good")
    for what in COMPARED:
        if what not in same:
            yield words.State(_("%(names)s differ") % {"names": NAMES[what]}, "cross", "bad")


def live_link(row: EvidenceSource, text: str) -> str:
    """Return a link to the live page that scrolls to the quote; '' for a local document.

    The text fragment of a quote of more than 12 words has only its first and last six words. Where
    the stored `text` of the page has the quote before as well, the words in front of it tell which
    is meant.
    """
    if not words.is_on_the_web(row.url):
        return ""
    told = row.quote.split()
    ends = (told[:6], told[-6:]) if len(told) > 12 else (told,)
    fragment = ",".join(map(_encoded, ends))
    before = text[: row.start].rstrip().rpartition("\n")[2].lstrip("#-*• ").split()
    if before and row.quote in text[: row.start]:
        fragment = f"{_encoded(before[-6:])}-,{fragment}"
    return f"{row.url.partition('#')[0]}#:~:text={fragment}"


def _encoded(told: Sequence[str]) -> str:
    return percent_encode(" ".join(told), safe="").replace("-", "%2D")
