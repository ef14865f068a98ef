"""Fits how passages are ranked and how likely those shown answer, and writes the model.

    .venv/bin/python -m bench.fitting

The questions over all manuals that have been looked at (`bench/manuals.py`) are searched in their
own manual; of those made automatically, `AUTOMATIC` of each manual. The signs' weights minimise a
softmax loss over each question's passages: those that hold a literal of the answer should rank
above the others. They are pulled towards those that are stored, which stay where hardly a question
tells ("rule"). The probability is a logistic
regression on questions whose passages were ranked; questions that the manual doesn't answer are
among them.

Printed are the figures with each manual left out of both fits in turn; what is written is fitted on
all of them (`research/engine/offline/data/passage_model.json`).
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, pstdev

from bench.calibration import Judged, calibration_table
from bench.manuals import (
    AUTOMATIC_KINDS,
    SPENT,
    Manual,
    ManualQuestion,
    answers,
    manuals,
    normalise,
    open_manual,
    questions,
    texts_of,
)
from research.engine.offline.passages.passage_model import (
    MODEL,
    Logistic,
    PassageModel,
    RankedPassage,
    best_distinct,
    passage_model,
    shown_features,
)
from research.engine.offline.passages.passage_signs import AskedText, PassageRanking, PassageSigns
from research.engine.offline.planning import query_of
from research.engine.ports import Page, SearchRequest
from research.extract.pool import TextPool
from research.search.documents import DocumentFetch, DocumentSearch

READ = 8
AUTOMATIC = 10
WEIGHT_AUTOMATIC, UNANSWERED = 3.0, 4.0
"""Weights of an automatic question, and in the fit of the probability of one that its manual does
not answer."""
OTHERS = 75
STEPS, RATE, PENALTY = 150, 0.1, 10.0
ROUNDS, RIDGE = 25, 1.0

Row = list[float]


@dataclass
class Example:
    """A question's passages with their signs, and which hold its answer."""

    question: ManualQuestion
    asked: AskedText
    ranking: PassageRanking
    found: list[PassageSigns]
    right: list[bool]

    @property
    def weight(self) -> float:
        return WEIGHT_AUTOMATIC if self.question.kind in AUTOMATIC_KINDS else 1.0


async def examples_of(manual: Manual, asked: Sequence[ManualQuestion]) -> list[Example]:
    """Search a manual for each question that its text answers, or that nothing answers."""
    with TextPool() as pool, tempfile.TemporaryDirectory() as folder:
        index, collection = await open_manual(manual, Path(folder), pool)
        try:
            search = DocumentSearch(index, [collection])
            fetch = DocumentFetch(index, [collection])
            texts = [normalise(text) for text in await texts_of(index, fetch)]
            found: list[Example] = []
            for question in asked:
                wanted = [normalise(answer) for answer in question.answers]
                if wanted and not any(w in text for w in wanted for text in texts):
                    continue
                answer = await search.search(SearchRequest(query_of(question.text), READ))
                pages = [await fetch.fetch(hit.url) for hit in answer.hits]
                found.append(_example(question, pages))
            print(f"{manual.name}: {len(found)} examples", flush=True)
            return found
        finally:
            index.close()


def _example(question: ManualQuestion, pages: Sequence[Page]) -> Example:
    asked, ranking = AskedText(question.text), PassageRanking(pages)
    found = ranking.signs(asked)
    right = [answers(question, each.passage.text) for each in found]
    return Example(question, asked, ranking, found, right)


# --- ranking --------------------------------------------------------------------------------


def fitted_signs(
    examples: Sequence[Example], without: str = "", others: int = OTHERS
) -> dict[str, float]:
    """Return the weight of each sign by gradient descent (Adam) on the softmax loss.

    Of each question `others` passages that don't answer are compared with those that do.
    """
    usable = [each for each in examples if any(each.right)]
    names = [name for name in usable[0].found[0].signs if name != without]
    every = [_hardest(each, names, others) for each in usable]
    columns = list(zip(*(row for rows, _ in every for row in rows), strict=True))
    means, spreads = [fmean(c) for c in columns], [pstdev(c) or 1.0 for c in columns]
    scaled = [
        (
            [[(x - m) / s for x, m, s in zip(row, means, spreads, strict=True)] for row in rows],
            right,
        )
        for rows, right in every
    ]
    stored = passage_model().signs
    start = [stored.get(n, 0.0) * s for n, s in zip(names, spreads, strict=True)]
    weights = _descended(scaled, [each.weight for each in usable], start)
    return {n: round(w / s, 4) for n, w, s in zip(names, weights, spreads, strict=True)}


