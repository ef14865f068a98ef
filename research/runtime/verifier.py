"""The stored qualifications of models as verifiers, and making one outside of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Final
from urllib.parse import urlsplit

from django.utils import timezone

from research.engine.budget.meter import Meter
from research.engine.config import ResearchConfig
from research.engine.journal import Journal, MemoryStore
from research.engine.llm_tasks.verify import ask_verdicts_unfitted, prompt_version
from research.engine.ports import FetchFailedError, Page, Tools
from research.engine.records import Qualification
from research.engine.verifier.pairs import Pair
from research.engine.verifier.qualification import (
    ANSWER_TOKENS,
    BATCHES,
    PROMPT_TOKENS,
    TOKENS_PER_CALL,
    qualify,
)
from research.llm.prices import find_price
from research.llm.settings import ModelSettings, is_loopback
from research.models import VerifierQualification
from research.runtime.program import SystemClock
from research.search.fallback import NoSearch

ROLE: Final = "evaluator"


def stored_qualification(wanted: ModelSettings | None) -> Qualification | None:
    """Return how the model that checks statements did, for the present prompt; None if unknown."""
    if wanted is None:
        return None
    row = VerifierQualification.objects.filter(
        server=wanted.address, model=wanted.model_of(ROLE), prompt_version=prompt_version()
    ).first()
    if row is None:
        return None
    return Qualification(
        row.prompt_version, row.false_pairs, row.missed, row.faithful_pairs, row.refused
    )


def store_qualification(wanted: ModelSettings, made: Qualification) -> None:
    """Keep a result; a later one replaces it."""
    counts = asdict(made)
    VerifierQualification.objects.update_or_create(
        server=wanted.address,
        model=wanted.model_of(ROLE),
        prompt_version=counts.pop("prompt_version"),
        defaults={**counts, "made_at": timezone.now()},
    )


async def qualify_model(wanted: ModelSettings) -> Qualification:
    """Have the model judge the labelled pairs now. Raises `TaskFailedError`."""
    from research.llm.client import ChatModel  # takes long to import

    config, model = ResearchConfig(), ChatModel(wanted)
    tools = Tools(NoSearch(), _NoPages(), SystemClock(), model)
    journal = Journal(MemoryStore(), tools, Meter(config), analyst=model.name)

    async def ask_batch(number: int, pairs: Sequence[Pair]) -> Sequence[bool]:
        place, attempts = f"verifier/{number}", config.max_model_attempts
        return await ask_verdicts_unfitted(journal, attempts, place, pairs)

    try:
        await journal.open()
        return await qualify(ask_batch, prompt_version())
    finally:
        await journal.close()
        await model.aclose()


def price_told(wanted: ModelSettings) -> str:
    """Return in words what a qualification takes."""
    tokens = BATCHES * TOKENS_PER_CALL
    known = find_price(wanted.model_of(ROLE), wanted.base_url, wanted.prices)
    most = known and known.of(BATCHES * PROMPT_TOKENS, BATCHES * ANSWER_TOKENS)
    is_free = is_loopback(urlsplit(wanted.address).hostname or "")
    unknown = "no cost" if is_free else "price unknown"
    money = unknown if most is None else f"at most ${most:.2f}"
    return f"{BATCHES} model calls and at most {tokens:,} tokens; {money}"


class _NoPages:
    """A model is asked about pairs that are at hand: nothing is fetched."""

    async def fetch(self, url: str) -> Page:
        raise FetchFailedError("No page is fetched to qualify a model.", status="refused")
