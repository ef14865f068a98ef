"""What the extraction of a page gives: its text, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass

from research.engine.tools import SourceKind


@dataclass(frozen=True)
class Extracted:
    """The text of a page, as the docstring of `Page` says, and what the page says of itself."""

    title: str
    text: str
    site: str = ""
    published: str | None = None
    language: str | None = None
    kind: SourceKind = "unknown"


class EmptyPage(Exception):
    """A page without readable text; `reason` is one sentence that may be shown."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
