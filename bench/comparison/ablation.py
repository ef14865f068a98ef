"""What each gate, cap and stop rule is worth: the engine without it, on the same questions.

A rule that changes no outcome is dead weight, or the questions don't reach it. So each rule is
taken out where it has to act: under analysts that judge badly, limits that are tight, and on a
web that holds little. `rules.py` has the table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from hashlib import sha256
from typing import Any

from bench.comparison.running import EXTRACTIVE, Bench, Ran
from bench.comparison.statistics import mean
from bench.comparison.variant import AS_IT_IS, Variant
from bench.world.facts import Question
from bench.world.hostile import HONEST
from bench.world.score import report_body
from bench.world.supply import AMPLE

Knobs = Mapping[str, Any]


@dataclass(frozen=True)
class Setting:
    """Who answers, under which limits, on which web; `commands` come during the first round."""

    model: str = HONEST
    knobs: Knobs = field(default_factory=dict)
    supply: str = AMPLE
    commands: tuple[str, ...] = ()

    def __str__(self) -> str:
        who = "no model" if self.model == EXTRACTIVE else self.model.removeprefix(f"{HONEST}-")
        limits = [f"{knob} {_shown(value)}" for knob, value in self.knobs.items()]
        told = [f"told to {command}" for command in self.commands]
        web = [self.supply] if self.supply != AMPLE else []
        return "; ".join([who.replace("-", " "), *web, *limits, *told])


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return "/".join(map(str, value))
    return str(value).lower()


@dataclass(frozen=True)
class Ablation:
    """`without` is the engine that lacks the rule; `loosened` are knobs that do the same."""

    rule: str
    settings: tuple[Setting, ...]
    without: Variant = AS_IT_IS
    loosened: Knobs = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """What a run came to. Counts are the engine's own; `report` is a digest of its text."""

    reason: str | None
    status: str
    rounds: int
    calls: int
    searches: int
    pages: int
    evidence: int
    recall: float
    score: float | None
    report: str

    @classmethod
    def of(cls, ran: Ran) -> Outcome:
        run, usage = ran.resource, ran.resource["usage"]
        return cls(
            reason=run["termination_reason"],
            status=run["status"],
            rounds=len(run["rounds"]),
            calls=usage["llm_calls"],
            searches=usage["searches"],
            pages=usage["fetches"],
            evidence=len(run["evidence"]),
            recall=ran.figures.score.report_recall or 0.0,
            score=run["rounds"][-1]["score"] if run["rounds"] else None,
            report=sha256(report_body(run["report_markdown"]).encode()).hexdigest(),
        )


@dataclass(frozen=True)
class Ablated:
    """One question with a rule and without it."""

    rule: str
    setting: Setting
    kept: Outcome
    lost: Outcome


async def ablate(bench: Bench, ablations: Sequence[Ablation]) -> list[Ablated]:
    """Every question with each rule and without it, in those settings that are of this web."""
    here = [
        (ablation, setting)
        for ablation in ablations
        for setting in ablation.settings
        if setting.supply == bench.running.world.supply
    ]
    found = []
    for question in bench.running.world.questions:
        known: dict[str, Outcome] = {}
        for ablation, setting in here:
            if (name := str(setting)) not in known:
                known[name] = await _outcome(bench, question, setting, AS_IT_IS, {})
            lost = await _outcome(bench, question, setting, ablation.without, ablation.loosened)
            found.append(Ablated(ablation.rule, setting, known[name], lost))
    return found


async def _outcome(
    bench: Bench, question: Question, setting: Setting, variant: Variant, loosened: Knobs
) -> Outcome:
    knobs = {**setting.knobs, **loosened}
    return Outcome.of(
        await bench.run(
            question, knobs, variant=variant, model=setting.model, commands=setting.commands
        )
    )


# --- read off -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A rule in one setting: the questions whose outcome it changed, and how."""

    rule: str
    setting: str
    questions: int
    changed: int
    how: str


def rows(found: Sequence[Ablated]) -> Iterator[Row]:
    for rule, setting in dict.fromkeys((each.rule, str(each.setting)) for each in found):
        runs = [each for each in found if (each.rule, str(each.setting)) == (rule, setting)]
        changed = [each for each in runs if each.kept != each.lost]
        yield Row(rule, setting, len(runs), len(changed), _how(changed))


COUNTS = {"rounds": ".1f", "calls": ".1f", "searches": ".1f", "pages": ".1f", "evidence": ".1f"}
SHARES = {"recall": ".2f", "score": ".1f"}


def _how(changed: Sequence[Ablated]) -> str:
    """Without − with, means over the changed questions; what comes to nothing is not named."""
    said = [*_ends(changed, "reason"), *_ends(changed, "status")]
    for name, form in {**COUNTS, **SHARES}.items():
        difference = mean(_number(each.lost, name) - _number(each.kept, name) for each in changed)
        if float(shown := format(difference, f"+{form}")):
            said.append(f"{name} {shown}")
    names = [each.name for each in fields(Outcome) if each.name != "report"]
    worded = sum(all(_same(each, name) for name in names) for each in changed)
    if worded:
        said.append("only what the report says" if not said else f"only the report ({worded})")
    return "; ".join(said)


def _same(each: Ablated, name: str) -> bool:
    return bool(getattr(each.kept, name) == getattr(each.lost, name))


def _number(outcome: Outcome, name: str) -> float:
    return float(getattr(outcome, name) or 0.0)


def _ends(changed: Sequence[Ablated], name: str) -> Iterator[str]:
    """Yield the commonest changes of how a run ended."""
    pairs = [(getattr(each.kept, name), getattr(each.lost, name)) for each in changed]
    for (kept, lost), count in Counter(p for p in pairs if p[0] != p[1]).most_common(2):
        yield f"{kept or 'no report'} → {lost or 'no report'} ({count})"
