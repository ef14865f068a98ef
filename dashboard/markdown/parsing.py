"""A report's Markdown as tokens: its blocks, sections, tables and citation markers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from django.utils.html import escape
from markdown_it import MarkdownIt
from markdown_it.token import Token

from dashboard.markdown.dates import EARLIER
from research.engine.report.draft import lines_of

MARKER = re.compile(r"\[(\d{1,4})\]")  # "[12]"
DISPUTED = "> **⚠"
"""Begin of a quotation that tells on what sources disagree."""
_SIGNS = re.compile(r"[-/=;(<>|$*\\'\"]")
LONG_COMMAND = 20
"""Length in characters above which code that contains a space is set as a block."""
SHORT_CODE = 24
"""Length in characters up to which no line ends within code."""
ENDS = (".", ",", ";", ":", "。")
"""Marks behind a command that would open the next line."""
COLONS, STOPS = (":", "："), (".", "!", "。")
"""Marks that end the text before short code which is then shown as a separate command."""
_STATEMENT_END = re.compile(r"(?P<quoted>'[^']*'|\"[^\"]*\")|(?<!\\);[ \t]+(?=[^\s>|&])")
"""The end of a statement; the shell's "\\;" ends an argument, and a redirection goes on with it."""
_STEP = re.compile(r"^(\d{1,3}\. )(.+)$", re.MULTILINE)
_STEP_CODE = re.compile(r"(?: ?`[^`\n]{1,6000}`[,;.]?)+ ?")
_SPAN = re.compile(r"`([^`\n]{1,6000})`")
_LEADS = ("]", ":", "：")
_GAP = re.compile(r"\n\n {1,5}\n\n")
STATEMENT = re.compile(r"([^\[]+)((?:\s*\[\d{1,4}\])*)")  # "It fell." and "[1][2]"


def new_parser() -> MarkdownIt:
    """Return a Markdown parser that threads can share: its rules are compiled by a first parse.

    Reference links are disabled, as a quoted page may contain "[1]: address", which would redirect
    the marker. Text joining is disabled, because an escaped "\\[1]" (a bracket of the quote itself)
    would become a marker.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.disable(["reference", "text_join"])
    parser.parse("The first parse compiles the rules of *blocks*.\n\n- And of `lists`.")
    return parser


PARSER = new_parser()


def parse_with_places(markdown: str) -> list[Token]:
    """Return the tokens of a report; a text's `meta` has the occurrence of each marker in it."""
    tokens = PARSER.parse(markdown)
    seen: Counter[str] = Counter()
    for token in tokens:
        for child in token.children or ():
            if child.type == "text":
                child.meta["places"] = places = []
                for number in MARKER.findall(child.content):
                    places.append(seen[number])
                    seen[number] += 1
    return tokens


def markers_beside(markdown: str, number: int, place: int) -> list[tuple[int, int]]:
    """Return the markers of the statement that ends with an occurrence of a marker, itself
    included, each with its own occurrence; [] if there is none.
    """
    for token in parse_with_places(markdown):
        for child in token.children or ():
            found = list(MARKER.finditer(child.content)) if child.type == "text" else []
            named = [int(match[1]) for match in found]
            placed = list(zip(named, child.meta.get("places", ()), strict=False))
            if (number, place) in placed:
                group = groups_of(child.content, found)
                own = group[placed.index((number, place))]
                return [each for each, of in zip(placed, group, strict=True) if of == own]
    return []


def markers_in_text(markdown: str) -> Iterator[tuple[int, int, bool]]:
    """Yield each marker behind a statement with its occurrence, and whether the statement is given
    as an earlier one.
    """
    for token in parse_with_places(markdown):
        for child in token.children or ():
            placed = zip(MARKER.finditer(child.content), child.meta.get("places", ()), strict=False)
            starts = {marker.start(): (int(marker[1]), place) for marker, place in placed}
            for said in STATEMENT.finditer(child.content):
                is_earlier = EARLIER.search(said[1]) is not None
                for start in range(*said.span(2)):
                    if start in starts:
                        yield (*starts[start], is_earlier)


