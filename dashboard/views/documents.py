"""Collections of documents: list, detail page, upload, changes and deletion."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from asgiref.sync import async_to_sync
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from dashboard import words
from dashboard.contexts.lists import (
    BUSY,
    collection_context,
    collection_line,
    file_row,
    paging_context,
)
from dashboard.contexts.quotes import document_html
from dashboard.forms.form_errors import by_form
from dashboard.queries import queries
from dashboard.queries.queries import Viewer
from dashboard.stored_texts import worded
from research.documents.folder import CONTENT_TYPES, DocumentError
from research.models import Collection
from research.services import documents
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
    """Show the text of a file, as runs read it, or why there is none."""
    from research.documents.try_search import read_file  # slow import

    collection = queries.find_collection(request.user, public_id)
    name, problem, file = request.GET.get("name", ""), "", None
    try:
        file = async_to_sync(read_file)(collection, name)
    except DocumentError as error:
        problem = worded(error.reason)
    if file is None and not problem:
        problem = _why_no_text(collection, name)
    context = {
        "page": "documents",
        "collection": {"id": collection.public_id, "name": collection.name},
        "title": (file and file.title) or name,
        "path": name,
        "file": file,
        "text": document_html(file.text.removeprefix(f"# {file.title}\n")) if file else "",
        "problem": problem,
    }
    return render(request, "dashboard/document.html", context)


def _why_no_text(collection: Collection, name: str) -> str:
    """Return why a file has no text that can be shown. Raise `Http404` for one that isn't there."""
    reason = dict(collection.unreadable).get(name) if name else None
    if reason is not None:
        return _("This file could not be read: %(reason)s.") % {"reason": worded(reason)}
    if not collection.files.filter(name=name).exists():
        raise Http404("no such file")
    return _("This file has not been read yet.")


@never_cache
@require_GET
def show_state(request: HttpRequest, public_id: str) -> HttpResponse:
    """Render the indexing progress: a line of the list, or the head of the collection's page."""
    collection = queries.find_collection(request.user, public_id)
    context = {"collection": _whole(request, collection), "swapped": True}
    name = "_collection_line.html" if "line" in request.GET else "_collection_state.html"
    if "line" not in request.GET and not collection.folder:
        context |= _files(request, collection)
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
    done = _take_files(request, made)
    if done.refused and not done.added:
        documents.delete_collection(request.user, made)
        refused = request.session.pop(REFUSED)
        told = " ".join(f"{file['name']}: {file['reason']}." for file in refused)
        return _render_list(request, files_problem=told, status=422)
    return redirect("collection", made.public_id)


def _take_files(request: HttpRequest, collection: Collection) -> documents.Upload:
    """Store uploaded files. Rejected ones are listed on the next page, via the session."""
    done = documents.add_files(request.user, collection, request.FILES.getlist("files"))
    if done.added:
        messages.info(  # no success yet: it may turn out that they cannot be read
            request,
            ngettext(
                "%(n)s file added, reading it now.",
                "%(n)s files added, reading them now.",
                len(done.added),
            )
            % {"n": words.format_number(len(done.added))},
        )
    for name in done.replaced:
        messages.info(request, _("%(name)s replaced the file of that name.") % {"name": name})
    request.session[REFUSED] = [
        {"name": file.name, "reason": worded(file.reason)} for file in done.refused
    ]
    return done


def _render_list(request: HttpRequest, *, status: int = 200, **problems: str) -> HttpResponse:
    found = queries.list_collections(request.user)
    context = {
        "page": "documents",
        "groups": _groups(request.user, found),
        "accepted": ACCEPTED,
        "typed": request.POST,
        **problems,
    }
    return render(request, "dashboard/collections.html", context, status=status)


def _groups(viewer: Viewer, found: Sequence[Collection]) -> list[dict[str, Any]]:
    """Return the collections to choose from, and below them those of files that were attached to a
    question.
    """
    sizes, asked = queries.upload_sizes(found), queries.runs_attached_to(viewer, found)
    lines = [
        (row.is_attached, collection_line(row, viewer, sizes) | {"run": asked.get(row.pk, "")})
        for row in found
    ]
    return [
        {"title": title, "lines": [line for is_attached, line in lines if is_attached == attached]}
        for attached, title in ((False, ""), (True, _("Attached to questions")))
    ]


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
    asked = queries.runs_attached_to(request.user, [collection])
    context = collection_context(collection, request.user, queries.upload_sizes([collection]))
    return {**context, "run": asked.get(collection.pk, "")}


def _files(request: HttpRequest, collection: Collection) -> dict[str, Any]:
    """Return a page of the uploaded files, or of the documents of a folder."""
    number = request.GET.get("page")
    if collection.folder:
        return _documents(collection, request.GET.get("find", "").strip(), number)
    page = queries.page_of_files(collection, number)
    unread = {} if collection.state in BUSY else dict(collection.unreadable)
    rows = [{**file_row(row), "problem": worded(unread.get(row.name, ""))} for row in page]
    return {"files": rows, "paging": paging_context(page)}


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
