"""Which words of a quote a card and a citation mark."""

from __future__ import annotations

import pytest

from dashboard.contexts.quotes import bearing_span, block_context, quote_pieces, split_blocks
from dashboard.views.citation import live_link
from research.models import EvidenceSource

QUOTE = "The tower stands on a rock. Edda Marlow designed it in 1885. It is built of granite."


@pytest.mark.parametrize(
    ("claim", "bearing"),
    [
        ("Edda Marlow designed it in 1885.", "Edda Marlow designed it in 1885."),
        ("The tower was designed by Edda Marlow.", "Edda Marlow designed it in 1885."),
        ("Granite was used.", "It is built of granite."),
        ("Whales sing.", QUOTE),
    ],
)
def test_the_words_that_bear_a_claim_are_found(claim: str, bearing: str) -> None:
    start, end = bearing_span(QUOTE, claim)
    assert QUOTE[start:end] == bearing


def test_list_marks_are_not_shown_and_what_matters_is_marked() -> None:
    pieces = quote_pieces("Needs:\n\n- two eggs\n- some butter\n- a pan", "some butter")
    assert [(piece["text"].strip(), piece["marked"]) for piece in pieces] == [
        ("Needs: two eggs", False),
        ("some butter", True),
        ("a pan", False),
    ]


def test_nothing_is_marked_where_all_of_a_quote_matters() -> None:
    assert quote_pieces("- It rose.", "It rose.") == [{"text": "It rose.", "marked": False}]


def test_a_card_shortens_what_comes_before_the_words_that_matter() -> None:
    quote = f"{'The keepers kept a log of all weather. ' * 5}It rose."
    card, whole = (quote_pieces(quote, "It rose.", whole=each) for each in (False, True))
    assert card[0]["text"].startswith("… ") and len(card[0]["text"]) < 85
    assert "".join(piece["text"] for piece in whole).strip() == quote


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("So:\n\n    a = 1\n\nOr.", [("text", "So:"), ("code", "    a = 1"), ("text", "Or.")]),
        ("So:\n\n```sql\nA;\n\nB;\n```", [("text", "So:"), ("code", "A;\n\nB;")]),
        ("~~~\nA;\n~~~\n", [("code", "A;")]),
        ("```\nA;\n\nOr.", [("code", "A;"), ("text", "Or.")]),
        ("```", [("code", "")]),
    ],
)  # fmt: skip
def test_code_in_a_stored_copy_is_set_as_code(text: str, blocks: list[tuple[str, str]]) -> None:
    found = [block_context(text, start, end, [], []) for start, end in split_blocks(text)]
    told = [(each["kind"], "".join(piece["text"] for piece in each["pieces"])) for each in found]
    assert told == blocks


@pytest.mark.parametrize(
    ("place", "told"),
    [(0, "The%20default%20is%2010."), (1, "How%20many%20bells.-,The%20default%20is%2010.")],
)
def test_a_link_to_a_quote_that_a_page_repeats_tells_which_is_meant(place: int, told: str) -> None:
    quote = "The default is 10."
    text = f"- How many lamps.\n\n{quote}\n\n- How many bells.\n\n{quote}"
    start = (text.index(quote), text.rindex(quote))[place]
    row = EvidenceSource(url="https://a.org/", quote=quote, start=start)
    assert live_link(row, text) == f"https://a.org/#:~:text={told}"
    assert live_link(row, "") == "https://a.org/#:~:text=The%20default%20is%2010."
