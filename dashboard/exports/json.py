"""JSON export: the run resource and the stored pages that its offsets refer to."""

from __future__ import annotations

import json

from django.utils.translation import gettext_lazy as _

from dashboard.exports import Format
from dashboard.exports.contents import Contents
from research.readmodel.run_json import run_resource


def render(whole: Contents) -> bytes:
    resource = run_resource(whole.run, with_pages=True)
    written = json.dumps(resource, ensure_ascii=False, indent=1)
    return written.encode(errors="backslashreplace")  # lone surrogates become JSON escapes


FORMAT = Format(
    "JSON",
    "json",
    "application/json",
    render,
    needs_report=False,
    position=6,
    group=_("Data"),
    purpose=_("The whole record, for programs"),
)
