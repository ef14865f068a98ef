"""HTML export: one self-contained file with the report and every quote in context."""

from __future__ import annotations

from django.template.loader import render_to_string
from django.utils.translation import gettext_lazy as _

from dashboard import words
from dashboard.exports import Format
from dashboard.exports.contents import Contents
from dashboard.markdown.markers import Link
from dashboard.markdown.report import render_markdown


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


FORMAT = Format(
    "HTML",
    "html",
    "text/html; charset=utf-8",
    render,
    position=4,
    purpose=_("One file, to open in a browser"),
)
