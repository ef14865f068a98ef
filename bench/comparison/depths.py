"""One question under every way of stopping.

The forced run is made once, to the full depth. What it is worth at a lower depth is read off
its journal: the rounds are replayed, the report is written anew. `same` says that the replay
asked for nothing else than what stands in the journal, so that it is the run of that depth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bench.comparison.figures import Figures, Prices
from bench.comparison.running import Bench, Ran
from bench.comparison.variant import forced
from bench.world.facts import Question
from bench.world.hostile import HONEST
from bench.world.score import quotes_by_round
from research.engine import MemoryStore
from research.engine.text.tokens import term_set

DEPTH = 5
COVERED = 0.9
PRICES = Prices(1.0, 4.0)
REPORT, NOTED = "report/", ("clock/", "time/", "commands/")
ANEW = (REPORT, "commands/")
TREE_DEPTHS = (1, 2)


@dataclass(frozen=True)
class Measured:
    """`question` names the world too. `depths` holds the forced runs of depth 1 to `DEPTH`,
    `tree` the fixed mode's by depth. `covered` is the first round whose quotes hold the
    question's words.
    """

    question: str
    kind: str
    adaptive: Figures
    depths: tuple[Figures, ...]
    tree: tuple[Figures, ...]
    covered: int | None
    same: bool


async def measure(bench: Bench, question: Question, model: str = HONEST) -> Measured:
    adaptive = await bench.run(question, model=model, prices=PRICES)
    deep = await bench.run(question, variant=forced(DEPTH), model=model, prices=PRICES)
    shorter = [await at_depth(bench, question, deep, d, model) for d in range(1, DEPTH)]
    tree = [await bench.run(question, _tree(d), model=model, prices=PRICES) for d in TREE_DEPTHS]
    return Measured(
        question=f"{bench.running.world.seed}/{question.id}",
        kind=question.kind,
        adaptive=adaptive.figures,
        depths=(*(ran.figures for ran, _ in shorter), deep.figures),
        tree=tuple(ran.figures for ran in tree),
        covered=covered_round(question.text, deep.resource),
        same=all(same for _, same in shorter),
    )


async def at_depth(
    bench: Bench, question: Question, deep: Ran, depth: int, model: str = HONEST
) -> tuple[Ran, bool]:
    """Return the forced run of a lower depth over the journal of a deeper one."""
    store = MemoryStore()
    store.texts = deep.store.texts
    store.entries = {k: e for k, e in deep.store.entries.items() if not k[0].startswith(ANEW)}
    known = set(store.entries)
    ran = await bench.run(
        question, variant=forced(depth), model=model, store=store, prices=PRICES
    )  # fmt: skip
    asked = [place for place, _ in store.entries.keys() - known]
    return ran, not ran.divergences and all(p.startswith((REPORT, *NOTED)) for p in asked)


def _tree(depth: int) -> dict[str, Any]:
    return {"deep_research_mode": "fixed", "deep_research_depth": depth}


def covered_round(question: str, run: Any) -> int | None:
    """Return where the naive rule stops: the quotes hold nine in ten of the question's words."""
    terms = term_set(question)
    held: set[str] = set()
    for number, quotes in enumerate(quotes_by_round(run), 1):
        held |= term_set(" ".join(quotes))
        if len(terms & held) >= COVERED * len(terms):
            return number
    return None


def hindsight(depths: Sequence[Figures]) -> int:
    """Return the first round with every needed fact and the minima met; else the first with as many
    facts as any.
    """
    deepest = depths[-1].score
    if deepest.complete_round is not None:
        return deepest.complete_round
    shares = deepest.recall_by_round
    return shares.index(max(shares)) + 1 if shares else 1
