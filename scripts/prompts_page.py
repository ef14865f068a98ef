"""Generate the prompts of one run in `docs/prompts.md`: `python -m scripts.prompts_page`.

The run uses the small web of the tests and a scripted model. On purpose, one drafted sentence is
unsupported, one is reworded and a point is left open, so that the prompts for repair, verification
and the last look are included.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from research.engine.ports import ModelRequest
from tests.engine.scripted import CHAIN, harbour

PAGE = Path(__file__).resolve().parent.parent / "docs" / "prompts.md"
FENCE = r"\g<1>01234567"
_FENCE = re.compile(r'( mark="|</page )[0-9a-f]{8}')
"""The mark of a page's fence, which differs from run to run."""
MARK = "<!-- Written by `python -m scripts.prompts_page` from here on. -->"
REWORDED = "Until it closed in 1912, the Calder foundry was in the hands of Ruth Ansel. [E3]"
OPEN = "A1: what kind of fire was kept on the cliff before"


def main() -> None:
    PAGE.write_text(page())


def page() -> str:
    """Return the page with its generated part replaced."""
    written = PAGE.read_text().partition(MARK)[0]
    return f"{written}{MARK}\n\n{''.join(_shown(asyncio.run(requests())))}"


async def requests() -> list[ModelRequest]:
    """Return the requests to the model in order, then those of a thorough run that are others."""
    world, thorough = harbour(CHAIN), harbour(CHAIN)
    assert world.model is not None and thorough.model is not None
    world.model.twists["draft"] = _overstated
    thorough.model.twists["summary"] = lambda summary: {**summary, "open": [OPEN]}
    await world.ask(CHAIN.question)
    await thorough.ask(CHAIN.question, research_depth="thorough")
    first = {each.task: each for each in reversed(thorough.model.requests)}
    return [*world.model.requests, first["section"], first["summary"], first["last_look"]]


def _overstated(draft: dict[str, Any]) -> dict[str, Any]:
    first, *others = draft["statements"]
    others = [REWORDED if "[E3]" in each else each for each in others]
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
        yield f"````text\n{_FENCE.sub(FENCE, request.prompt.rstrip())}\n````\n"


if __name__ == "__main__":
    main()
