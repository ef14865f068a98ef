"""A model's name as people write it, and as its server knows it."""

from __future__ import annotations

PROVIDERS = frozenset({
    "anthropic", "azure_ai", "azure_openai", "bedrock", "bedrock_converse", "cohere", "deepseek",
    "fireworks", "google", "google_genai", "google_vertexai", "groq", "huggingface", "ibm",
    "litellm", "lmstudio", "mistralai", "nvidia", "ollama", "openai", "openrouter", "perplexity",
    "together", "upstage", "vllm", "xai",
})  # fmt: skip
"""What other research agents write before a model's name, with a colon between."""


def plain_name(written: str) -> str:
    """`openai:gpt-5` is `gpt-5`; a tag, as in `qwen3:8b`, belongs to the name."""
    provider, _, name = written.strip().partition(":")
    return name.strip() if name and provider.strip().lower() in PROVIDERS else written.strip()
