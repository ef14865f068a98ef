"""Which elements of a page no reader sees: by attribute, by their own style, by a style sheet.

Only sheets within the page are known, and of those only rules for one class or one id that
hold everywhere: what a site hides by its own file of styles is read as if it were shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_HIDING_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0(?:\.0*)?\s*(?:;|!|$)"
    r"|font-size\s*:\s*0(?:px|em|rem|pt|%)?\s*(?:;|!|$)|(?:left|top|right)\s*:\s*-\d{3,}"
    r"|text-indent\s*:\s*-\d{3,}|clip\s*:\s*rect\(\s*[01](?:px)?[\s,]"
    r"|clip-path\s*:\s*inset\(\s*(?:50|100)%|transform\s*:\s*scale\(\s*0\s*\)",
    re.I,
)
_NO_ROOM = re.compile(r"(?:^|;)\s*(?:max-)?(?:height|width)\s*:\s*[01](?:px)?\s*(?:;|!|$)", re.I)
_CUT_OFF = re.compile(r"overflow\s*:\s*(?:hidden|clip)", re.I)
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.S)
_SIMPLE = re.compile(r"(?:[a-z][a-z0-9]*)?([.#][\w-]+)", re.I)


def is_hidden(element: Any) -> bool:
    """Whether the element's own attributes hide it."""
    attributes = element.attrib
    if not attributes:
        return False
    if "hidden" in attributes and attributes["hidden"] != "until-found":
        return True
    if attributes.get("aria-hidden", "").lower() == "true":
        return True
    style = attributes.get("style")
    return style is not None and _hides(style)


def hidden_names(tree: Any) -> frozenset[str]:
    """Classes (`.name`) and ids (`#name`) that the page's own style sheets hide."""
    sheets = (style.text or "" for style in tree.iter("style"))
    return frozenset(
        match[1]
        for sheet in sheets
        for selectors, declarations in _rules(_COMMENT.sub("", sheet))
        if _hides(declarations)
        for selector in selectors.split(",")
        if (match := _SIMPLE.fullmatch(selector.strip()))
    )


def is_named(element: Any, names: frozenset[str]) -> bool:
    """Whether one of the element's classes, or its id, is among `names`."""
    if f"#{element.get('id')}" in names:
        return True
    return any(f".{name}" in names for name in (element.get("class") or "").split())


def _hides(declarations: str) -> bool:
    if _HIDING_STYLE.search(declarations):
        return True
    return bool(_NO_ROOM.search(declarations) and _CUT_OFF.search(declarations))


def _rules(sheet: str) -> Iterator[tuple[str, str]]:
    """Selectors and declarations of the rules outside any `@media` and its like."""
    depth, start, selectors = 0, 0, ""
    for brace in re.finditer(r"[{}]", sheet):
        if brace[0] == "{":
            if depth == 0:
                selectors = sheet[start : brace.start()].rpartition(";")[2].strip()
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0 and not selectors.startswith("@"):
                yield selectors, sheet[start : brace.start()]
        start = brace.end()
