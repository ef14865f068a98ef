"""The checked report of a run as text, with its citations by place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from dashboard.exports.contents import load_contents
from dashboard.openai_api.errors import ResearchFailedError
from research.engine.records import Status
from research.models import Run

CHUNK_LENGTH = 160
WAIT_REASONS = {
    Status.AWAITING_CLARIFICATION: "The run waits for an answer; give it on its page.",
    Status.AWAITING_APPROVAL: "The run waits until its plan is approved on its page.",
    Status.PAUSED: "The run was paused; resume it on its page.",
    Status.STALLED: "The run was put aside after its workers failed repeatedly; try it again on "
    "its page.",
}
"""What to say of a run that goes on only when a person acts, by its status."""
# "[12]" in the text, but neither "\[12]", which a page wrote, nor "- [12]" in the list of sources
_MARKER = re.compile(r"(?<!\\)(?<!\n- )\[(\d{1,4})\]")


@dataclass(frozen=True)
class FinalReport:
    """`annotations` are `url_citation` objects, whose offsets are those of `text`."""

    text: str
    annotations: list[dict[str, Any]] = field(default_factory=list)

    def chunks(self) -> Iterator[str]:
        for start in range(0, len(self.text), CHUNK_LENGTH):
            yield self.text[start : start + CHUNK_LENGTH]


def load_report(run: Run) -> FinalReport:
    """Return the report of a run that has ended or waits.

    Raise `ResearchFailedError` without one.
    """
    if run.status == Status.COMPLETED:
        whole = load_contents(run)
        text = whole.markdown or run.verdict or run.termination_text or "Nothing was found."
        cited = {each.number: (each.url, each.title) for each in whole.citations}
        return FinalReport(text, _annotations(text, cited))
    if run.status == Status.CANCELLED:
        raise ResearchFailedError("The research was cancelled.")
    reason = WAIT_REASONS.get(Status(run.status)) or run.termination_text or run.verdict
    reason = reason or "The research failed."
    raise ResearchFailedError(f"{reason} (run {run.public_id})")


def _annotations(text: str, cited: dict[int, tuple[str, str]]) -> list[dict[str, Any]]:
    return [
        {
            "type": "url_citation",
            "start_index": found.start(),
            "end_index": found.end(),
            "url": cited[int(found[1])][0],
            "title": cited[int(found[1])][1],
        }
        for found in _MARKER.finditer(text)
        if int(found[1]) in cited
    ]
