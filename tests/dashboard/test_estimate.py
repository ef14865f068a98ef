"""What a plan costs and how long it takes, as its page says it."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import Settings

from dashboard.contexts.run import run_footer
from dashboard.plans import describe_estimate
from dashboard.prices import is_model_local
from research.models import Run

STORED = {"llm_calls": [4, 13], "seconds": [60.0, 180.0], "words": [600, 900], "sources": [8, 16]}


@pytest.mark.parametrize(
    ("stored", "is_local", "effort"),
    [
        ({"cost_usd": [0.04, 0.11]}, False, "$0.04–0.11, about 1–3 min."),
        ({"cost_usd": None}, False, "Price unknown, about 1–3 min."),
        ({"cost_usd": None}, True, "No cost, about 1–3 min."),
        ({"cost_usd": [0.0, 0.0]}, False, "No cost, about 1–3 min."),
        ({"cost_usd": [0.04, 0.11]}, True, "$0.04–0.11, about 1–3 min."),
    ],
)
def test_price_and_time_come_first(stored: dict[str, Any], is_local: bool, effort: str) -> None:
    told = describe_estimate(STORED | stored, is_local=is_local)
    assert told["effort"] == effort
    assert told["details"] == "About 600–900 words from 8–16 pages, 4–13 model calls."


def test_a_plan_without_a_model_has_no_calls() -> None:
    stored = {"llm_calls": [0, 0], "seconds": [2.0, 5.0], "cost_usd": [0.0, 0.0]}
    told = describe_estimate(stored, is_local=False)
    assert told == {"effort": "No cost, about 2–5 s.", "details": ""}
    assert describe_estimate(None, is_local=False) == {"effort": "", "details": ""}


def test_plan_and_footer_say_the_same_of_a_model_without_a_price(
    db: None, settings: Settings
) -> None:
    run = Run(status="completed", analyst="qwen3:8b", usage={"llm_calls": 3, "cost_usd": None})
    settings.RESEARCH_MODEL = "qwen3:8b"
    for address, told in (
        ("http://127.0.0.1:9/v1", "No cost"), ("https://m.example/v1", "Price unknown")
    ):  # fmt: skip
        settings.OPENAI_BASE_URL = address
        assert run_footer(run)[-1] == told
        planned = describe_estimate(STORED | {"cost_usd": None}, is_local=is_model_local())
        assert planned["effort"].startswith(f"{told}, ")
    settings.OPENAI_BASE_URL, run.analyst = "http://127.0.0.1:9/v1", "another"
    assert run_footer(run)[-1] == "Price unknown"
