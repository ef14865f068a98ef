"""Which model, where, and how patiently; apart from the client, which takes long to import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from research.engine.tools import ModelRole
from research.llm.prices import OPENAI, Price


@dataclass(frozen=True)
class ModelSettings:
    """Where the model is and which one does what. `base_url` None means OpenAI's own.

    `context_tokens` overrides what the server tells of its window. `timeout_seconds` is for a
    whole answer, `first_token_seconds` for the beginning of a streamed one. `known_in` is the
    file of what servers take, None keeps that in memory.
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
