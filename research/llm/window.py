"""Context window of a model, in tokens, as its server reports it.

A longer prompt is either rejected or silently truncated, so the engine measures first.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx

from research.fetch.network import tls_context

ASK_SECONDS = 2.0
OLLAMA_DEFAULT = 4096
LISTED = ("context_length", "max_model_len", "context_window", "max_context_length")
# a line of Ollama's parameters: "num_ctx    8192"
_NUM_CTX = re.compile(r"^num_ctx\s+(\d+)", re.MULTILINE)


@dataclass(frozen=True)
class Window:
    """Context window: `tokens` of prompt and answer together. `most` is the model's own maximum if
    the server was started with less; `server` is the kind of server, '' if unknown.
    """

    tokens: int
    server: str = ""
    most: int | None = None


async def find_window(base_url: str, api_key: str, model: str) -> Window | None:
    """Ask in every known way, concurrently; return None if the server reports no window."""
    root = base_url.rstrip("/").removesuffix("/v1")
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    async with httpx.AsyncClient(
        headers=headers, timeout=ASK_SECONDS, verify=tls_context()
    ) as client:
        listed, props, shown, loaded, studio = await asyncio.gather(
            _json(client, "GET", f"{base_url.rstrip('/')}/models"),
            _json(client, "GET", f"{root}/props?model={quote(model)}&autoload=false"),
            _json(client, "POST", f"{root}/api/show", {"model": model}),
            _json(client, "GET", f"{root}/api/ps"),
            _json(client, "GET", f"{root}/api/v0/models"),
        )
    return (
        _ollama(shown, loaded, model)
        or _llama_cpp(props)
        or _studio(studio, model)
        or _listed_window(listed, model)
    )


async def _json(
    client: httpx.AsyncClient, method: str, url: str, body: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the JSON object at an address; {} on errors and timeouts."""
    try:
        async with asyncio.timeout(ASK_SECONDS):
            answer = await client.request(method, url, json=body)
        found = answer.json() if answer.status_code == 200 else {}
    except (httpx.HTTPError, TimeoutError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _ollama(shown: dict[str, Any], loaded: dict[str, Any], model: str) -> Window | None:
    """Return the loaded model's window, else that of its file, else Ollama's default."""
    info = _mapping(shown.get("model_info"))
    if not info:
        return None
    most = next((_positive_int(v) for k, v in info.items() if k.endswith(".context_length")), None)
    running = _entry(loaded.get("models"), model, "name", "model")
    parameters = _NUM_CTX.search(str(shown.get("parameters", "")))
    tokens = (
        _positive_int(running.get("context_length"))
        or (int(parameters[1]) if parameters else None)
        or OLLAMA_DEFAULT
    )
    return Window(min(tokens, most or tokens), "Ollama", most)


def _llama_cpp(props: dict[str, Any]) -> Window | None:
    tokens = _positive_int(_mapping(props.get("default_generation_settings")).get("n_ctx"))
    return Window(tokens, "llama.cpp") if tokens else None


def _studio(studio: dict[str, Any], model: str) -> Window | None:
    entry = _entry(studio.get("data"), model, "id")
    most = _positive_int(entry.get("max_context_length"))
    tokens = _positive_int(entry.get("loaded_context_length")) or most
    return Window(tokens, "LM Studio", most) if tokens else None


def _listed_window(listed: dict[str, Any], model: str) -> Window | None:
    entry = _entry(listed.get("data"), model, "id")
    places = (entry, _mapping(entry.get("meta")))
    tokens = next((n for p in places for name in LISTED if (n := _positive_int(p.get(name)))), None)
    tokens = tokens or _positive_int(_mapping(entry.get("meta")).get("n_ctx"))
    server = "vLLM" if entry.get("owned_by") == "vllm" else ""
    return Window(tokens, server) if tokens else None


def _entry(entries: Any, model: str, *names: str) -> dict[str, Any]:
    """Return the entry of a model, or {} if it is not listed."""
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            called = {str(entry.get(name, "")) for name in names}
            if model in called or f"{model}:latest" in called:
                return entry
    return {}


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _positive_int(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
