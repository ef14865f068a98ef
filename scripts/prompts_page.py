"""Writes every prompt of one run into `docs/prompts.md`: `python -m scripts.prompts_page`.

The run is the engine's own over the small web of its tests, with a model that answers by rule;
one sentence of its draft says too much, so that the mending is shown too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from research.engine.tools import ModelRequest
from tests.engine.scripted import CHAIN, harbour

PAGE = Path(__file__).resolve().parent.parent / "docs" / "prompts.md"
MARK = "<!-- Written by `python -m scripts.prompts_page` from here on. -->"


def main() -> None:
    PAGE.write_text(page())


def page() -> str:
    """The page as it is, with its generated part made anew."""
    written = PAGE.read_text().partition(MARK)[0]
    return f"{written}{MARK}\n\n{''.join(_shown(asyncio.run(requests())))}"


async def requests() -> list[ModelRequest]:
    """What the model was asked, in order."""
    world = harbour(CHAIN)
    assert world.model is not None
    world.model.twists["draft"] = _overstated
    await world.ask(CHAIN.question)
    return world.model.requests


def _overstated(draft: dict[str, Any]) -> dict[str, Any]:
    first, *others = draft["statements"]
    return {**draft, "statements": [first.replace(". [", " in 1803. ["), *others]}


def _shown(asked: Iterable[ModelRequest]) -> Iterable[str]:
    yield "## Every prompt of one run\n\n"
    yield "System messages are shown once: they are the same for every call of a task.\n"
    seen: set[str] = set()
    for number, request in enumerate(asked, 1):
        yield f"\n### {number}. {request.task}\n\n"
        if request.task not in seen:
            seen.add(request.task)
            yield f"System message:\n\n````text\n{request.system}\n````\n\nPrompt:\n\n"
        yield f"````text\n{request.prompt.rstrip()}\n````\n"


if __name__ == "__main__":
    main()
