"""Writing the index: collections of folders, what changed in them, and the rows of each text.

All functions run in the index's writer thread, within one transaction each, and are the same
for every database; `FullText` keeps the terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from research.documents.folder import Address, Addressing, BrokenFile, FoundFile, part_url
from research.documents.parse_document import (
    EXTRACTOR_VERSION,
    ReadDocument,
    Reading,
    ReadingTask,
    build_read_document,
    named_entries,
)
from research.extract.extracted import Extracted
from research.fulltext.index_store import Connection, FullText

_EXTRACTOR = str(EXTRACTOR_VERSION)
# A size that no file has: its row is read again at the next refresh.
_READ_AGAIN = -1


@dataclass(frozen=True)
class CollectionRow:
    """A collection as the index knows it; its name is part of its documents' addresses."""

    id: int
    name: str
    addressing: Addressing

    def address(self, path: str) -> Address:
        return self.addressing.address(self.name, path)


@dataclass(frozen=True)
class Plan:
    """The work of a refresh: tasks for the workers; `removed` documents are already deleted."""

    tasks: tuple[ReadingTask, ...]
    removed: int


def open_collection(
    connection: Connection, folder: str, addressing: Addressing, wanted: str
) -> CollectionRow:
    """Return the folder's collection, made on first sight under the first name that is free. A
    collection of that name whose folder is gone was moved here.
    """
    row = connection.execute(
        "SELECT id, name FROM collections WHERE folder = ?", (folder,)
    ).fetchone()
    if row is None:
        row = _moved_here(connection, folder, wanted)
    if row is None:
        row = connection.execute(
            "INSERT INTO collections (name, folder) VALUES (?, ?) RETURNING id, name",
            (_free_name(connection, wanted), folder),
        ).fetchone()
    return CollectionRow(row["id"], row["name"], addressing)


def _moved_here(connection: Connection, folder: str, wanted: str) -> Any | None:
    """Return the collection of the wanted name if its folder is gone, which then is this one."""
    row = connection.execute(
        "SELECT id, name, folder FROM collections WHERE name = ?", (wanted,)
    ).fetchone()
    if row is None or Path(row["folder"]).exists():
        return None
    connection.execute("UPDATE collections SET folder = ? WHERE id = ?", (folder, row["id"]))
    return row


def broken_files(connection: Connection, collection: CollectionRow) -> list[BrokenFile]:
    """Return the collection's files that give no text, in the order of their paths."""
    rows = connection.execute(
        "SELECT path, reason FROM documents WHERE collection_id = ? AND reason IS NOT NULL"
        " ORDER BY path",
        (collection.id,),
    )
    return [BrokenFile(row["path"], row["reason"]) for row in rows]


def count_documents(connection: Connection, collection: CollectionRow) -> int:
    """Return the number of searchable documents of a collection."""
    row = connection.execute(
        "SELECT count(*) AS documents FROM documents"
        " WHERE collection_id = ? AND part = 0 AND text_id IS NOT NULL",
        (collection.id,),
    ).fetchone()
    return int(row["documents"])


def plan_refresh(
    connection: Connection,
    full_text: FullText,
    collection: CollectionRow,
    files: Sequence[FoundFile],
) -> Plan:
    """Compares the folder with the index; drops what is gone, notes what is too large."""
    known = {
        row["path"]: row
        for row in connection.execute(
            "SELECT path, content_type, size, mtime_ns, extractor, sha256 FROM documents"
            " WHERE collection_id = ? AND part = 0",
            (collection.id,),
        )
    }
    gone = known.keys() - {file.path for file in files}
    for path in sorted(gone):
        _forget_file(connection, full_text, collection, path)
    drop_unused_texts(connection)
    changed = [file for file in files if not _is_known(file, known.get(file.path))]
    return Plan(
        tasks=tuple(_task(collection, file, known.get(file.path)) for file in changed),
        removed=len(gone),
    )


def store_documents(
    connection: Connection,
    full_text: FullText,
    collection: CollectionRow,
    found: Mapping[str, FoundFile],
    readings: Iterable[Reading],
) -> int:
    """Write the extracted texts of some files; return the number of new or changed ones."""
    changed = 0
    for reading in readings:
        file = found[reading.path]
        if not reading.documents and reading.reason is None:
            _touch(connection, collection, file)
        else:
            _replace(connection, full_text, collection, file, reading)
            changed += 1
    return changed


def drop_unused_texts(connection: Connection) -> None:
    """Deletes texts that no document rests on any more."""
    connection.execute(
        "DELETE FROM texts WHERE NOT EXISTS"
        " (SELECT 1 FROM documents WHERE documents.text_id = texts.id)"
    )


