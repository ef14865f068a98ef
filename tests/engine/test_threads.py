"""What threads share in the engine gives each of them what it gives one alone.

`python -m tests.engine.test_threads` does the same with 10,000 words, 20 times.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Sequence

import snowballstemmer

from research.engine.evidence.claims import clauses
from research.engine.llm_tasks.prompting import parse_json
from research.engine.llm_tasks.prompting.ask import TEMPLATES, render_template
from research.engine.offline.passages import passage_signs, ranked_sentences
from research.engine.text import entities, quantities, relevance, sentences, tokens
from research.fulltext import pg_lexemes
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
    tokens.stem.cache_clear()
    answers = in_threads(lambda: [tokens.stem(word) for word in asked])
    kept = [tokens.stem(word) for word in asked]
    return sum(
        one != right
        for found in (*answers, kept)
        for one, right in zip(found, expected, strict=True)
    )


def test_four_threads_stem_as_one_does() -> None:
    assert sum(wrong_stems(FEW) for _ in range(3)) == 0


def test_lexemes_of_four_threads_are_those_of_one() -> None:
    asked = words(FEW)
    pg_lexemes.normalize_word.cache_clear()
    expected = [pg_lexemes.normalize_word(word) for word in asked]
    pg_lexemes.normalize_word.cache_clear()
    assert (
        list(in_threads(lambda: [pg_lexemes.normalize_word(word) for word in asked]))
        == [expected] * 4
    )


CACHED: Sequence[tuple[Callable[[str], object], Sequence[Callable[..., object]]]] = (
    (tokens.split_terms, (tokens.stem, tokens._terms_of)),
    (sentences.split_sentences, (sentences._split_short, sentences._split_long)),
    (sentences.sentence_terms, (sentences._split_long, sentences.sentence_terms)),
    (clauses.parts_of, (clauses.parts_of, clauses.clauses_of)),
    (quantities.parse_figures, (quantities.parse_figures,)),
    (entities.find_numbers, ()),
    (relevance.term_weights, (relevance.term_weights,)),
    (ranked_sentences.ranked_sentences, (ranked_sentences.ranked_sentences,)),
    (passage_signs._order, (passage_signs._order,)),
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
    shown |= {"findings": "", "answer": ""}
    said = 'Here it is: {"a": [1, 2, {"b": "c"}], "d": "e"} and so on'

    def work() -> list[object]:
        return [
            (render_template("follow_up", shown), list(parse_json.parse_objects(said)))
            for _ in range(20)
        ]

    alone = work()
    TEMPLATES.cache.clear()  # type: ignore[union-attr]
    assert list(in_threads(work)) == [alone] * 4


if __name__ == "__main__":
    wrong = [wrong_stems(MANY) for _ in range(REPEATS)]
    print(f"{MANY:,} words, {REPEATS} times, 4 threads: {sum(wrong)} wrong stems")
    sys.exit(bool(sum(wrong)))
