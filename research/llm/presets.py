"""Common model servers: where they are, and what they need to be connected."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from research.llm.prices import OPENAI, load_published_prices


@dataclass(frozen=True)
class ModelPreset:
    """A kind of server. An empty `address` is OpenAI's own, or one that only the user knows; `hint`
    says where to get what it needs.

    A hosted server `needs_key`; another one may have been started with a key.
    """

    name: str
    label: str
    address: str
    hint: str
    needs_key: bool = False
    example: str = ""

    @property
    def models(self) -> tuple[str, ...]:
        """Return the known models of a hosted server, () if there is no list of them."""
        if not self.needs_key:
            return ()
        host = urlsplit(self.address or OPENAI).hostname or ""
        return tuple(load_published_prices().get(host, {}))


MODEL_PRESETS = (
    ModelPreset("openai", "OpenAI", "", "Create an API key in your OpenAI account.", True),
    ModelPreset(
        "anthropic",
        "Anthropic-compatible",
        "https://api.anthropic.com/v1/",
        "Create a key in the Anthropic console. Another server needs its own address.",
        True,
    ),
    ModelPreset(
        "openrouter",
        "OpenRouter",
        "https://openrouter.ai/api/v1",
        "Create a key in your OpenRouter account. Models are named vendor/model.",
        True,
        "vendor/model",
    ),
    ModelPreset(
        "ollama",
        "Ollama",
        "http://127.0.0.1:11434/v1",
        "Start Ollama and pull a model first, for example: ollama pull qwen3:8b",
        example="qwen3:8b",
    ),
    ModelPreset(
        "vllm",
        "vLLM",
        "http://127.0.0.1:8000/v1",
        "The model is the one that vllm serve was started with. Plumbline uses port 8000 too, "
        "so start one of them on another port.",
    ),
    ModelPreset(
        "lm-studio",
        "LM Studio",
        "http://127.0.0.1:1234/v1",
        "Load a model and start the server in LM Studio’s Developer tab.",
    ),
    ModelPreset(
        "llama-cpp",
        "llama.cpp",
        "http://127.0.0.1:8080/v1",
        "Start llama-server with a model. It serves one, so any name will do.",
        example="any name",
    ),
    ModelPreset(
        "other",
        "Another server",
        "",
        "Any server with OpenAI’s chat completions. Its address usually ends in /v1.",
    ),
)
