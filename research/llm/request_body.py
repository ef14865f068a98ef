"""Builds the body of a chat completion from the options that the server accepts."""

from __future__ import annotations

import json
from typing import Any

from research.engine.ports import ModelRequest
from research.llm.capabilities import Capabilities
from research.llm.settings import ModelSettings


def fields_of(
    settings: ModelSettings, request: ModelRequest, known: Capabilities, wants_stream: bool
) -> dict[str, Any]:
    """Return the fields of one chat completion."""
    most = known.most_output or request.max_output_tokens
    fields: dict[str, Any] = {
        "model": settings.model_of(request.role),
        "messages": _messages(request, known),
        known.token_limit: min(request.max_output_tokens, most),
        **_form(request, known),
    }
    if settings.temperature is not None and known.temperature:
        fields["temperature"] = settings.temperature
    if settings.reasoning_effort and known.reasoning_effort:
        fields["reasoning_effort"] = settings.reasoning_effort
    if known.streaming == "always" or (wants_stream and known.streaming == "asked"):
        fields["stream"] = True
        if known.stream_usage:
            fields["stream_options"] = {"include_usage": True}
    return fields


def _form(request: ModelRequest, known: Capabilities) -> dict[str, Any]:
    if known.form == "prompt":
        return {}
    if known.form == "json_object":
        return {"response_format": {"type": "json_object"}}
    schema = {"name": request.task, "schema": dict(request.schema), "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def _messages(request: ModelRequest, known: Capabilities) -> list[dict[str, str]]:
    """Return the messages; the system prompt joins the user message if that role is rejected."""
    prompt = request.prompt
    if known.form != "json_schema":
        schema = json.dumps(dict(request.schema), ensure_ascii=False)
        prompt = f"{prompt}\n# ANSWER\nOne JSON object of this schema: {schema}\n"
    if not known.system_role:
        return [{"role": "user", "content": f"{request.system}\n\n{prompt}"}]
    return [{"role": "system", "content": request.system}, {"role": "user", "content": prompt}]
