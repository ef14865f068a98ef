"""Parses one document in a worker process: hash, text, passages. Pure functions, picklable."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from research.documents.folder import GENERIC_FOLDERS, MAX_FILE_BYTES, MAX_PACKED_BYTES
from research.engine.text.tokens import unique_texts
from research.extract.extract import extract_text
from research.extract.extracted import EmptyPageError, Extracted
from research.fetch.sniffing import DOCX, PDF
from research.fulltext.entries import Entry, entries
from research.fulltext.passages import Passage, Term, divide_text, lead_text, outline_text
from research.fulltext.pg_lexemes import Vector, build_vector
from research.fulltext.query_terms import extra_terms

# Raised whenever `extract` or the fields below come out differently for the same bytes:
# stored texts never change, so documents are then read anew.
EXTRACTOR_VERSION = 13

_TITLE_WORD = re.compile(r"[^\W\d_]+")
# Words of titles that don't say what a text is about: "README.txt", "Changes", "User's Guide".
GENERIC_TITLE = frozenset({
    "readme", "txt", "md", "rst", "faq", "frequently", "asked", "questions", "news", "change",
    "changes", "changelog", "log", "history", "index", "contents", "table", "of", "introduction",
    "overview", "about", "home", "help", "manual", "user", "users", "s", "guide", "documentation",
    "reference", "release", "notes", "install", "installation", "installing", "getting", "started",
    "first", "steps", "copyright", "license", "copying", "todo", "authors", "the", "and", "to",
    "a", "in", "troubleshooting", "glossary", "formats", "options", "commands", "examples",
})  # fmt: skip


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
class Lexed:
    """Title, lead, page and passages of a document as vectors of lexemes."""

    title: Vector
    lead: Vector
    page: Vector
    passages: tuple[Vector, ...]


@dataclass(frozen=True)
class ReadDocument:
    """Everything the index stores of one document; `build_vectors` for databases that want it."""

    extracted: Extracted
    text_sha256: str
    headings: str
    extra: str
    prose: float
    passages: tuple[IndexedPassage, ...]
    terms: tuple[Term, ...] = ()
    lexed: Lexed | None = None


@dataclass(frozen=True)
class Reading:
    """The outcome for one file: its documents, the reason why there is none, or nothing new.

    A long file has several, each a part of it.
    """

    path: str
    sha256: str = ""
    documents: tuple[ReadDocument, ...] = ()
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
        extracted = extract_text(body, task.content_type, task.url)
    except EmptyPageError as empty:
        return Reading(task.path, sha256, reason=str(empty))
    extracted = replace(extracted, title=telling_title(extracted.title, task.path))
    return Reading(task.path, sha256, tuple(map(build_read_document, parts_of(extracted))))


def telling_title(title: str, path: str) -> str:
    """Return a title that tells nothing by itself behind the name of its folder: "flac: README",
    "mp3splt: Frequently Asked Questions".
    """
    if not GENERIC_TITLE.issuperset(_TITLE_WORD.findall(title.lower())):
        return title
    folders = reversed(PurePosixPath(path).parent.parts)
    work = next((name for name in folders if name.lower() not in GENERIC_FOLDERS), "")
    return f"{work}: {title}" if work else title


def read_lexed_document(task: ReadingTask) -> Reading:
    """Return the same, with the document's lexemes."""
    reading = read_document(task)
    documents = (replace(each, lexed=build_vectors(task.path, each)) for each in reading.documents)
    return replace(reading, documents=tuple(documents))


def parts_of(extracted: Extracted) -> list[Extracted]:
    """Return a text as it is read: whole, or in parts that are titled with their first heading."""
    parts = []
    for start, end, heading in divide_text(extracted.text):
        title = ": ".join(unique_texts(filter(None, [extracted.title, heading])))
        parts.append(replace(extracted, title=title, text=extracted.text[start:end].strip()))
    return parts


def build_read_document(extracted: Extracted) -> ReadDocument:
    """Return the fields of the index for one extracted text."""
    text = extracted.text
    made_of = outline_text(text)
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
        terms=made_of.terms,
    )


def named_entries(path: str, document: ReadDocument) -> tuple[Entry, ...]:
    """Return the names of a document and of what it defines."""
    stem, headings = PurePosixPath(path).stem, document.headings.splitlines()
    return entries(document.extracted.title, stem, headings, document.terms)


def build_vectors(path: str, document: ReadDocument) -> Lexed:
    """Return the document's vectors. Labels: A title, B headings, C name, D body."""
    extracted = document.extracted
    title, name = ("A", extracted.title), ("C", name_words(path))
    return Lexed(
        title=build_vector([title, name]),
        lead=build_vector([("D", lead_words(extracted.text))]),
        page=build_vector(
            [
                *(title, ("B", document.headings), name),
                *(("D", extracted.text), ("D", document.extra)),
            ]
        ),
        passages=tuple(
            build_vector(
                [
                    ("B", passage_heading(extracted.title, indexed.passage.heading)),
                    ("D", extracted.text[indexed.passage.start : indexed.passage.end]),
                    ("D", indexed.extra),
                ]
            )
            for indexed in document.passages
        ),
    )


def name_words(path: str) -> str:
    """Return the words of a file's path, which often say what the document is about."""
    words = PurePosixPath(path).with_suffix("").as_posix()
    return f"{words} {extra_terms(words)}"


def lead_words(text: str) -> str:
    """Return the words of a text's beginning."""
    begins = lead_text(text)
    return f"{begins} {extra_terms(begins)}"


def passage_heading(title: str, heading: str) -> str:
    return f"{title}\n{heading}"
