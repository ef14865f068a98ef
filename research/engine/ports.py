"""The engine's interfaces to the outside world.

The engine never opens a socket, reads a clock or touches a database. It calls the four interfaces
below, always through a `Journal` (see `research/engine/journal/`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol, Self, runtime_checkable
from urllib.parse import urlsplit

from research.errors import PlumblineError

SourceKind = Literal[
    "official", "academic", "news", "reference", "association", "vendor", "blog", "forum",
    "document", "unknown",
]  # fmt: skip
SearchKind = Literal["web", "academic", "video"]
FetchStatus = Literal["refused", "failed", "empty"]
ModelRole = Literal["research", "reader", "evaluator", "judge"]
Hear = Callable[[str], None]
"""Gets a model's text so far, again and again while it grows."""


class ToolFailedError(PlumblineError):
    """A failed call to the outside.

    `reason` is one sanitised sentence that may be shown to a person: no internal address, trace or
    provider detail. `permanent` means that retrying is pointless.
    """

    def __init__(self, reason: str, *, permanent: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.permanent = permanent


class ModelFailedError(ToolFailedError):
    """The model's server returned no usable answer; it may have named a time for the next attempt.

    `spent` is the cost of the failed attempt, None if there was none. `too_long` means that the
    prompt and its answer exceed the model's window.
    """

    def __init__(
        self,
        reason: str,
        *,
        permanent: bool = False,
        retry_after_seconds: float | None = None,
        spent: ModelAnswer | None = None,
        too_long: bool = False,
    ) -> None:
        super().__init__(reason, permanent=permanent)
        self.retry_after_seconds = retry_after_seconds
        self.spent = spent
        self.too_long = too_long


class SearchFailedError(ToolFailedError):
    """Every search provider that was tried failed or refused."""


class FetchFailedError(ToolFailedError):
    """A page without text; `status` is the cause: refused, failed or empty."""

    def __init__(self, reason: str, *, status: FetchStatus, permanent: bool = True) -> None:
        super().__init__(reason, permanent=permanent)
        self.status = status


@dataclass(frozen=True)
class ModelRequest:
    """One call of one model task; `task` is also the name of the answer's JSON schema."""

    task: str
    system: str
    prompt: str
    schema: Mapping[str, Any]
    max_output_tokens: int
    role: ModelRole = "research"


@dataclass(frozen=True)
class ModelAnswer:
    """`cost_usd` is None if the price is unknown; tokens may be estimates.

    `cut_off` means that the answer ended at its length limit; `notes` are for the run's reader.
    """

    text: str
    model: str
    prompt_tokens: int
    completion_tokens: int
    tokens_estimated: bool = False
    cost_usd: float | None = None
    cut_off: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class SearchRequest:
    """A query and the bounds of its results.

    `since` and `until` are inclusive days in ISO 8601. A site includes its subdomains; an empty
    `only_sites` is any site. `private_words` are the words of the query that may be searched for in
    private documents only. Results should be on `each` thing that is named, as far as a search can
    look for them one by one.
    """

    query: str
    limit: int = 8
    language: str = "en"
    kind: SearchKind = "web"
    since: str | None = None
    until: str | None = None
    only_sites: tuple[str, ...] = ()
    never_sites: tuple[str, ...] = ()
    private_words: tuple[str, ...] = ()
    each: tuple[str, ...] = ()

    @property
    def public_query(self) -> str:
        """Return the query without words that occur in private documents only."""
        return " ".join(word for word in self.query.split() if word not in self.private_words)


@dataclass(frozen=True)
class SearchHit:
    """One result; `rank` counts from 1 in the order of relevance after fusion."""

    url: str
    title: str
    snippet: str
    provider: str
    rank: int
    published: str | None = None


@dataclass(frozen=True)
class SearchAnswer:
    """Results of one query, best first; `notes` name providers that failed on the way."""

    hits: tuple[SearchHit, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Page:
    """A fetched page as stored: every quote is checked against its `text`.

    `text` is readable text in light Markdown: blocks separated by a blank line, headings as `##
    Heading`, a term followed by its definition as `###### term` (a line `***` ends a list of
    terms), list items as lines `- item` or `1. item`, code indented by four spaces, table rows as
    lines with cells separated by a tab. `sha256` is the hex digest of `text` in UTF-8. Sources with
    the same `independence_key` count as one. Dates are ISO 8601, as precise as known. `fetched_at`
    may precede the run: see `PageCache`. `note` is a sentence for people if the page differs from
    what the site serves now.
    """

    url: str
    final_url: str
    title: str
    text: str
    sha256: str
    content_type: str
    domain: str
    independence_key: str
    fetched_at: datetime
    site: str = ""
    kind: SourceKind = "unknown"
    published: str | None = None
    language: str | None = None
    note: str = ""

    @classmethod
    def from_text(
        cls, url: str, text: str, title: str = "", *, fetched_at: datetime, **others: Any
    ) -> Self:
        """Return a page of which hardly more than its text is known.

        Its host counts as its source; `others` are further fields.
        """
        host = urlsplit(url).hostname or url
        given = {
            "final_url": url,
            "title": title or host,
            "sha256": hashlib.sha256(text.encode()).hexdigest(),
            "content_type": "text/plain",
            "domain": host,
            "independence_key": host,
        }
        return cls(url=url, text=text, fetched_at=fetched_at, **{**given, **others})


class Model(Protocol):
    """A language model's endpoint; raises `ModelFailedError`. One call is one attempt."""

    name: str

    async def complete(self, request: ModelRequest) -> ModelAnswer: ...


@runtime_checkable
class StreamingModel(Model, Protocol):
    """A model that can be followed while it writes: `hear` gets the text so far."""

    async def stream(self, request: ModelRequest, hear: Hear) -> ModelAnswer: ...


@runtime_checkable
class MeasuredModel(Model, Protocol):
    """A model whose window is known: tokens of prompt and answer together, or None."""

    async def context_tokens(self) -> int | None: ...


class Price(Protocol):
    """US dollars per token of a prompt and of an answer."""

    @property
    def input(self) -> float: ...

    @property
    def output(self) -> float: ...


@runtime_checkable
class PricedModel(Protocol):
    """A model that may know its price; None if the price is unknown."""

    def price(self, role: ModelRole) -> Price | None: ...

    def model_of(self, role: ModelRole) -> str:
        """Return the name of the model for this role."""
        ...


class Search(Protocol):
    """A search over the web or documents; raises `SearchFailedError`."""

    async def search(self, request: SearchRequest) -> SearchAnswer: ...


class Fetch(Protocol):
    """Gets one page as text; raises `FetchFailedError`."""

    async def fetch(self, url: str) -> Page: ...


class Clock(Protocol):
    """`monotonic` in seconds."""

    def now(self) -> datetime: ...

    def monotonic(self) -> float: ...


@dataclass(frozen=True)
class Tools:
    """The live tools of a run; `model` is None for the extractive analyst. `contents` are lines on
    what the asker's documents hold, if nothing else is searched.
    """

    search: Search
    fetch: Fetch
    clock: Clock
    model: Model | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    contents: tuple[str, ...] = ()
