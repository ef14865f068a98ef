"""The sentences that people read: why it goes on, why it stopped. Counts, gaps, plain words.

What they claim of an answer is its mark (`answer_status.py`), which every display shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from research.engine.assessment.answer_status import (
    ANSWERED,
    FROM_SEVERAL,
    AspectStatus,
    is_close,
    is_judged_by_code,
    list_statuses,
    mark_of,
    tally,
    voice_noun,
)
from research.engine.config import ResearchConfig
from research.engine.evidence.ledger import ANSWERING, Ledger
from research.engine.journal.forms import Form
from research.engine.records import AnswerStatus, Aspect, AspectState, GateResult, StopReason
from research.engine.report.parts.headings import headings_of
from research.engine.threads.seed import Seed

CLOSE = "passages come close to an answer"
NOTHING = "nothing here seems to answer this"
DISPUTED = "sources disagree on the answer"
LONGEST_NAME = 60
"""Maximum length, in characters, of the name of a topic or sub-question in a message."""
FAILED = "Failed: no search or page could be reached, so nothing was found. The errors are listed."


def going_on(ledger: Ledger, topics: Sequence[str], apart: Sequence[str] = ()) -> str:
    """Why another round follows, and what it looks for.

    `apart` are words of the question that no page, or pair of linked ones, holds with the rest.
    Sub-questions are called by their headings.
    """
    headings = headings_of(ledger)
    names = {aspect.text: headings[aspect.id] for aspect in ledger.aspects.values()}
    missing = [_name_topic(aspect.text, names) for aspect in ledger.open_aspects()]
    wanted = _join_quoted([_name_topic(topic, names) for topic in topics])
    answered, gaps = _answered_text(ledger), len(ledger.open_gaps())
    if apart:
        start = f"Going on: {answered}. No page read so far has {_join_quoted(list(apart))}"
        start += " together with the rest."
    elif missing:
        start = f"Going on: {answered}. Missing: {_join_quoted(missing)}."
    elif gaps:
        start = f"Going on: {answered}, but {count_noun(gaps, 'point')} missing."
    else:
        start = f"Going on for more detail: {answered}."
    return f"{start} Round {ledger.round.number + 1} looks for {wanted}."


def _name_topic(topic: str, names: Mapping[str, str]) -> str:
    """Return a topic in short, with the name of the sub-question that it quotes."""
    quoted = max((text for text in names if text in topic), key=len, default="")
    named = topic.replace(quoted, names[quoted]) if quoted else topic
    if len(named) <= LONGEST_NAME:
        return named
    return f"{named[:LONGEST_NAME].rsplit(' ', 1)[0].rstrip(' ,;:')}…"


_LIMITS: dict[StopReason, Callable[[ResearchConfig], str]] = {
    StopReason.BUDGET_TIME: lambda config: f"{config.max_seconds:g} seconds",
    StopReason.BUDGET_CALLS: lambda config: count_noun(config.max_llm_calls, "model call"),
    StopReason.BUDGET_TOKENS: lambda config: f"{config.max_tokens:,} tokens",
    StopReason.BUDGET_COST: lambda config: f"${config.max_cost_usd or 0:g}",
    StopReason.BUDGET_SEARCHES: lambda config: count_noun(config.max_searches, "search"),
    StopReason.BUDGET_FETCHES: lambda config: count_noun(config.max_fetches, "page"),
    StopReason.MAX_UNITS: lambda config: count_noun(config.max_research_units, "topic"),
}
_SENTENCES = {
    StopReason.CANCELLED: "Cancelled: no report was written.",
    StopReason.USER_STOPPED: "Stopped when you asked: {answered}.",
    StopReason.MAX_ROUNDS: "Stopped after {rounds}, the most for a question like this. {Answered}.",
    StopReason.PAGES_UNREADABLE: (
        "Stopped: none of the pages found last could be read, and other queries led to no "
        "readable page either ({tried}). {Answered}."
    ),
    StopReason.NOTHING_FOUND: "{nothing}. {tried}.",
    StopReason.QUALITY_MET: "Stopped{enough}: {answered}{by}.",
    StopReason.NO_GAPS: "Stopped: {answered}{by}, and {complete}.",
    StopReason.STUCK: "Stopped: {stuck}. {Answered}.",
    StopReason.NO_NOVELTY: "Stopped: {last}{news}. {Answered}.",
    StopReason.DIMINISHING_QUALITY: (
        "Stopped: {last} and hardly improved the result{gain}. {Answered}."
    ),
    StopReason.TREE_COMPLETE: "Stopped: the whole tree was searched. {Answered}.",
    StopReason.KNOWN_BEFORE: "Answered from {known}, without a new search.",
}

_SOURCED = frozenset({StopReason.QUALITY_MET, StopReason.NO_GAPS})
"""Reasons whose sentence counts sites."""


def stop_message(
    reason: StopReason,
    ledger: Ledger,
    config: ResearchConfig,
    scores: Sequence[float] = (),
) -> str:
    """Why research ended, in one or two sentences; `scores` are what the rounds earned."""
    answered = _answered_text(ledger)
    if reason in _LIMITS:
        sentence = f"Stopped at the limit of {_LIMITS[reason](config)}: {answered}."
    else:
        sentence = _SENTENCES[reason].format(
            answered=answered,
            enough=" as good enough" if ledger.open_aspects() else "",
            Answered=answered[:1].upper() + answered[1:],
            by=_sources_text(ledger) if reason in _SOURCED else "",
            complete=_complete_text(ledger),
            last=_last_round(ledger),
            news=_novelty_text(ledger, config),
            gain=_gain_text(scores, config),
            stuck=_stuck_text(ledger),
            rounds=count_noun(len(ledger.rounds), "round"),
            tried=_tried_text(ledger),
            nothing=_nothing_text(ledger),
            known=count_noun(len(ledger.evidence), "earlier finding"),
        )
    return sentence + _open_text(ledger, reason)


def unsure_message(
    reason: StopReason,
    ledger: Ledger,
    config: ResearchConfig,
    scores: Sequence[float] = (),
) -> str:
    """Return what stands, and the question whether that is enough (rule C15)."""
    ended = stop_message(reason, ledger, config, scores)
    ended = ended.removeprefix("Stopped: ").removeprefix("Stopped ")
    return f"{ended[:1].upper()}{ended[1:]} Dig deeper, or is this sufficient?"


def verification_message(claims: int, confirmed: int, missing: int) -> str:
    """Return what the search for other sources came to; the rest of them say something else."""
    looked = f"Looked for other sources on {count_noun(claims, 'claim')}"
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
    "memo": "Written as a memo",
    "faq": "Written as questions and answers",
    "review": "Written as a review of literature",
}


def rewrite_message(seed: Seed, ledger: Ledger, evidence_gate: GateResult) -> str:
    """Return what a report that was written anew rests on, and whether that is still enough."""
    if seed.kind == "revise":
        start = f"Revised after a review: {count_noun(seed.left_out, 'record')} left out"
    else:
        start = f"{_REWRITTEN[seed.shape.form]} from what was found"
    sentence = f"{start}, {_answered_text(ledger)}."
    if seed.left_out and evidence_gate.feedback:
        sentence += f" Too little evidence is left: {'; '.join(evidence_gate.feedback)}."
    return sentence + _left_text(ledger)


def _answered_text(ledger: Ledger) -> str:
    """Return how many sub-questions are answered; on how many of them sources disagree only the
    finished report can tell.
    """
    found = list_statuses(ledger)
    if len(found) == 1:
        return _answer_text(_first_aspect(ledger))
    answered = tally(found).answered
    close, disputed = (
        _count_status(found, AnswerStatus.CLOSE),
        _count_status(found, AnswerStatus.DISPUTED),
    )
    parts = [
        f"{answered} of {len(found)} answered"
        if answered < len(found)
        else _all_answered(len(found)),
        f"{disputed} of them disputed" if disputed and ledger.began < Form.EDITED else "",
        f"passages come close to {close} more" if close else "",
    ]
    return ", ".join(filter(None, parts))


def _answer_text(aspect: Aspect) -> str:
    """Return what there is of an answer to the only sub-question."""
    if aspect.state is AspectState.DISPUTED:
        return f"{CLOSE}, and disagree" if is_close(aspect) else DISPUTED
    if is_close(aspect):
        return CLOSE
    if aspect.standing is not None and aspect.standing.is_nothing:
        return NOTHING
    return "the question is answered" if aspect.state in ANSWERING else "the question is still open"


def _all_answered(total: int) -> str:
    return f"{'both' if total == 2 else f'all {total}'} sub-questions answered"


def _sources_text(ledger: Ledger) -> str:
    """Return how many independent sites the answer has, or how many answers have two."""
    if len(ledger.aspects) > 1:
        several = sum(each.mark in FROM_SEVERAL for each in list_statuses(ledger))
        return f", {several} from two or more {voice_noun(ledger)}s" if several else ""
    first = _first_aspect(ledger)
    found = mark_of(ledger, first)
    if found.mark not in ANSWERED - {AnswerStatus.DISPUTED}:
        return ""
    agree = first.standing is None or first.standing.agree
    how = "by" if agree else "with passages from"
    said = f" {how} {count_noun(found.sources, f'independent {voice_noun(ledger)}')}"
    if first.standing is None or not first.standing.differing:
        return said
    others = len(first.standing.differing)
    return (
        f"{said}, while {count_noun(others, 'other')} {'gives' if others == 1 else 'give'} another"
    )


def _complete_text(ledger: Ledger) -> str:
    """That no gap was left; more is claimed only where all has an answer that nobody disputes."""
    whole, aspects = ANSWERED - {AnswerStatus.DISPUTED}, ledger.aspects.values()
    differ = any(aspect.standing and aspect.standing.differing for aspect in aspects)
    is_whole = all(each.mark in whole for each in list_statuses(ledger)) and not differ
    return "nothing more is missing" if is_whole else "no gap was left"


def _count_status(found: Sequence[AspectStatus], mark: AnswerStatus) -> int:
    return sum(each.mark is mark for each in found)


def _first_aspect(ledger: Ledger) -> Aspect:
    return next(iter(ledger.aspects.values()))


def _open_text(ledger: Ledger, reason: StopReason) -> str:
    """Return what is left, where a sentence has not told it: one that counts sites has."""
    if reason in {StopReason.NOTHING_FOUND, StopReason.CANCELLED}:
        return ""
    return "" if reason in _SOURCED and not ledger.open_aspects() else _left_text(ledger)


def _left_text(ledger: Ledger) -> str:
    """Of several sub-questions, those that stay open and those that rest on one site."""
    one = f"one {voice_noun(ledger)}"
    missing, thin = (
        len(ledger.open_aspects()),
        _count_status(list_statuses(ledger), AnswerStatus.ONE_SOURCE),
    )
    if ledger.lone_origin:  # it is said of the whole report
        thin = 0
    if len(ledger.aspects) == 1 or not (missing or thin):
        return ""
    parts = [
        f"{count_noun(missing, 'question')} {'stays' if missing == 1 else 'stay'} open",
        f"{count_noun(thin, 'answer')} {'rests' if thin == 1 else 'rest'} on {one}",
    ]
    told = (part for part, number in zip(parts, (missing, thin), strict=True) if number)
    return f" {', '.join(told)}."


def _last_round(ledger: Ledger) -> str:
    last = ledger.round
    pages, facts = count_noun(last.pages_read, "page"), count_noun(last.new_evidence, "passage")
    return f"round {last.number} read {pages} and added {facts}"


def _novelty_text(ledger: Ledger, config: ResearchConfig) -> str:
    """Return the share of new words that ended research, and its bar."""
    share, bar = ledger.round.novelty, config.min_novelty_threshold
    if share is None or share >= bar:
        return ""
    found, needed = format_percent(share), bar_percent(bar)
    return f"; {found} of the words were new, less than the {needed} asked for"


def _gain_text(scores: Sequence[float], config: ResearchConfig) -> str:
    """Return what the last round gained, and the gain that it should have."""
    if len(scores) < 2:
        return ""
    gain = round(scores[-1] - scores[-2], 2)
    return f": {gain:+g} points, less than the {config.min_improvement_threshold:+g} asked for"


def _stuck_text(ledger: Ledger) -> str:
    if len(ledger.rounds) > 1 and not any(round.novelty for round in ledger.rounds[-2:]):
        return "two rounds in a row brought nothing new"
    return "there was no new way to search"


def _nothing_text(ledger: Ledger) -> str:
    if ledger.evidence and is_judged_by_code(ledger):
        return NOTHING[:1].upper() + NOTHING[1:]
    return "Found nothing that answers this"


def _tried_text(ledger: Ledger) -> str:
    failed = sum(s.status in {"failed", "refused", "empty"} for s in ledger.sources.values())
    queries = count_noun(len(ledger.queries), "query")
    tried = f"{queries}, {count_noun(len(ledger.pages), 'page')} read"
    return f"{tried}, {count_noun(failed, 'page')} could not be read" if failed else tried


def _join_quoted(texts: Sequence[str]) -> str:
    shown = [f"“{text.rstrip('?.')}”" for text in texts[:2]]
    more = f" and {len(texts) - 2} more" if len(texts) > 2 else ""
    return (" and ".join(shown) if not more else ", ".join(shown)) + more or "more sources"


def format_percent(share: float) -> str:
    """`9 %`; cut, not rounded, so that what lies below a bar never looks like the bar."""
    return f"{int(round(100 * share, 2))}\N{NO-BREAK SPACE}%"


def bar_percent(bar: float) -> str:
    """`15 %`, `12.5 %`: a bar is said as it was set."""
    return f"{100 * bar:g}\N{NO-BREAK SPACE}%"


def mark_words(mark: AnswerStatus, sources: int, open_points: int = 0) -> str:
    """Return how well a sub-question is answered, in a few words."""
    still_open = f" · {count_noun(open_points, 'point')} open" if open_points else ""
    from_several = f", {count_noun(sources, 'site')}" if sources > 1 else ""
    told = {
        AnswerStatus.ANSWERED: f"answered{from_several}",
        AnswerStatus.ONE_SOURCE: "one site",
        AnswerStatus.PASSAGES: f"passages from {count_noun(sources, 'site')}",
        AnswerStatus.CLOSE: "passages come close",
        AnswerStatus.DISPUTED: "sources disagree",
        AnswerStatus.OPEN: "open",
        AnswerStatus.NOT_FOUND: "not found",
        AnswerStatus.NOT_SEARCHED: "not searched",
    }[mark]
    return f"{told}{still_open if mark in ANSWERED else ''}"


def count_noun(number: int, noun: str) -> str:
    """`1 page`, `2 pages`."""
    plural = noun + ("es" if noun.endswith(("ch", "s")) else "s")
    if noun.endswith("ry"):
        plural = noun.removesuffix("y") + "ies"
    return f"{number} {noun if number == 1 else plural}"
