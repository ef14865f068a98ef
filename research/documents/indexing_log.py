"""Log of indexing for the operator: progress, and files that can't be read."""

from __future__ import annotations

import logging
import time
from pathlib import Path

from research.documents.folder import Addressing, FileAddressing, left_out
from research.fulltext.index import DocumentIndex, IndexReport, Progress, Workers

log = logging.getLogger(__name__)

EVERY_SECONDS = 5.0
MOST_NAMED = 20


async def refresh_and_log(
    index: DocumentIndex,
    folder: Path,
    workers: Workers,
    *,
    addressing: Addressing | None = None,
    heard: Progress | None = None,
) -> IndexReport:
    """Bring a folder up to date and log it; `heard` also receives the progress.

    Raise what `DocumentIndex.refresh` raises.
    """
    name = (addressing or FileAddressing()).name(folder)
    report = await index.refresh(folder, workers, _Progress(name, heard), addressing=addressing)
    if report.changed or report.removed:
        log.info(
            "%s: %d documents, %d read again, %d removed.",
            *(report.collection, report.documents, report.changed, report.removed),
        )
        _log_left_out(report)
    return report


class _Progress:
    """Logs a progress line every few seconds; none for folders that take less."""

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
