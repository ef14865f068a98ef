"""An OpenAI-compatible scripted model whose answers depend only on the prompt.

It parses the documented prompt format: labelled sections, sub-questions as `[A1] …`, pages as
`<page …>` with `[n] sentence`, findings and evidence as `[E1] …`.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from time import time
from typing import Any

from research.engine.text.tokens import term_set
from tests.engine.scripted import is_carried, verdicts_on
from tests.support.serving import LoopbackServer, Reply, json_reply, path_of

Answer = dict[str, Any]
SECTION = re.compile(r"^# ([A-Z][A-Z ,-]+)$", re.MULTILINE)  # "# SUB-QUESTIONS"
LINE = re.compile(r"^\[(\w+)\] (?:\(([^)]*)\) )?(.*)$", re.MULTILINE)  # "[A1] (open) Who?"
MARKS = {"completeness": 9, "depth": 9, "reliability": 9, "actionability": 9}


@dataclass(frozen=True)
class Part:
    """A sub-question that the model proposes, and the words by which it recognizes an answer."""

    question: str
    query: str
    markers: tuple[str, ...]


@dataclass(frozen=True)
class Script:
    """The plan for one question. `leads` maps words of a sentence to the names they introduce."""

    parts: tuple[Part, ...]
    complexity: str = "simple"
    clarifying: tuple[str, ...] = ()
    leads: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Manner:
    """Deviations of a server from OpenAI's API.

    `knows` are the request fields a strict server accepts; None accepts all. `window` is the
    context size in tokens of four characters: longer prompts get a 400, and `GET /v1/models`
    reports it unless `silent`. `most_output` is the largest accepted output limit. `always` are
    the answers to all requests, in turn.
    """

    knows: frozenset[str] | None = None
    ignores_format: bool = False
    counts: bool = True
    streams_only: bool = False
    streams: bool = True
    window: int | None = None
    silent: bool = False
    system_role: bool = True
    most_output: int | None = None
    preface: str = ""
    reasoning: str = ""
    always: tuple[str, ...] = ()


STRICT = Manner(knows=frozenset({"model", "messages", "max_tokens"}))
PLAIN = Manner(ignores_format=True)
UNCOUNTED = Manner(counts=False)
STREAMS_ONLY = Manner(streams_only=True)
NARROW = Manner(window=4096)
MODERN = Manner(
    knows=frozenset({"model", "messages", "max_completion_tokens", "response_format", "stream",
                     "stream_options", "reasoning_effort"})
)  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """One logged request. `constrained` is True if it had a schema; `at` is Unix time."""

    task: str
    digest: str
    prompt: str
    constrained: bool
    at: float
    fields: frozenset[str] = frozenset()


class ModelServer(LoopbackServer):
    """A scripted model on loopback.

    `faults[task]` are sent first, one per request; `twists[task]` change an answer. `pace_seconds`
    is the delay before each event of a stream. With `refuses_schema`, requests with a schema get a
    400. `hold(task)` blocks the next request of a task until `let_go`.
    """

    def __init__(self, scripts: Mapping[str, Script], manner: Manner = Manner()) -> None:
        super().__init__()
        self.scripts = scripts
        self.manner = manner
        self.requests: list[Asked] = []
        self.faults: dict[str, list[Reply]] = {}
        self.twists: dict[str, Callable[[Answer], Answer]] = {}
        self.pace_seconds = 0.0
        self.refuses_schema = False
        self.held = threading.Event()
        self._let_go = threading.Event()
        self._holding: set[str] = set()

    @property
    def tasks(self) -> list[str]:
        return [asked.task for asked in self.requests]

    def hold(self, task: str) -> None:
        """Hold the next answer to this task, from `held` until `let_go`."""
        self.held.clear()
        self._let_go.clear()
        self._holding.add(task)

    def let_go(self) -> None:
        self._let_go.set()

    def close(self) -> None:
        self.let_go()
        super().close()

    def reply(self, path: str, body: bytes) -> Reply:
        if path_of(path) == "/v1/models":
            return json_reply({"object": "list", "data": [self._listed()]})
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
        return fault[0] if fault else self._refusal(request) or self._says(asked, request)

    def _listed(self) -> dict[str, Any]:
        manner = self.manner
        told = {"max_model_len": manner.window} if manner.window and not manner.silent else {}
        return {"id": "scripted", "object": "model", **told}

    def _refusal(self, request: Mapping[str, Any]) -> Reply | None:
        manner = self.manner
        unknown = sorted(set(request) - manner.knows) if manner.knows is not None else []
        if unknown:
            return refuses(400, f"Unrecognized request argument supplied: {unknown[0]}")
        if manner.streams_only and not request.get("stream"):
            return refuses(400, "This model only supports streaming: set stream to true.")
        if not manner.system_role and request["messages"][0]["role"] == "system":
            return refuses(400, "System role not supported")
        length = sum(len(message["content"]) for message in request["messages"]) // 4
        limit = request.get("max_tokens") or request.get("max_completion_tokens") or 0
        if manner.most_output and limit > manner.most_output:
            return refuses(400, f"max_tokens is too large: at most {manner.most_output}.")
        if manner.window and length + limit > manner.window:
            size = "" if manner.silent else f" is {manner.window} tokens"
            return refuses(400, f"This exceeds the maximum context length{size}.")
        return None

    def _says(self, asked: Asked, request: Mapping[str, Any]) -> Reply:
        text = self.manner.preface + json.dumps(self._answer(asked))
        if self.manner.ignores_format and asked.task == "shape" and "schema" not in asked.prompt:
            text = "Red is a warm colour."
        if always := self.manner.always:
            text = always[len(self.requests) % len(always)]
        if request.get("stream") and self.manner.streams:
            counted = self.manner.counts and "stream_options" in request
            return replace(streams(text, counted), pace_seconds=self.pace_seconds)
        prompt = "".join(message["content"] for message in request["messages"])
        return says(text, prompt.encode(), self.manner.counts, self.manner.reasoning)

    def _answer(self, asked: Asked) -> Answer:
        sections = sections_of(asked.prompt)
        script = self.scripts.get(sections.get("QUESTION", ""), Script(()))
        answer = ANSWERS[asked.task](sections, script)
        if "TODAY" not in sections and asked.task in SMALL:
            answer = SMALL[asked.task](answer)
        return self.twists.get(asked.task, lambda same: same)(answer)


# --- what may go wrong ----------------------------------------------------------------------


def says(text: str, prompt: bytes = b"", counted: bool = True, reasoning: str = "") -> Reply:
    """Return a completion with this text, valid or not."""
    usage = {"prompt_tokens": len(prompt) // 4 or 1, "completion_tokens": len(text) // 4 or 1}
    usage["total_tokens"] = sum(usage.values())
    message = {"role": "assistant", "content": text}
    if reasoning:
        message["reasoning_content"] = reasoning
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return _completion([choice], usage if counted else None)


def streams(text: str, counted: bool = True, cut_at: int | None = None) -> Reply:
    """Return a completion as server-sent events of 40 characters each; `cut_at` aborts it."""
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 0, "model": "scripted"}
    events: list[Any] = [
        {**head, "choices": [{"index": 0, "delta": {"content": text[i : i + 40]}}]}
        for i in range(0, len(text if cut_at is None else text[:cut_at]), 40)
    ]
    if cut_at is None:
        events.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        if counted:
            usage = {"prompt_tokens": 50, "completion_tokens": len(text) // 4 or 1}
            events.append(
                {**head, "choices": [], "usage": {**usage, "total_tokens": sum(usage.values())}}
            )
    lines = [f"data: {json.dumps(event)}\n\n" for event in events]
    end = "" if cut_at is not None else "data: [DONE]\n\n"
    return Reply(("".join(lines) + end).encode(), content_type="text/event-stream")


def cut_short(text: str) -> Reply:
    """Return a completion that ended at its length limit."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text},
              "finish_reason": "length"}  # fmt: skip
    return _completion([choice], {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18})


