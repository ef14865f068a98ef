"""The report of a run as sanitized HTML."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from dashboard import titles, words
from dashboard.addresses import address_of, is_shared
from dashboard.contexts.aspects import exclude_dropped, lead_of
from dashboard.contexts.evidence import describe_date, support_line
from dashboard.exports import FORMATS, PASTE
from dashboard.markdown.markers import NO_PLACE, FindLink, Link
from dashboard.markdown.report import RenderedParts, render_in_parts, render_markdown
from dashboard.markdown.statements import cited_texts
from dashboard.queries.run_rows import RunRows, labels_at
from research.engine.assessment.answer_status import Trust
from research.engine.evidence.quotes import plain_quote
from research.engine.text.tokens import term_set
from research.engine.verifier.qualification import least_proportion
from research.models import EvidenceSource, Run

QUOTE_LENGTH = 240
UNANSWERED = {Trust.RELATED, Trust.NOT_ANSWERED, Trust.NOTHING_FOUND}
SHARED_FORMATS = ("pdf", "md")
HEADING_LENGTH = 64
"""Maximum characters of a heading in the table of contents."""
DISPUTE_LENGTH = 96
"""Maximum characters of a disputed sentence there."""


def report_context(rows: RunRows) -> dict[str, Any]:
    """Return the report, with statements on rejected evidence marked; {} if there is no report."""
    run, version = rows.run, rows.report
    if version is None or not version.markdown:
        return {}
    parts = render_in_parts(
        version.markdown,
        citation_links(rows),
        titles_of(rows),
        run.language,
        folds=not rows.judged_by_model,
        lead=lead_of(rows.progress.aspects),
        site_names=rows.site_names,
    )
    is_answered = rows.judged_by_model or rows.trust not in UNANSWERED
    return {
        "answer": parts.answer,
        "html": _entitled(parts),
        "headings": [
            (heading.anchor, titles.shorten(heading.text, HEADING_LENGTH))
            for heading in parts.headings
        ],
        "disputes": [
            (each.anchor, titles.shorten(each.text, DISPUTE_LENGTH)) for each in parts.disputes
        ],
        "has_lone": 'class="cite single' in f"{parts.answer}{parts.body}",
        "checked": describe_checks(version.checks) if is_answered else "",
        "sources": address_of(run, "sources"),
    }


def cited_answer(run: Run) -> SafeString | str:
    """Return the short answer of a run that was loaded with `answer` and `cited`, with links to
    its citations.
    """
    if not run.answer:
        return ""
    known = {entry["marker"] for entry in run.cited or ()}

    def find(marker: int, place: int) -> Link | None:
        address = address_of(run, "citation", marker)
        return Link(f"{address}?place={place}") if marker in known else None

    return render_markdown(run.answer, find, run.language).html


def _entitled(parts: RenderedParts) -> SafeString:
    """Return the body with a heading if it goes on from an answer without one."""
    goes_on = 'class="cite' in parts.answer and parts.body.startswith("<p")
    title = format_html("<h2>{}</h2>\n", gettext("In detail")) if goes_on else ""
    return format_html("{}{}", title, parts.body)


def export_links(run: Run) -> dict[str, list[tuple[str, str, str | Promise, bool]]]:
    """Return names, addresses and purposes of the formats in which a report can be saved, and
    whether its quotes may be left out, by group; of a shared one only those of `SHARED_FORMATS`.
    """
    groups: dict[str, list[tuple[str, str, str | Promise, bool]]] = {}
    for extension, form in FORMATS.items():
        if is_shared() and extension not in SHARED_FORMATS:
            continue
        address = address_of(run, "export", extension)
        groups.setdefault(str(form.group), []).append(
            (form.name, address, form.purpose, form.takes_quotes)
        )
    return groups


def copy_links(run: Run) -> dict[str, str]:
    """Return the addresses of what copying a report puts on the clipboard."""
    return {kind: address_of(run, "export", kind) for kind in ("md", PASTE)}


def titles_of(rows: RunRows) -> list[str]:
    """Return the headings that would only repeat the question: it has one part, or is one."""
    asked = exclude_dropped(rows.progress.aspects)
    return [rows.run.question, *(part.text for part in asked if len(asked) == 1)]


def citation_links(rows: RunRows) -> FindLink:
    """Return a function that finds the link of a marker, to the quotes behind its occurrence."""
    citations = {entry["marker"]: entry for entry in (rows.report.citations if rows.report else ())}
    told = cited_texts(rows.report.markdown) if rows.report else ()
    said = {mark: each.text for each in told for mark in each.markers}

    def find(marker: int, place: int) -> Link | None:
        if marker not in citations:
            return None
        labels = labels_at(citations[marker], place)
        quotes = [row for row in rows.cited[marker] if row.evidence.label in labels]
        address = address_of(rows.run, "citation", marker)
        is_whole = len(labels) == len(citations[marker]["evidence_ids"])
        return Link(
            address if place in (0, NO_PLACE) and is_whole else f"{address}?place={place}",
            *summarize_sources(
                quotes,
                rows.site_names,
                said.get((marker, place), ""),
                tells_support=not rows.has_lone_origin,
            ),
            any(row.evidence.label in rows.rejected for row in quotes),
        )  # fmt: skip

    return find


def summarize_sources(
    rows: Sequence[EvidenceSource],
    site_names: Mapping[str, str],
    said: str = "",
    *,
    tells_support: bool = True,
) -> tuple[str, frozenset[str]]:
    """Return the lines of a tooltip, and the independent sources that support the citation, none
    unless it `tells_support`.

    The lines are the title; site, date and support; of each record the first of the quotes that
    have most words of what is `said`.
    """
    if not rows:
        return "", frozenset()
    first, words_said = rows[0], term_set(said)
    by_record = dict[int, EvidenceSource]()
    for row in sorted(rows, key=lambda row: -len(words_said & term_set(row.quote))):
        by_record.setdefault(row.evidence_id, row)
    in_order = dict.fromkeys(row.evidence_id for row in rows)
    keys = frozenset(row.independence_key for each in rows for row in each.evidence.quotes.all())
    support = support_line(first.evidence.quotes.all()) if tells_support else ""
    site = words.site_of(first.url, site_names.get(first.url))
    lines = (
        first.title or first.domain,
        " · ".join(filter(None, (site.name, describe_date(first), support))),
        *(
            f"“{Truncator(plain_quote(row.quote)).chars(QUOTE_LENGTH)}”"
            for row in (by_record[record] for record in in_order)
        ),
    )
    note = "\n".join(" ".join(line.split()) for line in lines)
    return note, keys if tells_support else frozenset()


def _shortened(quote: str) -> str:
    return Truncator(plain_quote(quote)).chars(QUOTE_LENGTH)


def _describe_citing(checks: dict[str, Any]) -> str:
    """Return how many statements are cited; "all 2" would read badly."""
    cited, statements = checks.get("cited", 0), checks["statements"]
    if cited == statements > 2:
        return gettext("All %(n)s statements carry a citation.") % {
            "n": words.format_number(statements)
        }
    told = ngettext(
        "%(cited)s of %(n)s statement carries a citation.",
        "%(cited)s of %(n)s statements carry a citation.",
        statements,
    )
    told %= {"cited": words.format_number(cited), "n": words.format_number(statements)}
    if not (others := statements - cited):
        return told
    return f"{told} " + ngettext(
        "%(n)s only connects others.", "%(n)s only connect others.", others
    ) % {"n": words.format_number(others)}


def describe_checks(checks: dict[str, Any]) -> str:
    """Return sentences that count the statements checked, rewritten, cut and left out."""
    if not checks.get("statements"):
        return ""
    told = (_describe_citing, _describe_repaired, _describe_cut, _describe_shortened)
    return " ".join(filter(None, (describe(checks) for describe in told)))


def summarize_checks(checks: dict[str, Any]) -> str:
    """Return what the statements of a report were compared with and by whom, and how many were cut;
    where no model was asked, how many are cited.
    """
    if not checks.get("statements"):
        return ""
    told = _describe_comparing(checks) if checks.get("verifier") else _describe_citing(checks)
    return " ".join(filter(None, (told, _describe_cut(checks))))


def check_details(checks: dict[str, Any]) -> list[str]:
    """Return the sentences that `summarize_checks` leaves out."""
    if not checks.get("statements"):
        return []
    use = checks.get("verifier", "")
    told = (
        _describe_citing(checks) if use else "",
        _describe_repaired(checks),
        _describe_shortened(checks),
        _planted(checks),
        str(VERIFIER.get(use, "")),
    )
    return list(filter(None, told))


VERIFIER = {
    "disbelieved": _("It missed too many of them, so its verdicts were not used."),
    "unqualified": _("The model is not qualified to check statements."),
    "failed": _("The model gave no usable verdicts."),
    "off": _("Checking by the model is turned off."),
}
"""Why the verifier's verdicts were not used."""


