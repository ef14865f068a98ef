"""An OpenAI-compatible model that answers by rule, from nothing but the prompt it is sent.

It reads the documented envelope of the prompts: labelled sections, sub-questions as
`[A1] …`, pages as `<page …>` with `[n] sentence`, findings and evidence as `[E1] …`.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import time
from typing import Any

from tests.support.serving import LoopbackServer, Reply, json_reply, path_of

Answer = dict[str, Any]
SECTION = re.compile(r"^# ([A-Z][A-Z ,-]+)$", re.MULTILINE)
LINE = re.compile(r"^\[(\w+)\] (?:\(([^)]*)\) )?(.*)$", re.MULTILINE)
MARKS = {"completeness": 9, "depth": 9, "reliability": 9, "actionability": 9}


@dataclass(frozen=True)
class Part:
    """A sub-question that the model proposes, and the words by which it knows an answer."""

    question: str
    query: str
    markers: tuple[str, ...]


@dataclass(frozen=True)
class Script:
    """How the model plans one question. `leads` maps words of a sentence to what they name."""

    parts: tuple[Part, ...]
    complexity: str = "simple"
    clarifying: tuple[str, ...] = ()
    leads: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    """One request as the server logged it; `constrained` says that it named a schema, `at` is
    in seconds of the day's clock.
    """

    task: str
    digest: str
    prompt: str
    constrained: bool
    at: float


class ModelServer(LoopbackServer):
    """`faults[task]` are given first, one a request; `twists[task]` change an answer.

    With `refuses_schema` a request with a schema is a 400. `hold(task)` keeps the next
    request of a task without an answer until `let_go`.
    """

    def __init__(self, scripts: Mapping[str, Script]) -> None:
        super().__init__()
        self.scripts = scripts
        self.requests: list[Asked] = []
        self.faults: dict[str, list[Reply]] = {}
        self.twists: dict[str, Callable[[Answer], Answer]] = {}
        self.refuses_schema = False
        self.held = threading.Event()
        self._let_go = threading.Event()
        self._holding: set[str] = set()

    @property
    def tasks(self) -> list[str]:
        return [asked.task for asked in self.requests]

    def hold(self, task: str) -> None:
        self._holding.add(task)

    def let_go(self) -> None:
        self._let_go.set()

    def close(self) -> None:
        self.let_go()
        super().close()

    def reply(self, path: str, body: bytes) -> Reply:
        if path_of(path) != "/v1/chat/completions":
            return json_reply({"error": {"message": "no such path"}}, 404)
        request = json.loads(body)
        asked = _asked(request, body)
        with self.lock:
            self.requests.append(asked)
            fault = self.faults.get(asked.task, [])[:1]
            del self.faults.get(asked.task, [])[:1]
            held = asked.task in self._holding
            self._holding.discard(asked.task)
        if held:
            self.held.set()
            self._let_go.wait(60)
        if self.refuses_schema and asked.constrained:
            return json_reply({"error": {"message": "response_format is not known"}}, 400)
        return fault[0] if fault else says(json.dumps(self._answer(asked)), body)

    def _answer(self, asked: Asked) -> Answer:
        sections = sections_of(asked.prompt)
        script = self.scripts[sections["QUESTION"]]
        answer = ANSWERS[asked.task](sections, script)
        return self.twists.get(asked.task, lambda same: same)(answer)


# --- what may go wrong ----------------------------------------------------------------------


def says(text: str, prompt: bytes = b"") -> Reply:
    """A completion with this text, whatever it is."""
    usage = {"prompt_tokens": len(prompt) // 4 or 1, "completion_tokens": len(text) // 4 or 1}
    usage["total_tokens"] = sum(usage.values())
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return _completion([choice], usage)


def no_choices() -> Reply:
    return _completion([], {"prompt_tokens": 1, "completion_tokens": 0, "total_tokens": 1})


def refuses(status: int, **headers: str) -> Reply:
    return json_reply({"error": {"message": "not now"}}, status, **headers)


def _completion(choices: list[Any], usage: dict[str, int]) -> Reply:
    head = {"id": "c1", "object": "chat.completion", "created": 0, "model": "scripted"}
    return json_reply({**head, "choices": choices, "usage": usage})


# --- reading the envelope -------------------------------------------------------------------


def _asked(request: Mapping[str, Any], body: bytes) -> Asked:
    prompt = request["messages"][-1]["content"]
    form = request.get("response_format")
    task = form["json_schema"]["name"] if form else _task_of(prompt)
    return Asked(task, hashlib.sha256(body).hexdigest(), prompt, form is not None, time())


def _task_of(prompt: str) -> str:
    """The task of a request that names no schema, by the sections that only it has."""
    sections = sections_of(prompt)
    known = {"PAGES": "read", "FINDINGS": "assess", "STATEMENTS TO PUT RIGHT": "repair"}
    known["EVIDENCE"] = "draft"
    return next((task for name, task in known.items() if name in sections), "intake")


def sections_of(prompt: str) -> dict[str, str]:
    parts = SECTION.split(prompt)
    return {name: text.strip() for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def lines_of(text: str) -> list[tuple[str, str, str]]:
    """`[id] (note) words` of a section: id, note and words."""
    return LINE.findall(text)


# --- the tasks ------------------------------------------------------------------------------


def _intake(sections: Mapping[str, str], script: Script) -> Answer:
    clear = "CLARIFICATIONS" in sections or "COMMENT ON YOUR LAST PLAN" in sections
    return {
        "clarifying_questions": [] if clear else list(script.clarifying),
        "brief": f"What is asked: {sections['QUESTION']}",
        "complexity": script.complexity,
        "language": "en",
        "sub_questions": [{"question": p.question, "query": p.query} for p in script.parts],
        "scope": "This question only.",
        "evidence_strategy": "Pages that say it.",
        "output_format": "A few sentences.",
    }


def _read(sections: Mapping[str, str], script: Script) -> Answer:
    markers = {part.question: part.markers for part in script.parts}
    wanted = [(i, markers.get(text, ())) for i, _, text in lines_of(sections["SUB-QUESTIONS"])]
    findings, leads = [], []
    for number, _, sentence in lines_of(sections["PAGES"]):
        for aspect, words in wanted:
            if words and all(word in sentence for word in words):
                findings.append(_finding(sentence, int(number), aspect))
        for words, topic in script.leads.items():
            if words in sentence:
                leads.append({"topic": topic, "query": topic, "sentence": int(number)})
    return {"findings": findings, "leads": leads}


def _finding(sentence: str, number: int, aspect: str) -> Answer:
    empty: Answer = {"names": [], "dates": [], "numbers": [], "definitions": []}
    return {"claim": sentence, "sentences": [number], "sub_question": aspect, **empty}


def _assess(sections: Mapping[str, str], script: Script) -> Answer:
    found = {note.split(";")[0] for _, note, _ in lines_of(sections["FINDINGS"])}
    asked = [(i, text) for i, _, text in lines_of(sections["SUB-QUESTIONS"])]
    named = sections.get("NAMED BY PAGES, NOT YET LOOKED UP", "").removeprefix("- ").split("\n")[0]
    gaps = [
        {"text": text, "sub_question": i, "query": named or text, "critical": True}
        for i, text in asked
        if i not in found
    ]
    return {
        "dimensions": MARKS,
        "overall": 9,
        "reasoning": f"{len(asked) - len(gaps)} of {len(asked)} sub-questions have a finding.",
        "sub_questions": [{"id": i, "answered": i in found} for i, _ in asked],
        "has_gaps": bool(gaps),
        "gaps": gaps,
        "directions": [],
        "ready": not gaps,
    }


def _draft(sections: Mapping[str, str], script: Script) -> Answer:
    evidence = lines_of(sections["EVIDENCE"])
    statements = [(aspect, {"text": claim, "evidence": [i]}) for i, aspect, claim in evidence]
    aspects = [i for i, _, _ in lines_of(sections["SUB-QUESTIONS"])]
    return {
        "short_answer": [statement for _, statement in statements[:1]],
        "sections": [
            {"sub_question": each, "statements": [s for aspect, s in statements if aspect == each]}
            for each in aspects
        ],
    }


def _repair(sections: Mapping[str, str], script: Script) -> Answer:
    """Each faulty statement becomes the claim of the first evidence that it cites."""
    claims = {i: claim for i, _, claim in lines_of(sections["EVIDENCE"])}
    mended = []
    for number, _, text in lines_of(sections["STATEMENTS TO PUT RIGHT"]):
        cited = re.findall(r"E\d+", text.rsplit("(cites", 1)[-1])
        if cited and cited[0] in claims:
            statement = {"number": int(number), "text": claims[cited[0]], "evidence": cited[:1]}
            mended.append(statement)
    return {"statements": mended}


ANSWERS: dict[str, Callable[[Mapping[str, str], Script], Answer]] = {
    "intake": _intake,
    "read": _read,
    "assess": _assess,
    "draft": _draft,
    "repair": _repair,
}
