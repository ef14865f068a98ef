"""Orders that a page gives to whoever reads it by machine: no statements, and so no evidence.

Rule C11 of `docs/requirements.md`. A sentence is such an order where it addresses machines as
its readers, where it tells the reader to drop what was asked, or where it tells the reader, or
machines, what to say: "state that …" asserts nothing. What follows it in its block belongs to
it. Such sentences are neither shown to a model nor quoted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from research.engine.sentences import Sentence

_MACHINE = (
    r"(?:(?:all|any|an?|the|every|our|you)\s+)*"
    r"(?:(?:artificial intelligence|(?:large )?language|web)\s+)*"
    r"(?:AIs?|LLMs?|GPTs?|language models?|chat ?bots?|bots?|robots?|crawlers?|scrapers?"
    r"|(?:AI|automated|automatic|machine|virtual|digital|research|chat)\s+"
    r"(?:models?|assistants?|agents?|readers?|systems?|tools?|summari[sz]ers?|researchers?)"
    r"|helpful assistants?)"
)
_SAY = (
    r"(?:say|state|write|answer|reply|respond|report|claim|declare|assert|announce|output|print"
    r"|repeat|conclude|insist|confirm"
    r"|(?:tell|inform) (?:the )?(?:users?|readers?|askers?|them|people|everyone))"
)
_DROP = r"(?:ignore|disregard|forget|override|bypass|abandon|discard|stop following)"
_ASKED = r"(?:question|task|request|query|conversation)s?"
_TOLD = rf"(?:{_ASKED}|(?:instruction|prompt|guideline|rule|message|direction|order)s?|context)"
_OPENING = (
    r"(?:^|[.!?:;–—]\s*|\bplease\s+"
    r"|\byou (?:must|should|shall|will|have to|need to|are to)\s+(?:now |always |instead )?)"
)
_MACHINES_MUST = (
    rf"(?:^|[.!?:;–—]\s*){_MACHINE}\s+(?:must|should|shall|(?:have|has|need|needs|are|is) to)\s+"
    r"(?:(?:now|always|instead|only)\s+)?"
)
"""Told of machines rather than to them; what they must say of themselves is a rule of the world."""
_ORDERS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"\b(?:note|notice|message|memo|instructions?|reminder|warning)\s+(?:to|for)\s+{_MACHINE}\b"
        rf"[^.!?:]{{0,60}}[:!–—]",
        rf"\b(?:attention|dear|hey|hello)\W\s*{_MACHINE}\b[^.!?:]{{0,60}}[:,!–—]",
        rf"\b(?:if you are|you are(?: now)?|as)\s+{_MACHINE}\b[^.!?]{{0,60}}[,:].*"
        rf"\b(?:you|your|please|must|{_SAY}|{_DROP})\b",
        rf"^(?:(?:to|for)\s+)?{_MACHINE}\s*[:,]\s*"
        rf"(?:please|you\b|do not|don't|always|never|{_SAY}|{_DROP})",
        rf"{_OPENING}{_SAY}(?:\s+(?!that\b)[\w']+){{0,3}}\s+that\b",
        rf"{_MACHINES_MUST}{_SAY}(?:\s+(?!that\b)[\w']+){{0,3}}\s+that\b(?!\s+the(?:y|ir)\b)",
        rf"(?:{_OPENING}|{_MACHINES_MUST}){_DROP}\s+(?:[\w']+\s+){{0,3}}?"
        rf"(?:previous|prior|above|earlier|preceding|all|any|your|other|these|those)\s+"
        rf"(?:[\w']+\s+){{0,3}}?{_TOLD}\b",
        rf"{_OPENING}(?:{_DROP}\s+(?:the|this)\s+{_ASKED}|(?:set|put|leave|lay)\s+(?:\w+\s+){{0,3}}{_ASKED}"
        rf"\s+aside)\b",
    )
)  # fmt: skip


def is_order(text: str) -> bool:
    """Whether a sentence gives orders to a machine that reads it."""
    return any(order.search(text) for order in _ORDERS)


@lru_cache(maxsize=256)
def orders(found: Sequence[Sentence]) -> frozenset[int]:
    """The numbers of the sentences that are orders, or follow one in its block."""
    numbers, block = set(), -1
    for sentence in found:
        if sentence.block == block or is_order(sentence.text):
            numbers.add(sentence.number)
            block = sentence.block
    return frozenset(numbers)
