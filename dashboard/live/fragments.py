"""The live part of a run's page as fragments: rendered once, compared, and sent as a diff.

A fragment is an element with a stable id. The page and the WebSocket send the same fragments.
Fragments are compared by context rather than by HTML: a relative time that is rendered a second
later is no change. Fragments must not depend on the viewer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from django.template.loader import render_to_string
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from dashboard.contexts.live import LiveParts, leaf_contexts, live_parts
from dashboard.queries.run_rows import RunRows
from research.models import Run

Context = dict[str, Any]
End = Literal["beforeend", "afterbegin"]

GROWS: dict[str, End] = {
    "problems": "beforeend",
    "draft": "beforeend",
    "aspects": "beforeend",
    "gaps": "beforeend",
    "closed": "beforeend",
    "evidence": "afterbegin",
    "refused": "afterbegin",
    "rounds": "beforeend",
}
"""The lists of rows, and the end at which new rows are inserted."""

PARTS = {"aspects": ("text", "standing", "menu"), "rounds": ("head", "more")}
"""Lists whose rows are swapped in parts, so that details expanded by the reader stay open."""

INNER = {"title": "tab-title"}
"""Leaves that replace the content of an element outside the live part of the page."""


@dataclass(frozen=True)
class Fragment:
    """A rendered element. `shows` is its context, which is compared; `row_of` its list or ''."""

    id: str
    shows: Context
    html: SafeString
    row_of: str = ""


@dataclass(frozen=True, eq=False)
class State:
    """All fragments of a run as committed at `sequence`; `lists` has row ids in display order."""

    run: str
    sequence: int
    ended: bool
    fragments: dict[str, Fragment] = field(default_factory=dict)
    lists: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def page(self) -> dict[str, SafeString]:
        """Return the HTML of leaves and lists by the name that the page's template uses."""
        shown = {name: self.rows(self._id(name)) for name in GROWS}
        leaves = (each for each in self.fragments.values() if not each.row_of)
        return shown | {_fragment_name(self.run, leaf.id): leaf.html for leaf in leaves}

    def rows(self, list_id: str) -> SafeString:
        return mark_safe("".join(self.fragments[each].html for each in self.lists[list_id]))

    @property
    def shows(self) -> str:
        """Return what there is to be seen, for the style sheet: see `contexts.live.describe`."""
        return str(self.fragments[self._id("sequence")].shows["shows"])

    def _id(self, name: str) -> str:
        return _element(self.run, name)


def build_state(run: Run, previous: State | None = None) -> State:
    """Build the state of a run as committed now, reusing unchanged fragments of `previous`."""
    return build_from(RunRows(run), previous)


def build_from(rows: RunRows, previous: State | None = None) -> State:
    return _Builder(rows.run, previous.fragments if previous else {}).state(live_parts(rows))


def render_leaves(rows: RunRows, names: Iterable[str]) -> dict[str, SafeString]:
    """Return the HTML of some leaves of a run's page, by name."""
    contexts, builder = leaf_contexts(rows), _Builder(rows.run, {})
    shown = {name: _element(rows.run.public_id, name) for name in names}
    return {name: builder._leaf(shown[name], name, contexts[name]).html for name in shown}


def build_by_id(public_id: str, previous: State | None = None) -> State | None:
    """Build the state of a run by its public id; None if the run was deleted."""
    run = Run.objects.filter(public_id=public_id).first()
    return build_state(run, previous) if run else None


