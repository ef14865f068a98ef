"""The calculations behind a report's computed statements, for its readers to check."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from research.engine.evidence.claims.operands import ASKED, Calculation, NotComputedError
from research.engine.evidence.ledger import Ledger
from research.engine.report.checking.statement_check import calculate
from research.engine.report.draft import Draft, Statement
from research.engine.report.rendering.markdown_escape import escape_markdown
from research.engine.report.report_i18n import Labels
from research.engine.text.amounts import find_amounts

_CODE, _NUMBER = re.compile(r"`[^`]+`"), re.compile(r"\d[\d.,]*")
Marks = Callable[[Iterable[str]], str]
"""Returns the citations of evidence ids."""


@dataclass(frozen=True)
class Calculated:
    """A statement of the report and how code computed it."""

    statement: Statement
    calculation: Calculation

    @property
    def line(self) -> str:
        """Return the calculation behind its statement; a formula alone, since the words around it
        are judged by the verifier.
        """
        formula = self.calculation.formula
        return formula if self.calculation.terms else f"{self.statement.text} {formula}"

    def citing(self, marks: Marks, line: str, words: Labels) -> str:
        """Return the line with the citations of its figures instead of the ids of their evidence,
        which say nothing to a reader, and with figures of the question as the asker's own. Those in
        words, and those that code of the statement has, are only equal to one.
        """
        codes = " ".join(_CODE.findall(self.statement.text))
        for operand in self.calculation.operands:
            if operand.evidence == ASKED:
                number = _NUMBER.match(operand.text)
                is_equal = number is None or bool(_standing(number[0]).search(codes))
                for figure in (operand.text, escape_markdown(operand.text)):
                    own = words["own_figure"].format(figure=figure)
                    if is_equal:
                        own = number[0] if number else _value_of(operand.text)
                    line = line.replace(f"{figure} ({ASKED})", own)
            elif operand.evidence:
                line = line.replace(f"({operand.evidence})", marks([operand.evidence]))
        return line


def _standing(number: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.,]){re.escape(number)}(?![\w.,])")


def _value_of(figure: str) -> str:
    """Return a figure in words as a number, "2" of "two cameras"; as it is if it is none."""
    return next((f"{amount.value}" for amount in find_amounts(figure)), figure)


def calculations_of(draft: Draft, ledger: Ledger) -> tuple[Calculated, ...]:
    """Return the calculations of a draft's statements and next steps, each once.

    A statement that code vouches for without one needs none.
    """
    found: dict[tuple[str, str], Calculated] = {}
    for statement in (*draft.next_steps, *draft.statements):
        try:
            made = calculate(statement, ledger)
        except NotComputedError:
            continue
        for calculation in made:
            found.setdefault(
                (statement.text, calculation.formula), Calculated(statement, calculation)
            )
    return tuple(found.values())


def lines_with(
    record_id: str, calculations: Iterable[Calculated], marks: Marks, words: Labels
) -> tuple[str, ...]:
    """Return the lines of the calculations that use a record."""
    return tuple(
        each.citing(marks, each.line, words)
        for each in calculations
        if any(operand.evidence == record_id for operand in each.calculation.operands)
    )


def calculations_section(calculations: Sequence[Calculated], words: Labels, marks: Marks) -> str:
    """Return the report's section with a line for each calculation, whose figures have their
    citations behind them; "" without any.
    """
    if not calculations:
        return ""
    shown: dict[str, Calculated] = {}
    for each in calculations:  # "80 million" and "80 million rows" are one
        shown.setdefault(each.calculation.terms or each.calculation.formula, each)
    lines = [
        f"- {each.citing(marks, escape_markdown(each.calculation.formula), words)}"
        for each in shown.values()
    ]
    return "\n\n".join((f"## {words['calculations']}", "\n".join(lines)))
