"""The part of a passage to show for a query: whole sentences around most of its words."""

from __future__ import annotations

import re

from research.retrieval.terms import QueryTerms

MAX_CHARACTERS = 400

_SENTENCE = re.compile(r"[^\n]*?(?:[.!?。！？](?=\s|$)|\n|$)")
_MARKUP = re.compile(r"^(?:#{1,6}\s+|[-*]\s+|```\w*)", re.MULTILINE)


def snippet(passage: str, terms: QueryTerms) -> str:
    """At most `MAX_CHARACTERS` of the passage, from the sentence that says most on."""
    plain = _MARKUP.sub("", passage).strip()
    if len(" ".join(plain.split())) <= MAX_CHARACTERS:
        return " ".join(plain.split())
    sentences = [" ".join(found.split()) for found in _SENTENCE.findall(plain)]
    sentences = [sentence for sentence in sentences if sentence]
    stems = {_stem(word) for word in terms.words}
    windows = [_window(sentences, start) for start in range(len(sentences))]
    return max(windows, key=lambda text: _coverage(text, stems), default="")


def _window(sentences: list[str], start: int) -> str:
    text = sentences[start]
    for sentence in sentences[start + 1 :]:
        if len(text) + 1 + len(sentence) > MAX_CHARACTERS:
            break
        text = f"{text} {sentence}"
    return text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 1].rstrip() + "…"


def _coverage(text: str, stems: set[str]) -> int:
    folded = text.casefold()
    return sum(stem in folded for stem in stems)


def _stem(word: str) -> str:
    """A prefix that most forms of an English word share."""
    return word[: max(4, len(word) - 3)]
