"""Commands that users can give a run, and the states in which each is allowed."""

from __future__ import annotations

from enum import StrEnum

from research.engine.records import ENDED, Status


class Kind(StrEnum):
    """Kinds of command, as the engine reads them from its inbox."""

    ANSWER = "answer"
    SKIP = "skip"
    SAME_TOPIC = "same_topic"
    NEW_TOPIC = "new_topic"
    APPROVE = "approve"
    REVISE = "revise"
    STOP = "stop"
    CANCEL = "cancel"
    PAUSE = "pause"
    RESUME = "resume"
    ADD_TOPIC = "add_topic"
    DROP_TOPIC = "drop_topic"
    DIG_DEEPER = "dig_deeper"
    RETRY = "retry"


LIVE = frozenset(Status) - ENDED
WORKING = frozenset({Status.QUEUED, Status.INTAKE, Status.RESEARCHING, Status.WRITING})

ALLOWED: dict[Kind, frozenset[Status]] = {
    Kind.ANSWER: frozenset({Status.AWAITING_CLARIFICATION}),
    Kind.SKIP: frozenset({Status.AWAITING_CLARIFICATION}),
    Kind.SAME_TOPIC: frozenset({Status.AWAITING_CLARIFICATION}),
    Kind.NEW_TOPIC: frozenset({Status.AWAITING_CLARIFICATION}),
    Kind.APPROVE: frozenset({Status.AWAITING_APPROVAL}),
    Kind.REVISE: frozenset({Status.AWAITING_APPROVAL}),
    Kind.STOP: frozenset({Status.QUEUED, Status.INTAKE, Status.RESEARCHING, Status.PAUSED}),
    Kind.CANCEL: LIVE,
    Kind.PAUSE: frozenset({Status.RESEARCHING}),
    Kind.RESUME: frozenset({Status.PAUSED}),
    Kind.ADD_TOPIC: frozenset({Status.RESEARCHING, Status.PAUSED}),
    Kind.DROP_TOPIC: frozenset({Status.RESEARCHING, Status.PAUSED}),
    Kind.DIG_DEEPER: frozenset({Status.RESEARCHING, Status.PAUSED}),
    Kind.RETRY: frozenset({Status.STALLED}),
}

WAKES: dict[Status, frozenset[Kind]] = {
    Status.AWAITING_CLARIFICATION: frozenset(
        {Kind.ANSWER, Kind.SKIP, Kind.SAME_TOPIC, Kind.NEW_TOPIC, Kind.CANCEL}
    ),
    Status.AWAITING_APPROVAL: frozenset({Kind.APPROVE, Kind.REVISE, Kind.CANCEL}),
    Status.PAUSED: frozenset({Kind.RESUME, Kind.STOP, Kind.CANCEL, Kind.DIG_DEEPER}),
}
"""Pending commands that make a run claimable again while it waits for the user."""

ABOUT_TOPIC = frozenset({Kind.SAME_TOPIC, Kind.NEW_TOPIC})
"""Answers to whether a follow-up question changes the topic."""

ANSWERS: tuple[frozenset[Kind], ...] = (
    frozenset({Kind.ANSWER, Kind.SKIP}),
    ABOUT_TOPIC,
    frozenset({Kind.APPROVE, Kind.REVISE}),
)
"""Only one command of each group may be pending: a second would answer the next question."""

OF_ADAPTIVE_MODE = frozenset({Kind.ADD_TOPIC, Kind.DROP_TOPIC, Kind.DIG_DEEPER})
"""Not in fixed mode, which searches a tree of fixed size."""

OF_QUESTIONS = frozenset({Kind.ANSWER, Kind.SKIP})
"""Not while the run asks whether a follow-up question changes the topic."""

REPEATABLE = frozenset({Kind.ADD_TOPIC, Kind.DROP_TOPIC})


def possible_commands(status: str, mode: str, asks: str = "") -> list[Kind]:
    """Return the commands allowed; `asks` is the run's own question, '' if none."""
    left_out = OF_ADAPTIVE_MODE if mode == "fixed" else frozenset()
    left_out |= OF_QUESTIONS if asks else ABOUT_TOPIC
    return [kind for kind in Kind if status in ALLOWED[kind] and kind not in left_out]
