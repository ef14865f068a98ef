"""HTML to text: a fast reading first, a slower one by trafilatura if the result is doubtful.

The text always comes from the walk in `blocks.py`, which changes no words; trafilatura only
decides which blocks belong to the main text.
"""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from lxml import etree

from research.extract.extracted import EmptyPageError, Extracted
from research.extract.html.blocks import Block, join_blocks, read_blocks
from research.extract.html.boilerplate import prune_boilerplate, text_length
from research.extract.html.maintext import find_main
from research.extract.html.metadata import Metadata, read_metadata
from research.fetch.sites import kind_of

ENOUGH = 250
# Consent walls are longer than `ENOUGH` but contain little else.
_LONGEST_WALL = 1_500
_CAREFUL_KEEPS = 0.6
# control characters that lxml rejects
_NUL_AND_KIN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
# '<?xml version="1.0" encoding="utf-8"?>'
_PROLOG = re.compile(r"^\s*<\?xml[^>]*>")
# "Please enable JavaScript", "JavaScript is disabled"
_NEEDS_SCRIPT = re.compile(
    r"(?:enable|requires?|need|turn on|activate)\s+java\s?script|java\s?script\s+(?:is\s+)?"
    r"(?:disabled|required|not enabled|must be)",
    re.I,
)
_SCRIPTS_NEEDED = "the page shows its text only with JavaScript"
_CONSENT_NEEDED = "the page asks for consent before it shows its text"
# '<input type="password">'
_PASSWORD = re.compile(r"<input[^<>]*\btype\s*=\s*[\"']?password", re.I)
# "Before you continue to Example", "We and our 842 partners"
_CONSENT = re.compile(
    r"before you continue|we (?:value|care about) your privacy|accept (?:all )?cookies"
    r"|consent to (?:our|the use of) cookies|reject all|manage (?:my |your )?(?:choices|consent)"
    r"|we and our (?:\d+ )?partners",
    re.I,
)
# '<button type="submit">'
_ASKS = re.compile(r"<(?:button|form|input)\b", re.I)
# "<sup>9</sup>", '<sup><a href="#fn1">[1]</a></sup>'
_RAISED = re.compile(r"<sup\b[^<>]*>((?:[^<]|<(?!/?sup\b)[^<>]*>){0,300})</sup\s*>", re.I)
# "<b>"
_TAG = re.compile(r"<[^<>]*>")
# "-3", "n", "2n+1"
_EXPONENT = re.compile(r"[-+−–0-9n]{1,12}")
_SUPERSCRIPTS = str.maketrans("-+−–0123456789n", "⁻⁺⁻⁻⁰¹²³⁴⁵⁶⁷⁸⁹ⁿ")
# a number right before the superscript: "10", "-1.5"
_FIGURE = re.compile(r"[-+−–]?\d[\d.,/]*\Z")
# "[2]", "[a]", "[note 3]", "[1][2]"
_BRACKETED = re.compile(r"(?:\[(?:[^\W\d]{1,12}\s)?\w{1,3}\][\s,]*)+")
# "*", "a", "12"
_SHORT = re.compile(r"[\w*†‡§¶]{1,3}")
# '<a href="#cite_note-1">'
_LINK = r"<a\s[^<>]*\bhref\s*=\s*[\"']?[^\"'<>\s]*#[^<>]*>"
_LINKED = re.compile(_LINK, re.I)
_LINK_BEFORE = re.compile(_LINK + r"\s*\Z", re.I)
_LINK_ENDS = re.compile(r"\s*</a\b", re.I)
_NEAR = 500


def extract_html(content: str, url: str) -> Extracted:
    """Return the main text of a page and its metadata; raise `EmptyPageError`."""
    content = with_superscripts(_NUL_AND_KIN.sub(" ", content))
    tree = _parse(content)
    if tree is None:
        raise EmptyPageError("the page contains no readable text")
    said = read_metadata(tree, url)
    blocks = _main_blocks(tree, content)
    text = join_blocks(blocks) or _last_resort(content)
    _refuse_empty(text, content)
    return _extracted(said, text, url)


def _extracted(said: Metadata, text: str, url: str) -> Extracted:
    kind = kind_of(url, said.site)
    return Extracted(said.title, text, said.site, said.published, said.language, kind)


