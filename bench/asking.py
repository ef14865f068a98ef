"""A journal whose model is the configured one, for instruments that ask it single tasks.

`OPENAI_BASE_URL` and `RESEARCH_MODEL` name the model, `OPENAI_API_KEY` its key if it needs one.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from research.engine.budget.meter import Meter
from research.engine.config import ResearchConfig
from research.engine.journal import Journal, MemoryStore
from research.engine.ports import Tools
from research.llm.client import ChatModel
from research.llm.settings import ModelSettings
from research.runtime.program import SystemClock
from research.search.fallback import NoSearch

SECONDS = 3600.0
"""Timeout of one answer, and of all answers together, in seconds."""


@asynccontextmanager
async def configured_journal() -> AsyncIterator[Journal]:
    """Open a journal in memory with the configured model."""
    model = ChatModel(
        ModelSettings(
            os.environ["RESEARCH_MODEL"],
            base_url=os.environ["OPENAI_BASE_URL"],
            api_key=os.environ.get("OPENAI_API_KEY", ""),
            timeout_seconds=SECONDS,
            first_token_seconds=SECONDS,
        )
    )
    tools = Tools(NoSearch(), None, SystemClock(), model)  # type: ignore[arg-type]
    journal = Journal(
        MemoryStore(), tools, Meter(ResearchConfig(max_seconds=SECONDS)), analyst=model.name
    )
    await journal.open()
    try:
        yield journal
    finally:
        await journal.close()
        await model.aclose()
