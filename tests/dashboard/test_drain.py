"""A client that does not read: the next message waits for it."""

from __future__ import annotations

import asyncio

from dashboard.serving.server import Drain


class Transport:
    """As Twisted's: it has one producer at a time."""

    def __init__(self) -> None:
        self.producer: object = "the HTTP channel"

    def unregisterProducer(self) -> None:
        self.producer = None

    def registerProducer(self, producer: object, streaming: bool) -> None:
        assert self.producer is None and streaming
        self.producer = producer


async def test_a_message_waits_until_the_client_takes_those_before_it() -> None:
    transport = Transport()
    drain = Drain.of(transport)
    assert transport.producer is drain
    await drain.wait()
    drain.pauseProducing()
    waiting = asyncio.create_task(drain.wait())
    await asyncio.sleep(0.01)
    assert not waiting.done()
    drain.resumeProducing()
    await waiting


async def test_nobody_waits_for_a_client_that_is_gone() -> None:
    drain = Drain.of(Transport())
    drain.pauseProducing()
    drain.stopProducing()
    await drain.wait()
