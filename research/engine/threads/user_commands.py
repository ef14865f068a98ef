"""Commands of people during research: taken at the end of a round, journaled, executed.

Rules C15 and F6 of `docs/requirements.md`. Rejected commands are recorded among the run's problems.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from research.engine.evidence.ledger import Ledger
from research.engine.offline.planning import query_of
from research.engine.records import Aspect, Gap, Problem, Skipped, Status, StopReason
from research.engine.rounds.topics import DEEPER, Topic
from research.engine.run import Run
from research.engine.text.similarity import find_twin
from research.engine.text.tokens import normalise_space

ENDING = frozenset({"stop", "cancel"})
WAKING = ENDING | {"resume", "dig_deeper"}
TAKEN = frozenset({"stop", "cancel", "pause", "add_topic", "drop_topic", "dig_deeper", "instruct"})
TAKEN_BY_A_TREE = frozenset({"stop", "cancel", "pause"})
DEEPER_ROUNDS = 2
MOST_ROUNDS = 20
MOST_ASPECTS = 20
MOST_INSTRUCTIONS, INSTRUCTION_LENGTH = 6, 300
"""Instructions that prompts show, and the characters of one: together less than a long question."""
USER = "user"

Command = Mapping[str, Any]


@dataclass(frozen=True)
class CommandOutcome:
    """Outcome of a boundary's commands; `news` means that there is something new to search for,
    `is_instructed` that prompts show a further instruction from here on.
    """

    reason: StopReason | None = None
    news: bool = False
    is_instructed: bool = False


async def take_commands(run: Run, place: str) -> CommandOutcome:
    """Execute the commands received up to this place; a pause parks the run.

    Raises `ParkedError`.
    """
    kinds = TAKEN_BY_A_TREE if run.is_fixed else TAKEN
    known = len(run.ledger.instructions)
    taken = await run.journal.commands(place, kinds)
    news = _obey_all(run, taken)
    turn = 0
    while _command_reason(taken) is None and "pause" in {command["kind"] for command in taken}:
        turn += 1
        woken = await _pause_run(run, f"pause/{place}/{turn}")
        taken = [dict(woken), *await run.journal.commands(f"{place}/resumed/{turn}", kinds)]
        news = _obey_all(run, taken) or news
    return CommandOutcome(
        _command_reason(taken), news, is_instructed=len(run.ledger.instructions) > known
    )


async def ask_person(run: Run, place: str, question: str) -> CommandOutcome:
    """Wait, paused, for the answer to a question, and for other commands; continuing means another
    round. Raises `ParkedError`.
    """
    known = len(run.ledger.instructions)
    woken = await _pause_run(run, place, question)
    beside = await run.journal.commands(f"{place}/resumed", TAKEN - {"pause"})
    resumed = {**woken, "kind": "dig_deeper", "rounds": 1}
    taken = [resumed if woken["kind"] == "resume" else woken, *beside]
    news = _obey_all(run, taken)
    return CommandOutcome(
        _command_reason(taken), news, is_instructed=len(run.ledger.instructions) > known
    )


async def _pause_run(run: Run, place: str, question: str = "") -> Command:
    run.update_state(status=Status.PAUSED, asks=question)
    run.tell_usage()
    command = await run.journal.wait_for_person(place, WAKING)
    run.update_state(status=Status.RESEARCHING, asks="")
    return command


def _command_reason(commands: Sequence[Command]) -> StopReason | None:
    kinds = {command["kind"] for command in commands}
    if "cancel" in kinds:
        return StopReason.CANCELLED
    return StopReason.USER_STOPPED if "stop" in kinds else None


def _obey_all(run: Run, commands: Sequence[Command]) -> bool:
    return sum(_obey_command(run, command) for command in commands) > 0


def _obey_command(run: Run, command: Command) -> bool:
    match command["kind"]:
        case "add_topic":
            return _add_topic(run, normalise_space(str(command["topic"])))
        case "drop_topic":
            _drop_topic(run, normalise_space(str(command["topic"])))
        case "dig_deeper":
            extend_rounds(run, int(command.get("rounds") or DEEPER_ROUNDS))
            return True
        case "instruct":
            _add_instruction(run, normalise_space(str(command["text"])))
    return False


def extend_rounds(run: Run, rounds: int) -> None:
    """Go on for so many more rounds, whatever the quality rules say; budgets still apply."""
    wished = run.ledger.round.number + rounds
    run.wished = min(MOST_ROUNDS, max(run.wished, wished))


def late_commands(commands: Sequence[Command]) -> Iterator[Problem]:
    """Return commands that arrived after the last boundary, as problems of an ended run."""
    for command in commands:
        match command["kind"]:
            case "add_topic" | "drop_topic" as kind:
                done = "added" if kind == "add_topic" else "dropped"
                where = f"your topic “{normalise_space(str(command['topic']))}”"
                yield Problem(where, f"Not {done}: the research had ended.")
            case "instruct":
                where = f"your instruction “{normalise_space(str(command['text']))}”"
                yield Problem(where, "Not followed: the research had ended.")
            case "dig_deeper":
                yield Problem("your wish to dig deeper", "It came when the research had ended.")
            case "pause":
                yield Problem("your pause", "It came when the research had ended.")


# --- instructions ---------------------------------------------------------------------------


def _add_instruction(run: Run, text: str) -> None:
    """Show an instruction in all prompts that follow; one that no prompt can show is refused."""
    ledger = run.ledger
    if is_followed(run, text, ledger.instructions):
        ledger.update_round(instructions=(*ledger.round.instructions, text))


def is_followed(run: Run, text: str, known: Sequence[str]) -> bool:
    """Return whether an instruction is followed beside those that are `known`; if not, say why."""
    reason = _why_not_followed(run, text, known)
    if reason:
        run.trouble(f"your instruction “{text}”", f"Not followed: {reason}.")
    return not reason


def _why_not_followed(run: Run, text: str, known: Sequence[str]) -> str:
    """Return why an instruction is refused; '' if it isn't."""
    if not run.has_model:
        return "this run has no model to read it"
    if text in known:
        return "it was given before"
    if len(known) >= MOST_INSTRUCTIONS:
        return f"there are {MOST_INSTRUCTIONS} already"
    return ""


