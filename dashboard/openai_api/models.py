"""The models that clients may name: one for each research depth."""

from __future__ import annotations

from typing import Any

from dashboard.openai_api.errors import InvalidRequest

DEPTHS = {
    "plumbline-quick": "quick",
    "plumbline-standard": "standard",
    "plumbline-thorough": "thorough",
}
DEEP_RESEARCH = "-deep-research"
"""OpenAI's deep research models, such as o4-mini-deep-research, are accepted as well."""


def find_depth(model: str) -> str:
    """Return the research depth of a model. Raise `InvalidRequest` for an unknown one."""
    if model in DEPTHS:
        return DEPTHS[model]
    if DEEP_RESEARCH in model:
        return "standard" if "mini" in model else "thorough"
    names = ", ".join(DEPTHS)
    raise InvalidRequest(
        f"The model {model!r} does not exist; use {names}.", "model", "model_not_found", 404
    )


def model_object(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "plumbline"}
