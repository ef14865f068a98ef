"""Detection of hidden elements: by attribute, inline style or the page's own style sheets.

Only `<style>` elements are read, and of those only unconditional rules for a single class or
id: text hidden by an external style sheet is treated as visible.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

# "display: none", "opacity:0;", "left: -9999px", "clip: rect(1px, 1px, 1px, 1px)"
_HIDING_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0(?:\.0*)?\s*(?:;|!|$)"
    r"|font-size\s*:\s*0(?:px|em|rem|pt|%)?\s*(?:;|!|$)|(?:left|top|right)\s*:\s*-\d{3,}"
    r"|text-indent\s*:\s*-\d{3,}|clip\s*:\s*rect\(\s*[01](?:px)?[\s,]"
    r"|clip-path\s*:\s*inset\(\s*(?:50|100)%|transform\s*:\s*scale\(\s*0\s*\)",
    re.I,
)
# hides if combined with `_CUT_OFF`: "height: 0; overflow: hidden"
_NO_ROOM = re.compile(r"(?:^|;)\s*(?:max-)?(?:height|width)\s*:\s*[01](?:px)?\s*(?:;|!|$)", re.I)
_CUT_OFF = re.compile(r"overflow\s*:\s*(?:hidden|clip)", re.I)
# "/* mobile */"
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.S)
# ".sr-only", "div.hidden", "#modal"
_SIMPLE = re.compile(r"(?:[a-z][a-z0-9]*)?([.#][\w-]+)", re.I)


def is_hidden(element: Any) -> bool:
    """Return whether the element's own attributes hide it."""
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
    """Return classes (`.name`) and ids (`#name`) that the page's own style sheets hide."""
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
    """Return whether one of the element's classes, or its id, is among `names`."""
    if f"#{element.get('id')}" in names:
        return True
    return any(f".{name}" in names for name in (element.get("class") or "").split())


def _hides(declarations: str) -> bool:
    if _HIDING_STYLE.search(declarations):
        return True
    return bool(_NO_ROOM.search(declarations) and _CUT_OFF.search(declarations))


def _rules(sheet: str) -> Iterator[tuple[str, str]]:
    """Yield selectors and declarations of the rules outside at-rules such as `@media`."""
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
