"""The sentences that people read: why it goes on, why it stopped. Counts, gaps, plain words.

`by_code` says that no model read the pages. Then an answer is claimed, and sources are counted,
only as far as code can tell what answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from research.engine.config import ResearchConfig
from research.engine.extractive.standing import standing
from research.engine.ledger import Ledger
from research.engine.records import Aspect, AspectState, GateResult, StopReason
from research.engine.seed import Seed

CLOSE = "passages come close to an answer"
FAILED = "Failed: no search or page could be reached, so nothing was found. The errors are listed."


def going_on(
    ledger: Ledger, topics: Sequence[str], apart: Sequence[str] = (), *, by_code: bool
) -> str:
    """Why another round follows, and what it looks for.

    `apart` are words of the question that no page, or pair of linked ones, holds with the rest.
    """
    missing = [aspect.text for aspect in ledger.open_aspects()]
    start = f"Going on: {_answered(ledger, by_code)}."
    if missing:
        start += f" Missing: {_list(missing)}."
    elif apart:
        start += f" No two pages that name each other hold {_list(list(apart))} with the rest."
    return f"{start} Round {ledger.round.number + 1} looks for {_list(list(topics))}."


_LIMITS: dict[StopReason, Callable[[ResearchConfig], str]] = {
    StopReason.BUDGET_TIME: lambda config: f"{config.max_seconds:g} seconds",
    StopReason.BUDGET_CALLS: lambda config: count(config.max_llm_calls, "model call"),
    StopReason.BUDGET_TOKENS: lambda config: f"{config.max_tokens:,} tokens",
    StopReason.BUDGET_COST: lambda config: f"${config.max_cost_usd or 0:g}",
    StopReason.BUDGET_SEARCHES: lambda config: count(config.max_searches, "search"),
    StopReason.BUDGET_FETCHES: lambda config: count(config.max_fetches, "page"),
    StopReason.MAX_UNITS: lambda config: count(config.max_research_units, "topic"),
}
_SENTENCES = {
    StopReason.CANCELLED: "Cancelled: no report was written.",
    StopReason.USER_STOPPED: "Stopped when you asked: {answered}.",
    StopReason.MAX_ROUNDS: "Stopped after {rounds}, the most for a question like this: {answered}.",
    StopReason.NOTHING_FOUND: "Found nothing that answers this. {tried}.",
    StopReason.QUALITY_MET: "Stopped{enough}: {answered}{by}.",
    StopReason.NO_GAPS: "Stopped: {answered}{by}, and {complete}.",
    StopReason.STUCK: "Stopped: {stuck}. {Answered}.",
    StopReason.NO_NOVELTY: "Stopped: {last}{news}. {Answered}.",
    StopReason.DIMINISHING_QUALITY: (
        "Stopped: {last} and hardly improved the result{gain}. {Answered}."
    ),
    StopReason.TREE_COMPLETE: "Stopped: the whole tree was searched. {Answered}.",
}

_SOURCED = frozenset({StopReason.QUALITY_MET, StopReason.NO_GAPS})
"""Reasons whose sentence counts sources."""


def stopped(
    reason: StopReason,
    ledger: Ledger,
    config: ResearchConfig,
    scores: Sequence[float] = (),
    *,
    by_code: bool,
) -> str:
    """Why research ended, in one or two sentences; `scores` are what the rounds earned."""
    answered = _answered(ledger, by_code)
    if reason in _LIMITS:
        sentence = f"Stopped at the limit of {_LIMITS[reason](config)}: {answered}."
    else:
        sentence = _SENTENCES[reason].format(
            answered=answered,
            enough=" as good enough" if ledger.open_aspects() else "",
            Answered=answered[:1].upper() + answered[1:],
            by=_sources(ledger, by_code) if reason in _SOURCED else "",
            complete="no gap was left" if answered == CLOSE else "nothing more is missing",
            last=_last_round(ledger),
            news=_news(ledger, config),
            gain=_gain(scores, config),
            stuck=_stuck(ledger),
            rounds=count(len(ledger.rounds), "round"),
            tried=_tried(ledger),
        )
    return sentence + _open(ledger, reason)


def unsure(
    reason: StopReason,
    ledger: Ledger,
    config: ResearchConfig,
    scores: Sequence[float] = (),
    *,
    by_code: bool,
) -> str:
    """What stands, and the question whether that is enough (rule C15)."""
    ended = stopped(reason, ledger, config, scores, by_code=by_code)
    ended = ended.removeprefix("Stopped: ").removeprefix("Stopped ")
    return f"{ended[:1].upper()}{ended[1:]} Dig deeper, or is this sufficient?"


def verified(claims: int, confirmed: int, missing: int) -> str:
    """What the search for other sources came to; the rest of them say something else."""
    looked = f"Looked for other sources on {count(claims, 'claim')}"
    others = claims - confirmed - missing
    parts = [
        f"{confirmed} confirmed" if confirmed else "",
        f"{others} not repeated by other sources" if others else "",
        f"{missing} not to be had" if missing else "",
    ]
    return f"{looked}: {', '.join(filter(None, parts))}."


_REWRITTEN = {
    "full": "Written anew",
    "shorter": "Written shorter",
    "longer": "Written at greater length",
    "table": "Written as a table",
    "reader": "Written for another reader",
}


def rewritten(seed: Seed, ledger: Ledger, evidence_gate: GateResult, *, by_code: bool) -> str:
    """What a report that was written anew rests on, and whether that is still enough."""
    if seed.kind == "revise":
        start = f"Revised after a review: {count(seed.left_out, 'record')} left out"
    else:
        start = f"{_REWRITTEN[seed.shape.form]} from what was found"
    sentence = f"{start}, {_answered(ledger, by_code)}."
    if seed.left_out and evidence_gate.feedback:
        sentence += f" Too little evidence is left: {'; '.join(evidence_gate.feedback)}."
    missing = len(ledger.open_aspects())
    if missing and len(ledger.aspects) > 1:
        sentence += f" {count(missing, 'question')} {'stays' if missing == 1 else 'stay'} open."
    return sentence


def _answered(ledger: Ledger, by_code: bool) -> str:
    total, answered = len(ledger.aspects), ledger.answered()
    if total == 1:
        if answered and by_code and not standing(ledger, _first(ledger)).sources:
            return CLOSE
        return "the question is answered" if answered else "the question is still open"
    if answered < total:
        return f"{answered} of {total} answered"
    return f"{'both' if total == 2 else f'all {total}'} sub-questions answered"


def _sources(ledger: Ledger, by_code: bool) -> str:
    """How many independent sources the answer has, or how many answers have two."""
    if len(ledger.aspects) > 1:
        several = sum(_is_from_several(ledger, a, by_code) for a in ledger.aspects.values())
        return f", {several} from two or more sources" if several else ""
    if not by_code:
        return f" by {count(len(ledger.keys_of(_first(ledger).id)), 'independent source')}"
    found = standing(ledger, _first(ledger))
    if not found.sources:
        return ""
    how = "by" if found.agree else "with passages from"
    return f" {how} {count(len(found.sources), 'independent source')}"


def _is_from_several(ledger: Ledger, aspect: Aspect, by_code: bool) -> bool:
    is_so = aspect.state is AspectState.ANSWERED
    return is_so and (not by_code or len(standing(ledger, aspect).sources) > 1)


def _first(ledger: Ledger) -> Aspect:
    return next(iter(ledger.aspects.values()))


def _open(ledger: Ledger, reason: StopReason) -> str:
    missing = ledger.open_aspects()
    if not missing or reason in {StopReason.NOTHING_FOUND, StopReason.CANCELLED}:
        return ""
    if len(ledger.aspects) == 1:
        return ""
    verb = "stays" if len(missing) == 1 else "stay"
    return f" {count(len(missing), 'question')} {verb} open."


def _last_round(ledger: Ledger) -> str:
    last = ledger.round
    pages, facts = count(last.pages_read, "page"), count(last.new_evidence, "passage")
    return f"round {last.number} read {pages} and added {facts}"


def _news(ledger: Ledger, config: ResearchConfig) -> str:
    """The share of new words that ended research, and its bar."""
    share, bar = ledger.round.novelty, config.min_novelty_threshold
    if share is None or share >= bar:
        return ""
    return f"; {percent(share)} of the words were new, less than the {bar_percent(bar)} asked for"


def _gain(scores: Sequence[float], config: ResearchConfig) -> str:
    """What the last round gained, and the gain that it should have."""
    if len(scores) < 2:
        return ""
    gain = round(scores[-1] - scores[-2], 2)
    return f": {gain:+g} points, less than the {config.min_improvement_threshold:+g} asked for"


def _stuck(ledger: Ledger) -> str:
    if len(ledger.rounds) > 1 and not any(round.novelty for round in ledger.rounds[-2:]):
        return "two rounds in a row brought nothing new"
    return "there was no new way to search"


def _tried(ledger: Ledger) -> str:
    failed = sum(s.status in {"failed", "refused", "empty"} for s in ledger.sources.values())
    tried = f"{count(len(ledger.queries), 'search')}, {count(len(ledger.pages), 'page')} read"
    return f"{tried}, {count(failed, 'page')} could not be read" if failed else tried


def _list(texts: Sequence[str]) -> str:
    shown = [f"“{text.rstrip('?.')}”" for text in texts[:2]]
    more = f" and {len(texts) - 2} more" if len(texts) > 2 else ""
    return (" and ".join(shown) if not more else ", ".join(shown)) + more or "more sources"


def percent(share: float) -> str:
    """`9 %`; cut, not rounded, so that what lies below a bar never looks like the bar."""
    return f"{int(round(100 * share, 2))}\N{NO-BREAK SPACE}%"


def bar_percent(bar: float) -> str:
    """`15 %`, `12.5 %`: a bar is said as it was set."""
    return f"{100 * bar:g}\N{NO-BREAK SPACE}%"


def count(number: int, noun: str) -> str:
    """`1 page`, `2 pages`."""
    plural = noun + ("es" if noun.endswith(("ch", "s")) else "s")
    return f"{number} {noun if number == 1 else plural}"
