"""The live part of a run's page as fragments: rendered once, told apart, sent as what changed.

A fragment is an element with an id that stays. Page and socket use the same ones, so both show
the same. Whether a fragment changed is told from what it shows, not from its HTML: a time that
was rendered a second later is no change. Fragments hold nothing of the viewer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from django.template.loader import render_to_string
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from dashboard.contexts.live import LiveParts, live_parts
from dashboard.run_rows import RunRows
from research.models import Run

Context = dict[str, Any]
End = Literal["beforeend", "afterbegin"]

GROWS: dict[str, End] = {
    "problems": "beforeend",
    "draft": "beforeend",
    "aspects": "beforeend",
    "gaps": "beforeend",
    "evidence": "afterbegin",
    "refused": "afterbegin",
    "rounds": "beforeend",
}
"""The lists of rows, and at which end new ones come in."""

PARTS = {"aspects": ("text", "standing", "menu"), "rounds": ("head", "more")}
"""Lists whose rows are swapped in parts, so that what a reader opened in them stays open."""

INNER = {"title": "tab-title"}
"""Leaves that are the content of an element outside of the run's part of the page."""


@dataclass(frozen=True)
class Fragment:
    """`shows` is what is compared; `row_of` is the list that it stands in, '' outside of any."""

    id: str
    shows: Context
    html: SafeString
    row_of: str = ""


@dataclass(frozen=True, eq=False)
class State:
    """All fragments of a run as committed at `sequence`; `lists` has the ids of rows in order."""

    run: str
    sequence: int
    ended: bool
    fragments: dict[str, Fragment] = field(default_factory=dict)
    lists: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def page(self) -> dict[str, SafeString]:
        """The HTML by name, as the page's template places it: leaves and the rows of lists."""
        shown = {name: self.rows(self._id(name)) for name in GROWS}
        leaves = (each for each in self.fragments.values() if not each.row_of)
        return shown | {_name(self.run, leaf.id): leaf.html for leaf in leaves}

    def rows(self, list_id: str) -> SafeString:
        return mark_safe("".join(self.fragments[each].html for each in self.lists[list_id]))

    def _id(self, name: str) -> str:
        return _element(self.run, name)


def build(run: Run, previous: State | None = None) -> State:
    """The state of a run as committed now; fragments of `previous` that still hold are kept."""
    return build_from(RunRows(run), previous)


def build_from(rows: RunRows, previous: State | None = None) -> State:
    return _Builder(rows.run, previous.fragments if previous else {}).state(live_parts(rows))


def build_by_id(public_id: str, previous: State | None = None) -> State | None:
    """None where there is no such run any more."""
    run = Run.objects.filter(public_id=public_id).first()
    return build(run, previous) if run else None


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


def _name(run: str, element: str) -> str:
    names = {inner: name for name, inner in INNER.items()}
    return names.get(element) or element.removeprefix(f"run-{run}-").replace("-", "_")


# --- what is sent -----------------------------------------------------------------------------


def message(old: State | None, new: State) -> str:
    """What turns a page at `old` into one at `new`; without `old` everything, whatever it shows.

    htmx swaps each top-level element of it by id or selector.
    """
    return "\n".join(snapshot(new) if old is None else changes(old, new))


def snapshot(new: State) -> Iterator[str]:
    yield from (_swapped(leaf) for leaf in new.fragments.values() if not leaf.row_of)
    yield from (_whole_list(list_id, new) for list_id in new.lists)


def changes(old: State, new: State) -> Iterator[str]:
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
    """The rows that were added at the list's growing end; None where it changed otherwise."""
    before, now = old.lists.get(list_id, ()), new.lists[list_id]
    kept = len(before)
    if _end(new, list_id) == "beforeend":
        return now[kept:] if now[:kept] == before else None
    return now[: len(now) - kept] if kept <= len(now) and now[len(now) - kept :] == before else None


def _end(state: State, list_id: str) -> End:
    return GROWS[_name(state.run, list_id)]


def _is_divided(leaf: Fragment) -> bool:
    """A row in parts: its parts are sent, not the row."""
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
