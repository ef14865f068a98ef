"""Figures of a claim that follow from those of its quote."""

import pytest

from research.engine.evidence.claims.proof import may_follow
from research.engine.text.amounts import find_amounts

FOLLOWS = [
    ("Over three fifths leaked.", "Of 214 lamps, 131 leaked."),
    ("It leaks in 60 per cent of the towers.", "It leaks in 48 of 80 towers."),
    ("More than half leaked.", "54 per cent leaked."),
    ("A third fewer lamps were lit.", "120 lamps were lit, instead of the 180 planned."),
    ("A tower of 9 metres needs a lamp.", "Towers of more than 8 metres need a lamp."),
    ("Tax took 9 million crowns.", "It earned 38 million crowns, and 29 million crowns after tax."),
    ("The share fell by 7 percentage points.", "The share fell from 71% to 64%."),
    ("It was lit for eight years.", "It was lit from 1912 to 1920."),
    ("It was lit more than three years later.", "Built on 7 May 2012; lit on 3 June 2015."),
    ("It was lit more than two and a half years later.", "Built on 7 May 2012; lit on 3 Jan 2015."),
]
OTHERWISE = [
    ("Over four fifths leaked.", "Of 214 lamps, 131 leaked."),
    ("It leaks in 70 per cent of the towers.", "It leaks in 48 of 80 towers."),
    ("More than half leaked.", "44 per cent leaked."),
    ("More than half leaked.", "94 per cent leaked."),
    ("A tower of 7 metres needs a lamp.", "Towers of more than 8 metres need a lamp."),
    ("A tower of 9 metres needs a lamp.", "Towers of 8 metres need a lamp."),
    ("Tax took 9 metres.", "It earned 38 million crowns, and 29 million crowns after tax."),
    ("The share fell by 7%.", "The share fell from 71% to 64%."),
    ("It was lit more than one year later.", "Built on 7 May 2012, it was lit on 3 June 2015."),
    ("1 in 100 lamps leaks.", "1 in 10 lamps flickers; 1 in 1,000 lamps leaks."),
    ("It was lit for nine years.", "It was lit from 1912 to 1920."),
]


@pytest.mark.requirement("C11")
@pytest.mark.parametrize("claim, quote", FOLLOWS)
def test_a_figure_follows_by_one_operation_or_a_limit(claim: str, quote: str) -> None:
    [said] = find_amounts(claim)
    assert may_follow(said, claim, quote)


@pytest.mark.requirement("C11")
@pytest.mark.parametrize("claim, quote", OTHERWISE)
def test_another_figure_does_not_follow(claim: str, quote: str) -> None:
    said = find_amounts(claim)[0]
    assert not may_follow(said, claim, quote)
