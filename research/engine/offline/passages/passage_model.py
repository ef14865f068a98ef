"""The fitted passage model: weights of features, and the probability that shown passages answer.

`python -m bench.fitting` writes `data/passage_model.json`. A passage's value is the weighted sum of
its features; a logistic function of the best passages' features is the probability that they
contain the answer.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

from research.engine.offline.answering import kind_worth
from research.engine.offline.passages.complete_passages import Passage
from research.engine.offline.passages.passage_signs import AskedText, PassageRanking, PassageSigns

SHOWN = 5
WITHOUT_ITS_KIND = 0.2
"""The highest probability of passages without the date, number or name that is asked for."""
OF_ANOTHER_THING = 0.6
"""The highest probability of passages with sizes, none of which is near what is asked about."""
DATA = Path(__file__).parents[1] / "data"
MODEL = DATA / "passage_model.json"


@dataclass(frozen=True)
class Logistic:
    """A logistic function of named features: `1 / (1 + exp(-(bias + Σ weight · feature)))`."""

    bias: float
    weights: Mapping[str, float]

    def probability(self, features: Mapping[str, float]) -> float:
        """Return a number from 0 to 1; a feature without a weight counts for nothing."""
        total = self.bias + sum(weight * features[name] for name, weight in self.weights.items())
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


@dataclass(frozen=True)
class PassageModel:
    """The weights of the signs, and the probabilities of one passage and of those shown."""

    signs: Mapping[str, float]
    passage: Logistic
    shown: Logistic

    def value(self, signs: Mapping[str, float]) -> float:
        """Return the weighted sum of a passage's signs."""
        return sum(weight * signs[name] for name, weight in self.signs.items())


@dataclass(frozen=True)
class RankedPassage:
    """A passage with its value and the probability (0-1) that it alone contains the answer."""

    passage: Passage
    signs: Mapping[str, float]
    value: float
    probability: float


@cache
def passage_model() -> PassageModel:
    """Return the model as it was last fitted."""
    stored = json.loads(MODEL.read_text("utf-8"))
    passage, shown = (Logistic(**stored[name]) for name in ("passage", "shown"))
    return PassageModel(stored["signs"], passage, shown)


def rank_passages(ranking: PassageRanking, asked: AskedText) -> list[RankedPassage]:
    """Return the passages with any term of the question, best first."""
    model = passage_model()
    ranked = [_ranked(model, each) for each in ranking.signs(asked)]
    return sorted(ranked, key=lambda each: -each.value)


def _ranked(model: PassageModel, each: PassageSigns) -> RankedPassage:
    value = model.value(each.signs)
    return RankedPassage(
        each.passage, each.signs, value, model.passage.probability({"value": value})
    )


def best_distinct(ranked: Sequence[RankedPassage], limit: int = SHOWN) -> list[RankedPassage]:
    """Return the best passages that neither overlap nor repeat each other, best first."""
    return list(islice(each_distinct(ranked), limit))


def each_distinct(ranked: Iterable[RankedPassage]) -> Iterator[RankedPassage]:
    """Yield the passages that neither overlap nor repeat a better one, best first."""
    chosen: list[RankedPassage] = []
    for each in ranked:
        if not any(each.passage.repeats(other.passage) for other in chosen):
            chosen.append(each)
            yield each


def shown_features(
    asked: AskedText, ranking: PassageRanking, shown: Sequence[RankedPassage]
) -> dict[str, float]:
    """Return the features of the shown passages that predict whether they answer."""
    values = [each.value for each in shown]
    weights = [ranking.rarity(term) for term in asked.terms]
    known = [ranking.rarity(term) for term in asked.terms if ranking.holders(term)]
    return {
        "top": values[0],
        "gap": values[0] - values[1] if len(values) > 1 else 0.0,
        "words anywhere": max(each.signs["words anywhere"] for each in shown),
        "heading asked": max(each.signs["heading asked"] for each in shown),
        "known": sum(known) / (sum(weights) or 1.0),
        "length": math.log(max(1, len(asked.terms))),
        "has names": float(bool(asked.names)),
    }


def answer_probability(
    asked: AskedText,
    ranking: PassageRanking,
    shown: Sequence[RankedPassage],
) -> float:
    """Return the probability (0-1) that the passages shown contain the answer; 0 if there are none.

    Without the requested date, number or name it is that of passages that don't answer. The version
    of an entry says when it was added.
    """
    if not shown:
        return 0.0
    found = passage_model().shown.probability(shown_features(asked, ranking, shown))
    if asked.takes_version and any(each.signs["version"] == 1 for each in shown):
        return round(found, 4)
    best = max(kind_worth(each.passage.text, asked.text) for each in shown)
    return round(min(found, (WITHOUT_ITS_KIND, OF_ANOTHER_THING, 1.0, 1.0)[best]), 4)