def forget_collection(connection: Connection, full_text: FullText, name: str) -> None:
    """Removes a collection with everything that only it uses."""
    documents = connection.execute(
        "SELECT d.id FROM documents d JOIN collections c ON c.id = d.collection_id"
        " WHERE c.name = ?",
        (name,),
    ).fetchall()
    for row in documents:
        _forget(connection, full_text, row["id"])
    connection.execute("DELETE FROM collections WHERE name = ?", (name,))
    drop_unused_texts(connection)


def _free_name(connection: Connection, wanted: str) -> str:
    taken = {row["name"] for row in connection.execute("SELECT name FROM collections")}
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}-{number}"
    return name


def _is_known(file: FoundFile, row: Any) -> bool:
    return row is not None and (
        row["size"],
        row["mtime_ns"],
        row["extractor"],
        row["content_type"],
    ) == (file.size, file.mtime_ns, _EXTRACTOR, file.content_type)


def _task(collection: CollectionRow, file: FoundFile, row: Any) -> ReadingTask:
    comparable = row is not None and row["extractor"] == _EXTRACTOR
    return ReadingTask(
        path=file.path,
        file=file.file,
        content_type=file.content_type,
        url=collection.address(file.path).url,
        known_sha256=row["sha256"] if row is not None and comparable else None,
    )


def _touch(connection: Connection, collection: CollectionRow, file: FoundFile) -> None:
    connection.execute(
        "UPDATE documents SET size = ?, mtime_ns = ? WHERE collection_id = ? AND path = ?",
        (file.size, file.mtime_ns, collection.id, file.path),
    )


def _replace(
    connection: Connection,
    full_text: FullText,
    collection: CollectionRow,
    file: FoundFile,
    reading: Reading,
) -> None:
    _forget_file(connection, full_text, collection, file.path)
    if not reading.documents:
        _insert_document(connection, collection, file, reading, 0, None)
    for part, read in enumerate(reading.documents):
        text_id, document = _stored_text(connection, file, reading.sha256, part, read)
        document_id = _insert_document(connection, collection, file, reading, part, text_id)
        full_text.add(connection, collection.id, document_id, file.path, document)
        for entry in named_entries(file.path, document):
            connection.execute(
                "INSERT INTO entries (key, document_id, kind, words) VALUES (?, ?, ?, ?)",
                (entry.key, document_id, entry.kind, entry.words),
            )


def _stored_text(
    connection: Connection, file: FoundFile, sha256: str, part: int, document: ReadDocument
) -> tuple[int, ReadDocument]:
    """Return the row of a text; if it is already stored, that row is indexed instead."""
    key = (sha256, part, file.content_type, _EXTRACTOR)
    row = connection.execute(
        "SELECT * FROM texts WHERE sha256 = ? AND part = ? AND content_type = ? AND extractor = ?",
        key,
    ).fetchone()
    if row is not None:
        return row["id"], build_read_document(_extracted(row))
    extracted = document.extracted
    values = (
        *key,
        extracted.title,
        extracted.text,
        document.text_sha256,
        extracted.site,
        extracted.published,
        extracted.language,
        extracted.kind,
        document.headings,
        document.extra,
        document.prose,
    )
    row = connection.execute(
        "INSERT INTO texts (sha256, part, content_type, extractor, title, text, text_sha256, site,"
        " published, language, kind, headings, extra, prose)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
        values,
    ).fetchone()
    return row["id"], document


def _extracted(row: Any) -> Extracted:
    return Extracted(
        title=row["title"],
        text=row["text"],
        site=row["site"],
        published=row["published"],
        language=row["language"],
        kind=row["kind"],
    )


def _insert_document(
    connection: Connection,
    collection: CollectionRow,
    file: FoundFile,
    reading: Reading,
    part: int,
    text_id: int | None,
) -> int:
    address = collection.address(file.path)
    row = connection.execute(
        "INSERT INTO documents (collection_id, path, part, url, domain, independence_key, kind,"
        " content_type, size, mtime_ns, extractor, sha256, text_id, reason, indexed_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
        (
            collection.id,
            file.path,
            part,
            part_url(address.url, part),
            address.domain,
            address.independence_key,
            address.kind,
            file.content_type,
            _READ_AGAIN if reading.retry else file.size,
            file.mtime_ns,
            _EXTRACTOR,
            reading.sha256,
            text_id,
            reading.reason,
            datetime.now(UTC).isoformat(),
        ),
    ).fetchone()
    return int(row["id"])


def _forget_file(
    connection: Connection, full_text: FullText, collection: CollectionRow, path: str
) -> None:
    rows = connection.execute(
        "SELECT id FROM documents WHERE collection_id = ? AND path = ?", (collection.id, path)
    ).fetchall()
    for row in rows:
        _forget(connection, full_text, row["id"])


def _forget(connection: Connection, full_text: FullText, document_id: int) -> None:
    full_text.forget(connection, document_id)
    connection.execute("DELETE FROM documents WHERE id = ?", (document_id,))