def _hardest(example: Example, names: Sequence[str], others: int) -> tuple[list[Row], list[bool]]:
    """Return the right passages and those of the others that say most of the question."""
    rows = [[each.signs[name] for name in names] for each in example.found]
    order = sorted(
        range(len(rows)),
        key=lambda i: (not example.right[i], -example.found[i].signs["words"]),
    )[: sum(example.right) + others]
    return [rows[i] for i in order], [example.right[i] for i in order]


def _descended(
    every: Sequence[tuple[list[Row], list[bool]]], counts: Sequence[float], start: Row
) -> Row:
    """Return the weights near `start` that rank best; an example counts as often as is said."""
    size, total = len(start), sum(counts)
    weights, slope, square = list(start), [0.0] * size, [0.0] * size
    for step in range(1, STEPS + 1):
        pulled = zip(weights, start, strict=True)
        gradient = [PENALTY * (weight - begun) / len(every) for weight, begun in pulled]
        for (rows, right), count in zip(every, counts, strict=True):
            for i, part in enumerate(_gradient(weights, rows, right)):
                gradient[i] += part * count / total
        for i, g in enumerate(gradient):
            slope[i] = 0.9 * slope[i] + 0.1 * g
            square[i] = 0.999 * square[i] + 0.001 * g * g
            moved = slope[i] / (1 - 0.9**step)
            weights[i] -= RATE * moved / (math.sqrt(square[i] / (1 - 0.999**step)) + 1e-8)
    return weights


def _gradient(weights: Row, rows: Sequence[Row], right: Sequence[bool]) -> Row:
    """Of -log of the share that the right passages have of the softmax."""
    values = [_dot(weights, row) for row in rows]
    top = max(values)
    shares = [math.exp(value - top) for value in values]
    whole = sum(shares)
    held = sum(share for share, holds in zip(shares, right, strict=True) if holds)
    pulls = [s / whole - (s / held if r else 0.0) for s, r in zip(shares, right, strict=True)]
    return [_dot(pulls, column) for column in zip(*rows, strict=True)]


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(map(float.__mul__, one, other))


# --- probability ----------------------------------------------------------------------------


def fitted_logistic(
    features: Sequence[dict[str, float]], right: Sequence[bool], weights: Sequence[float]
) -> Logistic:
    """Return a logistic regression with a ridge on standardised features (Newton's method)."""
    names = list(features[0])
    means = {n: fmean(f[n] for f in features) for n in names}
    spreads = {n: pstdev([f[n] for f in features]) or 1.0 for n in names}
    rows = [[1.0, *((f[n] - means[n]) / spreads[n] for n in names)] for f in features]
    beta = [0.0] * (len(names) + 1)
    for _ in range(ROUNDS):
        beta = _newton(beta, rows, right, weights)
    slopes = {n: beta[i] / spreads[n] for i, n in enumerate(names, 1)}
    bias = beta[0] - sum(slopes[n] * means[n] for n in names)
    return Logistic(round(bias, 5), {n: round(slope, 5) for n, slope in slopes.items()})


def _newton(beta: Row, rows: Sequence[Row], right: Sequence[bool], weights: Sequence[float]) -> Row:
    size = len(beta)
    gradient = [0.0] + [-RIDGE * b for b in beta[1:]]
    matrix = [[RIDGE if i == j and i else 0.0 for j in range(size)] for i in range(size)]
    for row, is_right, weight in zip(rows, right, weights, strict=True):
        p = 1 / (1 + math.exp(-max(-30.0, min(30.0, _dot(beta, row)))))
        for i, x in enumerate(row):
            gradient[i] += weight * (is_right - p) * x
            for j, y in enumerate(row):
                matrix[i][j] += weight * p * (1 - p) * x * y
    return [b + step for b, step in zip(beta, _solved(matrix, gradient), strict=True)]


