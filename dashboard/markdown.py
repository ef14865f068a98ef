"""Renders a report's Markdown as sanitized HTML with linked citation markers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise, repeat
from urllib.parse import urlsplit

import nh3
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, ngettext
from markdown_it import MarkdownIt
from markdown_it.token import Token

from dashboard.charts import Chart, draw_charts
from dashboard.titles import without_lead
from dashboard.words import Site, format_number, format_partial_date, readable_url, site_of
from research.engine.report.report_i18n import labels_for
from research.engine.text.language import ENGLISH

TAGS = {
    "p", "h1", "h2", "h3", "h4", "h5", "ul", "ol", "li", "strong", "em", "code", "pre", "br", "hr",
    "blockquote", "a", "sup", "span", "table", "thead", "tbody", "tr", "th", "td",
    "details", "summary",
}  # fmt: skip
ATTRIBUTES = {
    "a": {"href", "class", "id", "aria-label", "title"},
    "blockquote": {"class"},
    "details": {"class"},
    "em": {"class"},
    "h2": {"id"},
    "ol": {"start"},
    "span": {"class", "aria-hidden"},
    "strong": {"class"},
    "sup": {"class"},
    "td": {"class", "data-label"},
}
MARKER = re.compile(r"\[(\d{1,4})\]")  # "[12]"
QUESTION_ENDS = 7
"""Last place at which bold text ends that opens a text, maybe behind the name of the answer."""
STATEMENT = re.compile(r"([^\[]+)((?:\s*\[\d{1,4}\])*)")  # "It fell." and "[1][2]"
OPENING_NAMES = re.compile(r"^(?:\*\*[^*]*[.:?？]\*\*\s*)+")  # "**Short answer.** **Eggs:** "
NO_PLACE = 1_000_000
"""Occurrence of a marker that only the display produced, such as a decoded address."""
QUOTE_LINE = 2
"""Line of a tooltip that has the first quote, behind title and facts."""
ANSWERS_FIRST = 6
"""Answers to sub-questions that are shown; a few more stay, the others are folded behind them."""
LISTED_FIRST = 10
"""Cited sources that are shown; a few more stay, the others are folded behind them."""
NARROW_SPACE = "\u202f"
"""Non-breaking: keeps a marker on the line of the word before it."""
WITH_ITS_WORD = re.compile(r"(?<=\S) $")  # the space before the marker in "was found [3]"
_DATE = (
    r"\d{4}(?:-\d\d){0,2}|[^,:<>()]{0,20}\d{4}(?:年[\d月日]*)?"  # "2025-10-21", "21 October 2025"
)
DATED = re.compile(rf"(?:, ({_DATE}))?: $")  # ", 2025-10-21: " before an address
TOLD_BY = re.compile(
    rf"\((?:[^()“”\"]{{2,80}}, (?:{_DATE})|\d{{1,3}} [^()\d,]{{3,20}}, \d{{4}}(?:[–-]\d{{4}})?)\)"
    r"(?=[.!?]?\s*$)"
)
"""Who says a statement, at its end: "(Hot Rocks, October 2019)", "(3 sources, 2015–2026)"."""
EARLIER = re.compile(r"\(\d{4}-\d\d(?:-\d\d)?\): ")  # "Previously (2020-03-24): It was so."
DOUBTED = re.compile(r"^\s*(?:\((⚠ [^()]+)\)|(⚠ [^():]{3,60}:))")
""""(⚠ Sources disagree) The next sentence", "⚠ Sources disagree: The other side"."""
MONTH = r"(?<![\w-])\d{4}-(?:0[1-9]|1[0-2])"
DAY = re.compile(rf"{MONTH}(?:-\d\d)?(?![\w-])")  # "2025-01-14", "2025-01"
DAY_OR_QUOTE = re.compile(rf"[“„«”»]|{MONTH}-\d\d(?![\w-])")
LOCAL = re.compile(rf"(?:, ({_DATE}))?: <(file:[^<>\s]+)>")  # ": <file:///a/b.md>"
REJECTED = '<span class="rejected">'
OPENS_QUOTE, ENDS_QUOTE = re.compile(r"[“„«]"), re.compile(r"[”»][.,]?\s*$")
SENTENCE_END = re.compile(r"[.!?][\"”’)]*\s+(?=\S)")  # ".” " in "“It fell.” Then it rose."


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


@dataclass(frozen=True)
class Link:
    """The target of a marker; `note` is its tooltip, `sources` are the independent ones behind it.

    `rejected` also marks the sentence before the marker.
    """

    address: str
    note: str = ""
    sources: frozenset[str] = frozenset()
    rejected: bool = False


FindLink = Callable[[int, int], Link | None]
"""Return the target of a marker by its number and occurrence, counted from 0; None if it is not a
citation.
"""


@dataclass(frozen=True)
class Heading:
    anchor: str
    text: str


@dataclass(frozen=True)
class Rendered:
    html: SafeString
    headings: tuple[Heading, ...]


@dataclass(frozen=True)
class RenderedParts:
    """The answer at the top of a report, and its sections."""

    answer: SafeString
    body: SafeString
    headings: tuple[Heading, ...]


def render_markdown(markdown: str, link: FindLink, language: str = ENGLISH) -> Rendered:
    """Render a report, which is in this language."""
    tokens = parse_with_places(markdown)
    headings = tuple(_anchor_headings(tokens))
    _prepare_tokens(tokens, link, language)
    return Rendered(_render_tokens(tokens, language), headings)


def render_in_parts(
    markdown: str,
    link: FindLink,
    titles: Collection[str] = (),
    language: str = ENGLISH,
    *,
    folds: bool = False,
    lead: str = "",
    site_names: Mapping[str, str] | None = None,
) -> RenderedParts:
    """Render a report for a page that shows the question and the facts of the run itself.

    The title, headings that repeat one of `titles`, the line of facts and sections that only repeat
    the answer are left out, and addresses are shortened. Lists of pages that nothing cites are
    folded. With `folds` each section shows one passage, and opens the others, no section says what
    the one before it said of its support, and none says beside an answer that no model judged it.
    Texts lose the `lead` with which most sub-questions begin. `site_names` are those of its pages,
    by address.
    """
    known = {_bare_title(title) for title in titles}
    blocks = list(_blocks(parse_with_places(markdown)))
    if folds:
        blocks = list(_without_repeated_standings(blocks))
    end = next((n for n, block in enumerate(blocks) if _begins_body(block[0])), len(blocks))
    answer = [token for block in blocks[:end] if _is_answer(block) for token in block]
    kept = [block for block in blocks[end:] if not _repeats_title(block, known)]
    if folds:
        kept = _without_reference_back(kept, language)
    if folds and answer:
        kept = [block for block in kept if not _says_unjudged(block, language)]
    kept = list(_without_repetitions(kept, answer))
    body = [token for block in kept for token in block]
    _drop_lead([*answer, *body], lead)
    headings = tuple(_anchor_headings(body))
    _link_titles(body, link, site_names or {})
    _shorten_addresses(body)
    _mark_opening(answer)
    _prepare_tokens([*answer, *body], link, language)
    render = _render_folded if folds else _render_tokens
    html = _render_body(list(_blocks(body)), render, language)
    return RenderedParts(_render_answer(answer, language), html, headings)


def _drop_lead(tokens: Sequence[Token], lead: str) -> None:
    for token in tokens:
        for child in token.children or ():
            if child.type == "text":
                child.content = without_lead(child.content, lead)


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
                group = _groups_of(child.content, found)
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


def _groups_of(text: str, markers: Sequence[re.Match[str]]) -> list[int]:
    """Return the index of the statement that each citation marker of a text follows."""
    groups, number = list[int](), 0
    for before, match in pairwise([None, *markers]):
        if before is not None and match is not None:
            number += bool(text[before.end() : match.start()].strip())
        groups.append(number)
    return groups


def _mark_opening(answer: list[Token]) -> None:
    """Make the bold name that opens an answer ("Short answer.") a label that shows no period."""
    inline = next((token for token in answer if token.type == "inline"), None)
    every = (inline.children or []) if inline else []
    children = [child for child in every if child.content or child.nesting]
    kinds = [child.type for child in children[:3]]
    if kinds == ["strong_open", "text", "strong_close"] and children[1].content.endswith(
        (".", "。")
    ):
        children[0].attrSet("class", "opening")
        period = Token("html_inline", "", 0)
        period.content = f'<span class="hidden">{children[1].content[-1]}</span>'
        children[1].content = children[1].content[:-1]
        every.insert(every.index(children[2]), period)


def _prepare_tokens(tokens: list[Token], link: FindLink, language: str) -> None:
    _put_days_in_words(tokens)
    _mark_lead_ins(tokens)
    _mark_disputes(tokens)
    _mark_standings(tokens)
    _label_cells(tokens, labels_for(language)["not_found_cell"])
    _link_markers(tokens, link)


def _label_cells(tokens: Sequence[Token], not_found: str) -> None:
    """Give each cell behind the first of its row the name of its column, which narrow screens show
    beside its value, and a class where nothing was found.
    """
    names, column, within_head = list[str](), 0, False
    for token, content in pairwise(tokens):
        if token.type in ("thead_open", "thead_close"):
            within_head = token.type == "thead_open"
            names = [] if within_head else names
        elif token.type == "tr_open":
            column = 0
        elif token.type == "th_open" and within_head:
            names.append(MARKER.sub("", _plain(content)).strip())
        elif token.type == "td_open":
            if column and column < len(names) and names[column] and content.content.strip():
                name = names[column]
                token.attrSet("data-label", f"{name[:1].upper()}{name[1:]}")
            if content.content.strip() == not_found:
                token.attrSet("class", "not-found")
            column += 1


def _render_tokens(tokens: Sequence[Token], language: str) -> SafeString:
    """Return sanitized HTML, with the charts of a table behind it: code draws them from its texts,
    so that they need no sanitizing.
    """
    pieces, pending = list[str](), list[Token]()
    for block in _blocks(tokens):
        pending += block
        if charts := draw_charts(table_texts(block), language):
            first, *others = map(_figure, charts)
            pieces += (_clean(pending), first)
            if others:
                told = ngettext("%(n)s more chart", "%(n)s more charts", len(others))
                pieces.append(_fold(told % {"n": len(others)}, "".join(others)))
            pending = []
    return mark_safe("".join((*pieces, _clean(pending))))


def _render_answer(tokens: Sequence[Token], language: str) -> SafeString:
    """Return HTML in which the end of a long list of answers is folded."""
    pieces, pending = list[str](), list[Token]()
    for block in _blocks(tokens):
        is_item = (token.type == "list_item_open" and token.level == 1 for token in block)
        items = [place for place, found in enumerate(is_item) if found]
        if len(items) <= ANSWERS_FIRST * 3 // 2:
            pending += block
            continue
        end, more = items[ANSWERS_FIRST], len(items) - ANSWERS_FIRST
        pieces.append(_render_tokens([*pending, *block[:end], block[-1]], language))
        pending = []
        told = ngettext("%(n)s more sub-question", "%(n)s more sub-questions", more)
        rest = [block[0], *block[end:]]
        pieces.append(_fold(told % {"n": format_number(more)}, _render_tokens(rest, language)))
    return mark_safe("".join((*pieces, _render_tokens(pending, language))))


def _figure(chart: Chart) -> str:
    title = f"<figcaption>{escape(chart.name)}</figcaption>"
    return f'<figure class="chart">{title}{chart.svg}</figure>\n'


def _render_folded(tokens: Sequence[Token], language: str) -> SafeString:
    """Return HTML in which the passages behind the first of a section are folded, and those that
    answer nothing, which are block quotations under a line in italics.
    """
    pieces, more, number, seen = list[SafeString](), list[Token](), 0, False

    def close() -> None:
        if more:
            told = ngettext("%(n)s more passage", "%(n)s more passages", number) % {"n": number}
            pieces.append(_fold(told, _render_tokens(more, language)))
            more.clear()

    for block in _blocks(tokens):
        opens, goes_on = _is_passage(block), seen and block[0].type == "bullet_list_open"
        if seen and (opens or (goes_on and more)):
            number = number + opens if more else 1
            more += block
            continue
        close()
        if block[0].type == "blockquote_open":
            pieces.append(_fold(_plain(block[2]), _clean(block[4:-1])))
        else:
            pieces.append(_render_tokens(block, language))
        seen = opens or goes_on
    close()
    return mark_safe("".join(pieces))


def _render_body(
    blocks: Sequence[list[Token]],
    render: Callable[[Sequence[Token], str], SafeString],
    language: str,
) -> SafeString:
    """Return HTML in which a list of pages that nothing cites is folded under its heading, and the
    end of a long list of cited ones. The searches that found nothing are folded, too.
    """
    pieces, pending = list[str](), list[Token]()
    tried, _, _ = labels_for(language)["tried"].partition("{queries}")
    for before, block in pairwise([[], *blocks]):
        is_list = bool(before) and before[0].tag == "h3" and block[0].type == "bullet_list_open"
        items = [place for place, token in enumerate(block) if token.type == "list_item_open"]
        if is_list and _is_uncited(block):
            del pending[-len(before) :]
            pieces.append(render(pending, language))
            pending.clear()
            title = f"{_plain(before[1])} ({format_number(len(items))})"
            pieces.append(_fold(title, _clean(block)))
        elif is_list and _has_places(block) and len(items) > LISTED_FIRST * 3 // 2:
            end = items[LISTED_FIRST]
            pieces.append(render([*pending, *block[:end], block[-1]], language))
            pending.clear()
            more = len(items) - LISTED_FIRST
            told = ngettext("%(n)s more source", "%(n)s more sources", more)
            rest = [block[0], *block[end:]]
            pieces.append(_fold(told % {"n": format_number(more)}, _clean(rest)))
        elif block[0].type == "paragraph_open" and block[1].content.startswith(tried):
            pieces.append(render(pending, language))
            pending.clear()
            pieces.append(_fold(tried.rstrip(":： "), _clean(block)))
        else:
            pending += block
    return mark_safe("".join((*pieces, render(pending, language))))


def _has_places(block: Sequence[Token]) -> bool:
    return any('class="place"' in child.content for t in block for child in t.children or ())


def _is_uncited(block: Sequence[Token]) -> bool:
    """Return whether a block is a list of addresses without a marker."""
    items = [token.content for token in block if token.type == "inline"]
    is_list = block[0].type == "bullet_list_open"
    return is_list and all("://" in item and not MARKER.search(item) for item in items)


def _without_repeated_standings(blocks: Sequence[list[Token]]) -> Iterator[list[Token]]:
    """Yield blocks without lines in italics that repeat the one before, of another section."""
    said = ""
    for block in blocks:
        if block[0].type == "paragraph_open" and _in_italics(block[1]):
            if block[1].content == said:
                continue
            said = block[1].content
        yield block


def _says_unjudged(block: Sequence[Token], language: str) -> bool:
    said = block[1].content.strip("*") if block[0].type == "paragraph_open" else ""
    return said == labels_for(language)["unjudged"]


def _without_reference_back(blocks: list[list[Token]], language: str) -> list[list[Token]]:
    """Return the blocks of a body without a beginning that only refers back to the answer."""
    again = labels_for(language)["quoted_above"]
    first = next((n for n, block in enumerate(blocks) if block[0].tag == "h2"), len(blocks))
    told = [block[1] for block in blocks[:first] if block[0].type == "paragraph_open"]
    said = [MARKER.sub("", text.content).strip() for text in told if not _in_italics(text)]
    only = bool(said) and all(text.endswith(f":** {again}") for text in said)
    return blocks[first:] if only else blocks


def _without_repetitions(
    blocks: Sequence[list[Token]], answer: Sequence[Token]
) -> Iterator[list[Token]]:
    """Yield the blocks of a body without sections that say nothing but what the answer says, from
    the same sources.
    """
    told: dict[str, set[str]] = {}
    for statement, markers in _statements(answer):
        told.setdefault(statement, set()).update(markers)
    for section in _sections(blocks):
        texts = [token for block in section[section[0][0].tag == "h2" :] for token in block]
        said = list(_statements(texts))
        is_table = any(token.type == "table_open" for token in texts)
        known = all(statement in told and markers <= told[statement] for statement, markers in said)
        if is_table or not said or not known or _is_disputed(texts):
            yield from section


def _sections(blocks: Sequence[list[Token]]) -> Iterator[list[list[Token]]]:
    """Yield the blocks before the first heading, if any, then those of each heading with it."""
    section: list[list[Token]] = []
    for block in blocks:
        if section and block[0].tag == "h2":
            yield section
            section = []
        section.append(block)
    if section:
        yield section


def _statements(tokens: Sequence[Token]) -> Iterator[tuple[str, set[str]]]:
    """Yield the words of each statement with the numbers of its citations.

    Bold text that opens a text names its subject, text in italics its support.
    """
    for token in tokens:
        if token.type != "inline" or _in_italics(token):
            continue
        for text, markers in STATEMENT.findall(OPENING_NAMES.sub("", token.content)):
            if words := " ".join(re.findall(r"\w+", text.casefold())):
                yield words, set(MARKER.findall(markers))


def _is_disputed(tokens: Sequence[Token]) -> bool:
    return any(re.match(r"\*+\s*⚠", token.content) for token in tokens if token.type == "inline")


def _is_passage(block: Sequence[Token]) -> bool:
    """Return whether a block is a passage behind the name of its source."""
    if block[0].type != "paragraph_open":
        return False
    first = next((each for each in block[1].children or () if each.content or each.nesting), None)
    return first is not None and first.attrGet("class") == "lead-in"


def _fold(title: str, html: str) -> SafeString:
    """Return sanitized HTML behind a title that opens it."""
    folded = '<details class="passages"><summary>{}</summary>{}</details>\n'
    return format_html(folded, title, mark_safe(html))


def _clean(tokens: Sequence[Token]) -> str:
    raw = PARSER.renderer.render(tokens, PARSER.options, {})
    return nh3.clean(
        raw, tags=TAGS, attributes=ATTRIBUTES, url_schemes={"http", "https"}, link_rel="noreferrer"
    )


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


def _repeats_title(block: Sequence[Token], known: Collection[str]) -> bool:
    return block[0].tag == "h2" and _bare_title(_plain(block[1])) in known


def _bare_title(text: str) -> str:
    return " ".join(text.casefold().rstrip("?. ").split())


def _begins_body(token: Token) -> bool:
    return token.type == "table_open" or (token.type == "heading_open" and token.tag == "h2")


def _blocks(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Yield the tokens of each top-level block."""
    block: list[Token] = []
    for token in tokens:
        block.append(token)
        if token.level == 0 and token.nesting <= 0:
            yield block
            block = []


