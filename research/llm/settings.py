"""Settings of the model client, in a separate module because the client is slow to import."""

from __future__ import annotations

import hashlib
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from research.engine.ports import ModelRole
from research.limits.state import Rule
from research.llm.prices import OPENAI, Price


@dataclass(frozen=True)
class ModelSettings:
    """Address, key, models by role, timeouts and limits. `base_url` None means OpenAI's own server.

    `context_tokens` overrides the window that the server reports. `timeout_seconds` limits a whole
    answer, `first_token_seconds` the wait for the start of a streamed one. `known_in` is the file
    of detected capabilities; None keeps them in memory.
    """

    research_model: str
    reader_model: str = ""
    evaluator_model: str = ""
    eval_model: str = ""
    base_url: str | None = None
    api_key: str = ""
    timeout_seconds: float = 120.0
    first_token_seconds: float = 60.0
    concurrency: int = 4
    requests_per_minute: int = 0
    tokens_per_minute: int = 0
    temperature: float | None = None
    reasoning_effort: str = ""
    context_tokens: int | None = None
    prices: Mapping[str, Price] = field(default_factory=dict)
    known_in: Path | None = None

    def model_of(self, role: ModelRole) -> str:
        named = {
            "reader": self.reader_model,
            "evaluator": self.evaluator_model,
            "judge": self.eval_model or self.evaluator_model,
        }
        return named.get(role) or self.research_model

    @property
    def address(self) -> str:
        return self.base_url or OPENAI

    @property
    def account(self) -> str:
        return f"model {_account(self.address, self.api_key)}"

    @property
    def rule(self) -> Rule:
        return Rule(
            at_once=self.concurrency,
            per_minute=self.requests_per_minute,
            tokens_per_minute=self.tokens_per_minute,
        )


@dataclass(frozen=True)
class EmbeddingSettings:
    """An embedding model and its server; `base_url` None means OpenAI's own."""

    model: str
    base_url: str | None = None
    api_key: str = ""
    concurrency: int = 4

    @property
    def account(self) -> str:
        return f"embedding {_account(self.base_url or OPENAI, self.api_key)}"

    @property
    def rule(self) -> Rule:
        return Rule(at_once=self.concurrency)


def _account(address: str, api_key: str) -> str:
    """Return a name of the server and key, to which limits apply; it discloses neither.

    A loopback address is another server on each host.
    """
    host = socket.gethostname() if is_loopback(urlsplit(address).hostname or "") else ""
    told = f"{address}\n{api_key}\n{host}"
    return hashlib.sha256(told.encode()).hexdigest()[:32]


def is_loopback(host: str) -> bool:
    """Return whether a host's name or address is this machine's own."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
