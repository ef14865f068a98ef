"""MIME sniffing for missing or generic content types: the simple rules of the WHATWG standard.

https://mimesniff.spec.whatwg.org/#identifying-a-resource-with-an-unknown-mime-type, extended by
Word documents, which are zip files. `application/octet-stream` counts as unknown: many servers
send it for file suffixes that they don't know.
"""

from __future__ import annotations

import io
import re
import zipfile

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

# Generic types, and non-standard ones that servers send for PDF and Word documents.
UNTOLD_TYPES = frozenset(
    {
        *("", "*/*", "unknown/unknown", "application/unknown"),
        *("application/octet-stream", "binary/octet-stream", "application/binary"),
        *("application/download", "application/x-download", "application/force-download"),
        *("application/x-pdf", "application/acrobat", "text/pdf", "text/x-pdf"),
        *("application/msword", "application/zip", "application/x-zip-compressed"),
    }
)

_LOOKED_AT = 1_445
_PDF_BEGINS = b"%PDF-"
_ZIP_BEGINS = b"PK\x03\x04"
_WORD_BODY = "word/document.xml"
# control characters except tab, line feed, form feed, carriage return and escape
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_UNICODE_MARKS = (b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf")
# '<!doctype html>', '<?xml version="1.0"?><html lang="en">'
_HTML = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?<(?:!--|(?:!doctype\s+html|html|head|script|iframe|h1|div|font|table"
    r"|a|style|title|b|body|br|p)[\s/>])",
    re.I,
)


def packed_type(body: bytes) -> str | None:
    """Return `PDF` or `DOCX` if the bytes are such a document, whatever type was declared."""
    if body.startswith(_PDF_BEGINS):
        return PDF
    if body.startswith(_ZIP_BEGINS) and _holds_word_document(body):
        return DOCX
    return None


def is_binary(body: bytes) -> bool:
    """Return whether the first bytes contain control characters that no text has."""
    start = body[:_LOOKED_AT]
    return not start.startswith(_UNICODE_MARKS) and _BINARY.search(start) is not None


def looks_like_html(text: str) -> bool:
    """Return whether a text begins like an HTML page."""
    return _HTML.match(text[:_LOOKED_AT]) is not None


def _holds_word_document(body: bytes) -> bool:
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            return _WORD_BODY in archive.namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return False
