"""CPU time by stage: which part of the program each thread computes in, looked at every so often.

A thread's CPU time since the last look counts for the innermost frame of a stage on its stack, so
that what a stage calls in libraries and in the engine's text functions is its own.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from types import CodeType, FrameType

from bench.completing import ROOT

LOOK_SECONDS = 0.004
MOST_FRAMES = 120
STAGES: Sequence[tuple[str, str]] = (
    ("research/engine/untrusted/", "orders"),
    ("research/engine/evidence/", "claims"),
    ("research/engine/rounds/merge", "claims"),
    ("research/engine/verifier/", "verifier"),
    ("research/engine/report/", "report"),
    ("research/engine/assessment/", "assessment"),
    ("research/engine/journal/", "journal"),
    ("research/engine/", "engine, rest"),
    ("research/extract/", "extraction"),
    ("research/fetch/", "fetching"),
    ("research/search/", "search"),
    ("research/llm/", "model calls"),
    ("research/limits/", "limits"),
    ("research/worker/", "records"),
    ("research/queue/", "queue"),
    ("research/readmodel/", "display"),
    ("dashboard/", "display"),
    ("research/engine/text/", ""),
)  # fmt: skip
"""Beginnings of paths and the stages of what is in them; "" for what belongs to its caller."""
LOADING, REST = "imports", "rest"


class StageClock:
    """Adds up the CPU seconds of this process by stage within `with`."""

    def __init__(self) -> None:
        self.stages: dict[str, float] = defaultdict(float)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, name="stages", daemon=True)
        self._spent: dict[int, float] = {}
        self._known: dict[CodeType, str | None] = {}

    def __enter__(self) -> StageClock:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        own = threading.get_ident()
        while not self._ended.wait(LOOK_SECONDS):
            for thread, frame in sys._current_frames().items():
                if thread != own and (seconds := self._since_last(thread)):
                    self.stages[self._stage(frame)] += seconds

    def _since_last(self, thread: int) -> float:
        try:
            spent = time.clock_gettime(time.pthread_getcpuclockid(thread))
        except OSError:  # it has ended
            return 0.0
        before = self._spent.get(thread, spent)
        self._spent[thread] = spent
        return max(0.0, spent - before)

    def _stage(self, frame: FrameType) -> str:
        for code in _outwards(frame):
            if code not in self._known:
                self._known[code] = stage_of(code.co_filename)
            if stage := self._known[code]:
                return stage
        return REST


def _outwards(frame: FrameType | None) -> Iterator[CodeType]:
    for _ in range(MOST_FRAMES):
        if frame is None:
            return
        yield frame.f_code
        frame = frame.f_back


def stage_of(path: str) -> str | None:
    """Return the stage of a file's functions; None for those that belong to their callers."""
    if "importlib" in path:
        return LOADING
    inside = path.removeprefix(f"{ROOT}/")
    found = [(len(begins), stage) for begins, stage in STAGES if inside.startswith(begins)]
    return max(found, default=(0, ""))[1] or None