def groups_of(text: str, markers: Sequence[re.Match[str]]) -> list[int]:
    """Return the index of the statement that each citation marker of a text follows."""
    groups, number = list[int](), 0
    for before, match in pairwise([None, *markers]):
        if before is not None and match is not None:
            number += bool(text[before.end() : match.start()].strip())
        groups.append(number)
    return groups


def top_blocks(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Yield the tokens of each top-level block."""
    block: list[Token] = []
    for token in tokens:
        block.append(token)
        if token.level == 0 and token.nesting <= 0:
            yield block
            block = []


def sections_of(blocks: Sequence[list[Token]]) -> Iterator[list[list[Token]]]:
    """Yield the blocks before the first heading, if any, then those of each heading with it."""
    section: list[list[Token]] = []
    for block in blocks:
        if section and block[0].tag == "h2":
            yield section
            section = []
        section.append(block)
    if section:
        yield section


def in_italics(inline: Token) -> list[Token]:
    """Return the parts of a text that is in italics from its first to its last word, or none."""
    inner = [child for child in inline.children or () if child.content or child.nesting]
    is_so = inner and inner[0].type == "em_open" and inner[-1].type == "em_close"
    return inner if is_so else []


def is_command(code: str) -> bool:
    """Return whether a code span is a command to set as a block: it is long, begins with no figure,
    and has three words or signs of a command: "Equity:Opening Balances" is a name, and so is
    "1983-05-12 - The mill".
    """
    words = [] if code[:1].isdigit() else code.split()
    is_told = len(words) > 2 or (len(words) > 1 and bool(_SIGNS.search(code)))
    return is_told and len(code) > LONG_COMMAND


def keep_short_code(tokens: Sequence[Token]) -> None:
    """Set a class on short code within sentences, in which no line ends."""
    for token in tokens:
        for child in token.children or ():
            if child.type == "code_inline" and len(child.content) <= SHORT_CODE:
                child.attrSet("class", "short")


def in_lines(command: str) -> str:
    """Return a command with each of its lines, otherwise each of its statements, on a line; a
    semicolon in quotes ends none.
    """
    lines = lines_of(command)
    if len(lines) > 1:
        return "\n".join(lines)
    return _STATEMENT_END.sub(lambda match: match["quoted"] or ";\n", command)


def with_blocks(markdown: str) -> str:
    """Return Markdown whose numbered steps have their commands as blocks of code: long ones, and
    all behind the markers of a step.
    """
    return _with_blocks(markdown, lambda codes: any(map(is_command, codes)))


def with_last_blocks(markdown: str) -> str:
    """Return Markdown with blocks of the commands behind the markers of steps alone."""
    return _with_blocks(markdown, lambda _: False)


def _with_blocks(markdown: str, are_apart: Callable[[list[str]], bool]) -> str:
    def step(found: re.Match[str]) -> str:
        indent = " " * len(found[1])

        def block(run: re.Match[str]) -> str:
            codes = _SPAN.findall(run[0])
            before, behind = run.string[: run.start()].rstrip(), run.string[run.end() :].strip()
            is_last = before.endswith(_LEADS) and not behind
            if not is_last and not are_apart(codes):
                return run[0]
            fences = (("```", *in_lines(code).splitlines(), "```", "") for code in codes)
            lines = (f"{indent}{line}".rstrip() for fence in fences for line in fence)
            return "\n\n" + "\n".join(lines) + f"\n{indent}"

        told = _STEP_CODE.sub(block, found[2])
        return found[1] + _GAP.sub("\n\n", told).strip()

    return _STEP.sub(step, markdown)


def plain_text(inline: Token) -> str:
    return "".join(child.content for child in inline.children or ())


def table_texts(block: Sequence[Token]) -> list[list[str]]:
    """Return the texts of a table's cells without markers; [] for any other block."""
    rows: list[list[str]] = []
    for token in block if block[0].type == "table_open" else ():
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            texts = (child.content for child in token.children or () if child.type == "text")
            rows[-1].append(MARKER.sub("", "".join(texts)))
    return rows


def text_token(content: str) -> Token:
    return Token("text", "", 0, content=content)


def html_token(content: str) -> Token:
    return Token("html_inline", "", 0, content=content)


def span_token(name: str, text: str) -> Token:
    return html_token(f'<span class="{name}">{escape(text)}</span>')
