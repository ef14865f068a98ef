"""Collections of documents: list, detail page, upload, changes and deletion."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from asgiref.sync import async_to_sync
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from dashboard import words
from dashboard.contexts.lists import paging_context
from dashboard.forms.form_errors import by_form
from dashboard.queries import queries
from dashboard.queries.queries import Viewer
from dashboard.stored_texts import worded
from research.documents.folder import CONTENT_TYPES, DocumentError
from research.models import Collection, Document
from research.services import documents
from research.services.documents import may_change
from research.services.errors import ServiceError

if TYPE_CHECKING:
    from research.documents.try_search import Passage


ACCEPTED = ",".join(CONTENT_TYPES)
REFUSED = "refused-files"


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def list_collections(request: HttpRequest) -> HttpResponse:
    """List collections, or create one with its first files."""
    if request.method == "POST":
        try:
            return _made(request)
        except ServiceError as error:
            return _render_list(request, problem=worded(str(error)), status=422)
    return _render_list(request)


@by_form
def add_folder(request: HttpRequest) -> HttpResponse:
    name, path = request.POST.get("name", ""), request.POST.get("path", "")
    shared = "shared" in request.POST
    try:
        made = documents.create_from_folder(request.user, name, path, shared=shared)
    except ServiceError as error:
        return _render_list(request, folder_problem=worded(str(error)), status=422)
    return redirect("collection", made.public_id)


@never_cache
@require_GET
def show_collection(request: HttpRequest, public_id: str) -> HttpResponse:
    collection = queries.find_collection(request.user, public_id)
    refused = request.session.pop(REFUSED, [])
    return _render_collection(request, collection, refused=refused)


@never_cache
@require_GET
def show_file(request: HttpRequest, public_id: str) -> HttpResponse:
    """Show the text of a file, as runs read it."""
    from research.documents.try_search import read_file  # slow import

    collection = queries.find_collection(request.user, public_id)
    try:
        text = async_to_sync(read_file)(collection, request.GET.get("name", ""))
    except DocumentError as error:
        return HttpResponse(worded(error.reason), "text/plain; charset=utf-8", status=503)
    if text is None:
        raise Http404("no such file")
    return HttpResponse(text, "text/plain; charset=utf-8")


@never_cache
@require_GET
def show_state(request: HttpRequest, public_id: str) -> HttpResponse:
    """Render the indexing progress: a line of the list, or the head of the collection's page."""
    collection = queries.find_collection(request.user, public_id)
    context = {"collection": _whole(request, collection), "swapped": True}
    name = "_collection_line.html" if "line" in request.GET else "_collection_state.html"
    return render(request, f"dashboard/{name}", context)


@by_form
def add_files(request: HttpRequest, public_id: str) -> HttpResponse:
    collection = queries.find_collection(request.user, public_id)
    try:
        _take_files(request, collection)
    except ServiceError as error:
        messages.error(request, worded(str(error)))
    return redirect("collection", public_id)


@by_form
def remove_file(request: HttpRequest, public_id: str) -> HttpResponse:
    collection = queries.find_collection(request.user, public_id)
    name = request.POST.get("name", "")
    try:
        documents.remove_file(request.user, collection, name)
        messages.info(request, _("%(name)s was removed.") % {"name": name})
    except ServiceError as error:
        messages.error(request, worded(str(error)))
    return redirect("collection", public_id)


@by_form
def change_collection(request: HttpRequest, public_id: str) -> HttpResponse:
    collection = queries.find_collection(request.user, public_id)
    name, shared = request.POST.get("name", ""), "shared" in request.POST
    try:
        documents.change_collection(request.user, collection, name, shared=shared)
    except ServiceError as error:
        return _render_collection(
            request, collection, change_problem=worded(str(error)), status=422
        )
    messages.success(request, _("Saved."))
    return redirect("collection", public_id)


@by_form
def look_again(request: HttpRequest, public_id: str) -> HttpResponse:
    collection = queries.find_collection(request.user, public_id)
    documents.look_again(request.user, collection)
    return redirect("collection", public_id)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def delete_collection(request: HttpRequest, public_id: str) -> HttpResponse:
    """Delete a collection after confirmation."""
    collection = queries.find_collection(request.user, public_id)
    context = _whole(request, collection)
    if not context["may_delete"]:
        raise Http404("this collection cannot be deleted here")
    if request.method == "POST":
        documents.delete_collection(request.user, collection)
        messages.info(request, _("“%(name)s” was deleted.") % {"name": collection.name})
        return redirect("collections")
    return render(
        request, "dashboard/collection_delete.html", {"collection": context, "page": "documents"}
    )


