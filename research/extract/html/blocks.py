"""Converts the tree of a page's main part to blocks of light Markdown.

One walk in document order. Only white space is normalised, so that a sentence of a block is
verbatim the sentence of the page: quotes are checked against it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["text", "heading", "item", "code", "table", "rule"]

_BLOCKS = frozenset(
    (
        *(
            "address",
            "article",
            "aside",
            "blockquote",
            "body",
            "caption",
            "center",
            "dd",
            "details",
        ),
        *("dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form"),
        *("h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "html", "legend", "li"),
        *("main", "menu", "nav", "ol", "p", "search", "section", "summary", "table", "tbody", "td"),
        *("tfoot", "th", "thead", "tr", "ul"),
    )
)
_LEVELS = {f"h{level}": level for level in range(1, 7)}
_LISTS = frozenset({"ul", "ol", "menu", "dir"})
_NOT_IN_DATA = ("table", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "dl", "section", "article")
TERM = "###### "
END_OF_TERMS = "***"
FEWEST_TERMS = 3
# "command_group\tUse: queryprogram\tType: string"
_NAME_ROW = re.compile(r"(?=[^\t]{0,79}[A-Za-z])[\w$%.:/+-]{1,80}\t[^\n]+")
_LINE_BREAK = "\x1e"
# "end of line  \n"
_TRAILING_SPACE = re.compile(r"(?<![ \t])[ \t]+$", re.M)


@dataclass(frozen=True)
class Block:
    """A block of text; `text` excludes its Markdown `sign`: "## ", "- ", "  1. " or ""."""

    kind: Kind
    text: str
    sign: str = ""

    def __str__(self) -> str:
        return f"{self.sign}{self.text}"


def read_blocks(root: Any) -> list[Block]:
    """Return the blocks of everything in `root`, in document order."""
    blocks = _with_terms(_Reader().read(root))
    following = [*blocks[1:], None] if blocks else []
    return [block for block, after in zip(blocks, following, strict=True) if _says(block, after)]


def _with_terms(blocks: Sequence[Block]) -> list[Block]:
    """Turn tables of one row that open with a name, above a text, into terms with a definition.

    Some manuals set an option's name, type and default so. Fewer than `FEWEST_TERMS` on a page
    stay tables, as do those below a heading that comes again, such as "Parameters".
    """
    headings = Counter(block.text for block in blocks if block.kind == "heading")
    at = {
        place + 1
        for place, (above, block, after) in enumerate(
            zip(blocks, blocks[1:], blocks[2:], strict=False)
        )
        if block.kind == "table"
        and after.kind == "text"
        and headings[above.text] < 2
        and _NAME_ROW.fullmatch(block.text)
    }
    if len(at) < FEWEST_TERMS:
        return list(blocks)
    result: list[Block] = []
    for place, block in enumerate(blocks):
        if place in at:
            name, rest = block.text.split("\t", maxsplit=1)
            result += [Block("heading", name, TERM), Block("table", rest)]
        else:
            result.append(block)
    return result


def _says(block: Block, after: Block | None) -> bool:
    """Drop the end marker of a definition list before a heading or at the end of a page."""
    return block.kind != "rule" or (after is not None and after.kind not in {"rule", "heading"})


def join_blocks(blocks: Iterable[Block]) -> str:
    """Join blocks by blank lines, and consecutive list items by line ends."""
    parts: list[str] = []
    last: Kind | None = None
    for block in blocks:
        if last is not None:
            parts.append("\n" if block.kind == last == "item" else "\n\n")
        parts.append(str(block))
        last = block.kind
    return "".join(parts)


class _Reader:
    """Gathers inline text until a block begins or ends.

    Keeps its own stack, since pages nest deeper than Python's recursion limit.
    """

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._inline: list[str] = []
        self._kind: Kind = "text"
        self._sign = ""
        self._numbers: list[int | None] = []

    def read(self, root: Any) -> list[Block]:
        stack = [(root, iter(root))]
        self._open(root)
        while stack:
            element, children = stack[-1]
            child = next(children, None)
            if child is None:
                stack.pop()
                self._close(element, tail=bool(stack))
            elif self._read_whole_element(child):
                self._add(child.tail)
            else:
                self._open(child)
                stack.append((child, iter(child)))
        self._flush()
        return self.blocks

    def _read_whole_element(self, element: Any) -> bool:
        """Read an element that is handled in one piece; return whether it was one."""
        tag = element.tag
        if tag == "br":
            self._break_line(element)
        elif tag == "pre":
            self._add_code(element)
        elif tag == "table":
            return self._add_table(element)
        else:
            return not isinstance(tag, str)
        return True

    def _open(self, element: Any) -> None:
        tag = element.tag
        if tag in _BLOCKS and not _follows_field_name(element):
            self._flush()
            if tag in _LEVELS:
                self._kind, self._sign = "heading", "#" * _LEVELS[tag] + " "
            elif tag in _LISTS:
                self._numbers.append(_list_start(element) if tag == "ol" else None)
            elif tag == "li":
                self._kind, self._sign = "item", self._list_marker()
            elif tag == "dt" and not _is_of_fields(element):
                self._kind, self._sign = _term(element)
        self._add(element.text)

    def _close(self, element: Any, *, tail: bool) -> None:
        tag = element.tag
        if tag == "dt" and _is_of_fields(element):
            self._add(" ")
        elif tag in _BLOCKS:
            self._flush()
            if tag in _LEVELS or tag in ("li", "dt"):
                self._kind, self._sign = "text", ""
            elif tag in _LISTS:
                self._numbers.pop()
            elif tag == "dl" and self.blocks and not _has_fields(element):
                self.blocks.append(Block("rule", END_OF_TERMS))
        if tail:
            self._add(element.tail)

    def _add(self, text: str | None) -> None:
        if text:
            self._inline.append(text)

    def _flush(self) -> None:
        """Finish the current block, if it has text; its sign applies only once."""
        if not self._inline:
            return
        text = "\n".join(filter(None, map(_spaced, "".join(self._inline).split(_LINE_BREAK))))
        self._inline.clear()
        if text:
            self.blocks.append(Block(self._kind, text, self._sign))
            if self._kind != "heading" or self._sign == TERM:
                self._kind, self._sign = "text", ""

    def _break_line(self, element: Any) -> None:
        """Keep a `<br>` next to white space within its block; let any other end the block.

        Without white space the words on both sides would run together in the page's plain
        text, so no sentence (and no quote) may span it.
        """
        before = self._inline[-1] if self._inline else ""
        after = element.tail or ""
        again = element.getnext() is not None and element.getnext().tag == "br"
        if (before[-1:].isspace() or after[:1].isspace()) and not (again and not after.strip()):
            self._inline.append(_LINE_BREAK)
        else:
            self._flush()

    def _list_marker(self) -> str:
        indent = "  " * (len(self._numbers) - 1)
        number = self._numbers[-1] if self._numbers else None
        if number is None:
            return f"{indent}- "
        self._numbers[-1] = number + 1
        return f"{indent}{number}. "

    def _add_code(self, element: Any) -> None:
        self._flush()
        code = _TRAILING_SPACE.sub("", "".join(_code_text(element))).strip("\n")
        if code.strip():
            lines = [f"    {line}" if line else line for line in code.split("\n")]
            self.blocks.append(Block("code", "\n".join(lines)))
            self._kind, self._sign = "text", ""

    def _add_table(self, table: Any) -> bool:
        """Add a data table as one block; leave a layout table to the walk. Return which it was."""
        if not holds_data(table):
            return False
        self._flush()
        for caption in table.iter("caption"):
            self._add("".join(caption.itertext()))
            self._flush()
        rows = [
            [_spaced(_cell_text(cell)) for cell in row.iter("td", "th")] for row in table.iter("tr")
        ]
        lines = ["\t".join(row) for row in rows if any(row)]
        if lines:
            self.blocks.append(Block("table", "\n".join(lines)))
            self._kind, self._sign = "text", ""
        return True


def holds_data(table: Any) -> bool:
    """Return whether a table has columns and no elements typical of layout tables."""
    if table.get("role") in ("presentation", "none"):
        return False
    if next(table.iterdescendants(*_NOT_IN_DATA), None) is not None:
        return False
    return any(len(row.findall("td")) + len(row.findall("th")) > 1 for row in table.iter("tr"))


def _cell_text(cell: Any) -> str:
    """Return a cell's text, with a space between its blocks."""
    if any(element.tag in _BLOCKS or element.tag == "br" for element in cell.iterdescendants()):
        return " ".join(block.text for block in _Reader().read(cell))
    return "".join(cell.itertext())


