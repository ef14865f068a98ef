"""The engine as it is, or with other tools or rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from research.engine import (
    Aspect,
    Assessment,
    Continue,
    Decision,
    ResearchConfig,
    Rules,
    Situation,
    Stop,
    StopReason,
    Tools,
    Topic,
    choose_topics,
    next_topics,
)
from research.engine.evidence.ledger import Ledger
from research.engine.offline.planning import query_of
from research.engine.text.tokens import unique_texts


@dataclass(frozen=True)
class Variant:
    """`tools` wraps what the engine is given; `rules` are what it decides by."""

    name: str
    tools: Callable[[Tools], Tools] = lambda tools: tools
    rules: Rules = field(default_factory=Rules)


AS_IT_IS = Variant("as it is")
TAILS = (
    "overview", "history", "figures", "sources", "background", "reports", "details", "records",
    "origins", "survey", "account", "summary", "archive", "notes", "essay", "lecture", "review",
    "guide", "study", "letters", "diary", "journal", "almanac", "register",
)  # fmt: skip
BROAD_WORDS = 2
SAME_TOPIC = ResearchConfig().duplicate_topic_similarity_threshold


def forced(depth: int) -> Variant:
    """Return the same engine, ended by nothing but the depth, a spent budget or the want of topics.

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
        fresh = choose_topics(wanted, ledger, len(wanted), SAME_TOPIC).topics
        return wanted if fresh else _again(ledger)

    return Variant(
        f"forced to {depth}",
        rules=Rules(
            decide_stop=rule,
            next_topics=topics,
            verifies_claims=False,
            reopens_after_draft=False,
            drafts_ahead=False,
            searches_ahead=False,
        ),
    )


def _again(ledger: Ledger) -> list[Topic]:
    """Each sub-question once more, those with the fewest sources first."""
    aspects = sorted(ledger.aspects.values(), key=lambda a: len(ledger.keys_of(a.id)))
    return [Topic(aspect.text, _ways(ledger, aspect), aspect.id) for aspect in aspects]


def _ways(ledger: Ledger, aspect: Aspect) -> tuple[str, ...]:
    """In its own words, in those of its claims, then ever broader."""
    head = " ".join(query_of(aspect.query).split()[:BROAD_WORDS])
    claims = (record.claim for record in ledger.supporting(aspect.id))
    return tuple(unique_texts([aspect.text, *claims, *(f"{head} {tail}" for tail in TAILS)]))
