"""Reading without a model: the passages that answer, and the leads they name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from research.engine.extractive.passages import Passage, passages
from research.engine.extractive.procedures import LEAST_STEPS, instructs, is_numbered
from research.engine.extractive.question import read_question
from research.engine.extractive.scoring import Ranking, Scores
from research.engine.extractive.wanted import Need
from research.engine.languages import ENGLISH, language_of
from research.engine.records import Aspect
from research.engine.similarity import jaccard
from research.engine.tools import Page

KEEP = 0.22
NEARLY_AS_GOOD = 0.05
PROCEDURE = 0.6


@dataclass(frozen=True)
class Scored:
    """A passage, the sub-question that it answers best, and how well (0-1)."""

    passage: Passage
    aspect_id: str
    score: float


def read_pages(
    pages: Sequence[Page],
    aspects: Sequence[Aspect],
    per_page: int,
    beside: Sequence[Page] = (),
) -> list[Scored]:
    """The best passages of each page for the sub-questions, in the pages' order.

    They are ranked among those of the pages `beside`, which were read before: what is best of
    a late and poor lot must not look as good as what was best of the first. A list of steps
    that answers a how-to counts as one claim of its page and comes whole.
    """
    found = [passages(page) for page in pages]
    needs = [(aspect.id, Need.of(read_question(aspect.text))) for aspect in aspects]
    ranking = Ranking([*beside, *pages])
    scores = [(aspect_id, ranking.scores(need)) for aspect_id, need in needs]
    result: list[Scored] = []
    for number, page in enumerate(found, len(beside)):
        steps = _steps(page, needs)
        taken = {step.passage.start for step in steps}
        rest = [
            scored
            for passage in page
            if passage.start not in taken and (scored := _scored(passage, number, scores))
        ]
        result += [*steps, *_best(rest, per_page)]
    return result


def _scored(passage: Passage, page: int, scores: Iterable[tuple[str, Scores]]) -> Scored | None:
    """The passage for the sub-question that it answers best, if it answers any."""
    value, aspect_id = max(
        ((scored.of(page, passage), aspect_id) for aspect_id, scored in scores),
        key=lambda pair: pair[0],
    )
    return Scored(passage, aspect_id, round(value, 4)) if value >= KEEP else None


def _steps(page: Sequence[Passage], needs: Sequence[tuple[str, Need]]) -> list[Scored]:
    """The items of the list under the heading that is worded most like a how-to asked for."""
    worth, best = 0.0, list[Scored]()
    for aspect_id, need in needs:
        if need.kind != "how_to":
            continue
        for _, group in groupby(page, key=lambda passage: (passage.section, passage.is_item)):
            steps = list(group)
            value = _procedure_worth(steps, need)
            if value > worth:
                worth = value
                best = [Scored(step, aspect_id, round(value, 4)) for step in steps]
    return best if worth >= PROCEDURE else []


def _procedure_worth(steps: Sequence[Passage], need: Need) -> float:
    """0-1: whether heading and title are what was asked, and the items tell what to do."""
    if not steps[0].is_item or len(steps) < LEAST_STEPS:
        return 0.0
    subject = steps[0].subject
    instructing = _instructing(steps, need)
    covered = len(subject & need.known) / max(1, len(need.known))
    return covered * (0.6 + 0.4 * instructing) * 0.97 ** len(subject - need.known)


def _instructing(steps: Sequence[Passage], need: Need) -> float:
    """The share of items that tell what to do; all of a numbered list where half of them do, or
    where code can't tell, since they are not in English."""
    share = sum(instructs(step.text) for step in steps) / len(steps)
    numbered = all(is_numbered(step.page.text, step.start) for step in steps)
    is_enough = 2 * share >= 1 or language_of(need.text) != ENGLISH
    return 1.0 if numbered and is_enough else share


def _best(scored: list[Scored], limit: int) -> list[Scored]:
    """The best `limit` that neither overlap nor repeat each other, in the page's order."""
    chosen: list[Scored] = []
    for candidate in sorted(scored, key=lambda s: (-s.score, s.passage.start)):
        if len(chosen) == limit:
            break
        for each in (_whole(candidate, scored), candidate):
            if not any(_repeats(each.passage, other.passage) for other in chosen):
                chosen.append(each)
                break
    return sorted(chosen, key=lambda s: s.passage.start)


def _whole(tail: Scored, scored: Sequence[Scored]) -> Scored:
    """The passage that ends in this one and opens first, of those that are nearly as good: what
    answers often stands in front of what repeats the question's words."""
    longer = (
        other
        for other in scored
        if other.passage.start < tail.passage.start
        and other.passage.end == tail.passage.end
        and other.score >= tail.score - NEARLY_AS_GOOD
    )
    return min(longer, key=lambda other: other.passage.start, default=tail)


def _repeats(one: Passage, other: Passage) -> bool:
    overlap = one.start < other.end and other.start < one.end
    return overlap or jaccard(one.terms, other.terms) > 0.8
