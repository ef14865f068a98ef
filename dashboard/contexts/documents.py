"""Document collections: the list, one collection with its files, and results of a trial search."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.utils.translation import gettext as _

from dashboard import words
from dashboard.queries.queries import Viewer
from dashboard.stored_texts import worded
from research.models import Collection, Document
from research.services.documents import may_change

if TYPE_CHECKING:
    from research.documents.try_search import Passage

BUSY = frozenset({"waiting", "indexing"})


def collection_line(
    collection: Collection, viewer: Viewer, sizes: Mapping[int, int]
) -> dict[str, Any]:
    """Return a line of the list of collections. The page polls the lines that are `busy`."""
    return {
        "id": collection.public_id,
        "url": reverse("collection", args=[collection.public_id]),
        "name": collection.name,
        "state": words.COLLECTION[collection.state],
        "busy": collection.state in BUSY,
        "facts": [*describe_contents(collection), *collection_facts(collection, viewer, sizes)],
        "problem": describe_problem(collection, viewer),
    }


def describe_contents(collection: Collection) -> list[str]:
    """Return the indexing progress, or the number of documents."""
    if collection.state == "indexing":
        if not collection.total:
            return [_("looking at the files")]
        shown = {
            "n": words.format_number(collection.done),
            "total": words.format_number(collection.total),
        }
        failed = [_unreadable(collection.failed)] if collection.failed else []
        return [_("%(n)s of %(total)s read") % shown, *failed]
    told = [words.count_noun(collection.documents, "document")] if collection.documents else []
    if collection.unreadable_count:
        told.append(_unreadable(collection.unreadable_count))
    return told


def _unreadable(number: int) -> str:
    return _("%(n)s could not be read") % {"n": words.format_number(number)}


def collection_facts(collection: Collection, viewer: Viewer, sizes: Mapping[int, int]) -> list[str]:
    told = []
    if collection.pk in sizes:
        told.append(words.format_size(sizes[collection.pk]))
    if collection.folder:
        told.append(_("a folder on the server"))
    if collection.owner_id != viewer.pk:
        told.append(_("shared by %(name)s") % {"name": collection.owner.get_username()})
    elif collection.is_shared:
        told.append(_("shared with everyone"))
    return told


def describe_problem(collection: Collection, viewer: Viewer) -> str:
    """Return why a collection could not be read.

    The message may contain server paths, so only users who may change the collection see it.
    """
    if collection.state != "failed":
        return ""
    if may_change(viewer, collection):
        return worded(collection.problem)
    return _("It cannot be read at the moment; its owner can see why.")


def collection_context(
    collection: Collection, viewer: Viewer, sizes: Mapping[int, int]
) -> dict[str, Any]:
    """Return the context of a collection's page, without its files."""
    mine = may_change(viewer, collection)
    told = [{"path": path, "reason": worded(reason)} for path, reason in collection.unreadable]
    listed = [file for file in told if file["path"]]
    return {
        **collection_line(collection, viewer, sizes),
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
        "size": words.format_size(document.size),
        "added": document.added_at,
    }


def passage_contexts(found: Sequence[Passage]) -> list[dict[str, Any]]:
    """Return the search results, each as text pieces with the query words marked."""
    return [
        {
            "title": passage.title,
            "place": " · ".join(filter(None, [words.readable_url(passage.url), passage.section])),
            "pieces": list(split_at_matches(passage)),
        }
        for passage in found
    ]


def split_at_matches(passage: Passage) -> list[dict[str, Any]]:
    return [
        {"text": part, "marked": is_word and passage.matches(part)}
        for part in re.split(r"(\w+)", passage.text)  # "a, b" → "", "a", ", ", "b", ""
        if part
        for is_word in [part[0].isalnum() or part[0] == "_"]
    ]
