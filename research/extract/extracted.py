"""Results of an extraction: the text of a page, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass

from research.engine.ports import SourceKind
from research.errors import PlumblineError

STRUCK = "[struck out: {}]"
"""What a page said before, and does no longer: it may tell when something ended."""


@dataclass(frozen=True)
class Extracted:
    """Text of a page (format as in `Page`) and the page's metadata."""

    title: str
    text: str
    site: str = ""
    published: str | None = None
    language: str | None = None
    kind: SourceKind = "unknown"


class EmptyPageError(PlumblineError):
    """A page without readable text; `reason` is one sentence that may be shown to users."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
