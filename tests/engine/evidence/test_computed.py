"""Rule C11 for statements that follow from several quotes by arithmetic."""

import pytest

from research.engine.evidence.claims.computed import compute
from research.engine.evidence.claims.operands import NotComputedError

PIER = [
    ("E1", "In 1990 the pier had 120 lamps."),
    ("E2", "In 2020 the pier had 180 lamps."),
]
LIVES = [("E1", "Edda Marlow was born on 3 March 1902."), ("E2", "She died on 1 March 1969.")]
TOWERS = [("E1", "Harrow tower is 42 m high."), ("E2", "Calder tower is 2,100 cm high.")]
VOTES = [("E1", "Ansel voted for the pier."), ("E2", "Borel voted for the pier.")]


@pytest.mark.requirement("C11")
@pytest.mark.parametrize(
    "statement, operation, quotes, formula",
    [
        ("From 1990 to 2020 the lamps of the pier rose by 50 %.", "percentage_change", PIER,
         "percentage change: 120 lamps (E1), 180 lamps (E2) → 50 %"),
        ("In 2020 the pier had 60 lamps more than in 1990.", "difference", PIER,
         "180 lamps (E2) − 120 lamps (E1) = 60 lamps"),
        ("In both years together the pier had 300 lamps.", "sum", PIER,
         "120 lamps (E1) + 180 lamps (E2) = 300 lamps"),
        ("In 2020 the pier had 1.5 times as many lamps as in 1990.", "ratio", PIER,
         "180 lamps (E2) ÷ 120 lamps (E1) = 1.5 times"),
        ("The pier had the most lamps in 2020.", "maximum", PIER,
         "maximum: 120 lamps (E1), 180 lamps (E2) → 180 lamps"),
        ("Edda Marlow died at the age of 66.", "duration", LIVES,
         "duration: 3 March 1902 (E1), 1 March 1969 (E2) → 66 years"),
        ("Harrow tower is higher than Calder tower.", "order", TOWERS,
         "order: 42 m (E1), 2,100 cm (E2) → more"),
        ("Harrow tower is twice as high as Calder tower.", "ratio", TOWERS,
         "42 m (E1) ÷ 2,100 cm (E2) = twice"),
        ("Two members voted for the pier.", "count", VOTES,
         "count: Ansel voted for the pier. (E1), Borel voted for the pier. (E2) → Two members"),
    ],
)  # fmt: skip
def test_what_the_quotes_make_is_kept_with_its_formula(
    statement: str, operation: str, quotes: list[tuple[str, str]], formula: str
) -> None:
    assert compute(statement, operation, quotes, "The pier").formula == formula


@pytest.mark.requirement("C11")
@pytest.mark.parametrize(
    "statement, operation, quotes, reason",
    [
        ("From 1990 to 2020 the lamps of the pier rose by 60 %.", "percentage_change", PIER,
         "result"),
        ("From 1990 to 2020 the lamps of the pier fell by 50 %.", "percentage_change", PIER,
         "direction"),
        ("From 1990 to 2019 the lamps of the pier rose by 50 %.", "percentage_change", PIER,
         "years differ"),
        ("In 1990 the pier had 60 lamps more than in 2020.", "difference", PIER, "direction"),
        ("In 2020 the pier of 14 doors had 60 lamps more than in 1990.", "difference", PIER,
         "figure"),
        ("The pier of Ruth Ansel had 300 lamps in both years together.", "sum", PIER, "name"),
        ("The pier never had 300 lamps in both years together.", "sum", PIER, "negation"),
        ("The pier had the most lamps in 1990.", "maximum", PIER, "another record"),
        ("The pier had the fewest lamps in 2020.", "maximum", PIER, "maximum"),
        ("Edda Marlow died at the age of 67.", "duration", LIVES, "age"),
        ("Calder tower is higher than Harrow tower.", "order", TOWERS, "direction"),
        ("Harrow tower is 21 km higher than Calder tower.", "difference", TOWERS, "result"),
        ("Three members voted for the pier.", "count", VOTES, "result"),
        ("Two members voted against the pier.", "count", VOTES, "negation"),
        ("Milk is dear, and cheese is 60 lamps dearer.", "difference", PIER, "something else"),
        ("Together the pier had 300 lamps.", "product", PIER, "no operation"),
        ("Together the pier had 240 lamps.", "sum", PIER[:1] * 2, "different quote"),
    ],
)  # fmt: skip
def test_what_the_quotes_do_not_make_is_refused(
    statement: str, operation: str, quotes: list[tuple[str, str]], reason: str
) -> None:
    with pytest.raises(NotComputedError, match=reason):
        compute(statement, operation, quotes, "The pier")


