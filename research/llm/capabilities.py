"""What a model's server takes: found out by asking, and remembered for some days."""

from __future__ import annotations

import json
import logging
import os
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from time import time
from typing import Any, Literal

AnswerForm = Literal["json_schema", "json_object", "prompt"]
Streaming = Literal["asked", "always", "never"]
TokenLimit = Literal["max_tokens", "max_completion_tokens"]

FRESH_SECONDS = 7 * 86_400
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Capabilities:
    """How one model at one server is spoken to; the defaults are tried first.

    `form` says how the answer's schema is handed over, `streaming` whether answers come as a
    stream. `most_output` is the longest answer in tokens that may be asked for, None where any
    may. `reasons` says that the model was seen to think before it answered.
    """

    form: AnswerForm = "json_schema"
    token_limit: TokenLimit = "max_tokens"
    most_output: int | None = None
    system_role: bool = True
    streaming: Streaming = "asked"
    stream_usage: bool = True
    temperature: bool = True
    reasoning_effort: bool = True
    reasons: bool = False

    def plainer(self) -> Capabilities | None:
        """The next form of answer: a schema, any JSON object, the prompt alone."""
        if self.form == "prompt":
            return None
        return replace(self, form="json_object" if self.form == "json_schema" else "prompt")


class CapabilityBook:
    """What was found out, by server and model, in a file that several processes share.

    An entry older than a week counts as unknown. `path` None keeps it in memory alone.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._known: dict[str, Capabilities] = {}

    def get(self, server: str, model: str) -> Capabilities:
        key = _key(server, model)
        if key not in self._known:
            entry = self._read().get(key, {})
            fresh = time() - entry.get("at", 0) < FRESH_SECONDS
            self._known[key] = _capabilities(entry if fresh else {})
        return self._known[key]

    def put(self, server: str, model: str, known: Capabilities) -> None:
        key = _key(server, model)
        if self._known.get(key) == known:
            return
        self._known[key] = known
        self._write({**self._read(), key: {"at": int(time()), **asdict(known)}})

    def learn(self, server: str, model: str, before: Capabilities, after: Capabilities) -> None:
        """Put what changed between the two; what other calls found out meanwhile stays."""
        changed = {
            name: value for name, value in asdict(after).items() if value != getattr(before, name)
        }
        self.put(server, model, replace(self.get(server, model), **changed))

    def forget(self, server: str, model: str) -> None:
        """Find out anew: at the next call, or in the preflight check."""
        key = _key(server, model)
        self._known.pop(key, None)
        self._write({k: entry for k, entry in self._read().items() if k != key})

    def _read(self) -> dict[str, dict[str, Any]]:
        if self._path is None or not self._path.exists():
            return {}
        try:
            found = json.loads(self._path.read_text())
        except (OSError, ValueError):
            log.warning("%s cannot be read; what servers take is found out anew", self._path.name)
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self, entries: dict[str, dict[str, Any]]) -> None:
        if self._path is None:
            return
        draft = self._path.with_suffix(f".{os.getpid()}")
        try:
            draft.write_text(json.dumps(entries, indent=1, sort_keys=True))
            draft.replace(self._path)
        except OSError as error:
            log.warning("%s cannot be written (%s)", self._path.name, error.strerror)


def _key(server: str, model: str) -> str:
    return f"{server.rstrip('/')} {model}"


def _capabilities(entry: dict[str, Any]) -> Capabilities:
    """An entry of another version's fields is read for what it shares with this one's."""
    known = {field.name for field in fields(Capabilities)}
    return Capabilities(**{name: value for name, value in entry.items() if name in known})
