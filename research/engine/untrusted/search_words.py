"""A query as words: what may be sent to a search provider, and what only if the person agrees."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from research.engine.text.folding import canonical
from research.engine.text.tokens import is_stop_word, normalise_space, split_tokens
from research.engine.untrusted.address_wall import ELISION
from research.engine.untrusted.addresses import addresses_in

if TYPE_CHECKING:
    from research.engine.run import Run

MOST_CHARACTERS = 200
DOCUMENT = "file:"
USER = "user"
"""What raised the sub-questions that a person wrote while the run was under way."""
_OPERATOR = re.compile(
    r"(?<!\w)(?:site|inurl|intitle|intext|link|related|cache|filetype):\s?", re.I
)
"""A search engine's own command, such as "site:"."""
_ASSIGNED = re.compile(r"(?<!\w)\w{1,64}=\S+")
"""A parameter of an address, such as "q=secret"; an option such as "-all=" has no value."""


@lru_cache(maxsize=4_000)
def search_words(query: str) -> str:
    """Return a query as words: of an address only the host, and at most `MOST_CHARACTERS`."""
    text = _OPERATOR.sub(" ", canonical(query).replace(ELISION, " "))
    for address in reversed(addresses_in(text)):
        host = address.host.removeprefix("www.")
        text = f"{text[: address.start]} {host} {text[address.end :]}"
    words = normalise_space(_ASSIGNED.sub(" ", text).replace("://", " "))
    if len(words) <= MOST_CHARACTERS:
        return words
    cut = words[: MOST_CHARACTERS + 1].rpartition(" ")[0]
    return cut or words[:MOST_CHARACTERS]


def private_words(run: Run, query: str) -> tuple[str, ...]:
    """Return the words of a query that the run first met in documents and nowhere in public.

    What the person wrote, the plan and pages of the web are public. None if the person agreed that
    words of documents may be searched for.
    """
    pages = run.ledger.pages.values()
    documents = [page.text for page in pages if page.url.startswith(DOCUMENT)]
    if run.ledger.plan.searches_private_words or not documents:
        return ()
    known = set().union(*map(_words, _public_texts(run)))
    private = set().union(*map(_words, documents)) - known
    return tuple(part for part in query.split() if _words(part) & private)


def _public_texts(run: Run) -> Iterator[str]:
    ledger = run.ledger
    yield run.question.text
    yield ledger.plan.brief
    yield from ledger.instructions
    yield from (f"{part.text} {part.query}" for part in ledger.plan.aspects)
    yield from (aspect.text for aspect in ledger.aspects.values() if aspect.raised_by == USER)
    yield from (s.title for s in ledger.sources.values() if not s.url.startswith(DOCUMENT))
    yield from (p.text for p in ledger.pages.values() if not p.url.startswith(DOCUMENT))


@lru_cache(maxsize=512)
def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in split_tokens(text) if not is_stop_word(word))
