"""JSON: the run resource with the stored pages that its offsets index."""

from __future__ import annotations

import json

from dashboard.exports.contents import Contents
from research.resource import run_resource


def render(whole: Contents) -> bytes:
    resource = run_resource(whole.run, with_pages=True)
    written = json.dumps(resource, ensure_ascii=False, indent=1)
    return written.encode(errors="backslashreplace")  # a lone surrogate as its JSON escape
