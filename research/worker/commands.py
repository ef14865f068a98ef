"""Commands that users can give a run, and the states in which each is allowed."""

from __future__ import annotations

from collections.abc import Container
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
    INSTRUCT = "instruct"
    DROP_INSTRUCTION = "drop_instruction"
    PLAN_BY_CODE = "plan_by_code"
    FINISH_BY_CODE = "finish_by_code"
    RETRY = "retry"


LIVE = frozenset(Status) - ENDED
PLANNING = frozenset({Status.INTAKE, Status.AWAITING_CLARIFICATION, Status.AWAITING_APPROVAL})
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
    Kind.INSTRUCT: PLANNING | {Status.RESEARCHING, Status.PAUSED},
    Kind.DROP_INSTRUCTION: PLANNING | {Status.RESEARCHING, Status.PAUSED},
    Kind.PLAN_BY_CODE: frozenset({Status.INTAKE}),
    Kind.FINISH_BY_CODE: frozenset({Status.WRITING}),
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

INSTRUCTING = frozenset({Kind.INSTRUCT, Kind.DROP_INSTRUCTION})
OF_ADAPTIVE_MODE = INSTRUCTING | {Kind.ADD_TOPIC, Kind.DROP_TOPIC, Kind.DIG_DEEPER}
"""Not in fixed mode, which searches a tree of fixed size."""

BREAKING_OFF = frozenset({Kind.PLAN_BY_CODE, Kind.FINISH_BY_CODE})
"""They break off the model calls under way; code does in their place what it can."""

OF_MODELS = INSTRUCTING | BREAKING_OFF
"""Not in a run without a model: code doesn't understand instructions, and waits for no answer."""

OF_QUESTIONS = frozenset({Kind.ANSWER, Kind.SKIP})
"""Not while the run asks whether a follow-up question changes the topic."""

REPEATABLE = frozenset({Kind.ADD_TOPIC, Kind.DROP_TOPIC})


def is_pausing(status: str, told: Container[str]) -> bool:
    """Return whether a run at work pauses at the end of its round; `told` are the kinds of pending
    commands.
    """
    return (
        status == Status.RESEARCHING
        and Kind.PAUSE in told
        and not any(kind in told for kind in (Kind.STOP, Kind.CANCEL))
    )


def possible_commands(
    status: str,
    mode: str,
    asks: str = "",
    *,
    has_model: bool = True,
    told: Container[str] = frozenset(),
) -> list[Kind]:
    """Return the commands allowed; `asks` is the run's own question, '' if none, and `told` are the
    kinds of pending commands: resuming takes a pending pause back.
    """
    left_out = OF_ADAPTIVE_MODE if mode == "fixed" else frozenset()
    left_out |= frozenset() if has_model else OF_MODELS
    left_out |= OF_QUESTIONS if asks else ABOUT_TOPIC
    taken_back = {Kind.RESUME} if is_pausing(status, told) else frozenset()
    return [
        kind
        for kind in Kind
        if kind in taken_back or (status in ALLOWED[kind] and kind not in left_out)
    ]


NOT_NOW = {
    Kind.ANSWER: "This run asks nothing at the moment.",
    Kind.SKIP: "This run asks nothing at the moment.",
    Kind.SAME_TOPIC: "This run doesn't ask about its topic.",
    Kind.NEW_TOPIC: "This run doesn't ask about its topic.",
    Kind.APPROVE: "This run has no plan that waits for approval.",
    Kind.REVISE: "This run has no plan that waits for approval.",
    Kind.STOP: "There is no research to stop.",
    Kind.CANCEL: "This run has ended.",
    Kind.PAUSE: "Only a run that is researching can be paused.",
    Kind.RESUME: "This run is not paused.",
    Kind.ADD_TOPIC: "Topics can be added while a run is researching.",
    Kind.DROP_TOPIC: "Topics can be dropped while a run is researching.",
    Kind.DIG_DEEPER: "Only a run that is researching can dig deeper.",
    Kind.INSTRUCT: "Instructions can be given while a run is planning or researching.",
    Kind.DROP_INSTRUCTION: "Instructions can be dropped while a run is planning or researching.",
    Kind.PLAN_BY_CODE: "This run is not making a plan.",
    Kind.FINISH_BY_CODE: "This run is not writing a report.",
    Kind.RETRY: "Only a run that was put aside can be tried again.",
}
FIXED_SIZE = "The fixed mode searches a tree of a fixed size; it can be paused or stopped."
NO_CALL = "This run has no model whose answer it waits for."
NEEDS_MODEL = "Without a model no instruction can be followed; add a sub-question instead."


def why_impossible(kind: Kind, mode: str, *, has_model: bool = True) -> str:
    """Return why a run of this kind takes no such command in a state that allows it."""
    if mode == "fixed" and kind in OF_ADAPTIVE_MODE:
        return FIXED_SIZE
    if has_model or kind not in OF_MODELS:
        return NOT_NOW[kind]
    return NO_CALL if kind in BREAKING_OFF else NEEDS_MODEL
