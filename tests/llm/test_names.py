from __future__ import annotations

import pytest

from research.llm.names import plain_name


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
