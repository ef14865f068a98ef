"""Collections in a list, one collection with its files, and what a search to try found."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.urls import reverse

from dashboard import words
from dashboard.queries import Viewer
from research.models import Collection, Document
from research.services.documents import may_change

if TYPE_CHECKING:
    from research.trying import Passage

BUSY = frozenset({"waiting", "indexing"})


def line(collection: Collection, viewer: Viewer, sizes: Mapping[int, int]) -> dict[str, Any]:
    """A collection in a list; `busy` ones are asked for again."""
    return {
        "id": collection.public_id,
        "url": reverse("collection", args=[collection.public_id]),
        "name": collection.name,
        "state": words.COLLECTION[collection.state],
        "busy": collection.state in BUSY,
        "facts": [*counts(collection), *belongings(collection, viewer, sizes)],
        "problem": problem(collection, viewer),
    }


def counts(collection: Collection) -> list[str]:
    """How far it is, or what is in it."""
    if collection.state == "indexing":
        if not collection.total:
            return ["looking at the files"]
        failed = [f"{collection.failed:,} could not be read"] if collection.failed else []
        return [f"{collection.done:,} of {collection.total:,} read", *failed]
    told = [words.count(collection.documents, "document")] if collection.documents else []
    if collection.unreadable_count:
        told.append(f"{collection.unreadable_count:,} could not be read")
    return told


def belongings(collection: Collection, viewer: Viewer, sizes: Mapping[int, int]) -> list[str]:
    told = []
    if collection.pk in sizes:
        told.append(words.size(sizes[collection.pk]))
    if collection.folder:
        told.append("a folder of the server")
    if collection.owner_id != viewer.pk:
        told.append(f"shared by {collection.owner.get_username()}")
    elif collection.is_shared:
        told.append("shared with everybody here")
    return told


def problem(collection: Collection, viewer: Viewer) -> str:
    """Only who may change it is told of paths of the server."""
    if collection.state != "failed":
        return ""
    if may_change(viewer, collection):
        return collection.problem
    return "It cannot be read at the moment; its owner can see why."


def whole(collection: Collection, viewer: Viewer, sizes: Mapping[int, int]) -> dict[str, Any]:
    """What the page of a collection shows of it, but for the list of its files."""
    mine = may_change(viewer, collection)
    told = [{"path": path, "reason": reason} for path, reason in collection.unreadable]
    listed = [file for file in told if file["path"]]
    return {
        **line(collection, viewer, sizes),
        "done": collection.done,
        "total": collection.total,
        "state_is": collection.state,
        "indexed_at": collection.indexed_at,
        "unreadable": listed,
        "unreadable_count": collection.unreadable_count,
        "unreadable_more": collection.unreadable_count - len(listed),
        "others": next((each["reason"] for each in told if not each["path"]), ""),
        "can_search": bool(collection.index_name),
        "may_change": mine,
        "may_add": mine and not collection.folder,
        "may_look": mine and (bool(collection.folder) or collection.state == "failed"),
        "may_delete": mine and not collection.from_settings,
        "folder": collection.folder if mine else "",
        "is_folder": bool(collection.folder),
        "from_settings": collection.from_settings,
        "is_shared": collection.is_shared,
    }


def file_row(document: Document) -> dict[str, Any]:
    return {
        "name": document.name,
        "size": words.size(document.size),
        "added": document.added_at,
    }


def passages(found: Sequence[Passage]) -> list[dict[str, Any]]:
    """Each with the pieces of its text, the searched words marked."""
    return [
        {
            "title": passage.title,
            "place": " · ".join(filter(None, [words.place(passage.url), passage.section])),
            "pieces": list(pieces(passage)),
        }
        for passage in found
    ]


def pieces(passage: Passage) -> list[dict[str, Any]]:
    return [
        {"text": part, "marked": is_word and passage.matches(part)}
        for part in re.split(r"(\w+)", passage.text)
        if part
        for is_word in [part[0].isalnum() or part[0] == "_"]
    ]
