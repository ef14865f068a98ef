"""Collections of documents: managing their files, and searching in them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

from asgiref.sync import async_to_sync
from django.contrib.auth.models import AbstractUser
from django.http import Http404, HttpRequest
from ninja import File, Query, Router, Status, UploadedFile

from dashboard.api.idempotency import IdempotencyKey, make_once
from dashboard.api.paging import Paging, page_of
from dashboard.api.schemas import (
    CollectionList,
    CollectionOut,
    DocumentPage,
    NewCollection,
    PassageList,
    PassageOut,
    RefusedOut,
    UploadOut,
)
from dashboard.queries import queries
from research.documents.try_search import QUERY_LENGTH, SHOWN, Passage, search_collections
from research.models import Collection
from research.services import documents

router = Router(tags=["collections"])
MOST_FOUND = 100
Words = Annotated[str, Query(min_length=1, max_length=QUERY_LENGTH)]


@router.get("", response=CollectionList, summary="List collections by name")
def list_collections(request: HttpRequest) -> dict[str, Any]:
    actor = request.auth.user
    found = queries.list_collections(actor)
    return {"items": [collection_out(actor, row) for row in found]}


@router.post("", response={201: CollectionOut}, summary="Make a collection")
def create_collection(
    request: HttpRequest, payload: NewCollection, idempotency_key: IdempotencyKey = None
) -> Status[CollectionOut]:
    actor = request.auth.user
    make = partial(documents.create_collection, actor, payload.name, shared=payload.shared)
    rows = documents.visible_to(actor)
    row = make_once(request, idempotency_key, payload, rows, make)
    return Status(201, collection_out(actor, row))


# Above the operations on a collection, whose id matches any name.
@router.get("/search", response=PassageList, summary="Search in several collections")
def search_several(
    request: HttpRequest,
    q: Words,
    collection: Annotated[list[str], Query(max_length=100)] = [],  # noqa: B006 (Ninja copies it)
    limit: Annotated[int, Query(ge=1, le=MOST_FOUND)] = SHOWN,
) -> PassageList:
    """Search in the collections of these ids, or in all: one list, best first."""
    actor = request.auth.user
    named = [queries.find_collection(actor, each) for each in collection]
    rows = named or list(documents.visible_to(actor))
    return passages_out(async_to_sync(search_collections)(rows, q, limit))


@router.get("/{collection_id}", response=CollectionOut, summary="Read a collection")
def read_collection(request: HttpRequest, collection_id: str) -> CollectionOut:
    """`state` is waiting, indexing, failed, empty or ready."""
    actor = request.auth.user
    return collection_out(actor, queries.find_collection(actor, collection_id))


@router.delete("/{collection_id}", response={204: None}, summary="Delete a collection")
def delete_collection(request: HttpRequest, collection_id: str) -> Status[None]:
    row = queries.find_collection(request.auth.user, collection_id)
    documents.delete_collection(request.auth.user, row)
    return Status(204, None)


# An address resolves to the name of its first operation, so that all have the same.
@router.get(
    "/{collection_id}/files",
    response=DocumentPage,
    summary="List uploaded files",
    url_name="collection_files",
)
def list_files(request: HttpRequest, collection_id: str, paging: Paging) -> dict[str, Any]:
    row = queries.find_collection(request.auth.user, collection_id)
    shown, following = page_of(row.files.all(), paging, newest_first=False)
    items = [{"name": each.name, "size": each.size, "added_at": each.added_at} for each in shown]
    return {"items": items, "next_cursor": following}


@router.post(
    "/{collection_id}/files",
    response=UploadOut,
    summary="Upload files",
    url_name="collection_files",
)
def upload_files(
    request: HttpRequest,
    collection_id: str,
    files: Annotated[list[UploadedFile], File(min_length=1)],
) -> UploadOut:
    """Files of the same name are replaced; what can't be taken is named with the reason."""
    row = queries.find_collection(request.auth.user, collection_id)
    done = documents.add_files(request.auth.user, row, files)
    refused = [RefusedOut(name=each.name, reason=each.reason) for each in done.refused]
    return UploadOut(added=list(done.added), replaced=list(done.replaced), refused=refused)


@router.delete(
    "/{collection_id}/files/{name}", response={204: None}, summary="Remove an uploaded file"
)
def remove_file(request: HttpRequest, collection_id: str, name: str) -> Status[None]:
    row = queries.find_collection(request.auth.user, collection_id)
    if not row.files.filter(name=name).exists():
        raise Http404("no such file")
    documents.remove_file(request.auth.user, row, name)
    return Status(204, None)


@router.get("/{collection_id}/search", response=PassageList, summary="Search in a collection")
def search_collection(request: HttpRequest, collection_id: str, q: Words) -> PassageList:
    """Return the documents that a run would find, best first, each with its best passage."""
    row = queries.find_collection(request.auth.user, collection_id)
    return passages_out(async_to_sync(search_collections)([row], q))


def passages_out(found: Sequence[Passage]) -> PassageList:
    items = [
        PassageOut(url=each.url, title=each.title, section=each.section, text=each.text)
        for each in found
    ]
    return PassageList(items=items)


def collection_out(actor: AbstractUser, row: Collection) -> CollectionOut:
    return CollectionOut(
        id=row.public_id,
        name=row.name,
        shared=row.is_shared,
        state=row.state,
        documents=row.documents,
        unreadable=row.unreadable_count,
        folder=row.folder if documents.may_change(actor, row) else "",
        problem=row.problem,
    )
