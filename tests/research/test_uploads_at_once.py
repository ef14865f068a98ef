"""Uploads of one person that come at once, each with a connection of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import AbstractUser
from django.core.files.uploadedfile import SimpleUploadedFile
from pytest_django import Settings

from research.models import Collection, Document
from research.services import documents
from research.services.documents import Upload
from tests.research.collections import apart, kept

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def state(settings: Settings, tmp_path: Path) -> Path:
    settings.STATE_DIR = tmp_path / "state"
    settings.STATE_DIR.mkdir()
    return settings.STATE_DIR


@pytest.fixture
def mill(ada: AbstractUser) -> Collection:
    return documents.create_collection(ada, "The mill")


class Meeting(SimpleUploadedFile):
    """A file that is only copied once as many others are under way: all were admitted before."""

    def __init__(self, name: str, content: bytes, others: threading.Barrier) -> None:
        super().__init__(name, content)
        self._others = others

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        self._others.wait(10)
        return super().chunks(chunk_size)


def upload_at_once(actor: AbstractUser, *sent_to: tuple[Collection, str, bytes]) -> list[Upload]:
    """Each in a thread with a connection of its own, past its first look at the room together."""
    barrier = threading.Barrier(len(sent_to))

    def upload(collection: Collection, name: str, content: bytes) -> Upload:
        return documents.add_files(actor, collection, [Meeting(name, content, barrier)])

    async def all_of_them() -> list[Upload]:
        return await asyncio.gather(*(apart(upload, *each) for each in sent_to))

    return asyncio.run(all_of_them())


def test_uploads_that_come_at_once_do_not_pass_the_bound_together(
    ada: AbstractUser, mill: Collection, state: Path, settings: Settings
) -> None:
    settings.UPLOADS_MAX_MB = 1
    other = documents.create_collection(ada, "Other")
    half = 600_000
    done = upload_at_once(ada, (mill, "a.txt", b"a" * half), (other, "b.txt", b"b" * half))
    [told] = [each.reason for upload in done for each in upload.refused]
    assert told == "your uploads are limited to 1 MB"
    assert len(kept(state, mill) + kept(state, other)) == Document.objects.count() == 1


def test_nor_the_number_of_files(ada: AbstractUser, mill: Collection, state: Path) -> None:
    Document.objects.bulk_create(
        Document(collection=mill, name=f"{n}.md", name_key=f"{n}.md", size=1, sha256=str(n))
        for n in range(documents.MOST_FILES - 1)
    )
    done = upload_at_once(ada, (mill, "a.txt", b"a"), (mill, "b.txt", b"b"))
    [told] = [each.reason for upload in done for each in upload.refused]
    assert told == "a collection is limited to 2,000 files"
    assert mill.files.count() == documents.MOST_FILES
    assert len(kept(state, mill)) == 1


def test_a_name_that_comes_twice_at_once_is_kept_once(
    ada: AbstractUser, mill: Collection, state: Path
) -> None:
    done = upload_at_once(ada, (mill, "a.txt", b"one"), (mill, "A.txt", b"other"))
    assert sorted((len(each.added), len(each.replaced)) for each in done) == [(0, 1), (1, 0)]
    assert kept(state, mill) == [mill.files.get().name]


def test_content_that_comes_twice_at_once_is_kept_once(
    ada: AbstractUser, mill: Collection, state: Path
) -> None:
    done = upload_at_once(ada, (mill, "a.txt", b"same"), (mill, "b.txt", b"same"))
    [told] = [each.reason for upload in done for each in upload.refused]
    assert told.startswith("its content is here already, as ")
    assert kept(state, mill) == [mill.files.get().name]
