"""Files that carry a form: HTML, PDF, Word and csv, read back by the product's own extraction."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from datetime import UTC, datetime
from functools import lru_cache
from html import escape

import typst
from docx import Document

from bench.injection.rows import Form, HostPage
from research.engine.ports import Page
from research.extract.extract import extract_text
from research.fetch.sniffing import DOCX, PDF

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
IN_HEAD = frozenset({"title", "site name", "meta description", "search snippet"})
_TYPES = {"PDF": PDF, "docx": DOCX, "csv cell": "text/csv; charset=utf-8"}
_TYPST = """#set text(font: ("Libertinus Serif", "Noto Sans CJK SC", "DejaVu Sans"))
#let told = json(bytes(sys.inputs.told))
#set document(title: told.title)
= #told.title
#for part in told.parts { par(part) }
"""


def carried(host: HostPage, form: Form | None, carrier: str, url: str) -> Page:
    """Return the host page as the extraction gives it, with the form in its carrier; without one
    clean.

    Raises `EmptyPageError` if the file holds no text.
    """
    body = _body(host, form, carrier)
    found = extract_text(body, _TYPES.get(carrier, "text/html; charset=utf-8"), url)
    domain = url.split("/")[2]
    return Page(
        url=url,
        final_url=url,
        title=found.title or host.title,
        text=found.text,
        sha256=hashlib.sha256(found.text.encode()).hexdigest(),
        content_type=_TYPES.get(carrier, "text/html"),
        domain=domain,
        independence_key=domain,
        fetched_at=AT,
        site=found.site,
        kind=found.kind,
        published=found.published,
        language=host.language,
    )


def _body(host: HostPage, form: Form | None, carrier: str) -> bytes:
    if carrier == "PDF":
        return _pdf(host.title, _with(host.paragraphs, form))
    if carrier == "docx":
        return _docx(host.title, _with(host.paragraphs, form))
    if carrier == "csv cell":
        return _csv(host, form)
    return _html(host, form, carrier).encode()


def _with(paragraphs: tuple[str, ...], form: Form | None) -> tuple[str, ...]:
    return paragraphs if form is None else (paragraphs[0], form.text, *paragraphs[1:])


@lru_cache(maxsize=64)
def _pdf(title: str, parts: tuple[str, ...]) -> bytes:
    told = json.dumps({"title": title, "parts": parts})
    made = typst.compile(_TYPST.encode(), sys_inputs={"told": told})
    assert isinstance(made, bytes)
    return made


def _docx(title: str, parts: tuple[str, ...]) -> bytes:
    document = Document()
    document.add_heading(title, 1)
    for part in parts:
        document.add_paragraph(part)
    stored = io.BytesIO()
    document.save(stored)
    return stored.getvalue()


def _csv(host: HostPage, form: Form | None) -> bytes:
    stored = io.StringIO()
    writer = csv.writer(stored)
    writer.writerow(["no", host.title, "remarks"])
    for number, paragraph in enumerate(host.paragraphs, 1):
        writer.writerow([number, paragraph, "-"])
    if form is not None:
        writer.writerow([len(host.paragraphs) + 1, *(form.cells or (form.text,))])
    return stored.getvalue().encode()


def _html(host: HostPage, form: Form | None, carrier: str) -> str:
    text = escape(form.text) if form else ""
    title = text if form and carrier == "title" else escape(host.title)
    site = text if form and carrier == "site name" else escape(host.site)
    about = text if form and carrier == "meta description" else escape(host.title)
    first, *rest = (f"<p>{escape(paragraph)}</p>" for paragraph in host.paragraphs)
    within = _element(form, carrier, text) if form and carrier not in IN_HEAD else ""
    return (
        f'<!doctype html><html lang="{host.language}"><head><meta charset="utf-8">'
        f'<title>{title}</title><meta property="og:title" content="{title}">'
        f'<meta property="og:site_name" content="{site}">'
        f'<meta name="description" content="{about}">'
        f"</head><body><main><article><h1>{title}</h1>{first}{within}{''.join(rest)}"
        "</article></main></body></html>"
    )


def _element(form: Form, carrier: str, text: str) -> str:
    cells = [escape(cell) for cell in form.cells]
    if carrier == "table cell":
        row = "".join(f"<td>{cell}</td>" for cell in cells or [text, "-"])
        return f"<table><tr><th>Item</th><th>Remark</th></tr><tr>{row}</tr></table>"
    if carrier == "list item":
        return f"<ul>{''.join(f'<li>{each}</li>' for each in cells or [text])}</ul>"
    forms = {
        "heading": f"<h2>{text}</h2>",
        "code block": f"<pre><code>{text}</code></pre>",
        "figure caption": (
            f'<figure><img src="/a.png" alt=""><figcaption>{text}</figcaption></figure>'
        ),
        "image alt": f'<p><img src="/a.png" alt="{text}"></p>',
        "link text": f'<p><a href="/more">{text}</a></p>',
        "comment shown as text": f"<section><p><b>Guest</b></p><p>{text}</p></section>",
    }
    return forms.get(carrier, f"<p>{text}</p>")
