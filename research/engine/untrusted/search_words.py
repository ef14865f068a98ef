"""A query as words: what may be sent to a search provider."""

from __future__ import annotations

import re
from functools import lru_cache

from research.engine.text.folding import canonical
from research.engine.text.tokens import normalise_space
from research.engine.untrusted.address_wall import ELISION
from research.engine.untrusted.addresses import addresses_in

MOST_CHARACTERS = 200
_OPERATOR = re.compile(
    r"(?<!\w)(?:site|inurl|intitle|intext|link|related|cache|filetype):\s?", re.I
)
"""A search engine's own command, such as "site:"."""
_ASSIGNED = re.compile(r"(?<!\w)\w{1,64}=\S*")
"""A parameter of an address, such as "q=…"."""


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
