"""Filter titles, site names and dates of pages and search results before they are used.

They reach prompts and reports like sentences, so they pass the same filter. A title with
instructions or an address, or one that says what its page doesn't, is replaced by the page's host.
So is a site name that is no name, and a title loses the end that its page doesn't know.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from research.engine.ports import Page, SearchAnswer, SearchHit
from research.engine.text.folding import canonical
from research.engine.text.offload import run_in_thread
from research.engine.text.sentences import split_sentences, take_apart
from research.engine.text.tokens import normalise_space
from research.engine.untrusted.address_wall import ELISION, AddressWall
from research.engine.untrusted.dictation import find_dictation, without_dictated
from research.engine.untrusted.embedded_parts import BRACKETS, without_foreign_end
from research.engine.untrusted.order_words import content_terms, evident_terms
from research.engine.untrusted.prompt_injection import (
    find_orders,
    is_foreign,
    is_order,
    modelled_orders,
    only_quoted,
    orders_by_themselves,
    removed_orders,
)

LONGEST_LABEL = 300
LEAST_TITLE_TERMS = 4
MOST_NAME_WORDS, MOST_NAME_LETTERS = 4, 12
"""Of a site name that its host doesn't have: words, and letters of a script without spaces."""
LEAST_SHARED = 4
"""Letters of a word of a site name by which it belongs to a host."""
_DATE = re.compile(r"\d{4}(?:-\d\d(?:-\d\d(?:[T ][\d:.+Z-]{0,30})?)?)?")
"""Such as "2026-03-01"."""
_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff]")


def screened_page(page: Page, asked: str, has_model: bool = True) -> Page:
    """Return the page with a title, site and date that may be shown; its text is as it was.

    What a title or name dictates is cut, and so are the end of a title that is foreign to its page
    and a site name that is no name: not in runs without a model, whose prompts nothing steers.
    """
    wall, around = AddressWall(asked, [page], is_wide=has_model), page.text
    title = page.title if names_page(page.title, page, asked) else ""
    site = "" if is_foreign(page.site, around, asked) else page.site
    if has_model:
        title, site = without_dictated(title), without_dictated(site)
        site = site_name(site, page.domain)
        title = without_foreign_end(title, f"{_said_below(title, around)} {site}", asked)
    return replace(
        page,
        title=_label(title, asked, wall),
        site=_label(site, asked, wall),
        published=_date(page.published),
    )


def _said_below(title: str, text: str) -> str:
    """Return the text of a page without its title."""
    return " ".join(each.text for each in split_sentences(text) if each.text != title)


def site_name(site: str, host: str) -> str:
    """Return a site name without brackets; "" if it is too long for a name and has no word, and not
    the initials, of its host.
    """
    name = normalise_space(BRACKETS.sub(" ", site))
    words = _WORD.findall(name.casefold())
    is_short = len(words) <= MOST_NAME_WORDS and len(_UNSPACED.findall(name)) <= MOST_NAME_LETTERS
    if is_short:
        return name
    plain = host.casefold()
    initials = "".join(word[0] for word in _WORD.findall(name) if word[0].isupper()).casefold()
    is_of_host = len(initials) > 1 and initials in plain
    is_of_host |= any(len(word) >= LEAST_SHARED and word in plain for word in words)
    return name if is_of_host and len(words) <= 2 * MOST_NAME_WORDS else ""


def names_page(title: str, page: Page, asked: str) -> bool:
    """Return whether a title belongs to its page: it says little that neither the page nor the
    question says.
    """
    terms = content_terms(title)
    named = sum(map(str.isalpha, terms))
    if named < LEAST_TITLE_TERMS or 2 * named < len(terms):
        return True  # however little of it the page says
    said = f"{asked} {_said_below(title, page.text)}"
    return _are_known(terms, evident_terms(title, said)) or _are_known(terms, content_terms(said))


def _are_known(terms: frozenset[str], known: frozenset[str]) -> bool:
    unknown = {term for term in terms - known if term.isalpha()}
    return len(unknown) < LEAST_TITLE_TERMS or 2 * len(unknown) < len(terms)


def screened_answer(answer: SearchAnswer, asked: str, has_model: bool = True) -> SearchAnswer:
    """Return results with titles and snippets that may be shown, without what they dictate to a
    model that reads them.
    """
    hits = tuple(_screened_hit(hit, asked, has_model) for hit in answer.hits)
    return replace(answer, hits=hits)


def _screened_hit(hit: SearchHit, asked: str, has_model: bool) -> SearchHit:
    wall = AddressWall(asked, (), is_wide=has_model)
    found = split_sentences(canonical(hit.snippet))
    told = find_orders(found, asked)
    if has_model:
        told |= find_dictation(tuple(found)) | modelled_orders(tuple(found), asked)
        hit = replace(hit, title=without_dictated(hit.title))
    snippet = " ".join(each.text for each in found if each.number not in told)
    title = _label(hit.title, asked, wall)
    return replace(hit, title=title, snippet=wall.masked(snippet), published=_date(hit.published))


def _label(text: str, asked: str, wall: AddressWall) -> str:
    """Return a title or name in one line; '' if it contains instructions."""
    plain = normalise_space(canonical(text))[:LONGEST_LABEL]
    if is_order(plain, asked):
        return ""
    masked = wall.masked(plain)
    return "" if masked.strip() == ELISION else masked


def _date(text: str | None) -> str | None:
    return text if text and _DATE.fullmatch(text) else None


def label_of(text: str, asked: str) -> str:
    """Return a heading or name of a page as it may be shown."""
    return _label(text, asked, AddressWall(asked, ()))


async def suspicious_pages(pages: Sequence[Page], asked: str) -> list[Page]:
    """Return the pages that are read alone."""
    return await run_in_thread(_suspicious, pages, asked)


def _suspicious(pages: Sequence[Page], asked: str) -> list[Page]:
    return [page for page in pages if is_suspicious(page, asked)]


def take_pages_apart(pages: Sequence[Page], asked: str, has_model: bool = True) -> None:
    """Find the sentences of these pages, and the orders and the dictation among them, ahead of
    their use: all is remembered, and of a megabyte it takes seconds. What the verifier will ask
    takes little while the words of the sentences are known. Without a model nobody asks for either.
    """
    take_apart(page.text for page in pages)
    for page in pages if has_model else ():
        found = split_sentences(page.text)
        is_suspicious(page, asked)
        only_quoted(found, asked)
        orders_by_themselves(found)


def is_suspicious(page: Page, asked: str) -> bool:
    """Return whether a page contains instructions anywhere, and so is read alone."""
    return bool(removed_orders(split_sentences(page.text), asked))
