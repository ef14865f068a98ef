"""What an answer says that its prompt doesn't."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from bench.world import grammar, oracle, wants
from bench.world.facts import World
from bench.world.grammar import Statement, parse

_WORD = re.compile(r"[^\W\d_]+")
_LEAD = re.compile(r'^\s*(?:\[\w+\] (?:\([^)]*\) )?|- |")')
_TAIL = re.compile(r'(?:" \([^)]*\)| \(cites .*)$')


def leaks(world: World, prompt: str, answer: Any) -> set[str]:
    """What the answer holds and the prompt lacks: secrets of the world, paths of its pages,
    addresses, long numbers, facts put together anew, and words that no oracle has of itself.
    """
    said = list(_texts(answer))
    whole = json.dumps(answer, ensure_ascii=False)
    secrets = {*world.secrets(), *_attributes(world), *(page.path for page in world.pages)}
    loose = {*re.findall(r"\d{5,}|https?://[^\s\"]+|\b127\.[\d.]+", whole), *secrets}
    words = {word for text in said for word in _WORD.findall(text)}
    return {
        *(secret for secret in loose if secret in whole and secret not in prompt),
        *(words - set(_WORD.findall(prompt)) - _own_words()),
        *(fact.claim() for fact in stated(_sentences(said)) - stated(prompt.splitlines())),
    }


def _texts(answer: Any) -> Iterator[str]:
    if isinstance(answer, str):
        yield answer
    elif isinstance(answer, dict):
        for part in answer.values():
            yield from _texts(part)
    elif isinstance(answer, list):
        for part in answer:
            yield from _texts(part)


def _sentences(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from re.split(r"(?<=\.)\s+", text)


def stated(lines: Iterable[str]) -> set[Statement]:
    """The facts that stand in lines of a prompt, or in sentences."""
    plain = (_TAIL.sub("", _LEAD.sub("", line)) for line in lines)
    return {fact for line in plain if (fact := parse(line))}


def _attributes(world: World) -> set[str]:
    """The invented names of what is asked for; relations are common words."""
    facts = (fact.statement for fact in world.facts.values())
    asked = {name for question in world.questions for name in question.aspects}
    return {name for name in {*(s.attribute for s in facts), *asked} if " " in name}


@cache
def _own_words() -> frozenset[str]:
    """The words of the oracle's own program, which knows no world."""
    files = (Path(str(module.__file__)) for module in (oracle, wants, grammar))
    return frozenset(word for file in files for word in _WORD.findall(file.read_text()))
