"""The socket as a client of the real application meets it."""

from __future__ import annotations

import pytest
from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from config.asgi import application
from dashboard.live.consumers import NOT_THERE
from research.models import Run
from research.services import people
from tests.dashboard.conftest import make_run

pytestmark = pytest.mark.django_db(transaction=True)


def connecting(
    run: Run, user: User | None, origin: str = "http://localhost", query: str = ""
) -> WebsocketCommunicator:
    client = Client()
    if user is not None:
        client.force_login(user)
    cookie = client.cookies.get(settings.SESSION_COOKIE_NAME)
    named = f"{settings.SESSION_COOKIE_NAME}={cookie.value}" if cookie else ""
    headers = [(b"host", b"localhost"), (b"cookie", named.encode()), (b"origin", origin.encode())]
    return WebsocketCommunicator(application, f"/live/{run.public_id}/{query}", headers)


@sync_to_async
def prepared(user: str | None, **options: str) -> WebsocketCommunicator:
    """A run of the local admin, and somebody who wants to see it."""
    run = make_run(people.local_admin(), **options)
    viewer = {"owner": run.owner, "stranger": User(username="eve"), None: None}[user]
    if user == "stranger":
        viewer.save()
    return connecting(run, viewer)


async def test_its_owner_is_shown_the_run() -> None:
    socket = await prepared("owner", status="completed")
    assert (await socket.connect())[0]
    assert "hx-swap-oob" in await socket.receive_from(timeout=5)
    assert (await socket.receive_output(timeout=5)) == {"type": "websocket.close", "code": 1000}


@pytest.mark.parametrize(
    "query, word",
    [("?language=de", "Abgebrochen"), ("?language=en", "Cancelled"), ("?language=xx", "Cancelled")],
)
async def test_a_run_is_worded_in_the_language_of_the_page(query: str, word: str) -> None:
    run = await sync_to_async(lambda: make_run(people.local_admin(), status="cancelled"))()
    socket = await sync_to_async(connecting)(run, run.owner, query=query)
    assert (await socket.connect())[0]
    assert f"<span>{word}</span>" in await socket.receive_from(timeout=5)
    await socket.disconnect()


@pytest.mark.parametrize("user", ["stranger", None])
async def test_nobody_else_is(user: str | None) -> None:
    socket = await prepared(user)
    assert (await socket.connect())[0]
    assert (await socket.receive_output()) == {"type": "websocket.close", "code": NOT_THERE}


@pytest.mark.parametrize("origin", ["https://elsewhere.test", "http://localhost:8001"])
async def test_a_page_of_another_host_or_port_is_refused(origin: str) -> None:
    run = await sync_to_async(lambda: make_run(people.local_admin()))()
    socket = await sync_to_async(connecting)(run, run.owner, origin)
    assert not (await socket.connect())[0]
