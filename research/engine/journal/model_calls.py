"""The calls of the model, each attempt recorded at its place; one may be begun ahead.

An error that no tool announces (a library's, a defect's) is logged with its traceback and becomes
the call's failure, which is journaled like any other. So a replay fails at the same place in the
same way.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, replace
from typing import Any

from pydantic import TypeAdapter

from research.engine.budget.meter import REPORT_TASKS, BudgetSpentError, Meter, Reservation
from research.engine.journal.recording import (
    Entry,
    Inbox,
    JournalEndsError,
    ParkedError,
    Recording,
    Store,
    digest_of,
)
from research.engine.ports import (
    Hear,
    MeasuredModel,
    Model,
    ModelAnswer,
    ModelFailedError,
    ModelRequest,
    StreamingModel,
    ToolFailedError,
    Tools,
)
from research.engine.records import Record
from research.errors import PlumblineError

LONGEST_WAIT_SECONDS = 20.0

TIME_IS_UP = "the model did not answer within its share of the run's time"
NOT_NEEDED = "the answer was not needed"
BROKEN_OFF = "a person wanted to go on without the model’s answer"
BREAKING_OFF = {"intake": "plan_by_code", "report": "finish_by_code"}
"""The commands that break off model calls, by the stage of the run in which they do."""

MODEL: TypeAdapter[ModelAnswer] = TypeAdapter(ModelAnswer)


class ModelCalls(Recording):
    """Model calls of a journal and their deadlines; see `Journal`."""

    def __init__(
        self,
        store: Store,
        tools: Tools | None,
        meter: Meter,
        receive: Callable[[Record], None],
        inbox: Inbox,
        analyst: str,
        backoff_seconds: float,
        is_outage: IsOutage,
    ) -> None:
        super().__init__(store, tools, meter, receive, inbox)
        self.is_outage = is_outage
        self.analyst = analyst
        self.backoff_seconds = backoff_seconds
        self._begun: dict[str, asyncio.Task[Entry]] = {}
        self._begun_in: dict[str, str] = {}
        self._held_for_begun: dict[str, Reservation] = {}
        self._broken_off: set[str] = set()
        self._waiting: set[asyncio.Timeout] = set()

    async def model(
        self, place: str, attempt: int, request: ModelRequest, on_text: Hear | None = None
    ) -> ModelAnswer:
        """Make one attempt of one model call. Raises `ModelFailedError` or `BudgetSpentError`.

        `on_text` receives the growing answer of a live call, and nothing for a recorded or
        speculative one. A recorded call that was dropped has no answer: `JournalEndsError`.
        """
        begun = self._begun.pop(place, None)
        entry = await (begun or self._model_entry(place, attempt, request, on_text))
        self._release_begun(place)
        reason = entry.answer["reason"] if entry.status == "failed" else ""
        if reason == NOT_NEEDED:
            raise JournalEndsError(place)
        if reason == BROKEN_OFF:
            self._broken_off.add(stage := self.meter.stage)
            if entry.answer["spent"] and stage in BREAKING_OFF:
                await self.commands(f"broken_off/{place}", frozenset({BREAKING_OFF[stage]}))
        return self._answered(request, entry)

    def break_off(self, command: str) -> None:
        """Fail the model calls under way, and those that follow in the stage that a command breaks
        off: in planning until a person answers, in writing to the end. Nothing in other stages.
        """
        stage = next(stage for stage, each in BREAKING_OFF.items() if each == command)
        if self.meter.stage == stage:
            self._broken_off.add(stage)
            while self._waiting:
                limit = self._waiting.pop()
                if not limit.expired():
                    limit.reschedule(asyncio.get_running_loop().time())

    @property
    def is_broken_off(self) -> bool:
        """Return whether the stage goes on without answers of the model."""
        return self.meter.stage in self._broken_off

    @asynccontextmanager
    async def _until_broken_off(self, seconds: float) -> AsyncIterator[None]:
        """Raise `TimeoutError` after so many seconds, or when calls are broken off."""
        async with asyncio.timeout(0 if self.is_broken_off else seconds) as limit:
            self._waiting.add(limit)
            try:
                yield
            finally:
                self._waiting.discard(limit)

    def begin_model(self, place: str, request: ModelRequest, on_text: Hear | None = None) -> None:
        """Make the first attempt of a call before it is certain that its answer is needed.

        `model` takes it over, `drop_model` drops it; either counts it at a separate place of the
        journal. Until then its worst case stays reserved.
        """
        self._begun_in[place] = self.meter.stage
        self._begun[place] = asyncio.create_task(
            self._model_entry(place, 1, request, on_text), name=f"begun {place}"
        )

    async def drop_model(self, place: str, request: ModelRequest) -> None:
        """Give up a call that was begun; what it took counts for the stage it was begun in.

        Raises what kept the journal from recording the call.
        """
        begun, entry = self._begun.pop(place), self._entries.get((place, 1))
        if entry is None or entry.status == "pending":
            begun.cancel()
        await asyncio.wait([begun])
        self._release_begun(place)
        error = None if begun.cancelled() else begun.exception()
        if error is not None and not isinstance(error, BudgetSpentError | JournalEndsError):
            raise error
        entry = self._entries.get((place, 1))
        if entry is None or entry.status == "refused":
            return
        if entry.status == "pending":
            self._live_tools(place)
            spent = self.meter.prompt_only(request, self.analyst)
            unused = ModelFailedError(NOT_NEEDED, permanent=True, spent=spent)
            entry = await self._put(replace(entry, status="failed", answer=_model_failed(unused)))
        with suppress(ModelFailedError):
            self._answered(request, entry, self._begun_in[place])

    async def wait_for_person(
        self, place: str, kinds: frozenset[str], beside: frozenset[str] = frozenset()
    ) -> dict[str, Any]:
        """As in `Recording`; a run that waits for a person has no call in flight, and tries the
        model again after it.
        """
        try:
            answer = await super().wait_for_person(place, kinds, beside)
            self._broken_off.discard("intake")
            return answer
        except ParkedError:
            await asyncio.gather(*self._begun.values(), return_exceptions=True)
            raise

    def _release_begun(self, place: str) -> None:
        if hold := self._held_for_begun.pop(place, None):
            self.meter.release(hold)

    async def _model_entry(
        self, place: str, attempt: int, request: ModelRequest, on_text: Hear | None
    ) -> Entry:
        async with self._in_flight.alone(place, attempt):
            asked = asdict(request)
            recorded = self._find_recorded(place, attempt, asked)
            return recorded or await self._live_model(place, attempt, request, asked, on_text)

    def _answered(self, request: ModelRequest, entry: Entry, stage: str = "") -> ModelAnswer:
        """Count a settled call, and give its answer or raise its failure."""
        self._check_budget(entry)
        if entry.status == "failed":
            spent = entry.answer.get("spent")
            self.meter.usage.unexpected_errors += entry.answer["reason"] == UNEXPECTED
            if entry.answer["reason"] not in {NOT_NEEDED, BROKEN_OFF}:
                self.meter.usage.failed("model")
            paid = spent and MODEL.validate_python(spent)
            self.meter.failed_model(request.task, paid, entry.seconds, stage)
            raise ModelFailedError(
                entry.answer["reason"],
                permanent=entry.answer["permanent"],
                too_long=entry.answer.get("too_long", False),
            )
        answer = MODEL.validate_python(entry.answer)
        self.meter.paid_model(request.task, answer, entry.seconds, stage)
        return answer

    async def _live_model(
        self,
        place: str,
        attempt: int,
        request: ModelRequest,
        asked: dict[str, Any],
        on_text: Hear | None,
    ) -> Entry:
        model = self._live_tools(place).model
        assert model is not None, "a model task needs a model"
        pending = Entry(place, attempt, "model", "pending", digest_of(asked), asked)
        try:
            self._check_time(request.task)
            hold = self.meter.reserve_model(request)
        except BudgetSpentError as spent:
            return await self._put(
                replace(pending, status="refused", answer={"reason": spent.reason})
            )
        try:
            await self._wait(place, attempt, request.task)
            if self.is_broken_off:
                unsent = ModelFailedError(BROKEN_OFF, permanent=True)
                return await self._put(
                    replace(pending, status="failed", answer=_model_failed(unsent))
                )
            await self._put(pending)
            started = self._live_tools(place).clock.monotonic()
            unseen = self.meter.at_most(request, self.analyst)
            unexpected = ModelFailedError(UNEXPECTED, permanent=True, spent=unseen)
            try:
                async with self._until_broken_off(self._model_seconds(request.task)):
                    with contain_errors(place, unexpected, self.is_outage):
                        answered = await _send_request(model, request, on_text)
                        answer = MODEL.dump_python(answered, mode="json")
                settled = replace(pending, status="done", answer=answer)
            except TimeoutError:
                late = ModelFailedError(TIME_IS_UP, permanent=True, spent=unseen)
                if self.is_broken_off:
                    spent = self.meter.prompt_only(request, self.analyst)
                    late = ModelFailedError(BROKEN_OFF, permanent=True, spent=spent)
                settled = replace(pending, status="failed", answer=_model_failed(late))
            except ModelFailedError as failure:
                settled = replace(pending, status="failed", answer=_model_failed(failure))
            seconds = self._live_tools(place).clock.monotonic() - started
            return await self._put(replace(settled, seconds=round(seconds, 3)))
        finally:
            if place in self._begun:
                self._held_for_begun[place] = hold
            else:
                self.meter.release(hold)

    async def context_tokens(self) -> int | None:
        """Return the model's window, prompt and answer together, as it was when the run first
        asked.
        """
        model = self.tools.model if self.tools else None

        async def ask() -> int | None:
            if not isinstance(model, MeasuredModel):
                return None
            try:
                with contain_errors("model/window", ModelFailedError(UNEXPECTED), self.is_outage):
                    return await model.context_tokens()
            except ModelFailedError:
                return None

        tokens: int | None = await self.decide_once("model/window", ask)
        return tokens

    @property
    def has_model(self) -> bool:
        return self.analyst != "extractive"

    def seconds_left(self, task: str = "") -> float:
        """Until the time for this task is spent; no call may outlive it."""
        return max(0.0, self.meter.seconds_for(task, self.has_model) - self.active_seconds())

    def unit_seconds(self) -> float:
        """Return the time that a unit may wait for a search or for its pages, from now."""
        return min(self.meter.config.unit_seconds, self.seconds_left())

    def _model_seconds(self, task: str) -> float:
        """One call of research may take half of what is left, so that others follow."""
        return self.seconds_left(task) * (1.0 if task in REPORT_TASKS else 0.5)

    def _check_time(self, task: str = "") -> None:
        if not self.seconds_left(task):
            raise BudgetSpentError("budget_time")

    def _check_budget(self, entry: Entry) -> None:
        if entry.status == "refused":
            spent = BudgetSpentError(entry.answer["reason"])
            self.meter.refused.add(spent.reason)
            raise spent

    async def _wait(self, place: str, attempt: int, task: str) -> None:
        """Before another attempt: as long as the server asked for, else ever longer."""
        before = self._entries.get((place, attempt - 1))
        if before is None or before.status != "failed":
            return
        asked = before.answer.get("retry_after_seconds")
        wait = self.backoff_seconds * 2.0 ** (attempt - 2) if asked is None else float(asked)
        with suppress(TimeoutError):
            async with self._until_broken_off(min(wait, LONGEST_WAIT_SECONDS)):
                await asyncio.sleep(self.seconds_left(task))


async def _send_request(model: Model, request: ModelRequest, on_text: Hear | None) -> ModelAnswer:
    if on_text is None or not isinstance(model, StreamingModel):
        return await model.complete(request)
    return await model.stream(request, on_text)


def _model_failed(failure: ModelFailedError) -> dict[str, Any]:
    spent = None if failure.spent is None else MODEL.dump_python(failure.spent, mode="json")
    wait = failure.retry_after_seconds
    told = {"retry_after_seconds": wait, "spent": spent, "too_long": failure.too_long}
    return failure_answer(failure) | told


def failure_answer(failure: ToolFailedError) -> dict[str, Any]:
    """Return a failure as an entry's answer."""
    return {"reason": failure.reason, "permanent": failure.permanent}


log = logging.getLogger(__name__)

UNEXPECTED = "an unexpected error, which the server's log describes"

IsOutage = Callable[[BaseException], bool]
"""Whether an error says that the process lacks what it needs itself: the run has to wait then."""

_EXPECTED = (ToolFailedError, BudgetSpentError, JournalEndsError, ParkedError)


def no_outage(error: BaseException) -> bool:
    return False


class OutageError(PlumblineError):
    """An outage during a call, named by its cause: the call has no answer and is not journaled."""


@contextmanager
def contain_errors(
    place: str, failure: ToolFailedError, is_outage: IsOutage = no_outage
) -> Iterator[None]:
    """Raise `OutageError` for an error that is an outage, and `failure` for any other unexpected
    one, which is logged.

    Failures that a tool announces, the journal's own exceptions and cancellation pass.
    """
    try:
        yield
    except Exception as error:
        if is_outage(error):
            raise OutageError(f"{place}: {error}") from error
        if isinstance(error, _EXPECTED):
            raise
        log.exception("%s: unexpected error", place)
        raise failure from error
