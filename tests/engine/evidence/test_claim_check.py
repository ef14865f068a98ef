"""Rules F1 and C11: a true quote under a false claim."""

import pytest

from research.engine.evidence import claim_check

TRUE = [
    ("It was lit in 1887.", "The tower was lit in 1887."),
    ("It has three lamps.", "The tower has 3 lamps."),
    ("It was lit.", "The tower was lit in 1887."),
    ("It cost 5 million.", "The tower cost 5 Million."),
    ("It cost 5 million crowns.", "The tower cost 5,000,000 crowns."),
    ("Marlow lit it.", "Edda Marlow lit it."),
    ("It was lit in March 1887.", "It was lit on 14 March 1887."),
    ("It was lit on 14 March 1887.", "The tower was lit on 1887-03-14."),
    ("It was sold in 1912.", "The tower, which has no lamp, was sold in 1912."),
    ("It was sold in 1912.", "It was sold in 1912 because it had no lamp."),
    ("The lamp is fast, but it is not safe.", "The lamp is fast. It isn't safe."),
    ("The lamp is not only fast.", "The lamp is fast."),
    ("Acme acquired Borel.", "Borel was acquired by Acme in 2012."),
    ("Borel was acquired by Acme.", "In 2012 Acme acquired Borel."),
    ("Edda Marlow married Ruth Ansel.", "Ruth Ansel married Edda Marlow."),
    ("Leith is larger than Calder.", "Calder is smaller than Leith."),
    ("Edda Marlow designed the tower.", "Edda Marlow lived in Leith. She designed the tower."),
    ("Paris is the capital of France.", "The capital of France is Paris."),
    ("Leith belongs to Edinburgh.", "Leith is part of Edinburgh."),
    ("The lamp is lit.", "The lamp is lit and can be seen from the sea."),
    ("The lamp may fail in storms.", "In storms the lamp might fail."),
    ("Prices rose.", "Prices rose. Wages fell and fell."),
    (
        "Mozart was born in Salzburg.",
        "Wolfgang Amadeus Mozart (27 January 1756) was born in Salzburg, in the Empire.",
    ),
    (
        "It rewrites the whole table.",
        "It rewrites the entire table into a new file with no extra space.",
    ),
    (
        "Kafka keeps order within a partition.",
        "Kafka keeps a total order within a partition, not between partitions of a topic.",
    ),
    (
        "Unemployment fell to 3.4 percent in January 2023.",
        "Unemployment dropped to 3.4% in January 2023, its lowest level in 53 years.",
    ),
    ("The levy is three pennies a litre.", "On the litre there is a levy of three pennies."),
    ("Jurors get 145 talers a day.", "For a day in court jurors get 145 talers, without lunch."),
    ("The value is 4.00 percent.", "The value was raised by 25 points, to 4%."),
    (
        "Creating a set does not touch the database.",
        "Sets are lazy: the act of creating a set doesn't involve the database.",
    ),
    ("Iceland has no army.", "Iceland has never had a standing army."),
]
FALSE = [
    ("number", "It was lit in 1889.", "The tower was lit in 1887."),
    ("number", "It cost 5 million.", "The tower cost 5 billion."),
    ("number", "It costs 24 euros.", "It costs 24 dollars."),
    (
        "number",
        "The levy is three pennies a kilo.",
        "On the litre there is a levy of three pennies.",
    ),
    ("number", "Jurors get 145 talers a week.", "For a day in court jurors get 145 talers."),
    ("number", "It is 24 km long.", "It is 24 miles long."),
    ("number", "7 lamps and 5 doors were sold.", "5 lamps and 7 doors were sold."),
    ("date", "It was lit on 14 March 1887.", "It was lit on 14 April 1887."),
    ("name", "Ruth Ansel lit it.", "Edda Marlow lit it."),
    ("name", "The Ansel survey lies behind it.", "The Marlow survey lies behind it."),
    ("name", "Ansel lit the tower.", "Marlow lit the tower."),
    ("name", "Ruth Ansel designed it.", "Edda Marlow designed it; Ruth Ansel built it."),
    ("negation", "It was lit.", "It was never lit."),
    ("negation", "The board sold the pier.", "The board did not, whatever it said, sell the pier."),
    ("negation", "It was not lit.", "It was lit. Nobody saw it."),
    ("negation", "It is not true that the old pier was sold.", "The old pier was sold."),
    ("negation", "The lamp is not fast, but it is safe.", "The lamp is fast. It isn't safe."),
    ("direction", "Prices rose.", "Prices fell."),
    ("direction", "The northern pier is long.", "The southern pier is long."),
    ("direction", "It opened before the war.", "It opened after the war."),
    ("direction", "Leith is larger than Calder.", "Leith is smaller than Calder."),
    ("roles", "Acme acquired Borel.", "Borel acquired Acme in 2012."),
    ("roles", "Borel was acquired by Acme.", "Acme was acquired by Borel."),
    ("roles", "Leith is larger than Calder.", "Calder is larger than Leith."),
    ("roles", "Cats are faster than dogs.", "Dogs are faster than cats."),
]
STRONGER = [
    ("It breaks keys.", "It may break keys."),
    ("Aspirin causes bleeding.", "Aspirin can cause bleeding."),
    ("The museum burned.", "The north wing of the museum burned."),
    ("Users like it.", "Some users like it."),
    ("All users like it.", "Users like it."),
    ("It is the only lamp.", "It is a lamp."),
    ("It is the largest lamp.", "It is a large lamp."),
    ("It is the largest lamp.", "It is one of the largest lamps."),
    ("It costs 5 crowns.", "It costs up to 5 crowns."),
    ("The lamp always fails.", "The lamp fails in storms."),
]


def test_a_name_with_a_number_may_come_from_the_context() -> None:
    quote = "If several tables fall due, all workers might be busy for a long period."
    said = "In Nimbus 15, all workers might be busy for a long period if several tables fall due."
    for context, reasons in (
        ("How does Nimbus 15 vacuum?", ()),
        ("Nimbus 16", ("number differs",)),
    ):
        assert claim_check.check_claim(said, quote, context).reasons == reasons


@pytest.mark.requirement("C11")
@pytest.mark.parametrize("claim, quote", TRUE)
def test_a_claim_that_its_quote_carries_is_not_refused(claim: str, quote: str) -> None:
    assert claim_check.check_claim(claim, quote, "").reasons == ()


@pytest.mark.requirement("C11")
@pytest.mark.parametrize("what, claim, quote", FALSE)
def test_a_claim_that_says_something_else_is_refused(what: str, claim: str, quote: str) -> None:
    check = claim_check.check_claim(claim, quote, "")
    assert check.outcome == "refused"
    assert [reason for reason in check.reasons if what in reason]


@pytest.mark.requirement("C11")
@pytest.mark.parametrize("claim, quote", STRONGER)
def test_a_claim_is_no_more_certain_or_general_than_its_quote(claim: str, quote: str) -> None:
    assert claim_check.check_claim(claim, quote, "").outcome != "carried"


@pytest.mark.requirement("C11")
@pytest.mark.parametrize(
    "claim, quote, reason",
    [
        ("It breaks keys.", "It may break keys.", "hedge lost"),
        ("All users like it.", "Users like it.", "generalised"),
    ],
)
def test_a_quote_s_words_without_their_hedge_or_limit_are_refused(
    claim: str, quote: str, reason: str
) -> None:
    assert claim_check.check_claim(claim, quote, "").reasons == (reason,)


@pytest.mark.requirement("C11")
def test_what_seems_to_differ_in_other_words_is_left_undecided() -> None:
    claim, quote = "A fifth of the workers were kept on.", "Of the 140 workers, 35 may stay."
    assert claim_check.check_claim(claim, quote, "").outcome == "undecided"
    check = claim_check.check_claim("A fifth of the workers may stay.", quote, "")
    assert (check.outcome, check.reasons) == ("refused", ("number differs",))


SEEMING = [
    ("A quarter of the workers may stay.", "Of the 140 workers, 35 may stay."),
    ("Lamps at Leith are dimmer than at Calder.",
     "Lamps at Leith, of 40 watts, are dimmer than in the capital and brighter than at Calder."),
    ("Older lamps were likelier than newer ones to leak.",
     "Newer lamps were more likely than older ones to crack, and less likely to leak."),
    ("The keeper has yet to sleep in the tower.",
     "The keeper sleeps in the cottage and has never slept in the tower."),
    ("Marlow drew the tower at the age of nine.",
     "Raised in Leith, she drew the tower at the age of nine."),
    ("The ferry leaves the pier at 14:00.", "The ferry leaves the pier by 2 p.m."),
    ("The 40 lamps use an average of 3 kilowatts each.",
     "The 40 lamps use a combined total of 120 kilowatts."),
]  # fmt: skip


@pytest.mark.requirement("C11")
@pytest.mark.parametrize("claim, quote", SEEMING)
def test_what_may_follow_from_the_quote_refuses_nothing(claim: str, quote: str) -> None:
    context = "Leith, Calder and Edda Marlow"
    check = claim_check.check_claim(claim, quote, context)
    assert check.outcome == "undecided"


@pytest.mark.requirement("C11")
@pytest.mark.parametrize(
    "claim, quote",
    [
        ("A fifth of the workers may stay.", "Of the 140 workers, 35 may stay."),
        ("Lamps at Hull are dimmer than in the capital.",
         "Lamps at Leith are dimmer than in the capital."),
        ("The keeper never sleeps in the tower.", "The keeper sleeps in the tower."),
        ("Hull drew the tower at the age of nine, for Kern.",
         "Raised in Leith, she drew the tower at the age of nine."),
        ("The 40 lamps use an average of 5 kilowatts each.",
         "The 40 lamps use a combined total of 120 kilowatts."),
    ],
)  # fmt: skip
def test_another_number_name_or_negation_is_still_refused(claim: str, quote: str) -> None:
    assert claim_check.check_claim(claim, quote, "Leith").outcome == "refused"


@pytest.mark.requirement("C11")
def test_in_earlier_forms_a_suspicion_in_the_quote_s_words_refuses() -> None:
    claim, quote = SEEMING[0]
    assert claim_check.check_claim(claim, quote, "", by="suspicion").outcome == "refused"


@pytest.mark.requirement("C11")
@pytest.mark.parametrize(
    "claim, is_near",
    [
        ("The tower was the tallest building of the county.", True),
        ("In its day the tower was the lowest stone building of the county.", True),
        ("No building in the whole county was as tall as its tower.", False),
    ],
)
def test_a_claim_is_near_that_has_nearly_the_words_of_its_quote(claim: str, is_near: bool) -> None:
    quote = "In its day the tower was the tallest stone building of the county."
    check = claim_check.check_claim(claim, quote, "")
    assert (check.outcome, check.is_near) == ("undecided", is_near)


@pytest.mark.requirement("C11")
@pytest.mark.parametrize("claim, quote", [case[1:] for case in FALSE] + STRONGER)
def test_code_vouches_for_a_quote_s_own_words(claim: str, quote: str) -> None:
    assert claim_check.check_claim(quote, quote, "").outcome == "carried"


@pytest.mark.requirement("F2")
def test_the_context_lends_names_but_no_numbers() -> None:
    claim, quote = "Harrow Point was lit by two oil lamps in 1887.", "It was lit by two oil lamps."
    check = claim_check.check_claim(claim, quote, "Harrow Point in 1887")
    assert check.reasons == ("number differs",)


@pytest.mark.requirement("C11")
def test_a_lent_name_does_not_take_the_place_of_the_quote_s_subject() -> None:
    claim, compared = "Harrow has 5 users.", "Harrow and Calder compared"
    check = claim_check.check_claim(claim, "Calder has 5 users.", compared)
    assert "name differs" in check.reasons
    assert claim_check.check_claim(claim, "It has 5 users.", compared).outcome == "carried"


@pytest.mark.requirement("C11")
def test_support_is_the_share_of_the_claim_s_own_words() -> None:
    sing, swim = "blue whales sing", "blue whales swim"
    assert claim_check.share_supported(sing, swim, "") == pytest.approx(2 / 3)
    assert claim_check.share_supported(sing, swim, "songs to sing") == 1
    assert claim_check.share_supported("songs", swim, "songs to sing") == 0
    assert claim_check.share_supported("", "anything", "") == 0


@pytest.mark.requirement("D5")
@pytest.mark.parametrize(
    "one, other, apart",
    [
        ("The north pier is long.", "The south pier is long.", True),
        ("Acme acquired Borel.", "Borel acquired Acme.", True),
        ("The north pier is long.", "The pier is long.", False),
    ],
)
def test_words_that_exclude_each_other_set_claims_apart(one: str, other: str, apart: bool) -> None:
    assert claim_check.is_contrary(one, other) is apart


@pytest.mark.requirement("C11")
@pytest.mark.parametrize(
    "claim, outcome",
    [
        ("The tower was lit in 1887.", "carried"),
        ("The tower was lit in 1889.", "refused"),
        ("The tower was never lit.", "refused"),
        ("In 1887 the tower was given light.", "undecided"),
    ],
)
def test_code_vouches_refuses_or_leaves_a_claim_undecided(claim: str, outcome: str) -> None:
    assert claim_check.check_claim(claim, "The tower was lit in 1887.", "").outcome == outcome


@pytest.mark.requirement("C11")
def test_a_refusal_names_each_difference() -> None:
    claim, quote = "The pier was not lit in 1889.", "The pier was lit in 1887."
    check = claim_check.check_claim(claim, quote, "")
    assert check.reasons == ("number differs", "negation differs")


@pytest.mark.parametrize(
    "claim, dated, outcome",
    [
        ("In 2013 the rule was that 40 percent of the ground had to be checked.", "", "refused"),
        (
            "In 2013 the rule was that 40 percent of the ground had to be checked.",
            "2012",
            "refused",
        ),
        (
            "In 2013 the rule was that 40 percent of the ground had to be checked.",
            "2013-05-20",
            "undecided",
        ),
        (
            "In May 2013 the rule was that 40 percent of the ground had to be checked.",
            "2013-05-20",
            "undecided",
        ),
        (
            "In 2013 the rule was that 60 percent of the ground had to be checked by hand.",
            "2013-05-20",
            "refused",
        ),
    ],
)
def test_the_date_of_the_page_may_date_what_it_says(claim: str, dated: str, outcome: str) -> None:
    quote = "The rule is that 40 percent of the ground has to be checked by hand."
    assert claim_check.check_claim(claim, quote, "", dated=dated).outcome == outcome


@pytest.mark.parametrize(
    ("claim", "outcome"),
    [
        ("The mayor sued the builder over the bridge.", "undecided"),
        ("The builder sued the mayor over the bridge in 1931.", "refused"),
        ("The builder never sued the mayor over the bridge.", "refused"),
    ],
    ids=["roles", "date", "negation"],
)
def test_a_good_verifier_is_left_all_wording_but_no_dates(claim: str, outcome: str) -> None:
    quote = "The builder sued the mayor over the bridge."
    assert claim_check.check_claim(claim, quote, "").outcome == "refused"
    check = claim_check.check_claim(claim, quote, "", by="floor")
    assert check.outcome == outcome  # in runs before `Form.COMPUTED`, with negations
    assert check.is_left is (outcome == "undecided")
    check = claim_check.check_claim(claim, quote, "", by="things")
    assert check.is_left is (check.outcome == "undecided") is ("1931" not in claim)


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        (
            "pgstattuple acquires only a read lock, so concurrent updates affect its results.",
            "pgstattuple acquires only a read lock on the relation. So the results do not reflect"
            " an instantaneous snapshot; concurrent updates will affect them.",
        ),
        (
            "She had forgiven everybody but was not forgiven herself.",
            "She had forgiven everybody but was not forgiven herself, for it was the chauffeur of"
            " the minister who was filmed driving on the left a month after the change.",
        ),
        (
            "Port Amaro has kept even the Haldrian advertisements on them.",
            "If you want to ride in one of the old buses, go to Port Amaro, which drives on the"
            " left and has kept even the Haldrian advertisements.",
        ),
    ],
)
def test_true_sentences_that_only_wording_sets_apart_are_refused_to_no_good_verifier(
    claim: str, quote: str
) -> None:
    assert claim_check.check_claim(claim, quote, "", by="floor").outcome == "refused"
    assert claim_check.check_claim(claim, quote, "", by="things").outcome == "undecided"
