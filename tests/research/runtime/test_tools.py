"""Building a run's tools leaves the event loop to other runs."""

from __future__ import annotations

import ssl
import threading
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from research.fetch import network
from research.llm.settings import ModelSettings
from research.runtime import installation, tool_factory
from research.services import people, runs

MODEL = ModelSettings("writer", base_url="http://model.example/v1")


@pytest.mark.django_db(transaction=True)
async def test_a_models_client_is_imported_beside_the_event_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    importing: list[threading.Thread] = []
    load = tool_factory._load_client

    def watched() -> None:
        importing.append(threading.current_thread())
        load()

    admin = await sync_to_async(people.local_admin)()
    run = await sync_to_async(runs.ask_question)(admin, "Why?", sources={"search": ["none"]})
    monkeypatch.setattr(tool_factory, "_load_client", watched)
    monkeypatch.setattr(installation.Installation, "model_settings", MODEL)
    tools = await tool_factory.build_tools(run)
    await tool_factory.close_tools()
    assert tools.model and importing and threading.main_thread() not in importing


@pytest.mark.django_db(transaction=True)
async def test_certificates_are_read_once_beside_the_event_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reading: list[threading.Thread] = []
    create = ssl.create_default_context

    def watched(*arguments: Any, **named: Any) -> ssl.SSLContext:
        reading.append(threading.current_thread())
        return create(*arguments, **named)

    admin = await sync_to_async(people.local_admin)()
    chosen = {"search": ["wikipedia"]}
    run = await sync_to_async(runs.ask_question)(admin, "Why?", sources=chosen)
    monkeypatch.setattr(ssl, "create_default_context", watched)
    monkeypatch.setattr(installation.Installation, "model_settings", MODEL)
    for each in (network.tls_context, network.model_tls_context):
        each.cache_clear()
    for _ in range(2):
        await tool_factory.build_tools(run)
        await tool_factory.close_tools()
    assert len(reading) == 2  # for pages and for models
    assert threading.main_thread() not in reading
