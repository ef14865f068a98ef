"""A server over two small documents, without a model, and OpenAI's client for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import openai
import pytest

from tests.browser.serving import Server
from tests.support.installation import Installation

OAK = """# Oaks

## Age

An oak lives for about 600 years. The oldest oaks of the park were planted in 1423.

## Wood

The wood of the oak is hard and was used for ships.
"""
YEW = """# Yews

## Age

A yew lives for more than 1,000 years, which is longer than an oak lives.
"""
QUESTION = "For how many years does an oak live?"


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("documents")
    (folder / "oak.md").write_text(OAK)
    (folder / "yew.md").write_text(YEW)
    state: Path = tmp_path_factory.mktemp("installation") / "state"
    server = Server(Installation(state, {"DOCUMENTS": str(folder)}))
    server.start()
    yield server
    server.kill()


@pytest.fixture(scope="session")
def token(server: Server) -> str:
    """A token, created on its page."""
    return server.make_token()


@pytest.fixture
def client(server: Server, token: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key=token, timeout=60) as client:
        yield client
