"""Export formats for finished runs: one module per format, registered in `FORMATS`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.utils import translation
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from dashboard.exports import bibtex, docx, html, json, markdown, pdf, ris
from dashboard.exports.contents import Contents, load_contents
from research.models import Run

NAME_LENGTH = 60


@dataclass(frozen=True)
class Format:
    """An export format. `needs_report` is False if a run without a report can be exported, too."""

    name: str
    extension: str
    content_type: str
    render: Callable[[Contents], bytes]
    needs_report: bool = True


FORMATS = {
    each.extension: each
    for each in (
        Format("Markdown", "md", "text/markdown; charset=utf-8", markdown.render),
        Format("HTML", "html", "text/html; charset=utf-8", html.render),
        Format("PDF", "pdf", "application/pdf", pdf.render),
        Format(
            "Word",
            "docx",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            docx.render,
        ),
        Format("JSON", "json", "application/json", json.render, needs_report=False),
        Format("RIS", "ris", "application/x-research-info-systems; charset=utf-8", ris.render),
        Format("BibTeX", "bib", "application/x-bibtex; charset=utf-8", bibtex.render),
    )
}


@dataclass(frozen=True)
class Exported:
    """An exported file."""

    content: bytes
    filename: str
    content_type: str


class NothingToExport(Exception):
    """The run has no report, and the format cannot represent anything else."""


def export_report(run: Run, form: Format) -> Exported:
    """Return the run's latest report in a format.

    Raise `NothingToExport` if the format needs a report and there is none.
    """
    with translation.override(interface_language(run.language)):
        return _export_as(run, form)


def interface_language(tag: str) -> str:
    """Return the language of headings around a report: the report's own, if it has a catalogue."""
    code = tag.split("-")[0].lower()
    return code if code in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE


def _export_as(run: Run, form: Format) -> Exported:
    whole = load_contents(run)
    if form.needs_report and not whole.markdown:
        raise NothingToExport(_("This run has no report. Its record can be exported as JSON."))
    name = slugify(run.question)[:NAME_LENGTH].strip("-") or run.public_id
    return Exported(form.render(whole), f"{name}.{form.extension}", form.content_type)
