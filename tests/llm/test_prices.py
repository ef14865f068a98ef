import re

import pytest

from research.llm.prices import (
    MILLION,
    Price,
    PriceError,
    find_price,
    load_published_prices,
    parse_prices,
    plain_name,
)


def test_a_price_holds_at_its_provider_s_own_address_only() -> None:
    found = find_price("gpt-5-mini", None, {})
    assert found is not None and found.input * MILLION == pytest.approx(0.25)
    assert find_price("gpt-5-mini-2025-08-07", "https://api.openai.com/v1", {}) == found
    assert find_price("gpt-5-mini", "http://127.0.0.1:8000/v1", {}) is None
    assert find_price("no-such-model", None, {}) is None


def test_the_installation_s_price_wins() -> None:
    given = parse_prices("gpt-5-mini=1/2, small=0/0")
    assert find_price("gpt-5-mini", None, given) == Price(1e-6, 2e-6, 1e-6)
    assert find_price("small", "http://127.0.0.1/v1", given) == Price(0, 0, 0)


def test_cached_tokens_cost_less() -> None:
    given = parse_prices("m=10/20/1")["m"]
    assert given.of(1000, 100, 400) * MILLION == pytest.approx(600 * 10 + 400 * 1 + 100 * 20)


@pytest.mark.parametrize("text", ["m", "m=1", "m=a/b", "m=-1/2", "m=1/2/3/4"])
def test_what_is_no_price_is_refused(text: str) -> None:
    with pytest.raises(PriceError, match="MODEL=INPUT/OUTPUT"):
        parse_prices(text)


def test_every_published_price_has_its_date_and_source() -> None:
    for prices in load_published_prices().values():
        for found in prices.values():
            assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", found.as_of)
            title, _, address = found.source.rpartition(", ")
            assert title and address.startswith("https://")


def test_dated_and_listed_names_are_the_model_s() -> None:
    claude = find_price("claude-sonnet-4-5", "https://api.anthropic.com/v1/", {})
    assert (
        claude
        and find_price("claude-sonnet-4-5-20250929", "https://api.anthropic.com/v1/", {}) == claude
    )
    google = "https://generativelanguage.googleapis.com/v1beta/openai/"
    assert find_price("models/gemini-2.5-flash", google, {}) == find_price(
        "gemini-2.5-flash", google, {}
    )
    assert find_price("gemini-2.5-flash", google, {}) is not None


@pytest.mark.requirement("settings")
@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("openai:gpt-5-mini", "gpt-5-mini"),
        ("OpenAI: gpt-5-mini ", "gpt-5-mini"),
        ("anthropic:claude-sonnet", "claude-sonnet"),
        ("ollama:qwen3:8b", "qwen3:8b"),
        ("qwen3:8b", "qwen3:8b"),
        ("gpt-oss:20b", "gpt-oss:20b"),
        ("openai/gpt-5", "openai/gpt-5"),
        ("hf.co/owner/model:Q4_K_M", "hf.co/owner/model:Q4_K_M"),
        ("openai:", "openai:"),
        ("openai", "openai"),
        ("", ""),
    ],
)
def test_a_provider_s_prefix_is_no_part_of_the_name(written: str, plain: str) -> None:
    assert plain_name(written) == plain