def _is_answer(block: Sequence[Token]) -> bool:
    """Return whether a block is neither the title nor the line of facts, a paragraph in italics."""
    if block[0].type != "paragraph_open":
        return block[0].tag != "h1"
    return not _in_italics(block[1])


def _in_italics(inline: Token) -> list[Token]:
    """Return the parts of a text that is in italics from its first to its last word, or none."""
    inner = [child for child in inline.children or () if child.content or child.nesting]
    is_so = inner and inner[0].type == "em_open" and inner[-1].type == "em_close"
    return inner if is_so else []


def _link_titles(tokens: list[Token], link: FindLink, site_names: Mapping[str, str]) -> None:
    """Link the title of each source and hide the address at the end of its line.

    A line is "[1] Title, publisher, site, kind, date: <address>". Behind the title it becomes a
    line of facts, with the date in words, and the first quote of a cited source is folded below.
    """
    for token in tokens:
        children = token.children or []
        opens = next((n for n, each in enumerate(children) if _is_address(each)), 0)
        before = "".join(each.content for each in children[:opens])
        if not opens or any(each.nesting for each in children[:opens]):
            continue
        address = str(children[opens].attrs["href"])
        site = (urlsplit(address).hostname or "").removeprefix("www.")
        marker = MARKER.match(before)
        title, named, facts = before[marker.end() if marker else 0 :].rpartition(f", {site}")
        dated = DATED.search(facts)
        if not site or not named or dated is None:
            continue
        target = link(int(marker[1]), NO_PLACE) if marker else None
        note = target.note.split("\n") if target else []
        named_site = site_names.get(address, "")
        title, publisher = _split_publisher(title.strip(), note[0] if note else "", named_site)
        shown = site_of(address, publisher)
        kinds = filter(None, facts[: dated.start()].split(", "))
        told = [
            format_html(
                '<span class="initial" aria-hidden="true">{}</span>{}',
                shown.name[0].upper(),
                site_in_html(shown),
            ),
            *([_published(dated[1])] if dated[1] else []),
            *(format_html('<span class="kind">{}</span>', kind) for kind in kinds),
        ]
        opening, _, closing, *rest = children[opens:]
        opening.info, opening.attrs = "", {"href": address, "title": readable_url(address)}
        first = children[:1] if marker else []
        for each in first:
            each.content = f"{marker[0]} " if marker else ""
            each.meta["is_listed"] = True
        place = _html_token(f'<span class="place">{" · ".join(told)}</span>')
        quote = [_html_token(_folded_quote(note[QUOTE_LINE]))] if note[QUOTE_LINE:] else []
        token.children = [*first, opening, _text_token(title), closing, place, *quote, *rest]


