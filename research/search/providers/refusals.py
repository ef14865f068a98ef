"""Translates a provider's error response (status and error code) to a sentence for users.

Nothing of its text is shown: error bodies may contain keys, queries and addresses.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from research.engine.ports import SearchFailedError

RETRIED = frozenset({429, 500, 502, 503, 504})
_KEY_REFUSED = frozenset({401, 403})
_SPENT = frozenset({402, 432, 433})
_NOT_UNDERSTOOD = frozenset({400, 422})
_ERROR_FIELDS = frozenset({"error", "errors", "detail", "message"})


@dataclass(frozen=True)
class Named:
    """A provider's name and settings for error messages; `refusals` maps statuses to meanings.

    `key_codes` are error codes that mean a rejected API key, whatever the status.
    """

    label: str
    url_setting: str
    key_setting: str = ""
    refusals: Mapping[int, str] = field(default_factory=dict)
    key_codes: frozenset[str] = frozenset()


def search_refusal(named: Named, status: int, body: bytes) -> SearchFailedError:
    if status == 429:
        return SearchFailedError("It answered 429: its rate limit is reached.")
    if status in RETRIED:
        return SearchFailedError(f"It answered {status}: it has an internal error.")
    return SearchFailedError(_reason(named, status, body), permanent=True)


def _reason(named: Named, status: int, body: bytes) -> str:
    key = named.key_setting
    if status in named.refusals:
        return f"It answered {status}: {named.refusals[status]}"
    if key and (status in _KEY_REFUSED or _code(body) in named.key_codes):
        return f"It refused the key ({status}): check {key}."
    if key and status in _SPENT:
        return f"It answered {status}: the plan or the credit behind {key} is used up."
    if status in _NOT_UNDERSTOOD:
        return f"It did not understand the search ({status})."
    if status in _KEY_REFUSED:
        return f"It answered {status}: it refuses requests from here, or asks for a sign-in."
    return f"It answered {status}: {named.url_setting} may not be its address."


def _code(body: bytes) -> str:
    """Return `error.code` of a JSON object, or "" if there is none."""
    said = parse_json_body(body)
    error = said.get("error") if isinstance(said, dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, str) else ""


def parse_json_body(body: bytes) -> Any:
    """Return the JSON value of a body, or None if it is invalid.

    An invalid UTF-8 byte costs only its character: providers cut snippets at any byte.
    """
    try:
        return json.loads(body.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return None


def unreadable_answer(named: Named, answer: Any = None) -> SearchFailedError:
    """Return the failure for a 200 response that is an error or of an unknown format."""
    if isinstance(answer, dict) and _ERROR_FIELDS & answer.keys():
        return SearchFailedError("It answered with an error instead of results.")
    return SearchFailedError(
        f"Its answer could not be read: {named.url_setting} may not be its address.",
        permanent=True,
    )
