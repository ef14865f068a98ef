"""Quotes behind their lead-ins: what a reader was told of a page is not told again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Group:
    """What stands behind one lead-in, which is '' for sentences that have none."""

    lead_in: str
    said: list[str]

    def inline(self) -> str:
        return self.lead_in + " ".join(self.said)

    def paragraph(self) -> str:
        """As Markdown; several quotes are a list."""
        if not self.lead_in or len(self.said) == 1:
            return self.inline()
        return "\n".join([f"{self.lead_in.rstrip()}\n", *(f"- {each}" for each in self.said)])


def group_quotes(statements: Iterable[tuple[str, str]]) -> list[Group]:
    """Of lead-ins and what follows them. Neighbours from one section of one page share its
    lead-in; another section of the same page is named without the page's title.
    """
    groups: list[Group] = []
    before = ""
    for lead_in, said in statements:
        if lead_in and lead_in == before:
            groups[-1].said.append(said)
        else:
            groups.append(Group(_shorten_lead(lead_in, before), [said]))
        before = lead_in
    return groups


def _shorten_lead(lead_in: str, before: str) -> str:
    title, mark, section = lead_in.partition(" › ")
    known = before.partition(" › ")[0].removesuffix(":** ")
    return f"**{section}" if mark and title == known else lead_in
