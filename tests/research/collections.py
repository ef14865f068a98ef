"""Collections for the tests: files as a browser sends them, and the indexer on a loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from django.contrib.auth.models import AbstractUser
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, connections

from research.documents.indexing import Indexer
from research.fulltext.index_postgres import SCHEMA
from research.models import Collection
from research.runtime import tool_factory
from research.services import documents

T = TypeVar("T")
LEASE = (
    "# Lease of the mill\n\n## Rent\n\nThe rent of the mill is 1,200 crowns a year, payable on the"
    " first of March. A tenant who pays late owes a fee of two percent for each month."
)
GRANARY = "The granary was built in 1874 from grey limestone. A storm took its slates in 1931."


def sent(name: str, content: str | bytes = "Some words.") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content.encode() if isinstance(content, str) else content)


def filled(actor: AbstractUser, name: str, **files: str | bytes) -> Collection:
    """A collection with files; in their names `__` stands for the dot."""
    made = documents.create_collection(actor, name)
    files_sent = [sent(key.replace("__", "."), content) for key, content in files.items()]
    assert documents.add_files(actor, made, files_sent).refused == ()
    return made


def index_all(workers: Any = None) -> int:
    """Let the indexer do what there is to do; how many collections it took up."""

    async def work() -> int:
        parts = tool_factory.index_and_pool if workers is None else lambda: (indexed()[0], workers)
        indexed = tool_factory.index_and_pool
        indexer = Indexer(parts)
        indexer.writer.start()
        steps = 0
        try:
            while await indexer.step():
                steps += 1
        finally:
            await indexer.writer.stop()
        return steps

    return asyncio.run(work())


def forget_index() -> None:
    """After a test: PostgreSQL's index stands beside the tables that are emptied then."""
    asyncio.run(tool_factory.close_tools())
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")


async def apart(function: Callable[..., T], *arguments: Any, **named: Any) -> T:
    """A call in a thread that leaves no connection to the database behind."""

    def call() -> T:
        try:
            return function(*arguments, **named)
        finally:
            connections.close_all()

    return await asyncio.to_thread(call)


def kept(state: Path, collection: Collection) -> list[str]:
    """The files on disk, drafts included."""
    folder = state / "documents" / collection.public_id
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []
