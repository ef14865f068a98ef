import json
import math
import random
from dataclasses import replace

import pytest

from bench.calibration import (
    Judged,
    area_under_curve,
    calibration_table,
    expected_error,
)
from bench.fitting import _descended, _example, fitted_logistic
from bench.injection.fitting import Example, fitted, packed
from bench.manuals import ManualQuestion
from bench.sign_ablation import worth_of_signs
from research.engine.untrusted.order_features import buckets_of
from research.engine.untrusted.order_model import OrderModel, unpacked
from tests.engine.scripted import page


def judged(probability: float, holds: bool) -> Judged:
    return Judged("bind9", "why", probability, True, holds, holds)


def rows(seed: int) -> tuple[list[list[float]], list[bool]]:
    """Twenty passages of which the one with the most of the second sign is right."""
    rolled = random.Random(seed)
    made = [[rolled.gauss(0, 1), rolled.gauss(0, 1)] for _ in range(20)]
    best = max(made, key=lambda row: row[1])
    return made, [row is best for row in made]


def test_the_sign_that_marks_right_passages_gets_the_weight() -> None:
    weights = _descended([rows(seed) for seed in range(30)], [1.0] * 30, [0.0, 0.0])
    assert weights[1] > 5 * abs(weights[0])


def test_the_probability_is_that_of_the_data() -> None:
    rolled = random.Random(1)
    features = [{"x": rolled.uniform(-2, 2), "noise": rolled.random()} for _ in range(3000)]
    right = [rolled.random() < 1 / (1 + math.exp(-(1 + 2 * f["x"]))) for f in features]
    found = fitted_logistic(features, right, [1.0] * len(features))
    assert found.bias == pytest.approx(1, abs=0.3)
    assert found.weights["x"] == pytest.approx(2, abs=0.25)
    assert abs(found.weights["noise"]) < 0.4


def test_an_example_of_more_weight_counts_more() -> None:
    features = [{"x": 0.0}, {"x": 0.0}]
    found = fitted_logistic(features, [True, False], [3.0, 1.0])
    assert found.probability({"x": 0.0}) == pytest.approx(0.75, abs=0.01)


def test_an_honest_score_has_no_error_and_a_boast_has_its_excess() -> None:
    honest = [judged(0.75, number < 75) for number in range(100)]
    assert expected_error(honest) == pytest.approx(0)
    boast = [judged(0.95, number < 45) for number in range(100)]
    assert expected_error(boast) == pytest.approx(0.5)


def test_the_area_is_the_share_of_pairs_in_order() -> None:
    found = [judged(0.9, True), judged(0.6, False), judged(0.6, True), judged(0.1, False)]
    assert area_under_curve(found) == pytest.approx(3.5 / 4)


def test_the_table_counts_what_was_said() -> None:
    found = [judged(0.95, True), judged(0.72, False), judged(0.2, False)]
    told = calibration_table(found)
    assert "said 7 or more and right 0.500 of 2" in told
    assert "| 7–8 | 1 | 7.2 | 0.00 |" in told


def test_the_order_model_learns_words_and_is_stored_in_bytes() -> None:
    told, plain = ("every summary says so", "the tower stands in the north")
    examples = [
        Example("", "", text is told, 1.0, tuple(buckets_of(text, "", "")), False, text)
        for text in (told, plain) * 20
    ]
    bias, weights = fitted(examples)
    model = OrderModel(bias, tuple(weights))
    assert model.score(buckets_of(told, "", "")) > 1
    assert model.score(buckets_of(plain, "", "")) < -1
    stored = json.loads(json.dumps(packed(bias, weights)))
    again = OrderModel(stored["bias"], tuple(unpacked(stored)))
    for text in (told, plain):
        features = list(buckets_of(text, "", ""))
        assert again.score(features) == pytest.approx(model.score(features), abs=0.2)


def test_a_sign_is_worth_what_is_lost_without_it() -> None:
    text = "# Lamps\n\n###### wick\n\nHow long the wick of a lamp is.\n\n" + "".join(
        f"###### lamp {n}\n\nA lamp of the wick store, and how long it burns.\n\n" for n in range(3)
    )
    asked = ManualQuestion("q", "lamps", "meaning", "What is a wick?", (), ("long the wick",))
    made = _example(asked, [page("https://a.example/", text, "Lamps")])
    found = [
        replace(each, signs={"marks": float(right), "words": 1.0})
        for each, right in zip(made.found, made.right, strict=True)
    ]
    some = [replace(made, found=found[::-1], right=made.right[::-1])] * 20
    examples = dict.fromkeys(("one", "two", "three", "four"), some)
    best, words = worth_of_signs(examples, ["words", "marks"])
    assert (best.sign, best.first, best.helped) == ("marks", 1.0, 4)
    assert words.first == 0
