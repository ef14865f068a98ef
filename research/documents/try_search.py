"""Looking into a collection: its documents, their texts, and what a run would find in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import unquote

from research.documents.folder import FileAddressing, part_url, whole_url
from research.engine.text.tokens import term_set
from research.fulltext.index import DocumentIndex
from research.fulltext.index_queries import IndexedDocument, IndexHit, ListedDocument
from research.models import Collection
from research.runtime import tool_factory

SHOWN = 10
QUERY_LENGTH = 300
_WORDS_TO_FIND = 6
# white space and Markdown between two words of a snippet, which hold none of it: " **"
_BETWEEN = re.compile(r"[\s#*`\-]+")
# "## Page 12"
_HEADING = re.compile(r"^#{1,6} +(.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Passage:
    """A document that was found, and its best passage; `section` is the heading above it."""

    url: str
    title: str
    text: str
    section: str
    terms: frozenset[str]

    @property
    def path(self) -> str:
        """Return the path of its file: "a/b c.pdf" of "file:///Mill/a/b%20c.pdf?part=2"."""
        return unquote(whole_url(self.url).removeprefix("file:///").partition("/")[2])

    def matches(self, word: str) -> bool:
        """Return whether a word of the passage is a search term or a form of one."""
        return not self.terms.isdisjoint(term_set(word))


async def try_search(collection: Collection, query: str) -> list[Passage]:
    """Return the best documents of a collection, best first; raise `DocumentError`."""
    return await search_collections([collection], query)


async def search_collections(
    collections: Iterable[Collection], query: str, limit: int = SHOWN
) -> list[Passage]:
    """Return the best documents of several collections, best first; raise `DocumentError`."""
    index, _ = tool_factory.index_and_pool()
    names = [each.index_name for each in collections if each.index_name]
    if not names:
        return []
    hits = await index.search(query[:QUERY_LENGTH], names, limit)
    terms = term_set(query)
    return [await _load_passage(index, names, hit, terms) for hit in hits]


async def count_documents(collection: Collection, text: str) -> int:
    """Return how many documents have the text in their path or title; raise `DocumentError`."""
    index, _ = tool_factory.index_and_pool()
    return await index.count_documents(collection.index_name, text)


async def list_documents(
    collection: Collection, text: str, start: int, most: int
) -> list[ListedDocument]:
    """Return those documents by path, from the place `start` on; raise `DocumentError`."""
    index, _ = tool_factory.index_and_pool()
    return await index.list_documents(collection.index_name, text, start, most)


@dataclass(frozen=True)
class FileText:
    """A file as it was indexed, its parts in order; `title` is that of the first."""

    title: str
    text: str
    read_at: datetime


async def read_file(collection: Collection, name: str) -> FileText | None:
    """Return the text of a file; None if it isn't indexed.
    `name` is its path in the collection. Raise `DocumentError`.
    """
    index, _ = tool_factory.index_and_pool()
    if not collection.index_name:
        return None
    address = FileAddressing().address(collection.index_name, name).url
    names, parts = [collection.index_name], list[IndexedDocument]()
    while document := await index.document(part_url(address, len(parts)), names):
        parts.append(document)
    if not parts:
        return None
    text = "\n\n".join(part.text for part in parts)
    return FileText(parts[0].title, text, parts[0].indexed_at)


async def _load_passage(
    index: DocumentIndex, names: Sequence[str], hit: IndexHit, terms: frozenset[str]
) -> Passage:
    document = await index.document(hit.url, names)
    section = section_of(document.text, hit.snippet) if document else ""
    return Passage(hit.url, hit.title, hit.snippet, section, terms)


def section_of(text: str, snippet: str) -> str:
    """Return the last heading above or within a snippet's first words, such as "Page 12".

    Snippets have lost the text's line ends and Markdown, so the first words are searched for.
    """
    words = [word for word in _BETWEEN.split(snippet.rstrip("…")) if word][:_WORDS_TO_FIND]
    place = re.search(_BETWEEN.pattern.join(map(re.escape, words)), text) if words else None
    above = [found[1] for found in _HEADING.finditer(text) if place and found.end() <= place.end()]
    return above[-1].strip() if above else ""