def _describe_comparing(checks: dict[str, Any]) -> str:
    """Return what vouches for the cited statements: code, the model, or their being quotations."""
    cited, by_code, by_model = (checks.get(name, 0) for name in ("cited", "by_code", "by_model"))
    quoted = cited - by_code - by_model
    parts = (
        (by_code, gettext("%(n)s by code")),
        (by_model, gettext("%(n)s by the model")),
        (quoted, ngettext("%(n)s is a quotation", "%(n)s are quotations", quoted)),
    )
    told = ngettext(
        "%(n)s cited statement, compared with its quotes: %(parts)s.",
        "%(n)s cited statements, each compared with its quotes: %(parts)s.",
        cited,
    )
    named = [text % {"n": words.format_number(count)} for count, text in parts if count > 0]
    return told % {"n": words.format_number(cited), "parts": ", ".join(named)} if named else ""


def _describe_cut(checks: dict[str, Any]) -> str:
    return _count(
        checks.get("cut", 0),
        lambda n: ngettext(
            "%(n)s more was cut because its quotes don’t carry it.",
            "%(n)s more were cut because their quotes don’t carry them.",
            n,
        ),
    )


def _describe_repaired(checks: dict[str, Any]) -> str:
    return _count(
        checks.get("repaired", 0),
        lambda n: ngettext(
            "%(n)s was rewritten because its first wording said more than its quotes.",
            "%(n)s were rewritten because their first wording said more than their quotes.",
            n,
        ),
    )


def _describe_shortened(checks: dict[str, Any]) -> str:
    return _count(
        checks.get("shortened", 0),
        lambda n: ngettext(
            "%(n)s was left out for length; a thorough report has room for more.",
            "%(n)s were left out for length; a thorough report has room for more.",
            n,
        ),
    )


def _count(number: int, word: Callable[[int], str]) -> str:
    """Return a counting sentence, '' for none."""
    return word(number) % {"n": words.format_number(number)} if number else ""


def _planted(checks: dict[str, Any]) -> str:
    """Return the share of planted errors found, which is no measure for real errors."""
    planted, found = checks.get("planted", 0), checks.get("planted_found", 0)
    if not planted:
        return ""
    least = round(100 * least_proportion(found, planted))
    sentence = gettext(
        "To test the model, %(total)s statements with a deliberate error were mixed in; it found "
        "%(n)s of them. With 95 %% confidence it finds at least %(least)s %% of such errors."
    )
    return sentence % {"n": found, "total": planted, "least": least}
