"""The list of questions: search, and changes to a thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from dashboard.contexts.lists import group_by_day, paging_context
from dashboard.forms.form_errors import by_form
from dashboard.queries import queries, thread_queries
from dashboard.queries.thread_queries import find_thread
from dashboard.stored_texts import worded
from dashboard.titles import shorten
from research.models import Thread
from research.services import history
from research.services.errors import ServiceError
from research.services.runs import visible_to

UNDO = "undo"
NAMED = 60
Change = Callable[[HttpRequest, Thread], None]


@require_GET
def list_runs(request: HttpRequest) -> HttpResponse:
    folders = thread_queries.list_folders(request.user)
    form = FindForm(folders, request.GET)
    wanted = form.cleaned_data if form.is_valid() else {}
    page = queries.page_of_runs(request.user, request.GET.get("page"), **wanted)
    sought = wanted.get("text", "").split()[: thread_queries.MOST_WORDS]
    context = {
        "page": "runs",
        "find": form,
        "folders": folders,
        "narrowed": any(wanted.values()),
        "wanted": wanted,
        "archived": visible_to(request.user).filter(thread__archived=True),
        "groups": group_by_day(list(page), timezone.now(), sought),
        "paging": paging_context(page, wanted),
        "undo": request.session.pop(UNDO, None),
        "here": request.get_full_path(),
    }
    return render(request, "dashboard/runs.html", context)


@by_form
def change_thread(request: HttpRequest, public_id: str, change: str) -> HttpResponse:
    """Apply one of `CHANGES` to a thread and return to the list that the user came from."""
    thread = find_thread(request.user, public_id, deleted=change == "restore")
    try:
        CHANGES[change](request, thread)
    except ServiceError as error:
        messages.error(request, worded(str(error)))
    return redirect(_came_from(request))


def _came_from(request: HttpRequest) -> str:
    wanted = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(wanted, {request.get_host()})
    return wanted if is_ours else "runs"


def _rename(request: HttpRequest, thread: Thread) -> None:
    name, folder = request.POST.get("name", ""), request.POST.get("folder", "")
    history.rename_thread(request.user, thread, name, folder)


def _delete(request: HttpRequest, thread: Thread) -> None:
    history.delete_thread(request.user, thread)
    _offer_undo(request, thread, "restore")


def _archive(request: HttpRequest, thread: Thread) -> None:
    history.archive_thread(request.user, thread, True)
    _offer_undo(request, thread, "unarchive")


def _offer_undo(request: HttpRequest, thread: Thread, change: str) -> None:
    """Have the next list say what was done and offer the change that undoes it."""
    name = shorten(thread.name or thread.title, NAMED)
    way = reverse(f"{change}_thread", args=[thread.public_id])
    request.session[UNDO] = {"change": change, "name": name, "way": way}


CHANGES: dict[str, Change] = {
    "rename": _rename,
    "pin": lambda request, thread: history.pin_thread(request.user, thread, True),
    "unpin": lambda request, thread: history.pin_thread(request.user, thread, False),
    "archive": _archive,
    "unarchive": lambda request, thread: history.archive_thread(request.user, thread, False),
    "delete": _delete,
    "restore": lambda request, thread: history.restore_thread(request.user, thread),
}


ARCHIVED = "archived"


class FindForm(forms.Form):
    text = forms.CharField(
        required=False,
        max_length=200,
        label=_("Search questions, answers and sources"),
        widget=forms.TextInput(
            attrs={"type": "search", "placeholder": _("Search questions, answers and sources")}
        ),
    )
    state = forms.ChoiceField(
        required=False,
        label=_("State"),
        choices=[
            ("", _("Any state")),
            ("waiting", _("Waiting for you")),
            ("working", _("In progress")),
            ("done", _("Done")),
            ("nothing_found", _("Nothing found")),
            ("failed", _("Failed or cancelled")),
            (ARCHIVED, _("Archived")),
        ],
    )
    folder = forms.ChoiceField(required=False, label=_("Folder"))

    def __init__(self, folders: Sequence[str], data: Any) -> None:
        super().__init__(data)
        choices = [("", _("All folders")), *((name, name) for name in folders)]
        self.fields["folder"] = forms.ChoiceField(
            required=False, label=_("Folder"), choices=choices
        )
