"""Which passages are shown for a question, how likely they answer, and what follows from that."""

from __future__ import annotations

from dataclasses import replace

import pytest

from research.engine.assessment import answer_status
from research.engine.offline.passages.passage_model import (
    SHOWN,
    WITHOUT_ITS_KIND,
    answer_probability,
    best_distinct,
    rank_passages,
)
from research.engine.offline.passages.passage_signs import AskedText, PassageRanking
from research.engine.offline.passages.shown_passages import shown_text, standings
from research.engine.ports import Page
from research.engine.records import AnswerStatus, AnswerSupport, AspectState
from tests.engine.offline.test_drafting import read_into
from tests.engine.scripted import page

SETTINGS = page(
    "https://lamps.example/settings",
    "# Settings\n\nThe lamps of the tower are set by these names.\n\n"
    "###### wick_length\n\nHow long the wick is. The default is 3 centimetres.\n\n"
    "###### wick_width\n\nHow wide the wick is. The default is 9 millimetres.\n\n"
    "###### oil_grade\n\nThe grade of the oil. New in version 4.2.\n\n"
    + "".join(
        f"###### spare_{n}\n\nA spare setting of the tower and its bell. The default is {n}.\n\n"
        for n in range(20)
    ),
    "Settings",
)


def best(text: str, *pages: Page) -> str:
    return rank_passages(PassageRanking(pages), AskedText(text))[0].passage.text


def test_a_sibling_s_default_does_not_answer() -> None:
    assert "3 centimetres" in best("What is the default of wick_length?", SETTINGS)
    assert "9 millimetres" in best("What is the default of wick_width?", SETTINGS)
    found = PassageRanking([SETTINGS]).signs(AskedText("What is the default of wick_length?"))
    [brings] = [each.passage.text for each in found if each.signs["default"]]
    assert brings.startswith("wick_length ")


def test_since_which_version_is_answered_by_the_note_of_the_thing() -> None:
    assert "New in version 4.2" in best("Since which version is there oil_grade?", SETTINGS)


def test_defaults_and_versions_are_found_in_other_words() -> None:
    assert "3 centimetres" in best("Which value has wick_length if it isn't set?", SETTINGS)
    assert "New in version 4.2" in best("When was oil_grade introduced?", SETTINGS)


def test_a_version_says_when_an_entry_was_added() -> None:
    ranking = PassageRanking([SETTINGS])
    scores = [
        answer_probability(asked, ranking, best_distinct(rank_passages(ranking, asked)))
        for asked in (
            AskedText("When was oil_grade added?"),
            AskedText("When was wick_width added?"),
        )
    ]
    assert scores[0] > WITHOUT_ITS_KIND >= scores[1]


def test_an_item_with_items_below_it_names_what_they_state() -> None:
    names = [f"lamp.{part}" for part in ("wick", "oil", "glass", "brass", "rope", "bell")]
    items = "\n".join(
        f"- {name}\n  - description: what the keeper does with this part of a lamp of the tower"
        f"\n  - default value: {n}"
        for n, name in enumerate(names)
    )
    made = page("https://lamps.example/", f"# Lamps\n\nOptions:\n\n{items}", "Lamps")
    assert "lamp.glass description" in best("What is the default of lamp.glass?", made)
    assert best("What is the default of lamp.glass?", made).find("value: 2") > 0


def test_a_plain_word_that_names_a_page_owns_what_its_page_states() -> None:
    pages = [
        page(
            f"https://lamps.example/{name}",
            f"# {name}\n\n{name} trims what {other} lights.\n\n## Credits\n\nBy the keeper."
            f"\n\nNew in version {n}",
            name,
        )
        for n, name, other in ((3, "trimmer", "lighter"), (4, "lighter", "trimmer"))
    ]
    asked = AskedText("Since which version is there lighter?")
    found = PassageRanking(pages).signs(asked)
    assert [e.passage.text for e in found if e.signs["version"]] == [
        "lighter … By the keeper. New in version 4"
    ]


