"""Lists of runs and of collections, and pagination."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Page
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.text import Truncator
from django.utils.translation import gettext

from dashboard import words
from dashboard.contexts.quality import Limits, join_limits, limits_of
from dashboard.forms.knob_labels import CHOICES
from dashboard.markdown.parsing import MARKER
from dashboard.queries.queries import Viewer
from dashboard.stored_texts import worded
from dashboard.titles import title_of
from research.engine.records import Status
from research.models import Collection as DocumentCollection
from research.models import Document, Run
from research.readmodel.run_rows import is_judged_by_model, statuses_of, trust_of
from research.services.documents import may_change

# " [12]", with all blanks before it
_MARKED = re.compile(rf"(?<!\s)\s*{MARKER.pattern}")

_TITLE = re.compile(r"\A\s*# .*")
_SIGNS = re.compile(
    r"^[ \t]{0,8}(?:(?:#{1,6}|[-*>|]|\d{1,9}\.)[ \t]{1,8}){1,6}|^[ \t|:-]+$|[*`]{1,9}|\|",
    re.MULTILINE,
)
_LINK = re.compile(r"!?\[([^\[\]]{0,400})\]\([^()]{0,900}\)")
_ADDRESS = re.compile(r":? ?<[a-z]{2,6}:[^<>\s]*>")  # ": <https://trees.test/>"
_ESCAPED = re.compile(r"\\([^\w\s])")
"""Marks of Markdown: a report's title, and signs, links and escaped signs in its text."""

DEPTHS = dict(CHOICES["research_depth"])
RECENT_DAYS = 7
BEFORE, PASSAGE_LENGTH = 60, 200
"""Characters of a report that are shown before a word sought, and in all."""


def run_line(run: Run, words_sought: Sequence[str] = ()) -> dict[str, Any]:
    """Return a line of a list of runs; of one that was searched for, with the place of a word."""
    trust = trust_of(run.aspects.all())
    judged = is_judged_by_model(run, run.aspects.all())
    answer = plain_answer(getattr(run, "answer", None))
    passage = _passage(run, answer, words_sought)
    title = title_of(run)
    question = " ".join(run.question.split())
    is_done = run.status == Status.COMPLETED
    cited = {each["url"] for each in getattr(run, "cited", None) or ()}
    return {
        "url": reverse("run", args=[run.public_id]),
        "question": run.question,
        "title": title,
        "in_question": _around(question, run.thread.name or title, words_sought),
        "name": run.thread.name,
        "folder": run.thread.folder,
        "pinned": run.thread.pinned,
        "archived": run.thread.archived,
        "thread": run.thread.public_id,
        "reason": worded(run.reason),
        "state": words.run_state(run, trust, judged_by_model=judged),
        "answer": "" if passage else answer,
        "sought": words_sought,
        "passage": passage,
        "facts": _facts(run, len(cited)),
        "note": join_limits(_limits_of(run, cited, judged=judged)) if is_done else "",
        "created": run.created_at,
    }


def _limits_of(run: Run, cited: Collection[str], *, judged: bool) -> Limits:
    listed, gaps = (getattr(run, name, None) for name in ("open_points", "gaps_open"))
    left_open = int(gaps or 0) if listed is None else int(listed)
    return limits_of(
        trust_of(run.aspects.all()),
        [each.mark for each in statuses_of(run.aspects.all())],
        cited,
        open_points=left_open if judged else 0,
        disputes=int(getattr(run, "told_disputes", None) or getattr(run, "disputes", None) or 0),
    )


def group_by_day(
    runs: Sequence[Run], now: datetime, words_sought: Sequence[str] = ()
) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return a line for each thread under the day of its newest question, older ones under their
    month; pinned ones, which come first, are a group of their own.

    A line is that of the thread's first question in `runs`, with the time of the newest one and its
    `follow_ups`, oldest first.
    """
    today = timezone.localdate(now)
    threads: dict[int, list[Run]] = {}
    for run in runs:
        threads.setdefault(run.thread_id, []).append(run)
    grouped = groupby(threads.values(), key=lambda asked: _heading_of(asked[0], today))
    return [
        (heading, [_thread_line(asked, words_sought) for asked in group])
        for heading, group in grouped
    ]


def _thread_line(asked: Sequence[Run], words_sought: Sequence[str]) -> dict[str, Any]:
    """Return the line of a thread; a later version keeps the place of the question it answers."""
    in_order = sorted(asked, key=lambda run: run.origin_id or run.pk)
    first, *others = (run_line(run, words_sought) for run in in_order)
    return {**first, "created": max(run.created_at for run in asked), "follow_ups": others}


def _heading_of(run: Run, today: date) -> str:
    if run.thread.pinned:
        return gettext("Pinned")
    day = timezone.localdate(run.created_at)
    days = (today - day).days
    if days < 1:
        return gettext("Today")
    if days == 1:
        return gettext("Yesterday")
    if days < RECENT_DAYS:
        return gettext("Last seven days")
    return date_format(day, "F Y")


def plain_answer(text: str | None) -> str:
    """Return a short answer without its markers: "It **rose** in `x` [1]." is "It rose in x."."""
    return _MARKED.sub("", text or "").replace("**", "").replace("`", "")


def _passage(run: Run, answer: str, words_sought: Sequence[str]) -> str:
    """Return the report around the first word sought that the answer doesn't show."""
    return _around(_plain_report(getattr(run, "written", None)), answer, words_sought)


