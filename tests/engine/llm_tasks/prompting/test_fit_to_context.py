"""Prompts keep to the model's window, and the run says what that cost."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

import pytest

from research.engine.budget.meter import BYTES_PER_TOKEN, tokens_of
from research.engine.llm_tasks import read
from research.engine.llm_tasks.prompting.prompt_pages import PromptPage, number_sentences
from research.engine.offline.passages import shown_passages
from research.engine.ports import ModelAnswer, ModelFailedError, ModelRequest
from research.engine.records import Problem
from research.engine.run import CUT, TOO_LONG
from tests.engine.scripted import CHAIN, LIT, Oracle, Ran, Script, Web, World, harbour_pages, page

pytestmark = pytest.mark.slow

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
        tokens = characters // BYTES_PER_TOKEN + request.max_output_tokens
        self.most = max(self.most, tokens)
        if tokens > self.window:
            raise ModelFailedError("the prompt is longer than the context window", permanent=True)
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


@pytest.mark.parametrize(("window", "is_whole"), [(8_000, True), (7_999, False)])
async def test_only_a_window_with_room_for_evidence_has_its_report_written_as_a_whole(
    window: int, is_whole: bool
) -> None:
    model, _ = await asked(window)
    drafts = [each.system for each in model.requests if each.task == "draft"]
    assert drafts and all(("- `sections`" in system) is is_whole for system in drafts)


async def test_prompts_of_long_pages_are_fitted_in_the_thread_for_texts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads = set[str]()

    def noting(*arguments: Any, **named: Any) -> list[PromptPage]:
        threads.add(threading.current_thread().name.partition("_")[0])
        return number_sentences(*arguments, **named)

    monkeypatch.setattr(read, "number_sentences", noting)
    _, ran = await asked(4096)
    assert threads == {"texts"}
    assert ran.usage.prompts_cut > 0


class ByBytes(Windowed):
    """One whose tokens are three bytes of any language."""

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        used = tokens_of(request.system, request.prompt) + request.max_output_tokens
        self.most = max(self.most, used)
        return await Oracle.complete(self, request)


async def test_a_small_window_holds_a_third_of_the_characters_in_chinese() -> None:
    days = "".join(f"第{n}天灯塔被打扫过, 渔网挂起来晾干。" for n in range(900))
    pages = [page(p.url, f"{p.text}\n\n{days}") for p in harbour_pages()]
    model = ByBytes(CHAIN, 4096)
    ran = await World(Web(pages), model).ask(CHAIN.question)
    assert 2000 < model.most <= 4096
    assert "designed by Edda Marlow" in ran.report.markdown


class Silent(Windowed):
    """One that does not tell its window, and counts what it refused."""

    refused = 0

    async def context_tokens(self) -> int | None:
        return None

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        characters = len(request.system) + len(request.prompt)
        if characters // BYTES_PER_TOKEN + request.max_output_tokens > self.window:
            self.refused += 1
            raise ModelFailedError("the prompt is longer than the model's window", too_long=True)
        return await super().complete(request)


def days(number: int) -> str:
    """Much that is beside the point, in words that no other page has."""
    return " ".join(f"On day {n} of log {number} a lighthouse was cleaned." for n in range(150))


async def asked_in_silence(window: int, **knobs: Any) -> tuple[Silent, World, Ran]:
    pages = [page(p.url, f"{p.text}\n\n{days(n)}") for n, p in enumerate(harbour_pages())]
    model = Silent(CHAIN, window)
    world = World(Web(pages), model)
    return model, world, await world.ask(CHAIN.question, **knobs)


@pytest.mark.requirement("D14")
async def test_a_window_that_nobody_told_is_found_by_asking_for_less() -> None:
    model, _, ran = await asked_in_silence(4096)
    assert ran.usage.fallbacks == {}
    assert model.most <= 4096
    assert "designed by Edda Marlow" in ran.report.markdown
    assert TOO_LONG in [problem.message for problem in ran.of(Problem)]
    assert ran.usage.prompts_cut > 0
    assert ran.usage.retries == model.refused > 0


async def test_later_rounds_know_what_earlier_ones_learned() -> None:
    _, world, ran = await asked_in_silence(4096)
    assert len(ran.rounds) > 1
    reads = [e for e in world.store.entries.values() if e.place.endswith("/read")]
    refused = {e.place for e in reads if e.status == "failed"}
    assert (
        refused
        == {e.place for e in reads if e.place.startswith("round/1/")}
        < {e.place for e in reads}
    )


async def test_what_was_learned_is_learned_again_on_a_resume() -> None:
    model, world, ran = await asked_in_silence(4096)
    calls = len(model.requests)
    again = await world.ask(CHAIN.question)
    assert len(model.requests) == calls and again.journal.divergences == []
    assert again.report.markdown == ran.report.markdown


@pytest.mark.requirement("D14")
@pytest.mark.slow
async def test_a_prompt_that_cannot_be_made_short_enough_is_left_to_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shown_passages, "answer_probability", lambda *_: 0.5)
    model, world, ran = await asked_in_silence(300)
    calls = [entry for entry in world.store.entries.values() if entry.kind == "model"]
    lengths = [len(c.request["prompt"]) for c in calls if c.place == "round/1/unit/1/read"]
    assert len(lengths) == max(Counter(call.place for call in calls).values()) == 4
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[-1] < lengths[0] / 4
    assert set(ran.usage.fallbacks) == {"intake", "read", "assess", "draft"}
    causes = {cause for told in ran.usage.fallbacks.values() for cause in told}
    assert causes == {"the prompt is longer than the model's window"}
    assert ran.state.status == "completed" and ran.report.markdown
    tasks = sum(sum(told.values()) for told in ran.usage.fallbacks.values())
    assert model.refused <= 4 * tasks


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
