"""What threads share in the engine gives each of them what it gives one alone.

`python -m tests.engine.test_threads` does the same with 10,000 words, 20 times.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Sequence

import snowballstemmer

from research.engine import claims, features, figures, relevance, sentences, text
from research.engine.extractive import lines, wanted
from research.engine.tasks import objects
from research.engine.tasks.ask import _TEMPLATES, render
from research.retrieval import lexemes
from tests.support.threads import in_threads

ENDINGS = ("", "s", "ed", "ing", "ly", "ation", "ations", "ness", "able", "fulness", "ising")
FEW, MANY, REPEATS = 1_000, 10_000, 20
TEXT = (
    "# Pumps\n\nThe rotor of pump 77 turns 1,500 times a minute. It was installed on 3 May 2021, "
    "because the older one, which Edda Marlow had built, failed twice in 12 months.\n\n"
    "- Close the valve.\n- Drain 30 litres of oil.\n\nIt costs $1.2 million per year."
)


def words(count: int) -> list[str]:
    """Words that nobody stemmed before, with the endings that stemming takes off."""
    letters = itertools.product("bdfgklmnprst", "aeiou", "bdfgklmnprst", "aeiou", "ktrnm")
    stems = ("".join(each) for each in letters)
    return [stem + ending for stem in itertools.islice(stems, count // len(ENDINGS) + 1)
            for ending in ENDINGS][:count]  # fmt: skip


def wrong_stems(count: int) -> int:
    """How many stems differ from those of one thread: what was answered, and what stays cached."""
    asked = words(count)
    expected = [snowballstemmer.stemmer("english").stemWord(word) for word in asked]
    text.stem.cache_clear()
    answers = in_threads(lambda: [text.stem(word) for word in asked])
    kept = [text.stem(word) for word in asked]
    return sum(
        one != right
        for found in (*answers, kept)
        for one, right in zip(found, expected, strict=True)
    )


def test_four_threads_stem_as_one_does() -> None:
    assert sum(wrong_stems(FEW) for _ in range(3)) == 0


def test_lexemes_of_four_threads_are_those_of_one() -> None:
    asked = words(FEW)
    lexemes.lexeme.cache_clear()
    expected = [lexemes.lexeme(word) for word in asked]
    lexemes.lexeme.cache_clear()
    assert list(in_threads(lambda: [lexemes.lexeme(word) for word in asked])) == [expected] * 4


CACHED: Sequence[tuple[Callable[[str], object], Sequence[Callable[..., object]]]] = (
    (text.terms, (text.stem, text._terms_of)),
    (sentences.sentences, (sentences.sentences,)),
    (sentences.sentence_terms, (sentences.sentences, sentences.sentence_terms)),
    (claims._parts, (claims._parts, claims._clauses)),
    (figures.figures, (figures.figures,)),
    (features.numbers, ()),
    (relevance.term_weights, (relevance.term_weights,)),
    (lines.lines, (lines.lines,)),
    (wanted.holds, (wanted.holds,)),
)


def test_what_is_cached_of_a_text_is_the_same_in_every_thread() -> None:
    texts = [f"{TEXT}\n\nNumber {number}." for number in range(4)]
    for function, caches in CACHED:
        expected = [function(each) for each in texts]
        for cache in caches:
            cache.cache_clear()  # type: ignore[attr-defined]
        found = in_threads(lambda of=function: [of(each) for each in texts])  # type: ignore[misc]
        assert list(found) == [expected] * 4, function


def test_templates_and_the_decoder_are_safe_to_share() -> None:
    shown = {"said": "And where?", "today": "2026-03-01", "question": "When?", "summary": TEXT}
    said = 'Here it is: {"a": [1, 2, {"b": "c"}], "d": "e"} and so on'

    def work() -> list[object]:
        return [(render("follow_up", shown), list(objects.objects(said))) for _ in range(20)]

    alone = work()
    _TEMPLATES.cache.clear()  # type: ignore[union-attr]
    assert list(in_threads(work)) == [alone] * 4


if __name__ == "__main__":
    wrong = [wrong_stems(MANY) for _ in range(REPEATS)]
    print(f"{MANY:,} words, {REPEATS} times, 4 threads: {sum(wrong)} wrong stems")
    sys.exit(bool(sum(wrong)))
