"""Agreement of stated probabilities with outcomes: reliability table, ECE and AUC."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

BINS = 10
SAID, HALF, LOW = 0.7, 0.5, 0.3


@dataclass(frozen=True)
class Judged:
    """A question, the probability that was stated, and what the passages held."""

    manual: str
    kind: str
    probability: float
    is_answerable: bool
    first_holds: bool
    five_hold: bool


def expected_error(found: Sequence[Judged]) -> float:
    """Return the expected calibration error over `BINS` bins of equal width."""
    return sum(
        len(some) * abs(fmean(j.probability for j in some) - fmean(j.five_hold for j in some))
        for some in _binned(found).values()
    ) / max(1, len(found))


def area_under_curve(found: Sequence[Judged]) -> float:
    """Return the probability that a question whose passages answer gets the higher score."""
    right = [each.probability for each in found if each.five_hold]
    wrong = [each.probability for each in found if not each.five_hold]
    if not (right and wrong):
        return float("nan")
    wins = sum((r > w) + (r == w) / 2 for r in right for w in wrong)
    return wins / (len(right) * len(wrong))


def _binned(found: Sequence[Judged]) -> dict[int, list[Judged]]:
    bins: dict[int, list[Judged]] = defaultdict(list)
    for each in found:
        bins[min(BINS - 1, int(each.probability * BINS))].append(each)
    return dict(sorted(bins.items()))


def share(found: Sequence[bool]) -> float:
    """Return the share that is true; nan of nothing."""
    return fmean(found) if found else float("nan")


def calibration_table(found: Sequence[Judged]) -> str:
    """Return the figures and the reliability diagram as a Markdown table."""
    answerable = [each for each in found if each.is_answerable]
    others = [each for each in found if not each.is_answerable]
    said = [each for each in found if each.probability >= SAID]
    lines = [
        f"questions {len(found)}, of which {len(others)} are not answered by the manual",
        f"first passage holds the answer {share([j.first_holds for j in answerable]):.3f}",
        f"five hold it {share([j.five_hold for j in answerable]):.3f}",
        f"ECE {expected_error(found):.3f}, AUC {area_under_curve(found):.3f}",
        f"said 7 or more and right {share([j.five_hold for j in said]):.3f} of {len(said)}",
        f"answerable that say 7 or more {share([j.probability >= SAID for j in answerable]):.3f}",
        f"not answered: below 5 {share([j.probability < HALF for j in others]):.3f}, "
        f"below 3 {share([j.probability < LOW for j in others]):.3f}",
        "",
        "| score | questions | mean score | share that hold the answer | |",
        "| --- | --- | --- | --- | --- |",
    ]
    for number, some in _binned(found).items():
        held, mean = (fmean(j.five_hold for j in some), 10 * fmean(j.probability for j in some))
        bar = "█" * round(20 * held)
        lines.append(f"| {number}–{number + 1} | {len(some)} | {mean:.1f} | {held:.2f} | {bar} |")
    return "\n".join(lines)
