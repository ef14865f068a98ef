"""Aggregates the outcomes of all questions into one object of figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from typing import Any

from bench.evaluation.results import Failed, Outcome
from bench.evaluation.scoring import DEPTH, Cost
from bench.evaluation.stopping_check import Point, hindsight, verdict, versus_fixed

COSTS = ("searches", "fetches", "calls", "tokens", "seconds")
VERDICTS = ("premature", "late", "exact")


def summarise(outcomes: Sequence[Outcome], failed: Sequence[Failed]) -> dict[str, Any]:
    """Return the figures: shares are 0-1, costs are means per question.

    `by_file` and `by_hops` have the same figures for subsets.
    """
    return {
        **_figures(outcomes),
        "by_file": _grouped(outcomes, lambda outcome: outcome.file),
        "by_hops": _grouped(outcomes, lambda outcome: str(outcome.hops)),
        "failed": [asdict(failure) for failure in failed],
    }


def _grouped(outcomes: Sequence[Outcome], name: Callable[[Outcome], str]) -> dict[str, Any]:
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault(name(outcome), []).append(outcome)
    return {name: _figures(group) for name, group in sorted(groups.items())}


def _figures(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    if not outcomes:
        return {"questions": 0}
    return {
        "questions": len(outcomes),
        "rounds": [_round(outcomes, depth) for depth in range(1, DEPTH + 1)],
        "stopping": _stopping(outcomes),
        "answers": _answers(outcomes),
        "quotes": _quotes(outcomes),
    }


# --- by round ---------------------------------------------------------------------------------


def _round(outcomes: Sequence[Outcome], depth: int) -> dict[str, Any]:
    return {
        "round": depth,
        "recall": _mean(recall(o, depth) for o in outcomes),
        "whole_chain": _mean(recall(o, depth) == 1 for o in outcomes),
        "named": _mean(_share([g.named for g in o.gold], depth) for o in outcomes),
        "quoted": _mean(_share([g.quoted for g in o.gold], depth) for o in outcomes),
        **{cost: _mean(getattr(cost_at(o, depth), cost) for o in outcomes) for cost in COSTS},
    }


def recall(outcome: Outcome, depth: int) -> float:
    """Return the share of gold pages fetched by the end of a round."""
    return _share([gold.fetched for gold in outcome.gold], depth)


def _share(rounds: Sequence[int | None], depth: int) -> float:
    return sum(number is not None and number <= depth for number in rounds) / len(rounds)


def cost_at(outcome: Outcome, depth: int) -> Cost:
    """Return the cost of the forced run at a depth; constant after its last round."""
    done = outcome.rounds[:depth]
    return done[-1].cost if done else Cost()


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return round(sum(numbers) / len(numbers), 4)


# --- stopping ---------------------------------------------------------------------------------


def _stopping(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    verdicts = Counter(verdict(o.gold, o.stopped) for o in outcomes)
    totals = [asdict(o.stopped.total) for o in outcomes]
    return {
        "mean_rounds": _mean(o.stopped.round for o in outcomes),
        "hindsight_rounds": _mean(hindsight([g.fetched for g in o.gold]) for o in outcomes),
        **{name: round(verdicts[name] / len(outcomes), 4) for name in VERDICTS},
        "recall": _mean(o.stopped.recall for o in outcomes),
        "whole_chain": _mean(o.stopped.recall == 1 for o in outcomes),
        "premature_at_fixed": [_premature(outcomes, depth) for depth in range(1, DEPTH)],
        "cost": {cost: _mean(total[cost] for total in totals) for cost in COSTS},
        "at_equal_rounds": _versus(
            outcomes, lambda o: o.stopped.round, lambda o, depth: min(depth, len(o.rounds))
        ),
        "at_equal_fetches": _versus(
            outcomes, lambda o: o.stopped.cost.fetches, lambda o, depth: cost_at(o, depth).fetches
        ),
        "reasons": dict(Counter(o.stopped.reason for o in outcomes).most_common()),
        "replayed": sum(o.stopped.replayed for o in outcomes),
        "run_live": sum(not o.stopped.replayed for o in outcomes),
        "forced_ended_early": dict(
            Counter(o.forced_reason for o in outcomes if len(o.rounds) < DEPTH).most_common()
        ),
    }


def _premature(outcomes: Sequence[Outcome], depth: int) -> float:
    """Return the share of questions that would miss gold if stopped at a fixed depth."""
    return _mean(recall(o, depth) < recall(o, DEPTH) for o in outcomes)


def _versus(
    outcomes: Sequence[Outcome],
    at_stop: Callable[[Outcome], float],
    at_depth: Callable[[Outcome, int], float],
) -> dict[str, float]:
    stops = [Point(at_stop(o), o.stopped.recall) for o in outcomes]
    depths = range(1, DEPTH + 1)
    curves = [[Point(at_depth(o, depth), recall(o, depth)) for depth in depths] for o in outcomes]
    return {name: round(value, 4) for name, value in asdict(versus_fixed(stops, curves)).items()}


# --- answers and quotes -----------------------------------------------------------------------


def _answers(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the figures of the reports written at the stop."""
    answers = [o.stopped.answer for o in outcomes if o.stopped.answer]
    held = sum(answer.held for answer in answers)
    return {
        "applicable": len(answers),
        "yes_no": len(outcomes) - len(answers),
        "short_answer_holds": held,
        "share": round(held / len(answers), 4) if answers else None,
        "report_holds": sum(answer.in_report for answer in answers),
        "quotes_hold": sum(answer.in_quotes for answer in answers),
    }


def _quotes(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    checked = sum(o.quotes.checked for o in outcomes)
    right = sum(o.quotes.right for o in outcomes)
    return {
        "checked": checked,
        "right": right,
        "precision": right / checked if checked else None,
        "wrong": [wrong for o in outcomes for wrong in o.quotes.wrong][:20],
    }
