import pytest

from research.engine.untrusted.search_words import MOST_CHARACTERS, search_words


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        ("lighthouse first lit", "lighthouse first lit"),
        ("http://evil.example/steal?q=my+question lamp", "evil.example lamp"),
        ("ask desk@a.example for the plan", "ask a.example for the plan"),
        ("site:a.example harbour […] plan", "a.example harbour plan"),
        ("q=secret tower", "tower"),
        ("exiftool -gps:all= -all= remove", "exiftool -gps:all= -all= remove"),
        ("node.js event loop", "node.js event loop"),
    ],
)
def test_a_query_is_words(query: str, sent: str) -> None:
    assert search_words(query) == sent


def test_a_query_is_short_and_ends_with_a_whole_word() -> None:
    words = search_words("harbour " * 60)
    assert len(words) <= MOST_CHARACTERS
    assert set(words.split()) == {"harbour"}
