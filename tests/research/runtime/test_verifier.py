"""Qualifications are kept by server, model and version of the prompt."""

from __future__ import annotations

import pytest

from research.engine.llm_tasks.verify import prompt_version
from research.engine.records import Qualification
from research.llm.prices import Price
from research.llm.settings import ModelSettings
from research.models import VerifierQualification
from research.runtime.verifier import price_told, store_qualification, stored_qualification

GIVEN = ModelSettings("writer", evaluator_model="judge", base_url="http://model.example/v1")


def made(missed: int, version: str = "") -> Qualification:
    return Qualification(version or prompt_version(), 80, missed, 80, 3)


@pytest.mark.django_db
def test_a_later_result_replaces_an_earlier_one_of_the_same_model() -> None:
    store_qualification(GIVEN, made(2))
    store_qualification(GIVEN, made(5))
    assert stored_qualification(GIVEN) == made(5)
    assert VerifierQualification.objects.get().model == "judge"


@pytest.mark.django_db
@pytest.mark.parametrize(
    "other",
    [
        None,
        ModelSettings("writer", evaluator_model="judge", base_url="http://other.example/v1"),
        ModelSettings("writer", base_url="http://model.example/v1"),
    ],
    ids=["no model", "another server", "another model"],
)
def test_a_result_is_of_one_server_and_model(other: ModelSettings | None) -> None:
    store_qualification(GIVEN, made(2))
    assert stored_qualification(other) is None


@pytest.mark.django_db
def test_a_result_with_another_prompt_is_none() -> None:
    store_qualification(GIVEN, made(2, "an earlier version"))
    assert stored_qualification(GIVEN) is None


def test_the_price_is_that_of_eight_calls_or_unknown() -> None:
    assert price_told(GIVEN) == "8 model calls and at most 18,400 tokens; price unknown"
    dear = ModelSettings("m", prices={"m": Price(1e-5, 1e-4, 1e-5)})
    assert price_told(dear).endswith("at most $0.40")
