"""What code vouches for, and what of a quote may be left out."""

import pytest

from research.engine.evidence.claim_check import check_claim

LONG = (
    "The Harbour Board (HB) sold the pier, which was built in 1887, for 1.2 million crowns on 14"
    " March 1990; the lamps went to a museum."
)


@pytest.mark.requirement("C11")
@pytest.mark.parametrize(
    "claim",
    [
        "The HB sold the pier, which was built in 1887, for 1.2 million crowns on 14 March 1990.",
        "The Harbour Board sold the pier for 1,200,000 crowns on March 14, 1990.",
        "The Harbour Board (HB) sold the pier for 1.2m crowns on 1990-03-14.",
        "The lamps went to a museum.",
    ],
)
def test_a_quote_s_words_in_their_order_are_vouched_for(claim: str) -> None:
    assert check_claim(claim, LONG, "").outcome == "carried"


@pytest.mark.requirement("C11")
@pytest.mark.parametrize(
    "claim, quote",
    [
        ("The ship sails on Monday if it is calm.", "If it is calm, the ship sails on Monday."),
        ("VVB has ordered trams.", "The operator, VVB (Veddel Buses), has ordered trams."),
        ("The group needs money, according to its head, Amara Nwosu.",
         "The group needs money, said its head, Amara Nwosu."),
        ("The moss is of use on roofs.", "The moss is therefore of use on roofs."),
    ],
)  # fmt: skip
def test_another_order_of_the_same_words_is_vouched_for(claim: str, quote: str) -> None:
    assert check_claim(claim, quote, "").outcome == "carried"


@pytest.mark.requirement("C11")
@pytest.mark.parametrize(
    "claim, quote, outcome",
    [
        ("The lamp fails.", "The lamp fails, unless it is greased.", "refused"),
        ("The lamp failed.", "In storms, the lamp failed.", "undecided"),
        ("The hire is 22 crowns.", "The hire is 22 crowns before 6 p.m.", "undecided"),
        ("The pier was built in 1887.", "The pier, some say, was built in 1887.", "refused"),
        ("The pier is a ship.", "The pier is near a ship.", "undecided"),
        ("Its debt fell to 8 million.", "Its debt, excluding rents, fell to 8 million.",
         "undecided"),
    ],
)  # fmt: skip
def test_what_could_change_the_rest_may_not_be_left_out(
    claim: str, quote: str, outcome: str
) -> None:
    assert check_claim(claim, quote, "").outcome == outcome


@pytest.mark.requirement("C11")
@pytest.mark.parametrize(
    "reason, claim, quote",
    [
        ("pairs mixed up", "It was 38 °C on 19 January 1935.",
         "It was 38 °C on 8 August 1961 and −44 °C on 19 January 1935."),
        ("measured otherwise", "They got 300 crowns in all.", "They got 300 crowns a year."),
        ("measured otherwise", "The share rose by 27%.", "The share rose from 18% to 27%."),
        ("date differs", "The order came on 25 May 2018.",
         "The order concerns what came before 25 May 2018."),
        ("another thing", "A rope made by Hollow was bent at sea.",
         "A rope made by Kern was bent at sea near Hollow."),
        ("condition lost", "The ship sails on Monday.", "The ship sails on Monday if it is calm."),
        ("speaker lost", "The pier will stay for ever there.",
         "Experts think that the pier will stay for ever there."),
        ("speaker lost", "Leith has 812 people.", "According to its mayor, Leith has 812 people."),
        ("not yet done", "The pier was sold to Leith.", "The pier is to be sold to Leith."),
        ("generalised", "All lamps of the pier burn oil.", "Lamps of the pier burn oil."),
    ],
)  # fmt: skip
def test_a_refusal_says_what_differs(reason: str, claim: str, quote: str) -> None:
    assert reason in check_claim(claim, quote, "").reasons


def test_a_share_of_those_who_did_it_is_no_change() -> None:
    claim = "Distress was reported by 9.7 percent of jurors."
    quote = "The share of jurors with distress was 9.7 percent."
    assert "measured otherwise" not in check_claim(claim, quote, "").reasons


@pytest.mark.requirement("C11")
@pytest.mark.parametrize(
    "claim, quote",
    [
        ("A child may come only if it has a form.", "Without a form no child can come."),
        ("The north is warmer than the south.", "The south is colder than the north."),
        ("The FSA fined two firms.", "The Food Standards Agency fined two firms."),
        ("A quarter of the lamps failed.", "25% of the lamps failed."),
        ("It takes 30 minutes.", "It takes half an hour."),
        ("Leith has 812 people.", "According to the 2021 census, Leith has 812 people."),
        ("Private parties may use the hall until 11 p.m., or until midnight on Fridays.",
         "The hall may be hired for private parties until 11 p.m., on Fridays until midnight."),
        ("Leith expects sales of between 840 and 860 million euros.",
         "Leith expects sales of €840–860 million."),
        ("From January to June 2023, thieves took 1,912 bicycles in Leith.",
         "In the first half of 2023, 1,912 bicycles were stolen in Leith."),
        ("Ferrante equalised after Pryce had put Calder ahead.",
         "Pryce put Calder ahead before Ferrante equalised."),
        ("The opera had not been heard for 190 years until Friday.",
         "The opera was heard for the first time in 190 years on Friday."),
        ("The race has been rowed over 2,112 m since 1871.",
         "The race is rowed over 2,112 metres, a length unchanged since 1871."),
        ("Penhallow lost by a length; the winner was in front throughout.",
         "St Oswin's led from the start and beat Penhallow by a length."),
    ],
)  # fmt: skip
def test_the_same_in_other_words_is_not_refused(claim: str, quote: str) -> None:
    assert check_claim(claim, quote, "").reasons == ()
