"""Parses the documented format of prompts (`docs/prompts.md`): labelled sections only.

The instructions around the sections are ignored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from bench.world.grammar import Statement, parse

_SECTION = re.compile(r"^# ([A-Z][A-Z ,'-]+)$", re.MULTILINE)  # "# SUB-QUESTIONS"
_LINE = re.compile(r"^\[([A-Z]?\d+)\] (?:\(([^)]*)\) )?(.*)$", re.MULTILINE)  # "[A1] (open) Who?"
_QUOTE = re.compile(r'^\s+"(.*)" \([^)]*\)$')  # '    "It fell." (a.test)'


@dataclass(frozen=True)
class Line:
    """`[id] (note) text` of a section."""

    id: str
    note: str
    text: str

    @cached_property
    def statement(self) -> Statement | None:
        return parse(self.text)


@dataclass(frozen=True)
class Envelope:
    """The sections of one prompt, by label."""

    sections: dict[str, str]

    @classmethod
    def of(cls, prompt: str) -> Envelope:
        parts = _SECTION.split(prompt)
        pairs = zip(parts[1::2], parts[2::2], strict=True)
        return cls({name: text.strip("\n") for name, text in pairs})

    def text(self, label: str) -> str:
        return self.sections.get(label, "").strip()

    @property
    def question(self) -> str:
        return self.text("QUESTION")

    def lines(self, label: str) -> list[Line]:
        """Return numbered lines; a page's sentence may itself start with a bracket."""
        if label == "PAGES":
            found = re.findall(r"^\[(\d+)\] (.*)$", self.text(label), re.MULTILINE)
            return [Line(number, "", text) for number, text in found]
        return [Line(*parts) for parts in _LINE.findall(self.text(label))]

    def items(self, label: str) -> list[str]:
        """Return the lines `- item`."""
        return re.findall(r"^- (.*)$", self.text(label), re.MULTILINE)

    def told(self, *labels: str) -> list[Statement]:
        """Return the facts stated in these sections, whether as claims, items or quotes."""
        found = []
        for label in labels:
            for line in self.sections.get(label, "").splitlines():
                plain = re.sub(r"^(?:\[\w+\] (?:\([^)]*\) )?|- )", "", line)
                quote = _QUOTE.match(line)
                if statement := parse(quote.group(1) if quote else plain):
                    found.append(statement)
        return list(dict.fromkeys(found))
