"""What a world consists of: facts, the pages that state them, and questions that need them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from bench.world.grammar import Statement

QuestionKind = Literal["simple", "medium", "complex", "unanswerable"]
KINDS: tuple[QuestionKind, ...] = ("simple", "medium", "complex", "unanswerable")
Trouble = Literal["", "slow", "error", "missing", "empty", "huge"]
PageKind = Literal["article", "mirror", "rival", "distractor"]


@dataclass(frozen=True)
class Fact:
    """A planted atomic fact. `hop` 0 is on the question's own subject; `rival_of` names the
    fact that it contradicts.
    """

    id: str
    statement: Statement
    hop: int = 0
    rival_of: str | None = None

    @property
    def code(self) -> str:
        return self.statement.code


@dataclass(frozen=True)
class Site:
    """A host of the world; `number` n listens on 127.0.0.n."""

    number: int
    name: str
    motto: str


@dataclass(frozen=True)
class Page:
    """A page as it is written; `facts` are those that its paragraphs state.

    `mirror_of` is the path of the page that it copies, `injected` a code that only an
    instruction to machines in its text names.
    """

    site: int
    path: str
    title: str
    published: str
    paragraphs: tuple[str, ...]
    kind: PageKind
    facts: tuple[str, ...] = ()
    trouble: Trouble = ""
    mirror_of: str = ""
    injected: str = ""

    @property
    def place(self) -> tuple[int, str]:
        return self.site, self.path

    @property
    def readable(self) -> bool:
        return self.trouble not in {"error", "missing", "empty"}

    @property
    def text(self) -> str:
        return "\n\n".join(self.paragraphs)


@dataclass(frozen=True)
class Question:
    """`hops[0]` are the ids of the needed facts on the subject, `hops[n]` those of the nth
    further name, which only a page of the hop before gives away. `rivals` are pairs of facts
    that contradict each other.
    """

    id: str
    kind: QuestionKind
    text: str
    aspects: tuple[str, ...]
    hops: tuple[tuple[str, ...], ...]
    chain: tuple[str, ...] = ()
    rivals: tuple[tuple[str, str], ...] = ()

    @property
    def needed(self) -> tuple[str, ...]:
        return tuple(fact for hop in self.hops for fact in hop)


@dataclass(frozen=True)
class World:
    """Everything that one seed makes, with how much the web holds."""

    seed: int
    sites: tuple[Site, ...]
    facts: dict[str, Fact]
    pages: tuple[Page, ...]
    questions: tuple[Question, ...]
    supply: str

    @cached_property
    def by_place(self) -> dict[tuple[int, str], Page]:
        return {page.place: page for page in self.pages}

    @cached_property
    def by_code(self) -> dict[str, list[Fact]]:
        found: dict[str, list[Fact]] = {}
        for fact in self.facts.values():
            found.setdefault(fact.code, []).append(fact)
        return found

    def facts_named_in(self, text: str) -> list[Fact]:
        """The facts whose code stands in a text as a word."""
        words = dict.fromkeys(re.findall(r"\w+", text))
        return [fact for word in words for fact in self.by_code.get(word, ())]

    def stating(self, fact: str) -> list[Page]:
        """The pages on which a fact stands and can be read."""
        return [page for page in self.pages if fact in page.facts and page.readable]

    def of_kind(self, kind: QuestionKind) -> list[Question]:
        return [question for question in self.questions if question.kind == kind]

    def secrets(self) -> frozenset[str]:
        """Every planted code and name: what nobody can know who has not read it."""
        statements = [fact.statement for fact in self.facts.values()]
        named = {word for s in statements for word in (s.code, s.subject, s.other) if word}
        return frozenset(named | {page.injected for page in self.pages if page.injected})
