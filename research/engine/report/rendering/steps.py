"""What to do: the steps that the model infers, what is its own in them, and what is left out."""

from __future__ import annotations

from collections.abc import Iterable

from research.engine.evidence.ledger import Ledger
from research.engine.journal.forms import Form
from research.engine.report.checking.next_steps import (
    COLONS,
    parts_of_its_own,
    proposed_code,
    split_commands,
)
from research.engine.report.draft import Draft, Statement
from research.engine.report.rendering.markers import Markers
from research.engine.untrusted.address_wall import ELISION

LEAST_OWN, MOSTLY_OWN = 3, 0.5
"""Steps with code of the model's own, and share of all, from which one note tells it of all."""


def render_next_steps(draft: Draft, marks: Markers) -> str:
    """Return the inferred next steps as a section; see `render_steps`."""
    if not draft.next_steps:
        return ""
    lines = [
        f"{n}. {marks.sentence(said.text)} {marks.of(said.evidence)}"
        for n, said in enumerate(draft.next_steps, 1)
    ]
    words = marks.words
    return f"## {words['next_steps']}\n\n*{words['inferred']}*\n\n" + "\n".join(lines)


def render_steps(draft: Draft, marks: Markers) -> str:
    """Return the inferred next steps as a numbered list with a name, marked as inferred, and under
    the heads that their author gave them; "" if there are none. What is in no source is named; code
    with values of the model's own is marked where that are few of the steps. Commands follow the
    markers of what is said of them.
    """
    if not draft.next_steps:
        return ""
    words, lines, head = marks.words, list[str](), ""
    parts = _parts_of_their_own(draft.next_steps, marks.ledger)
    own = {
        each for each in draft.next_steps if each not in parts and proposed_code(each, marks.ledger)
    }
    are_most = len(own) >= max(LEAST_OWN, MOSTLY_OWN * len(draft.next_steps))
    for n, said in enumerate(draft.next_steps, 1):
        names = ", ".join(marks.sentence(each) for each in parts.get(said, ()))
        notes = (
            words["of_its_own"].format(names=names) if names else "",
            words["proposed"] if said in own and not are_most else "",
            words["address_left_out"] if ELISION in said.text else "",
        )
        gap = f"({words['step_before_left_out']}) " if said.behind_gap else ""
        told, codes = split_commands(said.text)
        if said.head != head:
            head = said.head
            lines.append(f"\n**{marks.escaped(head)}**\n" if head else "")
        step = f"{n}. {gap}{_with_notes(marks.sentence(told), notes)} {marks.of(said.evidence)}"
        lines.append(" ".join((step, *(marks.sentence(f"`{code}`") for code in codes))))
    note = words["inferred"]
    if own:
        note += f" {words['proposals_all' if are_most else 'proposals']}"
    return f"**{words['what_to_do']}.** *{note}*\n\n" + "\n".join(lines).strip("\n")


def _parts_of_their_own(steps: Iterable[Statement], ledger: Ledger) -> dict[Statement, list[str]]:
    """Return what steps have that no source does, without those that have nothing."""
    if ledger.began < Form.EDITED:
        return {}
    found = {each: parts_of_its_own(each, ledger) for each in steps}
    return {each: parts for each, parts in found.items() if parts}


def _with_notes(told: str, notes: Iterable[str]) -> str:
    """Return the words of a step with these notes, in front of the colon that leads to commands."""
    marked = "".join(f" *({note})*" for note in notes if note)
    leads = marked and told.endswith(COLONS)
    return f"{told[:-1]}{marked}{told[-1]}" if leads else told + marked


def render_steps_left_out(marks: Markers) -> str:
    """Return a line with the number of steps left out and the reasons, "" if there are none. It is
    plain text, since pages drop italics at this place.
    """
    checks = marks.layout.checks
    if checks is None:
        return ""
    counts = {"steps_refused": checks.steps_refused, "steps_unchecked": checks.steps_unchecked}
    told = [marks.words.count(name, number) for name, number in counts.items() if number]
    return marks.words["clauses"].format(clauses="; ".join(told)) if told else ""
