"""Boilerplate removal: deletes hidden elements, navigation and banners from a page's tree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any

from research.extract.extracted import STRUCK

HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})

_NEVER_TEXT = (
    *("script", "style", "noscript", "template", "svg", "iframe", "object", "canvas", "head"),
    *("select", "button", "input", "textarea", "datalist", "audio", "video", "annotation", "map"),
    *("annotation-xml", "applet", "embed", "frameset", "noembed", "noframes", "progress", "meter"),
)
_FRAME = frozenset({"nav", "footer", "menu"})
_SIDES = frozenset({"aside"})
_ROLES = frozenset(
    {"navigation", "contentinfo", "search", "menu", "menubar", "dialog", "alertdialog", "toolbar"}
)
_NAMED = frozenset(
    {"div", "section", "aside", "ul", "ol", "dl", "table", "tr", "td", "form", "p", "header"}
)
# class or id: "site-footer", "cookie-banner", "related-posts", "sidebar2"
_NOISE_NAME = re.compile(
    r"""(?:(?:site|page|global|main|top|bottom|left|right|primary|secondary|mobile|wp|js|fixed)
        [-_]*)*
    (?:nav|navs|navbar|navbox|topnav|subnav|sidenav|bottomnav|navigation|navheader|navfooter
      |nav[-_]?links|menu|menubar|sidebar\d?|sphinxsidebar|breadcrumbs?|pagination|pager|paginator
      |footer|colophon|masthead|topbar
      |cookies?|cookie[-_]?(?:notice|banner|consent|bar|popup|message|law|info)|consent
      |gdpr|ccpa|privacy[-_]?(?:notice|banner)|newsletter|subscribe|subscription|sign[-_]?up
      |social|socials|share|sharing|share[-_]?(?:buttons?|links?|bar)|sharedaddy|addthis
      |related|related[-_]?(?:posts?|articles?|links?|content|stories|pages|bar)
      |recommended|recommendations|read[-_]?(?:more|next)|more[-_]?stories|trending
      |promo|promotion|advert|advertisement|adverts|ads?|ad[-_]?(?:slot|unit|block|box)
      |sponsor|sponsors|sponsored|banner|popup|modal|overlay|skip[-_]?links?|skip[-_]?to[-_]?content
      |toolbar|widget|widgets|tag[-_]?cloud|login|search|search[-_]?(?:box|form|bar)
      |back[-_]?to[-_]?top|mw[-_]editsection|printfooter|catlinks|jump[-_]to[-_]nav|linenos?
      |gutter|sr[-_]only|visually[-_]?hidden|screen[-_]reader[-_]text|prevnext|prev[-_]next)
    (?:[-_]+(?:wrapper|wrap|container|inner|outer|bar|block|box|section|area|links?|left|right|top
      |bottom|menu|list|panel|row|main|primary|secondary|widget|buttons?|nav|col|column))*""",
    re.X,
)
# "site-header", "header_inner"
_SITE_HEADER = re.compile(r"(?:(?:site|global|top|main|page)[-_])?header(?:[-_](?:wrapper|inner))?")
# asides that are content: "admonition warning"
_KEPT_ASIDE = re.compile(r"note|warning|admonition|tip|caution|important|callout|topic|hint|danger")
# "skip-link", "visually-hidden"
_SKIP_LINK = re.compile(r"skip|sr-only|visually-?hidden|screen-reader")
# '<a class="headerlink">¶</a>'
_ANCHOR = re.compile(
    r"header-?link|heading-?(?:link|anchor)|header-?anchor|anchor|permalink|id_link"
)
# The last one is Font Awesome's link, in the private use area.
_ANCHOR_SIGNS = frozenset({"¶", "#", "§", "🔗", "⚓", "∞", "\uf0c1"})
_MARKS_AT_ENDS = frozenset({"¶", "#", "§", "⚓"})
_MOST_MARKS = 40
_NEXT_LINE = frozenset({"br", "div", "dl", "ol", "p", "pre", "table", "ul"})
_SIDEBAR = "sidebar"
_PARAGRAPH_CHARACTERS = 80
_LOCAL_CONTENTS = frozenset({"contents", "topic"})
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


def _mark_struck(element: Any) -> None:
    """Say of what a page has struck out that it is no longer said."""
    before, after = STRUCK.split("{}")
    element.text = before + (element.text or "").lstrip()
    if len(element):
        element[-1].tail = (element[-1].tail or "") + after
    else:
        element.text += after


def prune_boilerplate(body: Any) -> None:
    """Remove hidden elements and boilerplate from a page's body, in place.

    An element that is suspect only by its name is kept if it contains more than half of the
    page's text: then the name means something else.
    """
    hidden = hidden_names(body.getroottree())
    for element in list(body.iter(*_NEVER_TEXT)):
        _drop(element)
    for element in list(body.iter()):
        if is_hidden(element) or _is_frame(element):
            _drop(element)
    for element in list(body.iter("del", "s", "strike")):
        _mark_struck(element)
    half = text_length(body) / 2
    if hidden:
        for element in list(body.iter()):
            if is_named(element, hidden) and text_length(element) <= half:
                _drop(element)
    for element in list(body.iter(*_NAMED, "span", "a", "form")):
        if _is_suspect(element) and text_length(element) <= half:
            _drop(element)
    for header in list(body.iter("header")):
        _reduce_header(header)


def text_length(element: Any) -> int:
    """Return the number of non-space characters in an element and its descendants."""
    return sum(map(len, "".join(element.itertext()).split()))


def _is_frame(element: Any) -> bool:
    """Return whether tag or role mark an element as page frame rather than content."""
    tag = element.tag
    if tag in _FRAME or element.get("role", "") in _ROLES:
        return tag not in ("body", "main", "article", "html")
    if tag == "dialog":
        return "open" not in element.attrib
    return tag in _SIDES and not _KEPT_ASIDE.search(_names(element))


def _is_suspect(element: Any) -> bool:
    tag = element.tag
    if tag == "a":
        return (
            _is_anchor_sign(element)
            or _is_mark_at_end(element)
            or bool(_SKIP_LINK.search(element.get("class", "")))
        )
    names = _names(element)
    if tag == "form":
        return not names or _all_noise(names) or next(element.iter("p", "h1", "h2"), None) is None
    if not names:
        return False
    if tag == "header":
        return False
    if _SIDEBAR in names.split() and _is_among_paragraphs(element):
        return False
    return _all_noise(names) or (tag == "div" and set(names.split()) >= _LOCAL_CONTENTS)


def _is_anchor_sign(link: Any) -> bool:
    """Return whether a link is the "¶" or "#" that documentation puts after headings and terms."""
    if "".join(link.itertext()).strip() not in _ANCHOR_SIGNS:
        return False
    parent = link.getparent()
    in_heading = parent is not None and parent.tag in (*HEADINGS, "dt", "caption", "span")
    return in_heading or bool(_ANCHOR.search(link.get("class", "")))


def _is_mark_at_end(link: Any) -> bool:
    """Return whether a link is a mark such as "§" behind the text of a line, with at most others
    like it up to the end: release notes link their changes so.
    """
    parent = link.getparent()
    if parent is None or not ((parent.text or "").strip() or link.getprevious() is not None):
        return False
    for each in (link, *islice(link.itersiblings(), _MOST_MARKS)):
        if each.tag in _NEXT_LINE:
            return True
        is_mark = each.tag == "a" and "".join(each.itertext()).strip() in _MARKS_AT_ENDS
        if not is_mark or (each.tail or "").strip():
            return False
    return True


def _is_among_paragraphs(element: Any) -> bool:
    """Return whether its siblings are text: a box of a book, as DocBook writes them, not a
    column.
    """
    parent = element.getparent()
    siblings = (each for each in parent.iterchildren("*") if each is not element)
    own = (sibling.text or "" for sibling in siblings)
    return any(len(text.strip()) >= _PARAGRAPH_CHARACTERS for text in own)


@lru_cache(maxsize=4_096)
def _all_noise(names: str) -> bool:
    """Return whether one of an element's classes, or its id, names boilerplate."""
    return any(
        _NOISE_NAME.fullmatch(name) or _SITE_HEADER.fullmatch(name) for name in names.split()
    )


def _names(element: Any) -> str:
    return f"{element.get('class', '')} {element.get('id', '')}".strip().lower()


def _reduce_header(header: Any) -> None:
    """Remove a page's header; of an article's header keep the headings."""
    article = next(header.iterancestors("article", "main", "section"), None)
    headings = [] if article is None else list(header.iter(*HEADINGS))
    if not headings:
        _drop(header)
        return
    tail = header.tail
    header.clear()
    header.tail = tail
    for heading in headings:
        heading.tail = None
        header.append(heading)


def _drop(element: Any) -> None:
    """Remove an element but keep the text after it."""
    parent = element.getparent()
    if parent is None:
        return
    if element.tail:
        before = element.getprevious()
        if before is not None:
            before.tail = (before.tail or "") + element.tail
        else:
            parent.text = (parent.text or "") + element.tail
    parent.remove(element)


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
    """Return classes (`.name`) and ids (`#name`) that the page's own style sheets hide.

    Only `<style>` elements are read, and of those only unconditional rules for a single class or
    id: text hidden by an external style sheet is treated as visible.
    """
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
