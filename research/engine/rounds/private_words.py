"""Words that a run first met in private documents: they leave for no web search unasked."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from research.engine.run import Run
from research.engine.text.tokens import is_stop_word, split_tokens

DOCUMENT = "file:"
USER = "user"
"""What raised the sub-questions that a person wrote while the run was under way."""


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
    yield from (f"{part.text} {part.query}" for part in ledger.plan.aspects)
    yield from (aspect.text for aspect in ledger.aspects.values() if aspect.raised_by == USER)
    yield from (s.title for s in ledger.sources.values() if not s.url.startswith(DOCUMENT))
    yield from (p.text for p in ledger.pages.values() if not p.url.startswith(DOCUMENT))


@lru_cache(maxsize=512)
def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in split_tokens(text) if not is_stop_word(word))
