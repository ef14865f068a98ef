"""The sentences that people read: why it goes on, why it stopped. Counts, gaps, plain words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from research.engine.config import ResearchConfig
from research.engine.ledger import Ledger
from research.engine.records import AspectState, GateResult, StopReason
from research.engine.seed import Seed

FAILED = "Failed: no search or page could be reached, so nothing was found. The errors are listed."


def going_on(ledger: Ledger, topics: Sequence[str], apart: Sequence[str] = ()) -> str:
    """Why another round follows, and what it looks for.

    `apart` are words of the question that no page, or pair of linked ones, holds with the rest.
    """
    missing = [aspect.text for aspect in ledger.open_aspects()]
    start = f"Going on: {_answered(ledger)}."
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
    StopReason.NO_GAPS: "Stopped: {answered}{by}, and nothing more is missing.",
    StopReason.STUCK: "Stopped: {stuck}. {Answered}.",
    StopReason.NO_NOVELTY: "Stopped: {last}. {Answered}.",
    StopReason.DIMINISHING_QUALITY: "Stopped: {last} and hardly improved the result. {Answered}.",
    StopReason.TREE_COMPLETE: "Stopped: the whole tree was searched. {Answered}.",
}


def stopped(reason: StopReason, ledger: Ledger, config: ResearchConfig) -> str:
    """Why research ended, in one or two sentences."""
    answered = _answered(ledger)
    if reason in _LIMITS:
        sentence = f"Stopped at the limit of {_LIMITS[reason](config)}: {answered}."
    else:
        sentence = _SENTENCES[reason].format(
            answered=answered,
            enough=" as good enough" if ledger.open_aspects() else "",
            Answered=answered[:1].upper() + answered[1:],
            by=_corroborated(ledger),
            last=_last_round(ledger),
            stuck=_stuck(ledger),
            rounds=count(len(ledger.rounds), "round"),
            tried=_tried(ledger),
        )
    return sentence + _open(ledger, reason)


def unsure(reason: StopReason, ledger: Ledger, config: ResearchConfig) -> str:
    """What stands, and the question whether that is enough (rule C15)."""
    ended = stopped(reason, ledger, config).removeprefix("Stopped: ").removeprefix("Stopped ")
    return f"{ended[:1].upper()}{ended[1:]} Dig deeper, or is this sufficient?"


def verified(claims: int, confirmed: int) -> str:
    """What the search for other sources came to."""
    looked = f"Looked for other sources on {count(claims, 'claim')}"
    missing = claims - confirmed
    parts = [
        f"{confirmed} confirmed" if confirmed else "",
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


def rewritten(seed: Seed, ledger: Ledger, evidence_gate: GateResult) -> str:
    """What a report that was written anew rests on, and whether that is still enough."""
    if seed.kind == "revise":
        start = f"Revised after a review: {count(seed.left_out, 'record')} left out"
    else:
        start = f"{_REWRITTEN[seed.shape.form]} from what was found"
    sentence = f"{start}, {_answered(ledger)}."
    if seed.left_out and evidence_gate.feedback:
        sentence += f" Too little evidence is left: {'; '.join(evidence_gate.feedback)}."
    missing = len(ledger.open_aspects())
    if missing and len(ledger.aspects) > 1:
        sentence += f" {count(missing, 'question')} {'stays' if missing == 1 else 'stay'} open."
    return sentence


def _answered(ledger: Ledger) -> str:
    total, answered = len(ledger.aspects), ledger.answered()
    if total == 1:
        return "the question is answered" if answered else "the question is still open"
    if answered < total:
        return f"{answered} of {total} answered"
    return f"{'both' if total == 2 else f'all {total}'} sub-questions answered"


def _corroborated(ledger: Ledger) -> str:
    several = sum(aspect.state is AspectState.ANSWERED for aspect in ledger.aspects.values())
    if len(ledger.aspects) == 1:
        keys = len(ledger.keys_of(next(iter(ledger.aspects))))
        return f" by {count(keys, 'independent source')}"
    return f", {several} by two or more sources"


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


def count(number: int, noun: str) -> str:
    """`1 page`, `2 pages`."""
    plural = noun + ("es" if noun.endswith(("ch", "s")) else "s")
    return f"{number} {noun if number == 1 else plural}"
