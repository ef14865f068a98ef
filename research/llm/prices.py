"""Models' names and the prices of their tokens.

A price that is not configured or published is unknown, never zero.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlsplit

from research.errors import PlumblineError

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


DATA = Path(__file__).with_name("prices.json")
OPENAI = "https://api.openai.com/v1"
MILLION = 1_000_000
# "-2024-08-06", "-20240806"
_DATED = re.compile(r"-\d{4}-?\d{2}-?\d{2}$")
# "0.10"
_USD = r"\d+(?:\.\d+)?"
# "small=0.10/0.40", "large=2.50/10/1.25"
_GIVEN = re.compile(rf"(?P<model>\S+)=(?P<input>{_USD})/(?P<output>{_USD})(?:/(?P<cached>{_USD}))?")


class PriceError(PlumblineError, ValueError):
    """A configured price that can't be parsed, in one sentence."""


@dataclass(frozen=True)
class Price:
    """US dollars per token; `cached` is the price of prompt tokens that the server had cached.

    `source` is the title and address of the price page and `as_of` the day it was read; both are
    '' if the installation set the price.
    """

    input: float
    output: float
    cached: float
    as_of: str = ""
    source: str = ""

    def of(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> float:
        """Return a call's cost in US dollars; `cached_tokens` are included in `prompt_tokens`."""
        cached = min(cached_tokens, prompt_tokens)
        fresh = prompt_tokens - cached
        return fresh * self.input + cached * self.cached + completion_tokens * self.output


def find_price(model: str, base_url: str | None, given: Mapping[str, Price]) -> Price | None:
    """Return the installation's price, else the one published for the provider's host, else None.

    A dated version of a model has the price of the model.
    """
    if model in given:
        return given[model]
    host = urlsplit(base_url or OPENAI).hostname or ""
    listed: Mapping[str, Price] = load_published_prices().get(host, {})
    name = model.removeprefix("models/")  # Google's prefix
    return listed.get(name) or listed.get(_DATED.sub("", name))


@cache
def load_published_prices() -> MappingProxyType[str, MappingProxyType[str, Price]]:
    """Return the prices of `prices.json`: host → model → price."""
    data = json.loads(DATA.read_text())
    read = {
        name: {"as_of": page["as_of"], "source": f"{page['title']}, {page['url']}"}
        for name, page in data["sources"].items()
    }
    return MappingProxyType(
        {
            host: MappingProxyType(
                {
                    name: _price(**{**entry, **read[entry["source"]]})
                    for name, entry in models.items()
                }
            )
            for host, models in data["hosts"].items()
        }
    )


def parse_prices(text: str) -> dict[str, Price]:
    """Parse `MODEL=INPUT/OUTPUT[/CACHED],…`, US dollars per million tokens; raise `PriceError`."""
    prices = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        found = _GIVEN.fullmatch(part)
        if found is None:
            raise PriceError(
                f"MODEL_PRICES has {part!r}; it takes MODEL=INPUT/OUTPUT in US dollars per "
                "million tokens, such as small=0.10/0.40."
            )
        cached = float(found["cached"]) if found["cached"] else None
        prices[plain_name(found["model"])] = _price(
            float(found["input"]), float(found["output"]), cached
        )
    return prices


def format_prices(prices: Mapping[str, Price]) -> str:
    """Return prices as `parse_prices` takes them."""
    return ",".join(
        f"{model}={'/'.join(_in_dollars(each) for each in (price.input, price.output))}"
        for model, price in prices.items()
    )


def _in_dollars(price: float) -> str:
    return f"{price * MILLION:.6f}".rstrip("0").rstrip(".")


def _price(
    input: float, output: float, cached: float | None = None, as_of: str = "", source: str = ""
) -> Price:
    kept = input if cached is None else cached
    return Price(input / MILLION, output / MILLION, kept / MILLION, as_of, source)
