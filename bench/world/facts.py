"""The parts of a world: facts, the pages that state them, and questions that need them."""

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
    """A planted atomic fact.

    `hop` 0 is about the question's subject; `rival_of` names the fact that it contradicts.
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
    """A page; `facts` are those stated in its paragraphs.

    `mirror_of` is the path of the page that it copies, `injected` the code in a prompt injection of
    its text, which occurs in no other page.
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
    """A question.

    `hops[0]` are the ids of the needed facts on the subject, `hops[n]` those of the nth further
    name, which only a page of the previous hop reveals. `rivals` are pairs of contradicting facts.
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
    """Everything generated from one seed and supply."""

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
        """Return the facts whose code occurs in a text as a word."""
        words = dict.fromkeys(re.findall(r"\w+", text))
        return [fact for word in words for fact in self.by_code.get(word, ())]

    def stating(self, fact: str) -> list[Page]:
        """Return the readable pages that state a fact."""
        return [page for page in self.pages if fact in page.facts and page.readable]

    def of_kind(self, kind: QuestionKind) -> list[Question]:
        return [question for question in self.questions if question.kind == kind]

    def secrets(self) -> frozenset[str]:
        """Return every planted code and name, unknown to any model that has not read the pages."""
        statements = [fact.statement for fact in self.facts.values()]
        named = {word for s in statements for word in (s.code, s.subject, s.other) if word}
        return frozenset(named | {page.injected for page in self.pages if page.injected})