def _solved(matrix: list[Row], target: Row) -> Row:
    """Gauss-Jordan elimination of a positive definite matrix."""
    size = len(target)
    work = [[*row, value] for row, value in zip(matrix, target, strict=True)]
    for i in range(size):
        pivot = work[i][i]
        work[i] = [x / pivot for x in work[i]]
        for j in range(size):
            if j != i and work[j][i]:
                factor = work[j][i]
                work[j] = [x - factor * y for x, y in zip(work[j], work[i], strict=True)]
    return [row[size] for row in work]


# --- both -----------------------------------------------------------------------------------


def fitted_model(examples: Sequence[Example]) -> PassageModel:
    """Return weights and probabilities that are fitted on some examples."""
    signs = fitted_signs(examples)
    told = [(each, shown) for each in examples if (shown := shown_of(each, signs))]
    weights = [each.weight if each.question.answers else UNANSWERED for each, _ in told]
    first = [({"value": shown[0][0].value}, shown[0][1]) for _, shown in told]
    passage = fitted_logistic([f for f, _ in first], [r for _, r in first], weights)
    features = [shown_features(each.asked, each.ranking, [r for r, _ in s]) for each, s in told]
    together = fitted_logistic(features, [any(r for _, r in s) for _, s in told], weights)
    return PassageModel(signs, passage, together)


def shown_of(example: Example, signs: dict[str, float]) -> list[tuple[RankedPassage, bool]]:
    """Return the passages that would be shown by these weights, and which hold the answer."""
    right = {id(each.passage): r for each, r in zip(example.found, example.right, strict=True)}
    ranked = [
        RankedPassage(
            each.passage, each.signs, sum(w * each.signs[n] for n, w in signs.items()), 0.0
        )
        for each in example.found
    ]
    best = best_distinct(sorted(ranked, key=lambda each: -each.value))
    return [(each, right[id(each.passage)]) for each in best]


def judged(model: PassageModel, examples: Sequence[Example]) -> list[Judged]:
    """Return what a model says of questions, and whether its passages hold the answer."""
    result = []
    for each in examples:
        shown = shown_of(each, dict(model.signs))
        best = [ranked for ranked, _ in shown]
        features = shown_features(each.asked, each.ranking, best) if shown else None
        probability = model.shown.probability(features) if features else 0.0
        result.append(Judged(
            each.question.manual, each.question.kind, probability,
            bool(each.question.answers), bool(shown and shown[0][1]), any(r for _, r in shown),
        ))  # fmt: skip
    return result


async def examples_by_manual() -> dict[str, list[Example]]:
    """Return the examples of each manual that has been looked at."""
    asked = [question for part in SPENT for question in questions(part)]
    return {
        name: await examples_of(manual, _sampled([q for q in asked if q.manual == name]))
        for name, manual in manuals().items()
        if manual.part in SPENT
    }


def _sampled(asked: Sequence[ManualQuestion]) -> list[ManualQuestion]:
    """Return all written questions and `AUTOMATIC` others, the same ones each time."""
    made = [each for each in asked if each.kind in AUTOMATIC_KINDS]
    kept = random.Random(1).sample(made, min(AUTOMATIC, len(made)))
    return [each for each in asked if each.kind not in AUTOMATIC_KINDS or each in kept]


def main() -> None:
    examples = asyncio.run(examples_by_manual())
    found: list[Judged] = []
    for name in examples:
        others = [each for other, some in examples.items() if other != name for each in some]
        found += judged(fitted_model(others), examples[name])
    print(calibration_table(found))
    model = fitted_model([each for some in examples.values() for each in some])
    stored = {
        "signs": dict(model.signs),
        "passage": {"bias": model.passage.bias, "weights": dict(model.passage.weights)},
        "shown": {"bias": model.shown.bias, "weights": dict(model.shown.weights)},
    }
    MODEL.write_text(json.dumps(stored, indent=1) + "\n", "utf-8")
    print(f"Wrote {MODEL.name}: {sum(map(len, examples.values()))} examples.")


if __name__ == "__main__":
    main()