# --- topics ---------------------------------------------------------------------------------


def _add_topic(run: Run, text: str) -> bool:
    """Add a person's sub-question, first in the next round; a duplicate is rejected visibly."""
    ledger, number = run.ledger, run.ledger.round.number
    dropped = _find_aspect(list(ledger.dropped.values()), text, run)
    if dropped is not None:
        ledger.take_up(dropped.id)
        extend_rounds(run, 1)
        return True
    known = (*(aspect.text for aspect in ledger.aspects.values()), *ledger.queries)
    double = find_twin(text, known, run.config.duplicate_topic_similarity_threshold)
    if double is not None:
        _refuse_topic(run, text, double)
        return False
    if len(ledger.aspects) >= MOST_ASPECTS:
        run.trouble(f"your topic “{text}”", f"Not added: there are {MOST_ASPECTS} already.")
        return False
    aspect = ledger.raise_aspect(text, query_of(text) or text, USER, number)
    ledger.open_gap(Gap(ledger.next_gap_id(), text, aspect.id, True, number, aspect.query))
    extend_rounds(run, 1)
    return True


def _refuse_topic(run: Run, text: str, double: Skipped) -> None:
    run.ledger.update_round(skipped=(*run.ledger.round.skipped, double))
    run.trouble(f"your topic “{text}”", f"Not added: it is nearly the same as “{double.twin}”.")
    run.log("refused the topic %r: %.2f like %r", text, double.similarity, double.twin)


def _drop_topic(run: Run, text: str) -> None:
    """Close a sub-question; the question itself stays as long as it is the only one."""
    ledger = run.ledger
    aspect = _find_aspect(list(ledger.aspects.values()), text, run)
    if aspect is None:
        run.trouble(f"your topic “{text}”", "Not dropped: no sub-question is called that.")
    elif len(ledger.aspects) == 1:
        run.trouble(
            f"your topic “{text}”", "Not dropped: it is the only one. Stop the run instead."
        )
    else:
        ledger.drop_aspect(aspect.id, USER)


def _find_aspect(aspects: Sequence[Aspect], text: str, run: Run) -> Aspect | None:
    """Return the sub-question of this id or wording, or the one most like it."""
    exact = (a for a in aspects if text in {a.id, a.text})
    alike = find_twin(
        text, [a.text for a in aspects], run.config.duplicate_topic_similarity_threshold
    )
    return next(exact, None) or next((a for a in aspects if alike and a.text == alike.twin), None)


# --- topics for the next round --------------------------------------------------------------


def in_order(run: Run, candidates: Sequence[Topic]) -> list[Topic]:
    """Return topics with those requested by a person first; digging deeper adds further queries."""
    ledger = run.ledger
    own = {a.id for a in ledger.aspects.values() if a.raised_by == USER}
    wanted = sorted(candidates, key=lambda topic: topic.aspect_id not in own)
    return wanted + (_deeper_topics(ledger) if run.wished > ledger.round.number else [])


def _deeper_topics(ledger: Ledger) -> list[Topic]:
    """More on each sub-question, by the words of its best claims."""
    topics = []
    for aspect in ledger.aspects.values():
        claims = [query_of(claim) for claim in ledger.claims_on(aspect.id, 3)]
        ways = tuple(dict.fromkeys([f"{aspect.query} details", query_of(aspect.text), *claims]))
        topics.append(Topic(aspect.text, ways, aspect.id, reason=DEEPER))
    return topics
