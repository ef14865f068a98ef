"""A search of one collection by a person who wants to see what a run would find in it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from research import assembly
from research.engine.text import term_set
from research.models import Collection
from research.retrieval.index import DocumentIndex
from research.retrieval.index_queries import IndexHit

SHOWN = 10
QUERY_LENGTH = 300
_WORDS_TO_FIND = 6
_BETWEEN = r"[\s#*`\-]+"
_HEADING = re.compile(r"^#{1,6} +(.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Passage:
    """A document that was found, and its best passage; `section` is the heading above it."""

    url: str
    title: str
    text: str
    section: str
    terms: frozenset[str]

    def matches(self, word: str) -> bool:
        """Whether a word of the passage is one that was searched for, or a form of it."""
        return not self.terms.isdisjoint(term_set(word))


async def try_search(collection: Collection, query: str) -> list[Passage]:
    """The best documents of a collection, best first. Raises `DocumentError`."""
    index, _ = assembly.documents()
    if not collection.index_name:
        return []
    hits = await index.search(query[:QUERY_LENGTH], [collection.index_name], SHOWN)
    terms = term_set(query)
    return [await _passage(index, collection.index_name, hit, terms) for hit in hits]


async def _passage(
    index: DocumentIndex, name: str, hit: IndexHit, terms: frozenset[str]
) -> Passage:
    document = await index.document(hit.url, [name])
    section = section_of(document.text, hit.snippet) if document else ""
    return Passage(hit.url, hit.title, hit.snippet, section, terms)


def section_of(text: str, snippet: str) -> str:
    """The last heading above a snippet's first words or among them, such as "Page 12".

    A snippet has lost line ends and marks of the text, so it is looked for by its first words.
    """
    words = snippet.rstrip("…").split()[:_WORDS_TO_FIND]
    place = re.search(_BETWEEN.join(map(re.escape, words)), text) if words else None
    above = [found[1] for found in _HEADING.finditer(text) if place and found.end() <= place.end()]
    return above[-1].strip() if above else ""