def declines() -> Reply:
    """Return a refusal to answer."""
    message = {"role": "assistant", "content": None, "refusal": "I can't help with that."}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return _completion([choice], {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18})


def no_choices() -> Reply:
    return _completion([], {"prompt_tokens": 1, "completion_tokens": 0, "total_tokens": 1})


def refuses(status: int, message: str = "not now", **headers: str) -> Reply:
    return json_reply({"error": {"message": message}}, status, **headers)


def _completion(choices: list[Any], usage: dict[str, int] | None) -> Reply:
    head = {"id": "c1", "object": "chat.completion", "created": 0, "model": "scripted"}
    counted = {"usage": usage} if usage else {}
    return json_reply({**head, "choices": choices, **counted})


# --- reading the envelope -------------------------------------------------------------------


def _asked(request: Mapping[str, Any], body: bytes) -> Asked:
    prompt = request["messages"][-1]["content"]
    form = request.get("response_format") or {}
    schema = form.get("json_schema")
    task = schema["name"] if schema else _task_of(prompt)
    digest = hashlib.sha256(body).hexdigest()
    return Asked(task, digest, prompt, schema is not None, time(), frozenset(request))


def _task_of(prompt: str) -> str:
    """Return the task of a request without a schema, recognized by its sections."""
    sections = sections_of(prompt)
    if "QUESTION" not in sections:
        return "shape"
    if "mill" in sections["QUESTION"]:
        return "sense"
    known = {"PAGES": "read", "FINDINGS": "assess", "STATEMENTS TO PUT RIGHT": "repair"}
    known["EVIDENCE"] = "draft"
    return next((task for name, task in known.items() if name in sections), "intake")


