"""Indexing as the operator sees it: how far it is, and which files cannot be read."""

from __future__ import annotations

import logging
import time
from pathlib import Path

from research.retrieval.folder import Addressing, FileAddressing, left_out
from research.retrieval.index import DocumentIndex, IndexReport, Progress, Workers

log = logging.getLogger(__name__)

EVERY_SECONDS = 5.0
MOST_NAMED = 20


async def refresh(
    index: DocumentIndex,
    folder: Path,
    workers: Workers,
    *,
    addressing: Addressing | None = None,
    heard: Progress | None = None,
) -> IndexReport:
    """Brings a folder up to date and logs it; `heard` is told of the progress as well.

    Raises what `DocumentIndex.refresh` raises.
    """
    name = (addressing or FileAddressing()).name(folder)
    report = await index.refresh(folder, workers, _Progress(name, heard), addressing=addressing)
    if report.changed or report.removed:
        log.info(
            "%s: %d documents, %d read anew, %d gone.",
            *(report.collection, report.documents, report.changed, report.removed),
        )
        _log_left_out(report)
    return report


class _Progress:
    """A line every few seconds, none for a folder that takes less."""

    def __init__(self, name: str, heard: Progress | None) -> None:
        self._name = name
        self._heard = heard
        self._next = time.monotonic() + EVERY_SECONDS

    def __call__(self, done: int, total: int) -> None:
        if self._heard is not None:
            self._heard(done, total)
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + EVERY_SECONDS
            log.info("%s: %d of %d documents read.", self._name, done, total)


def _log_left_out(report: IndexReport) -> None:
    for file in report.broken[:MOST_NAMED]:
        log.warning("%s: %s left out: %s.", report.collection, file.path, file.reason)
    if len(report.broken) > MOST_NAMED:
        more = len(report.broken) - MOST_NAMED
        log.warning("%s: %d more files left out.", report.collection, more)
    if others := left_out(report.others):
        log.info("%s: %s.", report.collection, others)