def _published(day: str) -> str:
    return escape(gettext("published %(date)s") % {"date": format_partial_date(day)})


def site_in_html(site: Site) -> SafeString | str:
    """Return the name of a site, with its domain behind it in small type."""
    if not site.domain:
        return site.name
    return format_html('{} <span class="domain">{}</span>', site.name, site.domain)


def _split_publisher(text: str, title: str, publisher: str) -> tuple[str, str]:
    """Return title and publisher of "Title, publisher", as far as one of them is known."""
    if publisher and text.endswith(f", {publisher}"):
        return text.removesuffix(f", {publisher}"), publisher
    rest = text[len(title) :]
    if title and text.startswith(title) and rest.startswith(", "):
        return title, rest[2:]
    return text, ""


def _folded_quote(quote: str) -> str:
    return format_html(
        '<details class="quote"><summary>{}</summary><blockquote>{}</blockquote></details>',
        gettext("Quote"),
        quote,
    )


def _is_address(token: Token) -> bool:
    return token.type == "link_open" and token.info == "auto"


def _shorten_addresses(tokens: list[Token]) -> None:
    """Show bare addresses without scheme and query, and the date before them in words.

    The parser makes no links of the addresses of local files, which no browser would follow.
    """
    for token in tokens:
        children = token.children or []
        for child in children:
            child.content = LOCAL.sub(_local_file, child.content)
        for opening, text in pairwise(children):
            if opening.type == "link_open" and opening.info == "auto":
                opening.attrSet("class", "place")
                text.content = readable_url(str(opening.attrs["href"]))
        for before, opening in pairwise(children):
            if opening.type == "link_open" and opening.info == "auto":
                before.content = DATED.sub(_date_in_words, before.content)