def sections_of(prompt: str) -> dict[str, str]:
    parts = SECTION.split(prompt)
    return {name: text.strip() for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def lines_of(text: str) -> list[tuple[str, str, str]]:
    """Return (id, note, words) of the lines `[id] (note) words` of a section."""
    return LINE.findall(text)


# --- the tasks ------------------------------------------------------------------------------


def _intake(sections: Mapping[str, str], script: Script) -> Answer:
    clear = "CLARIFICATIONS" in sections or "COMMENT ON YOUR LAST PLAN" in sections
    return {
        "clarifying_questions": [] if clear else list(script.clarifying),
        "brief": f"What is asked: {sections['QUESTION']}",
        "complexity": script.complexity,
        "language": "en",
        "sub_questions": [part.question for part in script.parts],
        "queries": [part.query for part in script.parts],
        "scope": "This question only.",
        "evidence_strategy": "Pages that say it.",
        "output_format": "A few sentences.",
    }


def _read(sections: Mapping[str, str], script: Script) -> Answer:
    markers = {part.question: part.markers for part in script.parts}
    parts = lines_of(sections.get("SUB-QUESTIONS", f"[A1] {sections['QUESTION']}"))
    wanted = [(i, markers.get(text, ())) for i, _, text in parts]
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
    return {"claim": sentence, "sentences": [number], "sub_question": aspect}


def _assess(sections: Mapping[str, str], script: Script) -> Answer:
    found = {note.split(";")[0] for _, note, _ in lines_of(sections["FINDINGS"])}
    asked = [(i, text) for i, _, text in lines_of(sections.get("SUB-QUESTIONS", ""))]
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
        "unanswered": [i for i, _ in asked if i not in found],
        "gaps": gaps,
        "directions": [],
        "ready": not gaps,
    }


def _draft(sections: Mapping[str, str], script: Script) -> Answer:
    statements = [f"{claim} [{i}]" for i, _, claim in lines_of(sections["EVIDENCE"])]
    return {"statements": statements, "short_answer": ["1"] if statements else []}


def _repair(sections: Mapping[str, str], script: Script) -> Answer:
    """Replace each faulty statement by the claim of the first evidence record it cites."""
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
    "verify": lambda sections, script: verdicts_on(sections["STATEMENTS"], is_carried),
    "follow_up": lambda sections, script: {
        "same_topic": bool(term_set(sections["QUESTION"]) & term_set(sections["EARLIER QUESTION"])),
        "question": sections["QUESTION"],
    },
    "judge": lambda sections, script: {
        "answer": {"relevance": 10, "completeness": 8, "support": 8, "clarity": 6},
        "process": {"searching": 3, "reading": 3, "stopping": 3},
        "reasoning": "It is fair.",
    },
    "shape": lambda sections, script: {"colour": "red"},
    "sense": lambda sections, script: {"sentence": 3},
}

# The short answers of the small profile, whose prompts contain no date.
SMALL: dict[str, Callable[[Answer], Answer]] = {
    "intake": lambda full: {"query": full["queries"][0], "parts": []},
    "read": lambda full: {
        "findings": [
            {"sentence": found["sentences"][0], "claim": found["claim"]}
            for found in full["findings"]
        ]
    },
    "assess": lambda full: {"enough": full["ready"], "missing": "", "query": ""},
    "draft": lambda full: {
        "statements": [
            {"text": text, "evidence": [cited.rstrip("]")]}
            for text, _, cited in (said.rpartition(" [") for said in full["statements"])
        ]
    },
}
