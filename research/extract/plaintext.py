"""Normalises plain text and Markdown files to the form in which pages are stored; finds titles.

Markdown syntax becomes plain words: emphasis, code, links, and tables as rows. Left verbatim:
indented code, links that fill a whole line or list item, and text that would turn its line into a
heading or list item.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice, zip_longest
from urllib.parse import unquote, urlsplit

from research.extract.extracted import STRUCK, EmptyPageError, Extracted
from research.extract.manualpage import manual_markdown, manual_title, page_name
from research.fetch.sites import kind_of

# "\*"
_ESCAPED = r"\\(?P<escaped>[*_`|~<>])"
# "`x`", "``a ` b``"
_CODE = r"(?<!`)(?P<ticks>`+)(?!`) ?(?P<code>.{1,1000}?) ?(?<!`)(?P=ticks)(?!`)"
# "![alt](logo.png)"
_IMAGE = r"(?P<image>!\[[^\[\]]*\]\([^()]*\))"
# '[text](https://example.org "title")'
_LINK = (
    r"(?<![\w\]])\[(?P<link>(?:!\[[^\[\]]*\]\([^()]*\)|[^\[\]]){0,500})\]"
    r"\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"]*\")?\)"
)
# "**strong**"; not within words of Latin letters or numbers: 2*3*4
_STARS = (
    r"(?<![A-Za-z0-9*])(?P<stars>\*{1,3})(?=[^\s*])(?P<strong>.{1,1000}?)(?<=[^\s*\\])(?P=stars)"
    r"(?![A-Za-z0-9*])"
)
# "_slanted_"; not snake_case, and `__init__` is a name
_LINES = (
    r"(?<!\w)(?!__[a-z0-9_]+__)(?P<lines>_{1,3})(?=[^\s_])(?P<slanted>.{1,1000}?)(?<=[^\s_\\])"
    r"(?P=lines)(?!\w)"
)
# '<span class="argument">', "</b>", "<br/>"
_TAG = (
    r"</?(?P<tag>a|b|br|center|code|div|em|font|i|img|kbd|p|small|span|strong|sub|sup|tt|u)"
    r"(?:\s[^<>]{0,400})?/?>"
)
# "~~struck out~~"
_STRUCK = r"(?<!~)~~(?=[^\s~])(?P<struck>.{1,1000}?)(?<=[^\s~])~~(?!~)"
_MARK = re.compile("|".join((_ESCAPED, _CODE, _IMAGE, _TAG, _STRUCK, _LINK, _STARS, _LINES)), re.S)
# "- ", "12. "
_MARKER = re.compile(r"\s*(?:(?:[-+*•]|\d{1,3}[.)])\s+)?")
_NESTED = ("link", "strong", "slanted", "struck")
# "# ", "- ", "***", "> ", "```"
_OPENS_BLOCK = re.compile(r"(?:#{1,6}|[-+*•])(?:\s|$)|\*\*\*|[>|]|\s|```|~~~")
_INDENTED = re.compile(r" {4}|\t")
# indented code; not "    * a part of an item"
_IS_CODE = re.compile(r"(?: {4}|\t)(?!\s{0,12}[-*+•]\s)")
# "# Changes" and "[text](https://example.org)"
_TITLED, _LINKED, LEAST_LINKS = re.compile(r"^#{1,3} \S", re.M), re.compile(r"\w\]\(https?:"), 3
# "|" but not "\|"
_BETWEEN_CELLS = re.compile(r"(?<!\\)\|")
# "| --- | :-: |"
_DELIMITER = re.compile(r"[ ]{0,3}\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*(?:\|\s*)?")


def without_marks(lines: Iterable[str]) -> list[str]:
    """Return lines (outside code fences) without syntax, with a blank line around each table."""
    done: list[str] = []
    for is_text, run in groupby(lines, lambda line: bool(line) and not _IS_CODE.match(line)):
        told = list(run)
        done += _paragraph(told) if is_text else told
    return done


def _paragraph(lines: Sequence[str]) -> list[str]:
    for at, line in enumerate(lines[1:], start=1):
        if _delimits(line, lines[at - 1]):
            rows = [_render_row(row) for row in (lines[at - 1], *lines[at + 1 :])]
            return [*_render_inline("\n".join(lines[: at - 1])).split("\n"), "", *rows, ""]
    return _render_inline("\n".join(lines)).split("\n")


def _delimits(line: str, head: str) -> bool:
    """Return whether a line separates the head of a table from its rows."""
    is_rule = "|" in line and "|" in head and _DELIMITER.fullmatch(line)
    return bool(is_rule) and len(_cells(line)) == len(_cells(head))


def _render_row(line: str) -> str:
    cells = (cell.replace("\\|", "|") for cell in _cells(line))
    return "\t".join(" ".join(_render_inline(cell, opens=False).split()) for cell in cells)


def _cells(line: str) -> list[str]:
    return _BETWEEN_CELLS.split(line.strip().removeprefix("|").removesuffix("|"))


def _render_inline(text: str, *, opens: bool = True) -> str:
    """Return a text without inline syntax; `opens` means that it begins a line."""

    def read(mark: re.Match[str]) -> str:
        first = opens if mark.start() == 0 else text[mark.start() - 1] == "\n"
        words = next(
            _render_inline(inner, opens=first) if name in _NESTED else inner
            for name, inner in mark.groupdict().items()
            if inner is not None and name not in ("ticks", "stars", "lines")
        )
        if (mark["link"] and _is_alone(mark)) or (first and _OPENS_BLOCK.match(words)):
            return mark[0]
        if mark["image"] or mark["tag"]:
            return ""
        return STRUCK.format(words) if mark["struck"] else words

    return _MARK.sub(read, text)


def _is_alone(link: re.Match[str]) -> bool:
    """Return whether a link fills its line or list item, as in an index."""
    begins = link.string.rfind("\n", 0, link.start()) + 1
    after = link.string[link.end() :].partition("\n")[0]
    return not after.strip() and _MARKER.fullmatch(link.string, begins, link.start()) is not None


# "---\ntitle: Notes\n---\n"
_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n(?:---|\.\.\.)(?:\n|\Z)", re.S)
# 'title: "Notes"'
_FIELD = re.compile(r"^(title|date|lang|language)\s*:\s*[\"']?(.*)$", re.M)
# "=====" or "-----" under a heading
_UNDERLINE = re.compile(r"^(=+|-{2,})\s*$")
# "<!-- draft -->"
_COMMENT = re.compile(r"<!--(?:.*?-->|(.*))", re.S)
"""An unclosed comment is text; matching it to the end keeps the search for "-->" linear."""
MAX_TITLE = 200
MAX_LINE = 100
LOOKED_AT = 50

# "```python", "~~~"
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
# "## Usage ##"
HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*)$")

# "=====", "- - -", "* * *"
_RULE = re.compile(r"[ \t]*([=\-~*_#^+\"'.:])(?:[ \t]?\1){2,}[ \t]*")
_BLANK = re.compile(r"\n\s*\n")
# "It was built in 1742.", "First of all,", "完成。"
_SENTENCE_END = re.compile(r"[.,;:!…。、，；：！]\W*$|\w{4,}[.!?]\s|[。！？]")
# "- item", "// comment", "<html", "1. first", "key: value", "Subject: hello", "a | b", "----"
_NO_TITLE = re.compile(
    r"[-*+>|]\s|//|<|\d+[.)]\s+[a-zß-ÿ]|.*(?:\t|\||://|\S = )|[A-Z][\w-]*: |[\W\d_]*$", re.DOTALL
)
# indented code, '<img src="logo.png">', "![logo](x.png)", "[![CI](badge.svg)](ci)"
_DECORATION = re.compile(r" {4}|\s*(?:$|<|!\[|\[!\[|\[[^\]]*\](?:\(|:))")
# "[text](https://example.org)", "![alt](logo.png)"
_TITLE_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
# "    12. An item", "        a. Its part"
_FAR_ITEM = re.compile(r"(?: {4,}|\t+)(?:\d{1,3}|[a-z])[.)]\s+\S")
# "4.1. Powers", "2 Scope"
_NUMBERED = re.compile(r" {0,3}(\d{1,2}(?:\.\d{1,2}){0,2})\.?\s+([A-ZÄÖÜ].{1,80})")
# "**strong**", "_slanted_", "`code`"
_EMPHASIS = re.compile(r"(\*\*|__|\*|_|`)(?=\S)(.+?)(?<=\S)\1")


def extract_plain(content: str, url: str, *, markdown: bool) -> Extracted:
    """Return the file's text with normalised line ends and blank lines; raise `EmptyPageError`.
    Notes without an ending, such as README, may be Markdown as well.
    """
    content = content.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n\n")
    markdown = markdown or _is_markdown(content)
    fields: dict[str, str] = {}
    if markdown:
        fields, content = _front_matter(content)
    lines = [line.rstrip() for line in content.split("\n")]
    is_manual = not markdown and page_name(lines) is not None
    lines = _markdown(lines) if markdown else [*_numbered_headings(outdented_items(lines))]
    shown = manual_markdown(content.split("\n")) if is_manual else lines
    text = _tidy(_without_marks(lines) if markdown else shown)
    if not text:
        raise EmptyPageError("the page contains no readable text")
    return Extracted(
        title=fields.get("title") or title_of(_tidy(lines), url, markdown=markdown),
        text=text,
        published=_date(fields.get("date", "")),
        language=(fields.get("lang") or fields.get("language") or "")[:2].lower() or None,
        kind=kind_of(url),
    )


def _is_markdown(content: str) -> bool:
    links = islice(_LINKED.finditer(content), LEAST_LINKS)
    return sum(1 for _ in links) == LEAST_LINKS and _TITLED.search(content) is not None


def outdented_items(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a plain text with far indented numbered items, which Markdown would take
    for code, at its margin, and what goes on with them less than four columns behind it.
    """
    is_item = False
    for line in lines:
        item = _FAR_ITEM.match(line)
        is_item = bool(item) or (is_item and bool(_INDENTED.match(line)))
        if item:
            yield line.lstrip()
        else:
            yield f"   {line.lstrip()}" if is_item and line else line


