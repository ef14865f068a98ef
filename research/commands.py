"""What people may tell a run, and in which of its states."""

from __future__ import annotations

from enum import StrEnum

from research.engine.records import ENDED, Status


class Kind(StrEnum):
    """The kinds of command, as the engine takes them from its inbox."""

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
"""The untaken commands that let a worker go on with a run that waits for a person."""

ABOUT_TOPIC = frozenset({Kind.SAME_TOPIC, Kind.NEW_TOPIC})
"""What a follow-up question that seems to change the topic is answered with."""

ANSWERS: tuple[frozenset[Kind], ...] = (
    frozenset({Kind.ANSWER, Kind.SKIP}),
    ABOUT_TOPIC,
    frozenset({Kind.APPROVE, Kind.REVISE}),
)
"""One wait takes one answer: a second one must not reach the next wait unseen."""

OF_ADAPTIVE_MODE = frozenset({Kind.ADD_TOPIC, Kind.DROP_TOPIC, Kind.DIG_DEEPER})
"""The fixed mode searches a tree whose size is its point."""

OF_QUESTIONS = frozenset({Kind.ANSWER, Kind.SKIP})
"""A run that has a question of its own to ask has no clarifying ones."""

REPEATABLE = frozenset({Kind.ADD_TOPIC, Kind.DROP_TOPIC})


def possible(status: str, mode: str, asks: str = "") -> list[Kind]:
    """What a run in this state and mode, with this to ask, can be told."""
    left_out = OF_ADAPTIVE_MODE if mode == "fixed" else frozenset()
    left_out |= OF_QUESTIONS if asks else ABOUT_TOPIC
    return [kind for kind in Kind if status in ALLOWED[kind] and kind not in left_out]
