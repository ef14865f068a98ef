"""The event stream of a run: whole states, resumed by the last event's id."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db.models import F
from django.test import AsyncClient

from dashboard.api import events
from research.models import Run
from research.readmodel.progress_parts import Progress
from research.services import api_tokens, people
from research.worker import notify
from tests.dashboard.conftest import make_run

pytestmark = pytest.mark.django_db(transaction=True)


@sync_to_async
def begin(status: str = "researching") -> tuple[Run, dict[str, str]]:
    admin = people.local_admin()
    _, secret = api_tokens.create_token(admin, "Test")
    return make_run(admin, status, sequence=3), {"Authorization": f"Bearer {secret}"}


@sync_to_async
def change(run: Run, **columns: object) -> None:
    Run.objects.filter(pk=run.pk).update(sequence=F("sequence") + 1, **columns)
    notify.sequence_after_commit(run.pk)


async def open_stream(run: Run, headers: dict[str, str], **more: str) -> Any:
    path = f"/api/v1/runs/{run.public_id}/events"
    return await AsyncClient().get(path, headers={**headers, **more})


async def read_event(stream: AsyncIterator[bytes]) -> tuple[int, Progress]:
    async with asyncio.timeout(10):
        text = (await anext(stream)).decode()
    fields = dict(line.split(": ", 1) for line in text.strip().split("\n"))
    assert fields["event"] == "progress"
    return int(fields["id"]), Progress.model_validate(json.loads(fields["data"]))


@pytest.mark.requirement("F19")
async def test_a_stream_has_each_state_until_the_run_ends() -> None:
    run, headers = await begin()
    answer = await open_stream(run, headers)
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    stream = aiter(answer.streaming_content)
    number, progress = await read_event(stream)
    assert (number, progress.run.status) == (3, "researching")
    await change(run, status="completed")
    number, progress = await read_event(stream)
    assert (number, progress.run.status) == (4, "completed")
    with pytest.raises(StopAsyncIteration):
        await anext(stream)


@pytest.mark.requirement("F19")
async def test_a_resumed_stream_begins_with_the_next_change() -> None:
    run, headers = await begin()
    answer = await open_stream(run, headers, **{"Last-Event-ID": "3"})
    stream = aiter(answer.streaming_content)
    following = asyncio.ensure_future(read_event(stream))
    await asyncio.sleep(0.05)
    assert not following.done()
    await change(run, verdict="Going on.")
    assert (await following)[0] == 4
    await stream.aclose()


async def test_a_stream_resumed_after_the_end_has_nothing_more() -> None:
    run, headers = await begin("completed")
    assert (await open_stream(run, headers, **{"Last-Event-ID": "3"})).status_code == 204
    missed = await open_stream(run, headers, **{"Last-Event-ID": "2"})
    stream = aiter(missed.streaming_content)
    assert (await read_event(stream))[1].run.status == "completed"


async def test_a_wrong_last_event_id_is_refused() -> None:
    run, headers = await begin()
    assert (await open_stream(run, headers, **{"Last-Event-ID": "x"})).status_code == 422


async def test_a_silent_stream_sends_comments() -> None:
    async def silent() -> AsyncIterator[bytes]:
        await asyncio.sleep(30)
        yield b""

    stream = events.with_keep_alive(silent(), seconds=0.01)
    assert await anext(stream) == events.KEEP_ALIVE
    assert await anext(stream) == events.KEEP_ALIVE
    await stream.aclose()
