"""Searches selected by the tools of a request."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dashboard.openai_api.errors import InvalidRequest

# "web_search", "web_search_2025_08_26", "web_search_preview_2025_03_11"
_WEB = re.compile(r"web_search(_preview)?(_\d{4}_\d{2}_\d{2})?")
FILES = "file_search"


@dataclass(frozen=True)
class SearchChoice:
    """`source` and `collections` of a run, and knobs that follow from filters."""

    source: str = ""
    collections: tuple[str, ...] = ()
    knobs: dict[str, Any] = field(default_factory=dict)


def choose_searches(tools: Sequence[Any]) -> SearchChoice:
    """Map web search to the installation's search, file search to collections by their ids.

    Raise `InvalidRequest` that names a tool which isn't one of them.
    """
    web, collections, knobs = False, [], {}
    for place, tool in enumerate(tools):
        kind = tool.get("type") if isinstance(tool, dict) else None
        if isinstance(kind, str) and _WEB.fullmatch(kind):
            web = True
            knobs |= _allowed_sites(tool, f"tools[{place}].filters")
        elif kind == FILES:
            collections += _store_ids(tool, f"tools[{place}].vector_store_ids")
        else:
            text = f"The tool {kind!r} is not supported; use web_search or file_search."
            raise InvalidRequest(text, f"tools[{place}].type", "unsupported_tool")
    source = ("both" if web else "documents") if collections else ""
    return SearchChoice(source, tuple(dict.fromkeys(collections)), knobs)


def _store_ids(tool: dict[str, Any], param: str) -> list[str]:
    ids = tool.get("vector_store_ids")
    if not isinstance(ids, list) or not ids or not all(isinstance(each, str) for each in ids):
        raise InvalidRequest("File search takes a list of ids of collections.", param)
    return ids


def _allowed_sites(tool: dict[str, Any], param: str) -> dict[str, Any]:
    filters = tool.get("filters") or {}
    sites = filters.get("allowed_domains") if isinstance(filters, dict) else None
    if not sites:
        return {}
    if not isinstance(sites, list) or not all(isinstance(each, str) for each in sites):
        raise InvalidRequest("Allowed domains are a list of names.", param)
    return {"only_sites": tuple(sites)}