def _put_days_in_words(tokens: Sequence[Token]) -> None:
    """Put days into words as the reader's language has them, but not in quotations."""
    for token in tokens:
        within_quote = False

        def in_words(found: re.Match[str]) -> str:
            nonlocal within_quote
            if found[0][0].isdigit():
                return found[0] if within_quote else format_partial_date(found[0])
            within_quote = found[0] in "„«" or (found[0] == "“" and not within_quote)
            return found[0]

        for child in token.children or ():
            if child.type == "text":
                child.content = DAY_OR_QUOTE.sub(in_words, child.content)


def _local_file(found: re.Match[str]) -> str:
    return f"{_date_in_words(found)} · {readable_url(found[2])}"


def _date_in_words(found: re.Match[str]) -> str:
    return f", {format_partial_date(found[1])}" if found[1] else ""


def _anchor_headings(tokens: list[Token]) -> list[Heading]:
    found: list[Heading] = []
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open" and opening.tag == "h2":
            heading = Heading(f"section-{len(found) + 1}", _plain(inline))
            opening.attrSet("id", heading.anchor)
            found.append(heading)
    return found


def _plain(inline: Token) -> str:
    return "".join(child.content for child in inline.children or ())


def _mark_lead_ins(tokens: list[Token]) -> None:
    """Set a class on bold text ending in a colon, which names the source of a quote, and on a
    question that opens a text, whose answer follows: both are set lighter.
    """
    for token in tokens:
        opening = None
        for place, (text, child) in enumerate(pairwise(token.children or ())):
            opening = text if text.type == "strong_open" else opening
            is_question = place <= QUESTION_ENDS and text.content.endswith(("?", "？"))
            is_name = text.content.endswith(":") or is_question
            if opening and child.type == "strong_close" and is_name:
                opening.attrSet("class", "lead-in")


