"""The facts that a question still needs, given the known facts; a function of a prompt's text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from bench.world.grammar import Call, Statement, calls

QUERY_TAILS = ("register papers", "history account", "keepers clerks")


@dataclass(frozen=True)
class Want:
    """A needed fact that is unknown.

    `raised` is True if its subject comes from a found fact rather than from the question.
    """

    call: Call
    value: bool
    authority: bool
    raised: bool

    @property
    def text(self) -> str:
        of = f"the {self.call.attribute} of the {self.call.subject}"
        if self.call.is_relation:
            return f"Who is {of}, and under which entry?"
        if not self.value:
            return f"Which survey stands behind {of}?"
        return f"What is {of}" + (", and which survey stands behind it?" if self.authority else "?")

    def query(self, searched: Iterable[str] = ()) -> str:
        """Return a query that was not sent yet, or the last possible wording."""
        earlier = {" ".join(query.lower().split()) for query in searched}
        subject = f"{self.call.subject} {self.call.attribute}"
        first = f"{subject} entry" if self.call.is_relation else f"{subject} survey"
        ways = [first, *(f"{subject} {tail}" for tail in QUERY_TAILS)]
        return next((way for way in ways if way.lower() not in earlier), ways[-1])


@dataclass
class Needs:
    """The requirements of a question, followed along the known facts."""

    wants: list[Want] = field(default_factory=list)
    met: int = 0
    relevant: list[Statement] = field(default_factory=list)

    @property
    def share(self) -> float:
        total = self.met + len(self.wants)
        return self.met / total if total else 0.0


def needs(texts: Iterable[str], known: Iterable[Statement]) -> Needs:
    """Return which requirements of the texts the known facts meet, and which remain open.

    If a text asks for a line, each found relation requires the next one; the line is complete when
    a fact names nothing further.
    """
    facts, result = list(known), Needs()
    asked = _merged(call for text in texts for call in calls(text))
    waiting = [(call, False) for call in asked]
    seen: set[tuple[str, str]] = set()
    while waiting:
        call, raised = waiting.pop(0)
        if (call.subject, call.attribute) in seen:
            continue
        seen.add((call.subject, call.attribute))
        about = [s for s in facts if (s.subject, s.attribute) == (call.subject, call.attribute)]
        result.relevant += about
        if want := _want(call, about, raised):
            result.wants.append(want)
        else:
            result.met += 1
        following = [s.other for s in about if s.kind == "link"] if call.line else []
        waiting += [(replace(call, subject=name), True) for name in following]
    return result


def _merged(found: Iterable[Call]) -> list[Call]:
    """Return one requirement per subject, combining all that any text asks of it.

    A line that the question follows is followed from whatever link a text asks for.
    """
    merged: dict[tuple[str, str], Call] = {}
    every = list(found)
    lines = {call.attribute for call in every if call.line}
    for call in every:
        place = (call.subject, call.attribute)
        old = merged.get(place, call)
        merged[place] = replace(
            call,
            authority=call.authority or old.authority,
            line=call.attribute in lines,
        )
    return list(merged.values())


def _want(call: Call, about: list[Statement], raised: bool) -> Want | None:
    if call.is_relation:
        return None if about else Want(call, True, False, raised)
    kinds = {statement.kind for statement in about}
    value, authority = "value" not in kinds, call.authority and "authority" not in kinds
    return Want(call, value, authority, raised) if value or authority else None
