"""The index's collections, one for each folder, with names and document states."""

from __future__ import annotations

from dataclasses import dataclass

from research.documents.folder import Address, Addressing, BrokenFile
from research.fulltext.index_store import Connection


@dataclass(frozen=True)
class CollectionRow:
    """A collection as the index knows it; its name is part of its documents' addresses."""

    id: int
    name: str
    addressing: Addressing

    def address(self, path: str) -> Address:
        return self.addressing.address(self.name, path)


def open_collection(
    connection: Connection, folder: str, addressing: Addressing, wanted: str
) -> CollectionRow:
    """Return the folder's collection, made on first sight under the first name that is free."""
    row = connection.execute(
        "SELECT id, name FROM collections WHERE folder = ?", (folder,)
    ).fetchone()
    if row is None:
        row = connection.execute(
            "INSERT INTO collections (name, folder) VALUES (?, ?) RETURNING id, name",
            (_free_name(connection, wanted), folder),
        ).fetchone()
    return CollectionRow(row["id"], row["name"], addressing)


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


def _free_name(connection: Connection, wanted: str) -> str:
    taken = {row["name"] for row in connection.execute("SELECT name FROM collections")}
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}-{number}"
    return name