def _mark_disputes(tokens: Sequence[Token]) -> None:
    """Set a class on quotations that tell on what sources disagree, each side on a line."""
    for opening, (_, inline) in zip(tokens, pairwise(tokens[1:]), strict=False):
        if opening.type == "blockquote_open" and _is_disputed([inline]):
            opening.attrSet("class", "dispute")
            for child in inline.children or ():
                child.meta["is_disputed"] = True


def _mark_standings(tokens: list[Token]) -> None:
    """Mark lines in italics with a CSS class: they state the support of a section."""
    for token in tokens:
        if inner := _in_italics(token):
            inner[0].attrSet("class", "standing")


def _link_markers(tokens: list[Token], link: FindLink) -> None:
    """Link markers in running text, but not in code or within the text of a link."""
    seen: set[int] = set()
    for token in tokens:
        children: list[Token] = []
        within_link = 0
        for child in token.children or ():
            within_link += child.nesting if child.type.startswith("link_") else 0
            if child.type == "text" and not within_link:
                pieces = _split(child, link, seen)
                if _ends_rejected_quote(pieces):
                    _strike_from_opening(children)
                children.extend(pieces)
            else:
                children.append(
                    _text_token(child.content) if child.type == "text_special" else child
                )
        if token.children is not None:
            token.children = children


