"""What a worker process makes of one document: hash, text, passages. Pure functions, picklable."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from research.retrieval.extract import DOCX, PDF, extract
from research.retrieval.extracted import EmptyPage, Extracted
from research.retrieval.folder import MAX_FILE_BYTES, MAX_PACKED_BYTES
from research.retrieval.passages import Passage, outline
from research.retrieval.terms import extra_terms

# Raised whenever `extract` or the fields below come out differently for the same bytes:
# stored texts never change, so documents are then read anew.
EXTRACTOR_VERSION = 2


@dataclass(frozen=True)
class ReadingTask:
    """One file to read; `known_sha256` is the hash of the bytes that are already indexed."""

    path: str
    file: str
    content_type: str
    url: str
    known_sha256: str | None = None


@dataclass(frozen=True)
class IndexedPassage:
    """A passage with the terms that the index's own tokens miss."""

    passage: Passage
    extra: str


@dataclass(frozen=True)
class ReadDocument:
    """Everything the index stores of one document."""

    extracted: Extracted
    text_sha256: str
    headings: str
    extra: str
    prose: float
    passages: tuple[IndexedPassage, ...]


@dataclass(frozen=True)
class Reading:
    """The outcome for one file: a document, the reason why there is none, or nothing new."""

    path: str
    sha256: str = ""
    document: ReadDocument | None = None
    reason: str | None = None
    retry: bool = False


def read_document(task: ReadingTask) -> Reading:
    """Reads one file; a file that gives no text is told with its reason, never raised."""
    most = MAX_PACKED_BYTES if task.content_type in (PDF, DOCX) else MAX_FILE_BYTES
    try:
        with Path(task.file).open("rb") as file:
            body = file.read(most + 1)
    except OSError:
        return Reading(task.path, reason="the file cannot be read", retry=True)
    if len(body) > most:
        return Reading(task.path, reason="the file is too large")
    sha256 = hashlib.sha256(body).hexdigest()
    if sha256 == task.known_sha256:
        return Reading(task.path, sha256)
    try:
        extracted = extract(body, task.content_type, task.url)
    except EmptyPage as empty:
        return Reading(task.path, sha256, reason=str(empty))
    return Reading(task.path, sha256, document=describe(extracted))


def describe(extracted: Extracted) -> ReadDocument:
    """The fields of the index for one extracted text."""
    text = extracted.text
    made_of = outline(text)
    passages = tuple(
        IndexedPassage(passage, extra_terms(text[passage.start : passage.end]))
        for passage in made_of.passages
    )
    extras = (extra_terms(extracted.title), *(passage.extra for passage in passages))
    return ReadDocument(
        extracted=extracted,
        text_sha256=hashlib.sha256(text.encode()).hexdigest(),
        headings="\n".join(made_of.headings),
        extra=" ".join(filter(None, extras)),
        prose=made_of.prose_share,
        passages=passages,
    )
