"""Finds the main part of a page's tree after boilerplate removal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from research.extract.html.blocks import holds_data
from research.extract.html.boilerplate import HEADINGS, text_length

_IDS = (
    *("docContent", "mw-content-text", "bodyContent", "main-content", "maincontent", "mainContent"),
    *("main", "content", "article", "primary", "page-content", "doc-content", "readme", "post"),
)
_CLASSES = (
    *("article-body", "article-content", "post-content", "entry-content", "post-body"),
    *("markdown-body", "rst-content", "page-content", "main-content", "documentwrapper"),
)
_DECLARED_SHARE = 0.3
_DECLARED_LENGTH = 600
_DOMINANT_SHARE = 0.75
_ARTICLE_SHARE = 0.7
_LINKED_SHARE = 0.6
_INDEX_LENGTH = 200
_PROSE_LENGTH = 80
_ODD_SHARE = 0.1
_CELL_SHARE = 0.5
_INDIVISIBLE = frozenset({"ul", "ol", "dl"})
_BOXES = _INDIVISIBLE | {
    *("div", "section", "article", "table", "tbody", "tr", "td", "center", "form"),
}


@dataclass(frozen=True)
class Main:
    """The main part; `sure` is False if the page gave no clear sign of it."""

    root: Any
    sure: bool


def find_main(body: Any) -> Main:
    """Return the main part, as declared by the page or else by text density.

    Link lists are removed, unless the page is an index that contains little else.
    """
    total = text_length(body)
    for declared in _declared(body):
        length = text_length(declared)
        if length >= _DECLARED_SHARE * total or length >= _DECLARED_LENGTH:
            return Main(_only_article(declared, length), True)
    measured = _Measured(body)
    root = _dominant(body, measured)
    lists = _link_lists(root, measured)
    if measured.text(root) - sum(map(measured.text, lists)) < _INDEX_LENGTH:
        return Main(root, True)
    for element in lists:
        root.remove(element)
    return Main(root, _is_clear(root, _Measured(root)))


class _Measured:
    """Length of the text, and of the linked text, of each element of a tree.

    Measured once, bottom-up: measuring each level separately would be quadratic in the depth.
    """

    def __init__(self, root: Any) -> None:
        self._texts: dict[Any, int] = {}
        self._links: dict[Any, int] = {}
        for element in reversed(list(root.iter())):
            self._measure(element)

    def text(self, element: Any) -> int:
        return self._texts[element]

    def link_share(self, element: Any) -> float:
        text = self._texts[element]
        return self._links[element] / text if text else 0.0

    def _measure(self, element: Any) -> None:
        text, links = _solid(element.text), 0
        for child in element:
            text += self._texts[child] + _solid(child.tail)
            links += self._links[child]
        self._texts[element] = text
        self._links[element] = text if element.tag == "a" else links


def _solid(text: str | None) -> int:
    return sum(map(len, text.split())) if text else 0


def _declared(body: Any) -> list[Any]:
    """Return elements marked as main part by tag, role, id or class, most reliable first."""
    found = [*body.iter("main"), *body.xpath(".//*[@role='main']")]
    by_id = {name: element for element in body.iter() if (name := element.get("id"))}
    found += [by_id[name] for name in _IDS if name in by_id and by_id[name] is not body]
    articles = list(body.iter("article"))
    if len(articles) == 1:
        found += articles
    found += [e for e in body.iter("div", "section") if _has_class(e, _CLASSES)]
    return [body] if body.get("id") in _IDS else found


def _has_class(element: Any, names: tuple[str, ...]) -> bool:
    classes = element.get("class")
    return bool(classes) and not set(names).isdisjoint(classes.split())


def _only_article(root: Any, length: int) -> Any:
    """Return the one article that makes up most of a main part, else the main part."""
    for article in root.iterdescendants("article"):
        if text_length(article) >= _ARTICLE_SHARE * length:
            return article
    return root


def _dominant(root: Any, measured: _Measured) -> Any:
    """Descend while a single container has most of the text."""
    while True:
        containers = [child for child in root if child.tag in _BOXES]
        largest = max(containers, key=measured.text, default=None)
        if largest is None or largest.tag in _INDIVISIBLE or _is_one_table(largest, measured):
            return root
        if _has_sister(largest, containers):
            return root
        if measured.text(largest) < _DOMINANT_SHARE * measured.text(root):
            return root
        root = largest


def _has_sister(box: Any, boxes: Sequence[Any]) -> bool:
    """Return whether a box is one of the sections of a page: another one is of the same class, and
    both have headings.
    """
    like = [b for b in boxes if b.tag == box.tag and b.get("class") == box.get("class")]
    return box.get("class") is not None and sum(map(_has_heading, like)) > 1 and _has_heading(box)


def _has_heading(box: Any) -> bool:
    return next(box.iter(*HEADINGS), None) is not None


def _is_one_table(box: Any, measured: _Measured) -> bool:
    """Return whether a box is a data table, or contains nothing else."""
    while len(box) == 1 and measured.text(box[0]) == measured.text(box) and box.tag != "table":
        box = box[0]
    return box.tag == "table" and _is_data(box, measured)


def _is_data(table: Any, measured: _Measured) -> bool:
    """Return whether a table has data; one with half of its text in one cell is for layout."""
    most = max(map(measured.text, table.iter("td", "th")), default=0)
    return most < _CELL_SHARE * measured.text(table) and holds_data(table)


def _link_lists(root: Any, measured: _Measured) -> list[Any]:
    """Return the smaller boxes of `root` that consist mostly of links."""
    half = measured.text(root) / 2
    boxes = [child for child in root if child.tag in _BOXES and measured.text(child) < half]
    return [box for box in boxes if measured.link_share(box) > _LINKED_SHARE and _has_links(box)]


def _has_links(element: Any) -> bool:
    return len(list(element.iter("a"))) > 2


def _is_clear(root: Any, measured: _Measured) -> bool:
    """Return whether only little of the text is in boxes without prose, heading or data."""
    if measured.link_share(root) > _LINKED_SHARE:
        return False
    odd = [child for child in root if child.tag in _BOXES and not _holds_prose(child, measured)]
    return sum(map(measured.text, odd)) <= _ODD_SHARE * measured.text(root)


def _holds_prose(box: Any, measured: _Measured) -> bool:
    if next(box.iter("h1", "h2", "h3", "h4", "pre"), None) is not None:
        return True
    if any(_is_data(table, measured) for table in box.iter("table")):
        return True
    return any(measured.text(part) >= _PROSE_LENGTH for part in box.iter("p", "li", "dd"))
