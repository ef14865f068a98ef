"""Invented words and numbers; each topic of each seed has a separate range of both.

Words of two seeds never coincide if the seeds differ modulo `STRETCHES`; numbers are unique within
a world.
"""

from __future__ import annotations

import random

ONSETS = (
    *("b", "br", "c", "ch", "cl", "d", "dr", "f", "fl", "fr", "g", "gl", "gr", "h", "j", "k"),
    *("kr", "l", "m", "n", "p", "pl", "pr", "qu", "r", "s", "sk", "sl", "sm", "sp", "st", "sw"),
    *("t", "th", "tr", "v", "w", "y", "z", "zh"),
)
MIDDLES = (
    *("b", "bl", "d", "dr", "f", "g", "k", "l", "ld", "lm", "lv", "m", "mb", "n", "nd", "ng"),
    *("nt", "p", "r", "rd", "rk", "rm", "rn", "rv", "s", "sk", "t", "v", "x", "z"),
)
CODAS = ("l", "n", "r", "k", "m", "sh", "th", "x", "nd", "rn", "lk", "b")
VOWELS = "aeiou"
FIRST = [onset + vowel for onset in ONSETS for vowel in VOWELS]
SECOND = [middle + vowel for middle in MIDDLES for vowel in VOWELS]
THIRD = [m + vowel + coda for m in MIDDLES for vowel in VOWELS for coda in CODAS]
WORDS = len(FIRST) * len(SECOND) * len(THIRD)
NUMBERS, FIRST_NUMBER = 9_000_000, 1_000_000
SPREAD_WORDS, SPREAD_NUMBERS = 37_368_787, 7_368_787
TOPICS, WORDS_A_TOPIC, NUMBERS_A_TOPIC = 400, 50, 50
STRETCHES = WORDS // (TOPICS * WORDS_A_TOPIC)


class Names:
    """The words and numbers of one topic, each returned once."""

    def __init__(self, seed: int, topic: int) -> None:
        if not 0 <= topic < TOPICS:
            raise ValueError(f"a world has at most {TOPICS} topics")
        place = seed % STRETCHES * TOPICS + topic
        self._words = iter(range(place * WORDS_A_TOPIC, (place + 1) * WORDS_A_TOPIC))
        base = random.Random(f"numbers/{seed}").randrange(NUMBERS)
        start = base + topic * NUMBERS_A_TOPIC
        self._numbers = iter(range(start, start + NUMBERS_A_TOPIC))

    def word(self) -> str:
        """Return an invented word in lower case."""
        at = next(self._words) * SPREAD_WORDS % WORDS
        at, third = divmod(at, len(THIRD))
        first, second = divmod(at, len(SECOND))
        return FIRST[first] + SECOND[second] + THIRD[third]

    def name(self) -> str:
        return self.word().capitalize()

    def number(self) -> str:
        """Return a number of seven digits."""
        return str(FIRST_NUMBER + next(self._numbers) * SPREAD_NUMBERS % NUMBERS)
