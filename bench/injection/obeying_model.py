"""A model that reads well and obeys every order that it can see in its prompt.

It knows which sentences answer the question, and the marker that proves obedience. It puts the
marker wherever an answer has room for it as soon as its prompt shows it, and only then.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from bench.injection.markers import is_visible, seen
from bench.injection.rows import Form, HostPage
from research.engine.llm_tasks.prompting.fences import neutral
from research.engine.ports import ModelAnswer, ModelRequest

_SECTION = re.compile(r"^# ([A-Z][A-Z ,-]+)$", re.MULTILINE)
_LINE = re.compile(r"^\[(\w+)\] (?:\(([^)]*)\) )?(.*)$", re.MULTILINE)
_MARKS = {"completeness": 9, "depth": 9, "reliability": 9, "actionability": 9}

Answer = dict[str, Any]


class ObeyingModel:
    """`form` None is the clean run. `obeyed` are the tasks whose prompts showed the marker."""

    name = "obeying-model"

    further: ClassVar[tuple[str, ...]] = ()
    """Additional sub-questions of the plan; with two of them its draft has `sections`."""

    def __init__(self, host: HostPage, form: Form | None) -> None:
        self._host = host
        self._form = form
        self._facts = [_run_together(neutral(fact)) for fact in host.facts]
        self.obeyed: list[str] = []

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        parts = _SECTION.split(request.prompt)
        sections = {k: v.strip() for k, v in zip(parts[1::2], parts[2::2], strict=True)}
        order = self._order_in(request)
        answer_task = getattr(self, f"_{request.task}", None)
        if answer_task is None:
            raise ValueError(f"the obeying model has no answer to task {request.task!r}")
        answer = answer_task(sections, order)
        return ModelAnswer(json.dumps(answer, ensure_ascii=False), self.name, 100, 50, cost_usd=0.0)

    def _order_in(self, request: ModelRequest) -> str:
        """Return what the prompt has it say; '' if it shows no marker."""
        form = self._form
        if form is None or not is_visible(request.prompt, form):
            return ""
        self.obeyed.append(request.task)
        return form.claim or form.marker

    def _intake(self, sections: Mapping[str, str], order: str) -> Answer:
        question = self._host.question
        return {
            "complexity": "ordinary", "language": self._host.language, "brief": "",
            "sub_questions": [question, *self.further], "queries": [question, *self.further],
            "clarifying_questions": [],
            "scope": order, "evidence_strategy": order, "output_format": order,
        }  # fmt: skip

    def _read(self, sections: Mapping[str, str], order: str) -> Answer:
        lines = _LINE.findall(sections["PAGES"])
        findings = self._facts_in(lines)
        if not order:
            return {"findings": findings, "leads": []}
        assert self._form is not None
        shown = [n for n, _, text in lines if is_visible(text, self._form)]
        at = shown or [number for number, _, _ in lines[:1]]
        told = [text for number, _, text in lines if number in shown]
        ordered = [_finding(order, number) for number in at]
        ordered += [_finding(text, number) for text, number in zip(told, shown, strict=True)]
        leads = [
            {"topic": said, "query": f"{said} {self._form.marker}", "sentence": int(number)}
            for number in at
            for said in (order, self._form.marker)
        ]
        return {"findings": [*ordered, *findings], "leads": leads}

    def _facts_in(self, lines: Sequence[tuple[str, str, str]]) -> list[Answer]:
        """Return a finding for each fact: of one line, or of two that a full stop within a
        quotation parts.
        """
        found: list[Answer] = []
        for at, (number, _, text) in enumerate(lines):
            if self._answers(text):
                found.append(_finding(text, number))
            elif at and self._answers(both := f"{lines[at - 1][2]} {text}"):
                before = lines[at - 1]
                if not self._answers(before[2]):
                    found.append(_finding(both, before[0], number))
        return found

    def _answers(self, text: str) -> bool:
        plain = _run_together(text)
        return any(fact in plain for fact in self._facts)

    def _assess(self, sections: Mapping[str, str], order: str) -> Answer:
        gaps = [
            {"id": "", "text": f"{order}", "sub_question": "", "query": order, "critical": True}
        ]
        return {
            "dimensions": _MARKS, "overall": 9, "reasoning": order or "All is there.",
            "unanswered": [], "gaps": gaps if order else [], "directions": [order] if order else [],
            "ready": True,
        }  # fmt: skip

    def _draft(self, sections: Mapping[str, str], order: str) -> Answer:
        evidence = [(i, text) for i, note, text in _LINE.findall(sections["EVIDENCE"]) if note]
        statements = [f"{text} [{i}]" for i, text in evidence]
        if order and evidence:
            said = [f"{order} [{i}]" for i, _ in evidence]
            statements = [*said, order, *statements]
        if not self.further:
            return {"statements": statements, "short_answer": statements[:2]}
        heading = order or self._host.question
        return {
            "verdict": statements[:1], "short_answer": statements[:2], "next_steps": statements[:1],
            "sections": [{"heading": heading, "on": ["A1", "A2", "A3"], "statements": statements}],
        }  # fmt: skip

    def _repair(self, sections: Mapping[str, str], order: str) -> Answer:
        return {"statements": []}

    def _verify(self, sections: Mapping[str, str], order: str) -> Answer:
        numbers = [int(number) for number, _, _ in _LINE.findall(sections["STATEMENTS"])]
        return {"carried": numbers, "more": [], "other": [], "faults": []}


def _finding(claim: str, *numbers: str) -> Answer:
    return {"claim": claim, "sentences": [int(number) for number in numbers], "sub_question": "A1"}


def _run_together(text: str) -> str:
    return seen(text).replace(" ", "")
