"""What people tell a run while it researches: taken at the end of a round, journaled, obeyed.

Rules C15 and F6 of `docs/requirements.md`. Nothing is refused in silence: what could not be
done stands among the run's problems.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from research.engine.extractive.planning import query_of
from research.engine.ledger import Ledger
from research.engine.records import Aspect, Gap, Problem, Skipped, Status, StopReason
from research.engine.run import Run
from research.engine.similarity import twin
from research.engine.text import normalise
from research.engine.topics import DEEPER, Topic

ENDING = frozenset({"stop", "cancel"})
WAKING = ENDING | {"resume", "dig_deeper"}
TAKEN = frozenset({"stop", "cancel", "pause", "add_topic", "drop_topic", "dig_deeper"})
TAKEN_BY_A_TREE = frozenset({"stop", "cancel", "pause"})
DEEPER_ROUNDS = 2
MOST_ROUNDS = 20
MOST_ASPECTS = 20
USER = "user"

Command = Mapping[str, Any]


@dataclass(frozen=True)
class Wishes:
    """What a boundary's commands come to; `news` says that there is something new to look for."""

    reason: StopReason | None = None
    news: bool = False


async def take_commands(run: Run, place: str) -> Wishes:
    """Obey what was told until this place; a pause parks the run. Raises `Parked`."""
    kinds = TAKEN_BY_A_TREE if run.is_fixed else TAKEN
    taken = await run.journal.commands(place, kinds)
    news = _obey_all(run, taken)
    turn = 0
    while _reason(taken) is None and "pause" in {command["kind"] for command in taken}:
        turn += 1
        woken = await _pause(run, f"pause/{place}/{turn}")
        taken = [dict(woken), *await run.journal.commands(f"{place}/resumed/{turn}", kinds)]
        news = _obey_all(run, taken) or news
    return Wishes(_reason(taken), news)


async def ask_person(run: Run, place: str, question: str) -> Wishes:
    """Wait, paused, for what somebody says to a question, and what was told beside it; going on
    means another round. Raises `Parked`.
    """
    woken = await _pause(run, place, question)
    beside = await run.journal.commands(f"{place}/resumed", TAKEN - {"pause"})
    resumed = {**woken, "kind": "dig_deeper", "rounds": 1}
    taken = [resumed if woken["kind"] == "resume" else woken, *beside]
    return Wishes(_reason(taken), _obey_all(run, taken))


async def _pause(run: Run, place: str, question: str = "") -> Command:
    run.change(status=Status.PAUSED, asks=question)
    run.tell_usage()
    command = await run.journal.person(place, WAKING)
    run.change(status=Status.RESEARCHING, asks="")
    return command


def _reason(commands: Sequence[Command]) -> StopReason | None:
    kinds = {command["kind"] for command in commands}
    if "cancel" in kinds:
        return StopReason.CANCELLED
    return StopReason.USER_STOPPED if "stop" in kinds else None


def _obey_all(run: Run, commands: Sequence[Command]) -> bool:
    return sum(_obey(run, command) for command in commands) > 0


def _obey(run: Run, command: Command) -> bool:
    match command["kind"]:
        case "add_topic":
            return _add(run, normalise(str(command["topic"])))
        case "drop_topic":
            _drop(run, normalise(str(command["topic"])))
        case "dig_deeper":
            _wish(run, int(command.get("rounds") or DEEPER_ROUNDS))
            return True
    return False


def _wish(run: Run, rounds: int) -> None:
    wished = run.ledger.round.number + rounds
    run.wished = min(MOST_ROUNDS, max(run.wished, wished))


def unheard(commands: Sequence[Command]) -> Iterator[Problem]:
    """What came too late for any boundary, as problems of a run that has ended."""
    for command in commands:
        match command["kind"]:
            case "add_topic" | "drop_topic" as kind:
                done = "added" if kind == "add_topic" else "dropped"
                where = f"your topic “{normalise(str(command['topic']))}”"
                yield Problem(where, f"Not {done}: the research had ended.")
            case "dig_deeper":
                yield Problem("your wish to dig deeper", "It came when the research had ended.")
            case "pause":
                yield Problem("your pause", "It came when the research had ended.")


# --- topics ---------------------------------------------------------------------------------


def _add(run: Run, text: str) -> bool:
    """A sub-question of the person's own, first in the next round; a twin is refused aloud."""
    ledger, number = run.ledger, run.ledger.round.number
    dropped = _named(list(ledger.dropped.values()), text, run)
    if dropped is not None:
        ledger.take_up(dropped.id)
        _wish(run, 1)
        return True
    known = (*(aspect.text for aspect in ledger.aspects.values()), *ledger.queries)
    double = twin(text, known, run.config.duplicate_topic_similarity_threshold)
    if double is not None:
        _refuse(run, text, double)
        return False
    if len(ledger.aspects) >= MOST_ASPECTS:
        run.trouble(f"your topic “{text}”", f"Not added: there are {MOST_ASPECTS} already.")
        return False
    aspect = ledger.raise_aspect(text, query_of(text) or text, USER, number)
    ledger.open_gap(Gap(ledger.next_gap_id(), text, aspect.id, True, number, aspect.query))
    _wish(run, 1)
    return True


def _refuse(run: Run, text: str, double: Skipped) -> None:
    run.ledger.update_round(skipped=(*run.ledger.round.skipped, double))
    run.trouble(f"your topic “{text}”", f"Not added: it is nearly the same as “{double.twin}”.")
    run.log("refused the topic %r: %.2f like %r", text, double.similarity, double.twin)


def _drop(run: Run, text: str) -> None:
    """Close a sub-question; the question itself stays as long as it is the only one."""
    ledger = run.ledger
    aspect = _named(list(ledger.aspects.values()), text, run)
    if aspect is None:
        run.trouble(f"your topic “{text}”", "Not dropped: no sub-question is called that.")
    elif len(ledger.aspects) == 1:
        run.trouble(
            f"your topic “{text}”", "Not dropped: it is the only one. Stop the run instead."
        )
    else:
        ledger.drop_aspect(aspect.id, USER)


def _named(aspects: Sequence[Aspect], text: str, run: Run) -> Aspect | None:
    """The sub-question of this id or wording, or the one most like it."""
    exact = (a for a in aspects if text in {a.id, a.text})
    alike = twin(text, [a.text for a in aspects], run.config.duplicate_topic_similarity_threshold)
    return next(exact, None) or next((a for a in aspects if alike and a.text == alike.twin), None)


# --- topics for the next round --------------------------------------------------------------


def in_order(run: Run, candidates: Sequence[Topic]) -> list[Topic]:
    """What a person asked for comes first; a wish to go deeper adds further ways to look."""
    ledger = run.ledger
    own = {a.id for a in ledger.aspects.values() if a.raised_by == USER}
    wanted = sorted(candidates, key=lambda topic: topic.aspect_id not in own)
    return wanted + (_deeper(ledger) if run.wished > ledger.round.number else [])


def _deeper(ledger: Ledger) -> list[Topic]:
    """More on each sub-question, by the words of its best claims."""
    topics = []
    for aspect in ledger.aspects.values():
        claims = [query_of(record.claim) for record in ledger.supporting(aspect.id)[:3]]
        ways = tuple(dict.fromkeys([f"{aspect.query} details", query_of(aspect.text), *claims]))
        topics.append(Topic(aspect.text, ways, aspect.id, reason=DEEPER))
    return topics