def _made(request: HttpRequest) -> HttpResponse:
    shared = "shared" in request.POST
    made = documents.create_collection(request.user, request.POST.get("name", ""), shared=shared)
    _take_files(request, made)
    return redirect("collection", made.public_id)


def _take_files(request: HttpRequest, collection: Collection) -> None:
    """Store uploaded files. Rejected ones are listed on the next page, via the session."""
    done = documents.add_files(request.user, collection, request.FILES.getlist("files"))
    if done.added:
        messages.info(  # no success yet: it may turn out that they cannot be read
            request,
            ngettext("%(n)s file added.", "%(n)s files added.", len(done.added))
            % {"n": len(done.added)},
        )
    for name in done.replaced:
        messages.info(request, _("%(name)s replaced the file of that name.") % {"name": name})
    request.session[REFUSED] = [
        {"name": file.name, "reason": worded(file.reason)} for file in done.refused
    ]


def _render_list(request: HttpRequest, *, status: int = 200, **problems: str) -> HttpResponse:
    found = queries.list_collections(request.user)
    sizes = queries.upload_sizes(found)
    context = {
        "page": "documents",
        "collections": [collection_line(row, request.user, sizes) for row in found],
        "accepted": ACCEPTED,
        "typed": request.POST,
        **problems,
    }
    return render(request, "dashboard/collections.html", context, status=status)


def _render_collection(
    request: HttpRequest, collection: Collection, *, status: int = 200, **more: Any
) -> HttpResponse:
    context = {
        "page": "documents",
        "collection": _whole(request, collection),
        "accepted": ACCEPTED,
        **_files(request, collection),
        **_search_results(request, collection),
        **more,
    }
    return render(request, "dashboard/collection.html", context, status=status)


def _whole(request: HttpRequest, collection: Collection) -> dict[str, Any]:
    return collection_context(collection, request.user, queries.upload_sizes([collection]))


def _files(request: HttpRequest, collection: Collection) -> dict[str, Any]:
    """Return a page of the uploaded files, or of the documents of a folder."""
    number = request.GET.get("page")
    if collection.folder:
        return _documents(collection, request.GET.get("find", "").strip(), number)
    page = queries.page_of_files(collection, number)
    return {"files": [file_row(row) for row in page], "paging": paging_context(page)}


def _documents(collection: Collection, wanted: str, number: str | None) -> dict[str, Any]:
    """Return a page of the documents whose path or title has what is wanted, as indexed."""
    from research.documents.try_search import count_documents, list_documents  # slow import

    most = queries.FILES_ON_A_PAGE
    try:
        total = async_to_sync(count_documents)(collection, wanted)
        page = Paginator(range(total), most).get_page(number)
        start = page.start_index() - 1 if total else 0
        found = async_to_sync(list_documents)(collection, wanted, start, most)
    except DocumentError as error:
        return {"wanted": wanted, "list_problem": worded(error.reason)}
    return {
        "wanted": wanted,
        "documents": found,
        "can_find": bool(wanted) or total > most,
        "paging": paging_context(page, {"find": wanted}),
    }


def _search_results(request: HttpRequest, collection: Collection) -> dict[str, Any]:
    from research.documents.try_search import try_search  # slow import, needed for searches only

    query = request.GET.get("q", "").strip()
    if not query:
        return {}
    try:
        found = async_to_sync(try_search)(collection, query)
    except DocumentError as error:
        return {"query": query, "search_problem": worded(error.reason)}
    return {"query": query, "found": passage_contexts(found)}


BUSY = frozenset({"waiting", "indexing"})


def collection_line(
    collection: Collection, viewer: Viewer, sizes: Mapping[int, int]
) -> dict[str, Any]:
    """Return a line of the list of collections. The page polls the lines that are `busy`."""
    unreadable = collection.is_unreadable
    return {
        "id": collection.public_id,
        "url": reverse("collection", args=[collection.public_id]),
        "name": collection.name,
        "state": words.COLLECTION["unreadable" if unreadable else collection.state],
        "can_ask": not unreadable and (bool(collection.folder) or collection.pk in sizes),
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
    if collection.is_unreadable:
        return [words.count_noun(collection.unreadable_count, "file")]
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

    That of a folder may contain server paths, so only users who may change the collection see it.
    """
    if collection.is_unreadable:
        return _("None of its files could be read, so nothing can be asked about them.")
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
        "is_unreadable": collection.is_unreadable,
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
            "path": passage.path,
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
