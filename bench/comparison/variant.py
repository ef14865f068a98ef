"""The engine as it is, or with a part of it replaced for the length of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from unittest.mock import patch

from research.engine import loop, verdict
from research.engine.assessment import Assessment
from research.engine.config import ResearchConfig
from research.engine.extractive.planning import query_of
from research.engine.ledger import Ledger
from research.engine.records import Aspect, Evidence, StopReason
from research.engine.stopping import Continue, Decision, Situation, Stop
from research.engine.text import unique
from research.engine.tools import Tools
from research.engine.topics import Topic, choose, next_topics


@dataclass(frozen=True)
class Variant:
    """`tools` wraps what the engine is given; `engine` is entered around a run, to replace a
    function of the engine for that long.
    """

    name: str
    tools: Callable[[Tools], Tools] = lambda tools: tools
    engine: Callable[[], AbstractContextManager[object]] = nullcontext


AS_IT_IS = Variant("as it is")
TAILS = (
    "overview", "history", "figures", "sources", "background", "reports", "details", "records",
    "origins", "survey", "account", "summary", "archive", "notes", "essay", "lecture", "review",
    "guide", "study", "letters", "diary", "journal", "almanac", "register",
)  # fmt: skip
BROAD_WORDS = 2
SAME_TOPIC = ResearchConfig().duplicate_topic_similarity_threshold


def forced(depth: int) -> Variant:
    """The same engine, ended by nothing but the depth, a spent budget or the want of topics.

    Gates, gaps, scores and novelty are recorded and don't act. While gaps give it topics, it
    researches what the engine would; then it looks for what it knows again, in other words.
    Were no other words left, it would end, and its last figures stand for the missing depths.
    Rounds of verification, and after a draft that failed, don't follow.
    """

    def rule(now: Situation, config: ResearchConfig) -> Decision:
        if now.spent or now.rounds >= depth:
            return Stop(now.spent or StopReason.MAX_ROUNDS)
        return Continue() if now.topics_left else Stop(StopReason.STUCK)

    def topics(ledger: Ledger, assessment: Assessment) -> list[Topic]:
        wanted = next_topics(ledger, assessment)
        fresh = choose(wanted, ledger, len(wanted), SAME_TOPIC).topics
        return wanted if fresh else _again(ledger)

    return Variant(f"forced to {depth}", engine=partial(_forced, rule, topics))


@contextmanager
def _forced(rule: object, topics: object) -> Iterator[None]:
    """Rounds by the rule and topics given, and none after them: no verification, no reopening."""
    with (
        without_verification(),
        patch.multiple(verdict, decide=rule, next_topics=topics, begin_ahead=_nothing),
        patch.object(loop, "reopens", _never),
    ):
        yield


@contextmanager
def without_verification() -> Iterator[None]:
    with patch.object(verdict, "weak_claims", _none), patch.object(loop, "weak_claims", _none):
        yield


def _none(*_: object) -> list[Evidence]:
    return []


async def _nothing(*_: object) -> None:
    """Nothing is begun ahead of a verdict that is forced."""


def _never(*_: object) -> bool:
    return False


def _again(ledger: Ledger) -> list[Topic]:
    """Each sub-question once more, those with the fewest sources first."""
    aspects = sorted(ledger.aspects.values(), key=lambda a: len(ledger.keys_of(a.id)))
    return [Topic(aspect.text, _ways(ledger, aspect), aspect.id) for aspect in aspects]


def _ways(ledger: Ledger, aspect: Aspect) -> tuple[str, ...]:
    """In its own words, in those of its claims, then ever broader."""
    head = " ".join(query_of(aspect.query).split()[:BROAD_WORDS])
    claims = (record.claim for record in ledger.supporting(aspect.id))
    return tuple(unique([aspect.text, *claims, *(f"{head} {tail}" for tail in TAILS)]))
