"""Collections of this installation, as the local admin."""

from __future__ import annotations

import asyncio
import builtins
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.files import File

from dashboard.command_line.output import BadUseError
from research.documents.folder import CONTENT_TYPES, content_type_of, left_out
from research.documents.indexing import Indexer
from research.documents.try_search import search_collections
from research.engine.ports import ToolFailedError
from research.models import Collection
from research.runtime import tool_factory
from research.runtime.db_threads import query_async
from research.runtime.schema import migrate_database
from research.services import ServiceError, documents, people

POLL_SECONDS = 0.2
BETWEEN = " - "
"""Between the name of a file and those of folders before it."""


class LocalDocuments:
    """The collections of the database; methods raise `BadUseError` with a sentence for the user."""

    def __init__(self) -> None:
        migrate_database()
        self.actor = people.local_admin()

    def list(self) -> builtins.list[dict[str, Any]]:
        return [_describe(row) for row in documents.visible_to(self.actor)]

    def add(self, paths: Sequence[Path], name: str) -> dict[str, Any]:
        """Add files to a collection, which is made if need be, and index it.

        One folder without a name becomes a collection of its own, read where it is.
        """
        missing = [str(path) for path in paths if not path.exists()]
        if missing:
            raise BadUseError(f"{missing[0]} does not exist.")
        if len(paths) == 1 and paths[0].is_dir() and not name:
            whole = str(paths[0].resolve())
            row = self._ask(documents.create_from_folder, self.actor, "", whole)
            refused: builtins.list[dict[str, str]] = []
            others = None
        else:
            files, others = _files(paths)
            row, refused = self._upload(files, name or "Documents")
        asyncio.run(_index(row))
        row.refresh_from_db()
        of_folder = (told for path, told in row.unreadable if not path)
        note = next(of_folder, "") if others is None else left_out(others)
        return {**_describe(row), "refused": refused, "left_out": note}

    def search(self, query: str, names: Sequence[str], limit: int) -> builtins.list[dict[str, Any]]:
        chosen = self._ask(documents.find_by_name, self.actor, names)
        try:
            found = asyncio.run(_search(chosen, query, limit))
        except ToolFailedError as failure:
            raise BadUseError(failure.reason) from None
        return [
            {"title": each.title, "section": each.section, "url": each.url, "quote": each.text}
            for each in found
        ]

    def remove(self, name: str, file: str) -> None:
        """Delete a file of a collection, or the collection if no file is named."""
        [row] = self._ask(documents.find_by_name, self.actor, [name])
        if file:
            self._ask(documents.remove_file, self.actor, row, file)
        else:
            self._ask(documents.delete_collection, self.actor, row)
        asyncio.run(_index(row))

    def _upload(
        self, files: Sequence[Path], name: str
    ) -> tuple[Collection, builtins.list[dict[str, str]]]:
        if not files:
            known = ", ".join(sorted(CONTENT_TYPES))
            raise BadUseError(f"There are no documents ({known}) at that place.")
        named = documents.visible_to(self.actor).filter(name=name).first()
        row = named or self._ask(documents.create_collection, self.actor, name)
        with ExitStack() as stack:
            names = unique_names(files)
            sent = [File(stack.enter_context(path.open("rb")), names[path]) for path in files]
            upload = self._ask(documents.add_files, self.actor, row, sent)
        return row, [{"name": each.name, "reason": each.reason} for each in upload.refused]

    def _ask(self, service: Any, *arguments: Any) -> Any:
        try:
            return service(*arguments)
        except (ServiceError, PermissionDenied) as refused:
            raise BadUseError(str(refused)) from None


def _files(paths: Sequence[Path]) -> tuple[builtins.list[Path], builtins.list[str]]:
    """Return the files with those of the folders that are documents, and the suffixes of the others
    without hidden ones.
    """
    files, others = builtins.list[Path](), builtins.list[str]()
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        for each in sorted(each for each in path.rglob("*") if each.is_file()):
            inside = each.relative_to(path)
            if content_type_of(each.name):
                files.append(each)
            elif not any(part.startswith(".") for part in inside.parts):
                others.append(each.suffix.lower())
    return files, others


def unique_names(files: Sequence[Path]) -> dict[Path, str]:
    """Return a name for each file in a collection without folders: its own, behind those of as many
    folders around it as tell it from others of that name.
    """
    names = {path: path.name for path in files}
    for depth in range(2, max((len(path.parts) for path in files), default=0)):
        counted = Counter(name.casefold() for name in names.values())
        for path, name in names.items():
            if counted[name.casefold()] > 1:
                names[path] = BETWEEN.join(path.parts[-depth:])
    return names


async def _index(row: Collection) -> None:
    """Index a collection here, or wait for the server that does it."""
    indexer = Indexer(tool_factory.index_and_pool)
    await indexer.start()
    try:
        while await query_async(_is_due, row.pk):
            await asyncio.sleep(POLL_SECONDS)
    finally:
        await indexer.stop()
        await tool_factory.close_tools()


def _is_due(key: int) -> bool:
    """Return whether a collection is not indexed yet, or was deleted but not cleared away."""
    row = Collection.objects.filter(pk=key).first()
    return row is not None and (row.deleted_at is not None or row.indexed_revision != row.revision)


async def _search(chosen: Sequence[Collection], query: str, limit: int) -> Sequence[Any]:
    try:
        return await search_collections(chosen, query, limit)
    finally:
        await tool_factory.close_tools()


def _describe(row: Collection) -> dict[str, Any]:
    return {
        "name": row.name,
        "id": row.public_id,
        "shared": row.is_shared,
        "state": row.state,
        "documents": row.documents,
        "unreadable": row.unreadable_count,
        "folder": row.folder,
        "problem": row.problem,
    }
