"""Normalises a model's name: users may prefix a provider that its server doesn't know."""

from __future__ import annotations

PROVIDERS = frozenset({
    "anthropic", "azure_ai", "azure_openai", "bedrock", "bedrock_converse", "cohere", "deepseek",
    "fireworks", "google", "google_genai", "google_vertexai", "groq", "huggingface", "ibm",
    "litellm", "lmstudio", "mistralai", "nvidia", "ollama", "openai", "openrouter", "perplexity",
    "together", "upstage", "vllm", "xai",
})  # fmt: skip
"""Prefixes that other research agents put before a model's name: "openai:gpt-5"."""


def plain_name(written: str) -> str:
    """Strip a provider prefix: `openai:gpt-5` is `gpt-5`; a tag, as in `qwen3:8b`, is kept."""
    provider, _, name = written.strip().partition(":")
    return name.strip() if name and provider.strip().lower() in PROVIDERS else written.strip()
