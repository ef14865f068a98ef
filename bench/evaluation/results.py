"""Stored results of an evaluation, so that a rerun measures only what is missing."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

import research
from bench.evaluation import scoring
from bench.evaluation.cases import Case
from bench.evaluation.pool import Library
from bench.evaluation.stopping_check import Stopped
from research.engine import ResearchConfig
from research.llm.settings import ModelSettings

SOURCES = ("research", "bench/evaluation")


@dataclass(frozen=True)
class Job:
    """The parameters of every worker."""

    library: Library
    config: ResearchConfig
    model: ModelSettings | None = None


@dataclass(frozen=True)
class Outcome:
    """All measurements of one question. `rounds` and `gold` are those of the forced run."""

    key: str
    id: str
    file: str
    question: str
    hops: int
    gold: tuple[scoring.GoldFound, ...]
    rounds: tuple[scoring.RoundDone, ...]
    forced_reason: str
    stopped: Stopped
    quotes: scoring.QuoteCheck
    seconds: float


@dataclass(frozen=True)
class Failed:
    """A question at which the engine raised an error."""

    id: str
    fault: str


OUTCOME: TypeAdapter[Outcome] = TypeAdapter(Outcome)


@dataclass(frozen=True)
class Results:
    """One JSON line per question, in a file named by knobs, analyst and source."""

    path: Path

    @classmethod
    def of(cls, job: Job, analyst: str) -> Results:
        told = json.dumps([job.config.model_dump(mode="json"), analyst, source_hash()])
        key = hashlib.sha256(told.encode()).hexdigest()[:16]
        return cls(job.library.folder / f"results-{key}.jsonl")

    def load(self) -> dict[str, Outcome]:
        """Load results by the question's key, skipping a truncated line."""
        found: dict[str, Outcome] = {}
        if self.path.exists():
            for line in self.path.read_text("utf-8").split("\n"):
                try:
                    outcome = OUTCOME.validate_json(line)
                except ValidationError:
                    continue
                found[outcome.key] = outcome
        return found

    def add(self, outcome: Outcome) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            line = json.dumps(asdict(outcome), ensure_ascii=False)
            file.write(f"{'' if self._ends_whole() else chr(10)}{line}\n")

    def _ends_whole(self) -> bool:
        with self.path.open("rb") as file:
            size = file.seek(0, 2)
            if not size:
                return True
            file.seek(size - 1)
            return file.read(1) == b"\n"


@cache
def source_hash() -> str:
    """Return a hash of all code that affects a result: the research package and this one.

    Computed once, as this process continues with the code that it has loaded.
    """
    root = Path(research.__file__).parents[1]
    files = sorted(
        path
        for part in SOURCES
        for path in (root / part).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )
    told = hashlib.sha256()
    for path in files:
        told.update(f"{path.relative_to(root)}\n".encode() + path.read_bytes())
    return told.hexdigest()


def case_key(case: Case) -> str:
    return hashlib.sha256(case.model_dump_json().encode()).hexdigest()[:24]