class _Builder:
    def __init__(self, run: Run, known: dict[str, Fragment]) -> None:
        self.run = run
        self.known = known
        self.fragments: dict[str, Fragment] = {}
        self.lists: dict[str, tuple[str, ...]] = {}

    def state(self, parts: LiveParts) -> State:
        for name, shows in parts.leaves.items():
            self._leaf(_element(self.run.public_id, name), name, shows)
        for name, rows in parts.rows.items():
            self._list(name, rows)
        run = self.run
        return State(run.public_id, run.sequence, run.ended, self.fragments, self.lists)

    def _list(self, name: str, rows: list[Context]) -> None:
        list_id = _element(self.run.public_id, name)
        self.lists[list_id] = tuple(self._row(list_id, name, row) for row in rows)

    def _row(self, list_id: str, name: str, shows: Context) -> str:
        row_id = f"{list_id}-{shows['id']}"
        parts = {
            part: self._leaf(f"{row_id}-{part}", f"{name}-{part}", shows[part], list_id).html
            for part in PARTS.get(name, ())
        }
        if parts:
            html = self._render(row_id, f"{name}-row", parts)
            self.fragments[row_id] = Fragment(row_id, {}, html, list_id)
        else:
            self._leaf(row_id, f"{name}-row", shows, list_id)
        return row_id

    def _leaf(self, element: str, name: str, shows: Context, row_of: str = "") -> Fragment:
        leaf = self.known.get(element)
        if leaf is None or leaf.shows != shows:
            leaf = Fragment(element, shows, self._render(element, name, shows), row_of)
        self.fragments[element] = leaf
        return leaf

    def _render(self, element: str, name: str, shows: Context) -> SafeString:
        context = {"element": element, "run_id": self.run.public_id, **shows}
        return mark_safe(render_to_string(f"dashboard/live/{name}.html", context).strip())


def _element(run: str, name: str) -> str:
    return INNER.get(name) or f"run-{run}-{name}"


def _fragment_name(run: str, element: str) -> str:
    names = {inner: name for name, inner in INNER.items()}
    return names.get(element) or element.removeprefix(f"run-{run}-").replace("-", "_")


# --- what is sent -----------------------------------------------------------------------------


def update_message(old: State | None, new: State) -> str:
    """Return the diff that updates a page from `old` to `new`; all fragments if `old` is None.

    htmx swaps each top-level element of the message by id or selector.
    """
    return "\n".join(full_update(new) if old is None else changed_fragments(old, new))


def full_update(new: State) -> Iterator[str]:
    yield from (_swapped(leaf) for leaf in new.fragments.values() if not leaf.row_of)
    yield from (_whole_list(list_id, new) for list_id in new.lists)


def changed_fragments(old: State, new: State) -> Iterator[str]:
    fresh = [list_id for list_id in new.lists if _extension(old, new, list_id) is None]
    for list_id in new.lists:
        yield from [_whole_list(list_id, new)] if list_id in fresh else _grown(old, new, list_id)
    for element, leaf in new.fragments.items():
        known = old.fragments.get(element)
        if known is None or leaf.row_of in fresh or _is_divided(leaf):
            continue
        if known.shows != leaf.shows:
            yield _swapped(leaf)


def _grown(old: State, new: State, list_id: str) -> Iterator[str]:
    added = _extension(old, new, list_id)
    if added:
        rows = format_html_join("", "{}", ((new.fragments[each].html,) for each in added))
        yield _into(f"{_end(new, list_id)}:#{list_id}", rows)


def _extension(old: State, new: State, list_id: str) -> tuple[str, ...] | None:
    """Return rows appended at the growing end of the list; None if it changed in another way."""
    before, now = old.lists.get(list_id, ()), new.lists[list_id]
    kept = len(before)
    if _end(new, list_id) == "beforeend":
        return now[kept:] if now[:kept] == before else None
    return now[: len(now) - kept] if kept <= len(now) and now[len(now) - kept :] == before else None


def _end(state: State, list_id: str) -> End:
    return GROWS[_fragment_name(state.run, list_id)]


def _is_divided(leaf: Fragment) -> bool:
    """Return whether the fragment is a row in parts: its parts are sent instead."""
    return bool(leaf.row_of) and not leaf.shows


def _whole_list(list_id: str, state: State) -> str:
    return _into(f"innerHTML:#{list_id}", state.rows(list_id))


def _swapped(leaf: Fragment) -> str:
    if leaf.id in INNER.values():
        return _into(f"innerHTML:#{leaf.id}", leaf.html)
    named = f'id="{leaf.id}"'
    return leaf.html.replace(named, f'{named} hx-swap-oob="true"', 1)


def _into(where: str, content: SafeString) -> str:
    return format_html('<div hx-swap-oob="{}">{}</div>', where, content)