def _ends_rejected_quote(pieces: Sequence[Token]) -> bool:
    """Return whether a rejected quote ends in the first pieces and has begun before them."""
    struck = next((each.content for each in pieces[:2] if REJECTED in each.content), "")
    said = struck.removeprefix(REJECTED).removesuffix("</span>")
    return bool(ENDS_QUOTE.search(said)) and not OPENS_QUOTE.search(said)


def _strike_from_opening(children: list[Token]) -> None:
    """Mark the texts from the last opening quotation mark on."""
    for n in range(len(children) - 1, -1, -1):
        text = children[n]
        if text.type != "text":
            continue
        marks = list(OPENS_QUOTE.finditer(text.content))
        start = marks[-1].start() if marks else 0
        struck = Token("html_inline", "", 0)
        struck.content = f"{REJECTED}{escape(text.content[start:])}</span>"
        children[n : n + 1] = [_text_token(text.content[:start]), struck]
        if marks:
            return


def _split(text: Token, link: FindLink, seen: set[int]) -> list[Token]:
    pieces: list[Token] = []
    position = 0
    places = chain(text.meta.get("places", ()), repeat(NO_PLACE))
    markers = zip(MARKER.finditer(text.content), places, strict=False)
    found = [(match, link(int(match[1]), place)) for match, place in markers]
    known = [(match, target) for match, target in found if target is not None]
    groups = _groups_of(text.content, [match for match, _ in known])
    support: dict[int, set[str]] = {}
    for group, (_, target) in zip(groups, known, strict=True):
        support.setdefault(group, set()).update(target.sources)
    for place, (match, target) in enumerate(known):
        before = WITH_ITS_WORD.sub(NARROW_SPACE, text.content[position : match.start()])
        is_refused = _is_refused(known[place:])
        pieces += _flag_last_sentence(before) if is_refused else _soften(before)
        is_single = len(support[groups[place]]) == 1
        if text.meta.get("is_listed"):  # its quote is below
            target, is_single = replace(target, note=""), False
        pieces.append(_marker(int(match[1]), target, seen, is_single=is_single))
        position = match.end()
        if text.meta.get("is_disputed") and text.content[position : position + 1].isspace():
            pieces.append(_html_token("<br>"))
    pieces += _soften(text.content[position:])
    return [piece for piece in pieces if piece.content]