def _code_text(element: Any) -> list[str]:
    """Return the text pieces with their line breaks, `<br>` included."""
    if next(element.iter("br"), None) is None:
        return list(element.itertext())
    parts = [element.text or ""]
    for inner in element.iterdescendants():
        parts += ["\n" if inner.tag == "br" else inner.text or "", inner.tail or ""]
    return parts


def _term(element: Any) -> tuple[Kind, str]:
    """Return a term's kind and sign: a heading, or an item in a table of contents."""
    parent = element.getparent()
    listing = parent is not None and "toc" in parent.get("class", "").split()
    return ("item", "- ") if listing else ("heading", TERM)


def _has_fields(element: Any) -> bool:
    """Return whether a list is one of fields, which belong to the entry around it.

    Each is a line of its own ("Since 8.4"): as terms they would part the entry's name from its
    description.
    """
    return element.tag == "dl" and "field-list" in element.get("class", "").split()


def _is_of_fields(element: Any) -> bool:
    parent = element.getparent()
    return parent is not None and _has_fields(parent)


def _follows_field_name(element: Any) -> bool:
    """Return whether an element continues the line that a field's name opens: its value, or the
    paragraph that the value begins with.
    """
    before, parent = element.getprevious(), element.getparent()
    if element.tag == "dd":
        return _is_of_fields(element) and before is not None and before.tag == "dt"
    is_first = element.tag == "p" and before is None and parent is not None and parent.tag == "dd"
    return is_first and not (parent.text or "").strip() and _follows_field_name(parent)


def _list_start(element: Any) -> int:
    written = element.get("start", "1")
    return int(written) if written.isascii() and written.isdigit() and len(written) < 6 else 1


def _spaced(text: str) -> str:
    return " ".join(text.split())
