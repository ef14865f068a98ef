"""What a server's errors mean for people; nothing of their text is passed on."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import openai

from research.engine.tools import ModelFailure
from research.llm.capabilities import CONTEXT_TOO_LONG

TOO_LONG = "the prompt is longer than the model's context window"
UNREADABLE = "the model's server gave an answer that can't be read"
OUT_OF_TIME = "the model did not answer in time"
_QUOTA = re.compile("insufficient_quota|billing", re.IGNORECASE)
LONGEST_WAIT_SECONDS = 60.0
"""What the attempts of one call wait together; a server that asks for more is not asked again."""
UNREACHABLE = "the model's server could not be reached"


def refused(error: openai.APIStatusError) -> ModelFailure:
    """The failure behind a status that is no success."""
    status = error.status_code
    if CONTEXT_TOO_LONG.search(said(error)):
        return ModelFailure(TOO_LONG, retry_after_seconds=0.0, too_long=True)
    if status in {401, 403}:
        return ModelFailure("the model's server refused the key", permanent=True)
    if status == 404:
        return ModelFailure("the model's server does not know this model", permanent=True)
    if status in {400, 422}:
        return ModelFailure("the model's server refused the request")
    wait = retry_after_seconds(error.response.headers.get("retry-after", ""))
    if status == 429 and _spent(error):
        return ModelFailure("the quota at the model's server is used up", permanent=True)
    if wait is not None and wait > LONGEST_WAIT_SECONDS:
        minutes = math.ceil(wait / 60)
        return ModelFailure(f"the model's server asks to wait {minutes} minutes", permanent=True)
    if status == 429:
        return ModelFailure("the model's server asks to slow down", retry_after_seconds=wait)
    return ModelFailure(f"the model's server answered {status}", retry_after_seconds=wait)


def _spent(error: openai.APIStatusError) -> bool:
    """Whether it is no matter of waiting: the account has nothing left."""
    return bool(_QUOTA.search(f"{error.code} {error.type}"))


def nobody_there(error: BaseException, address: str) -> bool:
    """Whether the connection was refused by this machine itself, where `address` is."""
    host = urlsplit(address).hostname or ""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ConnectionRefusedError):
        cause = cause.__cause__ or cause.__context__
    return cause is not None and _is_here(host)


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def said(error: openai.APIStatusError) -> str:
    """The server's own words, for looking through and for nobody's eyes."""
    body: Any = error.body
    words = body.get("message") if isinstance(body, dict) else body
    return f"{error.message} {words} {getattr(error, 'param', None) or ''}"


def retry_after_seconds(header: str) -> float | None:
    """Seconds from a number or a date; None where it is neither."""
    text = header.strip()
    if text.isascii() and text.replace(".", "", 1).isdigit():
        return float(text)
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (at - datetime.now(UTC)).total_seconds())