def _numbered_headings(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a plain text whose numbered headings ("4.1. Powers"), between blank lines,
    are headings; only where some number has several parts, since others may count items.
    """
    told = ["", *lines, ""]
    alone = [
        _NUMBERED.match(line) if not before and not after else None
        for before, line, after in zip(told, told[1:], told[2:], strict=False)
    ]
    has_parts = any(found and "." in found[1] for found in alone)
    for line, found in zip(told[1:-1], alone, strict=True):
        is_heading = has_parts and found and not found[2].endswith((".", ",", ";", ":"))
        yield f"{'#' * (2 + found[1].count('.'))} {line.strip()}" if found and is_heading else line


def _front_matter(content: str) -> tuple[dict[str, str], str]:
    match = _FRONT_MATTER.match(content)
    if match is None:
        return {}, content
    fields = {name: _unquoted(value) for name, value in _FIELD.findall(match[1])}
    return fields, content[match.end() :]


def _unquoted(value: str) -> str:
    """Return a field's value without its closing quotation mark."""
    value = value.rstrip()
    return value[:-1] if value.endswith(('"', "'")) else value


def _markdown(lines: list[str]) -> list[str]:
    """Convert underlined headings to "#" headings and remove comments outside code."""
    done: list[str] = []
    for fenced, run in _runs(lines):
        done += run if fenced else _headings(_without_comments("\n".join(run)).split("\n"))
    return done


def _without_comments(text: str) -> str:
    return _COMMENT.sub(lambda comment: comment[0] if comment[1] is not None else "", text)


def _without_marks(lines: list[str]) -> Iterable[str]:
    for fenced, run in _runs(lines):
        yield from run if fenced else without_marks(run)


def _runs(lines: list[str]) -> Iterable[tuple[bool, list[str]]]:
    """Yield alternating runs of lines outside and inside code fences, fences included."""
    run: list[str] = []
    fence = ""
    for line in lines:
        match = FENCE.match(line)
        if fence:
            run.append(line)
            if match and match[1].startswith(fence):
                yield True, run
                run, fence = [], ""
        elif match:
            yield False, run
            run, fence = [line], match[1]
        else:
            run.append(line)
    yield bool(fence), run


def _headings(lines: list[str]) -> list[str]:
    done: list[str] = []
    for line in lines:
        underline = _UNDERLINE.match(line)
        if underline and done and _may_be_heading(done):
            sign = "#" if underline[1][0] == "=" else "##"
            done[-1] = f"{sign} {done[-1].strip()}"
        elif heading := HEADING.match(line):
            done += ["", f"{heading[1]} {heading_words(heading)}", ""]
        else:
            done.append(line)
    return done


def _may_be_heading(lines: list[str]) -> bool:
    alone = len(lines) == 1 or not lines[-2]
    return (
        alone and bool(lines[-1]) and not lines[-1].lstrip().startswith(("#", "-", "*", "|", ">"))
    )


def _tidy(lines: Iterable[str]) -> str:
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


def _date(written: str) -> str | None:
    from research.extract.html.metadata import iso_date

    return iso_date(written)


def title_of(text: str, url: str, *, markdown: bool) -> str:
    """Return the title, or the last part of the address if nothing looks like one.

    A first line that runs on as a sentence is not a title: reports would cite half a sentence.
    """
    lines = [line[:MAX_TITLE] for line in text.split("\n", LOOKED_AT)[:LOOKED_AT]]
    lines = list(_outside_of_code(lines)) if markdown else lines
    found = (markdown and _heading(lines)) or manual_title(lines)
    found = found or _first_line(lines, markdown=markdown)
    return (found or unquote(urlsplit(url).path.rpartition("/")[2]))[:MAX_TITLE]


def heading_words(heading: re.Match[str]) -> str:
    """Return the text of a `HEADING` match without closing "#" signs."""
    return str(heading[2]).rstrip("#").rstrip(" \t")


def _heading(lines: Sequence[str]) -> str:
    """Return the first heading of level 1, or one that no text precedes."""
    told = False
    for line in lines:
        heading = HEADING.match(line)
        words = heading_words(heading) if heading else ""
        if heading and words and (len(heading[1]) == 1 or not told):
            return _strip_markup(words)
        told = told or not (heading or _DECORATION.match(line))
    return ""


def _first_line(lines: Sequence[str], *, markdown: bool) -> str:
    """Return the first line if it is separate or underlined and reads like a title, else ""."""
    parted = "\n".join("" if _RULE.fullmatch(line) else line for line in lines).strip()
    first, *others = _BLANK.split(parted)
    if not others or "\n" in first or (markdown and _DECORATION.match(first)):
        return ""
    line = _strip_markup(first) if markdown else first.lstrip("# ")
    fits = len(line) <= MAX_LINE and not _SENTENCE_END.search(line)
    return line if fits and not _NO_TITLE.match(line) else ""


def _outside_of_code(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines outside code fences."""
    fence = ""
    for line in lines:
        match = FENCE.match(line)
        if not fence or (match and match[1].startswith(fence)):
            yield line
        if match and (not fence or match[1].startswith(fence)):
            fence = "" if fence else match[1]


def _strip_markup(line: str) -> str:
    """Return a line of Markdown without link and emphasis syntax."""
    return _EMPHASIS.sub(r"\2", _TITLE_LINK.sub(r"\1", line)).strip()


# --- tables as CSV and TSV: one block per row, each cell labelled with its column ---------------


_SEPARATORS = "\t;,|"
# "1,234.5", "-3 %"
_NUMBER = re.compile(r"[-+−]?[\d.,]+\s?%?")


def extract_csv(content: str, url: str) -> Extracted:
    """Return the rows of a table as text; raise `EmptyPageError`."""
    rows = _table_rows(content.lstrip("\ufeff").splitlines(keepends=True))
    names = rows[0] if len(rows) > 1 and _are_columns(rows[0]) else []
    text = "\n\n".join(_label_cells(row, names) for row in (rows[1:] if names else rows))
    if not text:
        raise EmptyPageError("the page contains no readable text")
    name = unquote(urlsplit(url).path.rpartition("/")[2])
    return Extracted(name[:MAX_TITLE], text, kind=kind_of(url))


def _table_rows(lines: Sequence[str]) -> list[list[str]]:
    """Return the non-empty rows, split by the most frequent separator of the first line."""
    first = next(filter(str.strip, lines), "")
    separator = max(_SEPARATORS, key=first.count)
    try:
        rows = [[_spaced(cell) for cell in row] for row in csv.reader(lines, delimiter=separator)]
    except csv.Error as error:
        raise EmptyPageError("the table is damaged and cannot be read") from error
    return [row for row in rows if any(row)]


def _are_columns(row: Sequence[str]) -> bool:
    return 1 < len(row) == len(set(row)) and not any(map(_NUMBER.fullmatch, row))


def _label_cells(row: Sequence[str], names: Sequence[str]) -> str:
    """Join the non-empty cells by tabs, each with its column's name."""
    cells = zip_longest(names, row, fillvalue="")
    return "\t".join(f"{name}: {cell}" if name else cell for name, cell in cells if cell)


def _spaced(text: str) -> str:
    return " ".join(text.split())
