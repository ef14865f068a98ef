"""Status of an answer: the one source of score, status, verdict, badge and exports.

If a model read the pages, a sub-question's state decides; otherwise its offline answer support, the
estimated probability that the passages shown contain the answer. The score is ten times that: from
7.0 on the sub-question counts as answered, below 3.0 nothing seems to answer it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

from research.engine.evidence.ledger import SUPPORTS, Ledger
from research.engine.records import AnswerStatus, AnswerSupport, Aspect, AspectState, Complexity

ANSWERED = frozenset(
    {AnswerStatus.ANSWERED, AnswerStatus.ONE_SOURCE, AnswerStatus.PASSAGES, AnswerStatus.DISPUTED}
)
FROM_SEVERAL = frozenset({AnswerStatus.ANSWERED, AnswerStatus.PASSAGES})
_FOUND = frozenset({AspectState.ANSWERED, AspectState.ONE_SOURCE})


class Trust(StrEnum):
    """How far the whole question is answered."""

    ANSWERED = "answered"
    DISPUTED = "answered_disputed"
    PARTLY = "partly_answered"
    RELATED = "related_passages"
    NOT_ANSWERED = "not_answered"
    NOTHING_FOUND = "nothing_found"


@dataclass(frozen=True)
class AspectStatus:
    """`sources` are the independent ones behind the answer, or behind all its evidence where
    there is none or they disagree. `open_points` are those that the report lists.
    """

    mark: AnswerStatus
    sources: int
    open_points: int = 0


class Marked(Protocol):
    @property
    def mark(self) -> AnswerStatus: ...


@dataclass(frozen=True)
class Tally:
    """How many of the sub-questions are answered."""

    answered: int
    total: int


def tally(found: Iterable[Marked]) -> Tally:
    """Return how many sub-questions are answered; passages that come close are no answer."""
    marks = [each.mark for each in found]
    return Tally(sum(mark in ANSWERED for mark in marks), len(marks))


def status_from_state(
    state: AspectState, standing: AnswerSupport | None, sources: int
) -> AspectStatus:
    """`sources` counts the independent ones behind all evidence of the sub-question."""
    if standing is not None and standing.probability is not None:
        return AspectStatus(_by_probability(state, standing), len(standing.sources))
    if standing is None or state not in _FOUND:
        return AspectStatus(AnswerStatus(state), sources)
    giving = len(standing.sources)
    if not giving:
        return AspectStatus(AnswerStatus.CLOSE, sources)
    if giving == 1:
        return AspectStatus(AnswerStatus.ONE_SOURCE, 1)
    return AspectStatus(AnswerStatus.ANSWERED if standing.agree else AnswerStatus.PASSAGES, giving)


def _by_probability(state: AspectState, standing: AnswerSupport) -> AnswerStatus:
    if standing.is_answer:
        return AnswerStatus.DISPUTED if state is AspectState.DISPUTED else AnswerStatus.ANSWERED
    if standing.is_off_topic:
        return AnswerStatus(state) if state not in _FOUND else AnswerStatus.OPEN
    return AnswerStatus.NOT_SEARCHED if state is AspectState.NOT_SEARCHED else AnswerStatus.CLOSE


def overall_status(statuses: Collection[Marked], *, found: bool) -> Trust:
    """Return how far a question is answered, from the status of each of its sub-questions.

    It is partly answered only if a sub-question is not answered; open points of the report don't
    matter. `found` says whether any evidence was found; it decides only if no sub-question is
    answered.
    """
    marks, answered = [each.mark for each in statuses], tally(statuses).answered
    if not answered and found and AnswerStatus.CLOSE in marks:
        return Trust.RELATED
    if not answered:
        return Trust.NOT_ANSWERED if found else Trust.NOTHING_FOUND
    if answered < len(marks):
        return Trust.PARTLY
    return Trust.DISPUTED if AnswerStatus.DISPUTED in marks else Trust.ANSWERED


HAS_ANSWER = frozenset({Trust.ANSWERED, Trust.DISPUTED, Trust.PARTLY})


def mark_of(ledger: Ledger, aspect: Aspect) -> AspectStatus:
    found = status_from_state(aspect.state, aspect.standing, len(ledger.keys_of(aspect.id)))
    return replace(found, open_points=aspect.open_points)


def voice_noun(ledger: Ledger) -> str:
    """Return what independent voices are: sites, or documents if all evidence is from files."""
    found = {source.url for record in ledger.book.records.values() for source in record.sources}
    return "document" if found and all(url.startswith("file:") for url in found) else "site"


def list_statuses(ledger: Ledger) -> list[AspectStatus]:
    return [mark_of(ledger, aspect) for aspect in ledger.aspects.values()]


def count_answered(ledger: Ledger) -> int:
    """Return the number of answered sub-questions, without those that passages only come
    close to.
    """
    return tally(list_statuses(ledger)).answered


def is_close(aspect: Aspect) -> bool:
    """Return whether only passages were found, none of which is likely enough to answer."""
    standing = aspect.standing
    if standing is not None and standing.probability is not None:
        return not standing.is_answer and not standing.is_nothing
    found = aspect.state in _FOUND or aspect.state is AspectState.DISPUTED
    return found and standing is not None and not standing.sources


def judged_standings(ledger: Ledger) -> list[AnswerSupport]:
    """Return the standing of each sub-question; nothing if a model read the pages."""
    found = [aspect.standing for aspect in ledger.aspects.values()]
    return [each for each in found if each is not None and each.probability is not None]


def is_judged_by_code(ledger: Ledger) -> bool:
    """Return whether every sub-question was assessed without a model."""
    return bool(ledger.aspects) and len(judged_standings(ledger)) == len(ledger.aspects)


def stated_score(ledger: Ledger) -> float | None:
    """Return ten times the mean probability of an answer, at least 1; None if a model read the
    pages.
    """
    if not is_judged_by_code(ledger):
        return None
    found = [each.probability or 0.0 for each in judged_standings(ledger)]
    return max(1.0, round(10 * sum(found) / len(found), 2))


def is_answered_by_code(ledger: Ledger) -> bool:
    """Return whether the passages shown are likely to answer every sub-question, so that no second
    source is needed. An open-ended question has no such answer.
    """
    if ledger.complexity is Complexity.COMPLEX or not is_judged_by_code(ledger):
        return False
    return all(standing.is_answer for standing in judged_standings(ledger))


def supporting(ledger: Ledger) -> int:
    """Return how many records may answer; of what code judges to be nothing, none does."""
    if is_judged_by_code(ledger):
        return sum(len(s.passages) for s in judged_standings(ledger) if not s.is_nothing)
    return sum(record.relevance >= SUPPORTS for record in ledger.evidence)
