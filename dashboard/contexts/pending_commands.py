"""User commands that a run has not processed yet, and topics and instructions that it rejected."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import gettext as _

from dashboard.queries.run_rows import RunRows
from dashboard.stored_texts import worded
from research.engine.records import Status
from research.models import Problem
from research.readmodel.progress_parts import CommandPart, Progress
from research.worker.commands import PLANNING, Kind, possible_commands

WISH, INSTRUCTION = "your topic ", "your instruction "
PRONOUNS = {
    "en": re.compile(r"\b(it|its|they|them|their|theirs)\b", re.IGNORECASE),
    "de": re.compile(r"\b(es|er|ihn|ihm|ihnen|ihre?[nmrs]?|dessen|deren)\b", re.IGNORECASE),
}
"""Words of a sub-question that only the question before it explains, by its language."""


@dataclass(frozen=True)
class CommandNotice:
    """A sentence and its icon."""

    text: str
    icon: str


def list_pending_commands(rows: RunRows) -> list[CommandNotice]:
    """Return a notice for each pending command, oldest first, then what was rejected."""
    if rows.run.ended:
        return []
    status = Status(rows.run.status)
    told = [part for part in rows.progress.control.told if not part.taken]
    said = [_describe_command(part, status, rows) for part in told]
    hints = [_ask_for_name(part, rows.run.language) for part in told]
    return [*filter(None, (*said, *hints)), *_refusals(rows)]


@dataclass(frozen=True)
class Followed:
    """An instruction in force, and the sentence that says whose it is."""

    text: str
    said: str


def list_followed(rows: RunRows) -> list[Followed]:
    """Return the instructions that a run follows and may drop: those that it took over, then its
    own.
    """
    run = rows.run
    can = possible_commands(run.status, run.mode, run.asks, has_model=run.has_model)
    if Kind.DROP_INSTRUCTION not in can:
        return []
    planned = (run.plan or {}).get("instructions", ())
    told = dict.fromkeys((*planned, *(text for row in rows.rounds for text in row.instructions)))
    last = {part.text: part.kind for part in rows.progress.control.told if part.text}
    kept = [text for text in told if last.get(text) != Kind.DROP_INSTRUCTION]
    return [Followed(text, _say_whose(text, rows)) for text in kept]


def _say_whose(text: str, rows: RunRows) -> str:
    if is_taken_over(text, rows):
        return _("Followed from before: “%(text)s”") % {"text": text}
    return _("Followed: “%(text)s”") % {"text": text}


def is_taken_over(text: str, rows: RunRows) -> bool:
    """Return whether an instruction was given to an earlier run."""
    own = (part for part in rows.progress.control.told if part.kind == Kind.INSTRUCT)
    return text not in {part.text for part in own}


def _ask_for_name(part: CommandPart, language: str) -> CommandNotice | None:
    """Return the hint that an added sub-question has a pronoun; None if it has none."""
    pattern = PRONOUNS.get(language.partition("-")[0].lower())
    if part.kind != Kind.ADD_TOPIC or pattern is None:
        return None
    found = pattern.search(part.topic or "")
    if found is None:
        return None
    text = _("It is searched on its own. If “%(word)s” stands for something, add it by its name.")
    return CommandNotice(text % {"word": found[0]}, "question")


def kept_instructions(rows: RunRows) -> str:
    """Return the instructions that no worker has processed yet, each on a line."""
    told = [part for part in rows.progress.control.told if not part.taken]
    return "\n".join(part.text or "" for part in told if part.kind == Kind.INSTRUCT)


def _describe_command(part: CommandPart, status: Status, rows: RunRows) -> CommandNotice | None:
    """Return a notice; None for a command that the verdict sentence or the list of sub-questions
    shows.
    """
    paused = status is Status.PAUSED
    match part.kind:
        case Kind.PAUSE if paused:
            return CommandNotice(_("Pausing when it continues…"), "pause")
        case Kind.DIG_DEEPER:
            text = (
                _("Digs deeper when it continues.")
                if paused
                else _("Digs deeper after this round.")
            )
            return CommandNotice(text, "plus")
        case Kind.INSTRUCT:
            return CommandNotice(_when_followed(status, rows) % {"text": part.text}, "write")
        case Kind.DROP_INSTRUCTION:
            return CommandNotice(_when_dropped(status) % {"text": part.text}, "cross")
    return None


def _when_followed(status: Status, rows: RunRows) -> str:
    """Return what follows an instruction, which a plan that was begun before it doesn't."""
    if status is Status.PAUSED:
        return _("Follows “%(text)s” when it continues.")
    if status not in PLANNING:
        return _("Follows “%(text)s” after this round.")
    if rows.told & {Kind.APPROVE, Kind.REVISE}:
        return _("Follows “%(text)s” from the start.")
    if status is not Status.AWAITING_APPROVAL:
        return _("Kept: “%(text)s”. The research follows it; the plan is made without it.")
    return _(
        "Kept: “%(text)s”. The plan was made without it; send it back to have it planned again."
    )


def _when_dropped(status: Status) -> str:
    if status is Status.PAUSED:
        return _("Drops “%(text)s” when it continues.")
    if status is Status.AWAITING_APPROVAL:
        return _(
            "Drops “%(text)s” at the start. The plan was made with it; send it back to have it "
            "planned again."
        )
    if status in PLANNING:
        return _("Drops “%(text)s” before the research begins.")
    return _("Drops “%(text)s” after this round.")


def _refusals(rows: RunRows) -> Iterator[CommandNotice]:
    for row in filter(is_refused_wish, rows.problems):
        yield CommandNotice(describe_refusal(row), "cross")


def describe_refusal(row: Problem) -> str:
    """Return which topic or instruction was rejected, and why."""
    said = row.where.removeprefix(WISH).removeprefix(INSTRUCTION).strip("“”")
    text = (
        _("Your topic “%(said)s”: %(reason)s")
        if row.where.startswith(WISH)
        else _("Your instruction “%(said)s”: %(reason)s")
    )
    return text % {"said": said, "reason": worded(row.message)}


def is_refused_wish(row: Problem) -> bool:
    """Return whether a problem is the rejection of a user's topic or instruction."""
    return row.where.startswith((WISH, INSTRUCTION))


def topics_told(payload: Progress) -> dict[str, tuple[int, str]]:
    """Return the topics of pending commands to add or drop one, each with number and kind of its
    last command.
    """
    told = enumerate(payload.control.told)
    return {part.topic: (n, part.kind) for n, part in told if part.topic and not part.taken}
