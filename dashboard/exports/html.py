"""HTML export: one self-contained file with the report and every quote in context; and the HTML
that "Copy with citations" puts on the clipboard.
"""

from __future__ import annotations

import re

import nh3
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy as _

from dashboard import words
from dashboard.exports import PASTE, Format
from dashboard.exports.contents import Contents
from dashboard.markdown.markers import Link
from dashboard.markdown.parsing import with_blocks
from dashboard.markdown.report import render_markdown

PASTED_TAGS = frozenset(
    (
        *("h1", "h2", "h3", "h4", "h5", "h6", "p", "blockquote", "pre", "hr", "ul", "ol", "li"),
        *("table", "thead", "tbody", "tr", "th", "td", "a", "strong", "em", "code", "sup", "br"),
    )
)
PASTED_ATTRIBUTES = {"a": {"href"}, "ol": {"start"}}
CHARTS = frozenset({"figure", "details"})
"""Elements of charts, which mail programs would show as loose words."""
BORDERED = '<table border="1" cellpadding="4" cellspacing="0">'
_NUMBER = re.compile(r"(<sup><a [^>]*>)(\d+)(?=</a></sup>)")


def render(whole: Contents) -> bytes:
    citations = {citation.number: citation for citation in whole.citations}

    def link(number: int, place: int) -> Link | None:
        if number not in citations:
            return None
        if not whole.has_quotes:
            address = whole.page_links[number]
            return Link(address) if address else None
        places = citations[number].places
        passage = f"-{places[place] + 1}" if place < len(places) else ""
        return Link(f"#quote-{number}{passage}")

    run = whole.run
    context = {
        "title": whole.title,
        "language": whole.language,
        "ended": words.format_day(run.finished_at or run.created_at),
        "body": render_markdown(whole.markdown, link, whole.language).html,
        "citations": whole.citations if whole.has_quotes else (),
    }
    return render_to_string("exports/report.html", context).encode()


def render_to_paste(whole: Contents) -> bytes:
    """Return HTML for e-mails and documents: it needs no style sheet, its citations are "[1]" and
    lead to their pages, and it has no charts and no links within itself.
    """
    pages = {citation.number: citation.web_link for citation in whole.citations}

    def link(number: int, place: int) -> Link | None:
        return Link(pages[number]) if pages.get(number) else None

    shown = render_markdown(with_blocks(whole.markdown), link, whole.language).html
    context = {
        "language": whole.language,
        "body": plain_html(shown),
        "citations": whole.citations if whole.has_quotes else (),
    }
    return render_to_string("exports/pasted.html", context).encode()


def plain_html(report: str) -> SafeString:
    """Return the HTML of a report without charts, classes and anchors."""
    kept = nh3.clean(
        report,
        tags=PASTED_TAGS,
        attributes=PASTED_ATTRIBUTES,
        clean_content_tags=CHARTS,
        link_rel=None,
        url_schemes={"http", "https"},
    )
    return mark_safe(_NUMBER.sub(r"\1[\2]", kept).replace("<table>", BORDERED))


FORMAT = Format(
    "HTML",
    "html",
    "text/html; charset=utf-8",
    render,
    position=4,
    purpose=_("One file, to open in a browser"),
)
PASTED = Format("HTML to paste", PASTE, "text/html; charset=utf-8", render_to_paste)
