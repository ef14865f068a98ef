"""Building a run's tools leaves the event loop to other runs."""

from __future__ import annotations

import threading

import pytest
from asgiref.sync import sync_to_async

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