def _parse(content: str) -> Any:
    """Return the tree of a page, or None if it has no elements."""
    parser = etree.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True
    )
    try:
        return etree.fromstring(content.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        return None


def _main_blocks(tree: Any, content: str) -> list[Block]:
    """Return the blocks of the main part; if that is unclear, those that both readings agree on."""
    body = tree.find("body")
    if body is None:
        return []
    prune_boilerplate(body)
    total = text_length(body)
    main = find_main(body)
    blocks = read_blocks(main.root)
    length = _length(blocks)
    if main.sure and (length >= ENOUGH or length >= total / 2):
        return blocks
    return _careful(blocks if length >= ENOUGH else read_blocks(body), content)


def _careful(blocks: list[Block], content: str) -> list[Block]:
    """Return the blocks that trafilatura finds too, or all of them if those are too few."""
    from trafilatura import extract as careful_extract

    found = _squeezed(careful_extract(content, include_comments=True, favor_recall=True) or "")
    kept = _keep_found_blocks(blocks, found)
    return kept if _length(kept) >= _CAREFUL_KEEPS * _length(blocks) else blocks


def _keep_found_blocks(blocks: list[Block], found: str) -> list[Block]:
    """Return the blocks that occur in `found`, with the headings directly above them."""
    kept: list[Block] = []
    below = False
    for block in reversed(blocks):
        below = (below and block.kind == "heading") or _stands_in(block, found)
        if below:
            kept.append(block)
    return kept[::-1]


def _stands_in(block: Block, found: str) -> bool:
    """Return whether most of a block's lines occur in the (squeezed) text `found`."""
    lines = [line for line in map(_squeezed, block.text.split("\n")) if line]
    standing = sum(len(line) for line in lines if line in found)
    return standing * 2 >= sum(map(len, lines))


def _last_resort(content: str) -> str:
    """Return all visible text by BeautifulSoup, the most lenient parser."""
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(_PROLOG.sub("", content), "html.parser")
    for element in soup.select(
        "script, style, noscript, template, head, nav, footer, select, button, textarea, [hidden],"
        " [aria-hidden=true], [style*='display:none'], [style*='display: none']"
    ):
        element.decompose()
    lines = (" ".join(line.split()) for line in soup.get_text("\n").split("\n"))
    return "\n\n".join(filter(None, lines))


def _refuse_empty(text: str, content: str) -> None:
    """Raise `EmptyPageError` for a page without text or with only a consent or sign-in request."""
    reason = _demand(text, content) if len(text) < ENOUGH else _wall(text, content)
    if reason is None and not text.strip():
        scripted = "<script" in content.lower()
        reason = _SCRIPTS_NEEDED if scripted else "the page contains no readable text"
    if reason is not None:
        raise EmptyPageError(reason)


def _demand(text: str, content: str) -> str | None:
    """Return the reason if a page with hardly any text requires scripts, consent or a sign-in."""
    if _NEEDS_SCRIPT.search(text or content):
        return _SCRIPTS_NEEDED
    if _CONSENT.search(text):
        return _CONSENT_NEEDED
    return "the page asks for a sign-in" if _PASSWORD.search(content) else None


def _wall(text: str, content: str) -> str | None:
    """Return the reason if a short page is nothing but a consent wall."""
    if len(text) > _LONGEST_WALL or not _ASKS.search(content):
        return None
    asked = {found.lower() for found in _CONSENT.findall(text)}
    return _CONSENT_NEEDED if len(asked) > 1 else None


def _length(blocks: list[Block]) -> int:
    return sum(len(block.text) for block in blocks)


def _squeezed(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).lower()


def with_superscripts(content: str) -> str:
    """Return the page with Unicode exponents, without footnote marks, otherwise unchanged.

    Done before parsing, so that both readings of a page see the same text: as plain text,
    10<sup>9</sup> would turn into another number.
    """
    has_any = "<sup" in content or "<SUP" in content
    return _RAISED.sub(_replace_superscript, content) if has_any else content


def _replace_superscript(raised: re.Match[str]) -> str:
    text = " ".join(unescape(_TAG.sub("", raised[1])).split())
    if _BRACKETED.fullmatch(text) or (_SHORT.fullmatch(text) and _is_linked(raised)):
        return ""
    if _EXPONENT.fullmatch(text):
        return text.translate(_SUPERSCRIPTS)
    behind_number = raised.string[raised.start() - 1 : raised.start()].isdigit()
    return f"^{text}" if behind_number and _FIGURE.match(text) else raised[0]


def _is_linked(raised: re.Match[str]) -> bool:
    """Return whether a superscript contains a link to an anchor, or is such a link's text."""
    if _LINKED.search(raised[1]):
        return True
    page, start = raised.string, raised.start()
    before = _LINK_BEFORE.search(page, max(0, start - _NEAR), start)
    return before is not None and _LINK_ENDS.match(page, raised.end()) is not None