@pytest.mark.requirement("C11")
def test_a_quote_with_several_figures_is_told_by_what_the_statement_counts() -> None:
    quotes = [("E1", "It had 120 lamps and 40 doors."), ("E2", "It has 180 lamps and 20 doors.")]
    said = compute("It has 60 lamps more than before.", "difference", quotes, "")
    assert said.formula == "180 lamps (E2) − 120 lamps (E1) = 60 lamps"
    with pytest.raises(NotComputedError, match="exactly one comparable figure"):
        compute("It has 60 more of them than before.", "difference", quotes, "")


TABLE = (
    "Our orders table has 400 million rows. What goes wrong if vacuum of version 15 doesn't run?"
)
SCALE = ("E1", "The scale factor is 0.2 (20% of table size). The base threshold is 50 tuples.")


@pytest.mark.requirement("C11")
@pytest.mark.parametrize(
    "statement",
    [
        "By default, 20% of 400 million rows is 80 million.",
        "With 400 million rows, the scale factor of 20% comes to about 80 million rows.",
        "The scale factor alone, 20%, makes 80,000,000 of your 400 million rows.",
    ],
)
def test_a_share_may_be_one_of_an_amount_in_the_question(statement: str) -> None:
    found = compute(statement, "share_of", [SCALE, ("Q", TABLE)], f"Vacuum {TABLE}")
    assert found.formula.startswith("20% (E1) × 400 million rows = 80")


@pytest.mark.requirement("C11")
@pytest.mark.parametrize(
    "statement, operation, quotes",
    [
        ("20% of 400 million rows is 90 million.", "share_of", [SCALE, ("Q", TABLE)]),
        ("20% of 400 million rows is 80 million, in 7 days.", "share_of", [SCALE, ("Q", TABLE)]),
        ("30% of 400 million rows is 120 million.", "share_of", [SCALE, ("Q", TABLE)]),
        ("20% of 500 million rows is 100 million.", "share_of", [SCALE, ("Q", TABLE)]),
        ("20% of 400 million rows is 80 million.", "share_of", [SCALE, ("E2", TABLE)]),
        ("20% of 400 million rows is 80 million.", "ratio", [SCALE, ("Q", TABLE)]),
        ("20% of the rows is 80 million.", "share_of", [("E2", "5 rows."), ("Q", TABLE)]),
        ("The scale factor makes 80 million rows.", "share_of", [SCALE, ("Q", TABLE)]),
        ("20% of the rows is 80 million.", "share_of", [SCALE, ("Q", TABLE)]),
    ],
)
def test_no_other_figure_comes_of_the_question(
    statement: str, operation: str, quotes: list[tuple[str, str]]
) -> None:
    with pytest.raises(NotComputedError):
        compute(statement, operation, quotes, f"Vacuum {TABLE}")


CHANGE = [
    ("E1", "The vote on the change dates from 7 October 2012."),
    ("E2", "Those who were there recall the coach crash on 11 February 2013."),
    ("E3", "On 23 June 2015 the passing of the act took place."),
]


@pytest.mark.requirement("C11")
@pytest.mark.parametrize(
    "statement, is_right",
    [
        ("The coach crash came after the vote and before the act.", True),
        ("The coach crash came before the vote and after the act.", False),
        ("The act was passed only after the vote and the coach crash.", True),
        ("The act was passed only before the vote and the coach crash.", False),
        ("The vote came before the coach crash, which came before the act.", True),
        ("The vote came before the act, which came before the coach crash.", False),
        ("The vote and the coach crash came before the act.", False),  # two in front
        ("The act was passed after the vote.", False),
    ],
)
def test_several_dates_are_put_in_order(statement: str, is_right: bool) -> None:
    if is_right:
        made = compute(statement, "order", CHANGE, "")
        assert [each.evidence for each in made.operands] == ["E1", "E2", "E3"]
        with pytest.raises(NotComputedError, match="exactly two"):
            compute(statement, "order", CHANGE, "", reads_limits=False)
        return
    with pytest.raises(NotComputedError):
        compute(statement, "order", CHANGE, "")


@pytest.mark.requirement("C11")
@pytest.mark.parametrize(
    "time, is_right",
    [
        ("more than two years", True),
        ("over two years", True),
        ("nearly three years", True),
        ("almost three years", True),
        ("more than three years", False),
        ("nearly two years", False),
        ("more than one year", False),
        ("more than 32 months", True),
        ("nearly 33 months", True),
        ("more than 33 months", False),
        ("more than two and a half years", True),
        ("nearly two and a half years", False),
        ("more than 988 days", True),
        ("more than 980 days", False),
    ],
)
def test_a_time_may_be_more_or_nearly_so_many_units(time: str, is_right: bool) -> None:
    statement = f"The act was passed on 23 June 2015, {time} after the vote of 7 October 2012."
    quotes = [CHANGE[0], CHANGE[2]]
    if is_right:
        assert compute(statement, "duration", quotes, "").operation == "duration"
    else:
        with pytest.raises(NotComputedError):
            compute(statement, "duration", quotes, "")
