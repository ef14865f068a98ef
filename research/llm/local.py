"""Discovery of model servers on this machine, at their default ports on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx

LOOK_SECONDS = 0.8
AT_PORT = {11434: "Ollama", 8000: "vLLM", 8080: "llama.cpp", 1234: "LM Studio"}
BY_OWNER = {"vllm": "vLLM", "llamacpp": "llama.cpp", "library": "Ollama"}
NO_CHAT = ("embed", "rerank", "whisper")


@dataclass(frozen=True)
class LocalServer:
    """A server that responded, and its chat models."""

    name: str
    address: str
    models: tuple[str, ...]


async def find_local(ports: Sequence[int]) -> list[LocalServer]:
    """Return the servers that list their models within `LOOK_SECONDS`."""
    async with httpx.AsyncClient(timeout=LOOK_SECONDS, trust_env=False) as client:
        found = await asyncio.gather(*(_look(client, port) for port in ports))
    return [server for server in found if server is not None]


async def _look(client: httpx.AsyncClient, port: int) -> LocalServer | None:
    address = f"http://127.0.0.1:{port}/v1"
    try:
        async with asyncio.timeout(LOOK_SECONDS):
            answer = await client.get(f"{address}/models")
        entries = answer.json()["data"] if answer.status_code == 200 else []
        models = [entry for entry in entries if isinstance(entry["id"], str)]
    except (httpx.HTTPError, TimeoutError, ValueError, KeyError, TypeError):
        return None
    names = tuple(e["id"] for e in models if not any(w in e["id"].lower() for w in NO_CHAT))
    return LocalServer(_server_name(models, port), address, names) if names else None


def _server_name(models: Sequence[dict[str, Any]], port: int) -> str:
    owner = str(models[0].get("owned_by", "")).lower()
    return BY_OWNER.get(owner) or AT_PORT.get(port, "A model server")
