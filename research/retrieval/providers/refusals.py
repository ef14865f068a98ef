"""What a provider's refusal means, in a sentence for a person: its status, and the code beside it.

Nothing of what it wrote is shown: error bodies hold keys, queries and addresses.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from research.engine.tools import SearchFailure

RETRIED = frozenset({429, 500, 502, 503, 504})
_KEY_REFUSED = frozenset({401, 403})
_SPENT = frozenset({402, 432, 433})
_NOT_UNDERSTOOD = frozenset({400, 422})
_ERROR_FIELDS = frozenset({"error", "errors", "detail", "message"})


@dataclass(frozen=True)
class Named:
    """A provider as failures speak of it; `refusals` says what a status means here.

    `key_codes` are codes of its error bodies that mean a refused key, whatever the status.
    """

    label: str
    url_setting: str
    key_setting: str = ""
    refusals: Mapping[int, str] = field(default_factory=dict)
    key_codes: frozenset[str] = frozenset()


def refused(named: Named, status: int, body: bytes) -> SearchFailure:
    if status == 429:
        return SearchFailure("It answered 429: it limits how often it is asked.")
    if status in RETRIED:
        return SearchFailure(f"It answered {status}: it has a fault of its own.")
    return SearchFailure(_reason(named, status, body), permanent=True)


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
    """`error.code` of a JSON object; '' where there is none."""
    said = parsed(body)
    error = said.get("error") if isinstance(said, dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, str) else ""


def parsed(body: bytes) -> Any:
    """The JSON of an answer, None where it is none.

    A byte that is no sign of UTF-8 costs that sign, not the answer: snippets are cut anywhere.
    """
    try:
        return json.loads(body.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return None


def unreadable(named: Named, answer: Any = None) -> SearchFailure:
    """A 200 answer of another shape: an error of its own, or somebody else's answer."""
    if isinstance(answer, dict) and _ERROR_FIELDS & answer.keys():
        return SearchFailure("It answered with an error in place of results.")
    return SearchFailure(
        f"Its answer could not be read: {named.url_setting} may not be its address.",
        permanent=True,
    )
