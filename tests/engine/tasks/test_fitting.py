"""Prompts keep to the model's window, and the run says what that cost."""

from __future__ import annotations

import pytest

from research.engine.budget import CHARACTERS_PER_TOKEN
from research.engine.records import Problem
from research.engine.run import CUT
from research.engine.tools import ModelAnswer, ModelFailure, ModelRequest
from tests.engine.scripted import CHAIN, LIT, Oracle, Ran, Script, Web, World, harbour_pages, page

FILLER = "The lighthouse quay was swept on most mornings and the nets were hung up to dry. " * 150


class Windowed(Oracle):
    """A model that refuses what its window does not hold, and takes notice of how much it was."""

    def __init__(self, script: Script, window: int) -> None:
        super().__init__(script)
        self.window = window
        self.most = 0

    async def context_tokens(self) -> int | None:
        return self.window

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        characters = len(request.system) + len(request.prompt)
        tokens = characters // CHARACTERS_PER_TOKEN + request.max_output_tokens
        self.most = max(self.most, tokens)
        if tokens > self.window:
            raise ModelFailure("the prompt is longer than the context window", permanent=True)
        return await super().complete(request)


async def asked(window: int) -> tuple[Windowed, Ran]:
    """A question over pages each of which is far longer than what is to the point."""
    pages = [page(p.url, f"{FILLER}\n\n{p.text}\n\n{FILLER}") for p in harbour_pages()]
    model = Windowed(CHAIN, window)
    return model, await World(Web(pages), model).ask(CHAIN.question)


@pytest.mark.parametrize("window", [3000, 4096])
async def test_a_small_window_is_never_exceeded_and_what_matters_stays(window: int) -> None:
    model, ran = await asked(window)
    assert model.most <= window
    assert ran.usage.fallbacks == {}
    assert ran.usage.prompts_cut > 0
    assert CUT in [problem.message for problem in ran.of(Problem)]
    assert "designed by Edda Marlow" in ran.report.markdown
    assert LIT not in ran.report.markdown


async def test_a_wide_window_cuts_nothing() -> None:
    _, ran = await asked(128_000)
    assert ran.usage.prompts_cut == 0
    assert CUT not in [problem.message for problem in ran.of(Problem)]


async def test_a_faulty_answer_shown_again_still_fits() -> None:
    pages = [page(p.url, f"{FILLER}\n\n{p.text}") for p in harbour_pages()]
    model = Windowed(CHAIN, 4096)
    turns = iter([True])
    model.raw["read"] = lambda text: "x" * 9000 if next(turns, False) else text
    ran = await World(Web(pages), model).ask(CHAIN.question)
    assert model.most <= 4096
    assert (ran.usage.retries, ran.usage.fallbacks) == (1, {})