def _soften(text: str) -> list[Token]:
    """Set what a text says of its sources apart: a doubt at its beginning, and who says it, with
    the day in words, at its end.
    """
    pieces = []
    if doubted := DOUBTED.match(text):
        pieces = [_text_token(" "), _span("doubted", _days_in_words(doubted[1] or doubted[2]))]
        text = text[doubted.end() :]
    text = EARLIER.sub(lambda found: _days_in_words(found[0]), text)
    told = TOLD_BY.search(text)
    if told is None:
        return [*pieces, _text_token(text)]
    by = _span("told-by", _days_in_words(told[0]))
    return [*pieces, _text_token(text[: told.start()]), by, _text_token(text[told.end() :])]


def _days_in_words(text: str) -> str:
    return DAY.sub(lambda day: format_partial_date(day[0]), text)


def _span(name: str, text: str) -> Token:
    return _html_token(f'<span class="{name}">{escape(text)}</span>')


def _is_refused(markers: Sequence[tuple[re.Match[str], Link]]) -> bool:
    """Return whether any marker of the adjacent group that starts with the first is rejected."""
    end = markers[0][0].start()
    for match, target in markers:
        if match.start() != end:
            return False
        if target.rejected:
            return True
        end = match.end()
    return False


def _flag_last_sentence(text: str) -> list[Token]:
    """Mark the last sentence of a text, or a whole quote, as resting on rejected evidence."""
    lead = len(text) - len(text.lstrip())
    ends = ENDS_QUOTE.search(text)
    begun = OPENS_QUOTE.finditer(text) if ends else SENTENCE_END.finditer(text)
    start = max((match.start() if ends else match.end() for match in begun), default=lead)
    sentence = text[start:].rstrip()
    if not sentence:
        return [_text_token(text)]
    marked = f"{REJECTED}{escape(sentence)}</span>"
    after = _text_token(text[start + len(sentence) :])
    return [_text_token(text[:start]), Token("html_inline", "", 0, content=marked), after]


def _html_token(content: str) -> Token:
    return Token("html_inline", "", 0, content=content)


def _text_token(content: str) -> Token:
    return Token("text", "", 0, content=content)


def _marker(number: int, target: Link, seen: set[int], *, is_single: bool) -> Token:
    """Return the link of a marker. The first of its number has the anchor of the citation."""
    identity = "" if number in seen else f' id="cite-{number}"'
    seen.add(number)
    kinds = ["cite", *["single"] * is_single, *["rejected"] * target.rejected]
    note = f' title="{escape(target.note)}"' if target.note else ""
    return Token(
        "html_inline",
        "",
        0,
        content=f'<sup class="{" ".join(kinds)}">'
        f'<a href="{escape(target.address)}"{identity} '
        f'aria-label="Citation {number}"{note}>{number}</a></sup>',
    )