def _plain_report(markdown: str | None) -> str:
    """Return the text of a report without its title and its marks of Markdown."""
    text = _SIGNS.sub("", _ADDRESS.sub("", _TITLE.sub("", plain_answer(markdown))))
    return " ".join(_ESCAPED.sub(r"\1", _LINK.sub(r"\1", text)).split())


def _around(text: str, shown: str, words_sought: Sequence[str]) -> str:
    """Return a text around the first word sought that is not `shown` already, or ''."""
    for word in words_sought:
        place = text.lower().find(word.lower())
        if word.lower() not in shown.lower() and place >= 0:
            start = max(0, place - BEFORE)
            begins = text.find(" ", start) + 1 if start else 0
            return f"{'…' if start else ''}{Truncator(text[begins:]).chars(PASSAGE_LENGTH)}"
    return ""


def _facts(run: Run, cited: int) -> list[str]:
    """Return how deep a run is; of an ended one, how much is answered from how many sources."""
    depth = DEPTHS.get(getattr(run, "depth", None) or "", "")
    answered = _count_answered(run) if run.ended else ""
    sources = words.count_noun(cited, "source") if cited else ""
    return [str(fact) for fact in (depth, answered, sources) if fact]


def _count_answered(run: Run) -> str:
    """Return how many sub-questions of several are answered; '' if there is only one."""
    found = statuses_of(run.aspects.all())
    judged = is_judged_by_model(run, run.aspects.all())
    return words.count_answers(found, judged_by_model=judged) if len(found) > 1 else ""


def paging_context(page: Page[Any], wanted: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the pagination links. `wanted` is the filter kept in their query strings."""
    return {
        "query": urlencode({name: value for name, value in (wanted or {}).items() if value}),
        "number": page.number,
        "pages": page.paginator.num_pages,
        "total": page.paginator.count,
        "previous": page.previous_page_number() if page.has_previous() else None,
        "next": page.next_page_number() if page.has_next() else None,
    }


# --- collections ---------------------------------------------------------------------------

BUSY = frozenset({"waiting", "indexing"})


def collection_line(
    collection: DocumentCollection, viewer: Viewer, sizes: Mapping[int, int]
) -> dict[str, Any]:
    """Return a line of the list of collections. The page polls the lines that are `busy`."""
    unreadable = collection.is_unreadable
    state = words.COLLECTION["unreadable" if unreadable else collection.state]
    if collection.state == "ready" and collection.unreadable_count and not unreadable:
        number = words.format_number(collection.unreadable_count)
        state = words.State(gettext("Ready, %(n)s unread") % {"n": number}, "half", "fair")
    return {
        "id": collection.public_id,
        "url": reverse("collection", args=[collection.public_id]),
        "name": collection.name,
        "state": state,
        "can_ask": not unreadable and (bool(collection.folder) or collection.pk in sizes),
        "busy": collection.state in BUSY,
        "facts": [*describe_contents(collection), *collection_facts(collection, viewer, sizes)],
        "problem": describe_problem(collection, viewer),
    }


def describe_contents(collection: DocumentCollection) -> list[str]:
    """Return the indexing progress, or the number of documents."""
    if collection.state == "indexing":
        if not collection.total:
            return [gettext("looking at the files")]
        shown = {
            "n": words.format_number(collection.done),
            "total": words.format_number(collection.total),
        }
        failed = [_unreadable(collection.failed)] if collection.failed else []
        return [gettext("%(n)s of %(total)s read") % shown, *failed]
    if collection.is_unreadable:
        return [words.count_noun(collection.unreadable_count, "file")]
    return [words.count_noun(collection.documents, "document")] if collection.documents else []


def _unreadable(number: int) -> str:
    return gettext("%(n)s could not be read") % {"n": words.format_number(number)}


def collection_facts(
    collection: DocumentCollection, viewer: Viewer, sizes: Mapping[int, int]
) -> list[str]:
    told = []
    if collection.pk in sizes:
        told.append(words.format_size(sizes[collection.pk]))
    if collection.folder:
        told.append(gettext("a folder on the server"))
    if collection.owner_id != viewer.pk:
        told.append(gettext("shared by %(name)s") % {"name": collection.owner.get_username()})
    elif collection.is_shared:
        told.append(gettext("shared with everyone"))
    return told


def describe_problem(collection: DocumentCollection, viewer: Viewer) -> str:
    """Return why a collection could not be read.

    That of a folder may contain server paths, so only users who may change the collection see it.
    """
    if collection.is_unreadable:
        return gettext("None of its files could be read, so nothing can be asked about them.")
    if collection.state != "failed":
        return ""
    if may_change(viewer, collection):
        return worded(collection.problem)
    return gettext("It cannot be read at the moment; its owner can see why.")


def collection_context(
    collection: DocumentCollection, viewer: Viewer, sizes: Mapping[int, int]
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
        "is_attached": collection.is_attached,
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