def test_how_something_decides_is_answered_by_the_rule() -> None:
    settings = page(
        "https://lamps.example/refill-settings",
        "# Refilling\n\n###### refill (boolean)\n\nWhether lamps are refilled automatically by the"
        " tower.\n\n###### refill_pause\n\nThe pause between two refills of a lamp by the tower.",
        "Refill settings",
    )
    rule = page(
        "https://lamps.example/refill",
        "# The refill keeper\n\nIf its oil is less than the refill threshold, the lamp is filled."
        " The threshold is defined as:\n\n    threshold = base + share * volume of the lamp",
        "Care of lamps",
    )
    asked = "How does the tower decide that a lamp needs a refill?"
    assert "threshold = base" in best(asked, rule, settings)
    assert "threshold = base" not in best("What is the refill_pause of a lamp?", rule, settings)


def test_at_most_five_are_shown_none_of_them_twice() -> None:
    copied = replace(SETTINGS, url="https://copies.example/settings")
    ranking = PassageRanking([SETTINGS, copied])
    shown = best_distinct(rank_passages(ranking, AskedText("What is the default of spare?")))
    assert len(shown) == SHOWN
    assert len({each.passage.text for each in shown}) == SHOWN


def test_two_passages_of_one_section_are_shown_if_they_share_no_sentence() -> None:
    told = "The lamp burns {0} oil, and the keeper fills {0} tanks from a can every evening. "
    text = "\n\n".join(told.format(which) * 4 for which in ("whale", "seal", "olive"))
    lamps = page("https://lamps.example/oil", f"# Oil\n\n{text}", "Oil")
    shown = best_distinct(rank_passages(PassageRanking([lamps]), AskedText("Which oil burns?")))
    assert len(shown) > 1
    assert not any(
        one.passage.repeats(other.passage) for at, one in enumerate(shown) for other in shown[:at]
    )


def test_what_names_the_thing_is_more_likely_an_answer_than_what_does_not() -> None:
    def probability(text: str) -> float:
        asked, ranking = AskedText(text), PassageRanking([SETTINGS])
        return answer_probability(asked, ranking, best_distinct(rank_passages(ranking, asked)))

    assert probability("What is the default of wick_length?") > 0.6
    assert probability("How do I submit jobs from an editor?") < 0.3
    assert probability("zebra crossing") == 0.0


def test_the_passages_shown_are_records_in_the_order_of_their_chance() -> None:
    made = read_into("What is the default of wick_length?", SETTINGS)
    found = standings(made)["A1"]
    assert found == made.aspects["A1"].standing
    first = made.book.records[found.passages[0]]
    assert shown_text(first) == "wick_length How long the wick is. The default is 3 centimetres."
    assert first.claim.startswith("wick_length: ")
    assert made.aspects["A1"].evidence_ids[: len(found.passages)] == found.passages


@pytest.mark.parametrize(
    "probability, mark, state",
    [
        (0.7, AnswerStatus.ANSWERED, AspectState.ONE_SOURCE),
        (0.69, AnswerStatus.CLOSE, AspectState.OPEN),
        (0.3, AnswerStatus.CLOSE, AspectState.OPEN),
        (0.29, AnswerStatus.OPEN, AspectState.OPEN),
    ],
)
def test_score_mark_state_and_gap_follow_from_one_probability(
    probability: float, mark: AnswerStatus, state: AspectState
) -> None:
    made = read_into("What is the default of wick_length?", SETTINGS)
    found = made.aspects["A1"].standing
    assert found is not None
    made.refresh_aspects({"A1": replace(found, probability=probability)})
    aspect = made.aspects["A1"]
    assert aspect.state is state
    assert answer_status.mark_of(made, aspect).mark is mark
    assert answer_status.stated_score(made) == pytest.approx(10 * probability)
    assert answer_status.is_answered_by_code(made) is (mark is AnswerStatus.ANSWERED)
    assert bool(answer_status.supporting(made)) is (mark is not AnswerStatus.OPEN)


def test_a_run_from_before_the_estimate_is_displayed_as_it_was() -> None:
    agreed = AnswerSupport(("a", "b"), True)
    assert (
        answer_status.status_from_state(AspectState.ANSWERED, agreed, 3).mark
        is AnswerStatus.ANSWERED
    )
    alone = AnswerSupport(("a",), True)
    assert (
        answer_status.status_from_state(AspectState.ANSWERED, alone, 3).mark
        is AnswerStatus.ONE_SOURCE
    )
    none = AnswerSupport((), False)
    assert answer_status.status_from_state(AspectState.ANSWERED, none, 3).mark is AnswerStatus.CLOSE
