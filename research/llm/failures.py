"""What a server's errors mean for people; nothing of their text is passed on."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai

from research.engine.tools import ModelAnswer, ModelFailure

TOO_LONG = "the prompt is longer than the model's context window"
UNREADABLE = "the model's server gave an answer that can't be read"
OUT_OF_TIME = "the model did not answer in time"
UNREACHABLE = "the model's server could not be reached"
CONNECTION_LOST = "the connection to the model's server broke off"
NO_CHAT = "the model's server takes no chat at this address"
WRONG_KEY = "the model's server refused the key"
UNKNOWN_MODEL = "the model's server does not know this model"
NOTHING_LEFT = "the quota at the model's server is used up"
DECLINED = "the model refused to answer"
LOADING = "the model's server is still loading the model"
LONGEST_WAIT_SECONDS = 60.0
"""What the attempts of one call wait together; a server that asks for more is not asked again."""
LOADING_SECONDS = 10.0
MOST_WORDS = 4000
ECHOES = frozenset({"input", "body", "request", "failed_generation"})

_TOO_LONG = re.compile(
    r"context.{0,30}(length|window|size)|too many tokens|(prompt|input)[^.]{0,40} is too long"
    r"|exceed.{0,40}(context|n_ctx|number of tokens|token limit|model limit)"
    r"|(prompt|input)[^.]{0,40} (longer|larger|greater) than|maximum (model|prompt|input) length"
    r"|inputs`? (tokens|must have)|input length should|(request|body) too large"
    r"|reduced?.{0,30}(length|size)|tokens must be reduced|max_tokens must be at least",
    re.IGNORECASE | re.DOTALL,
)
_LIMIT = re.compile(r"max_(completion_|output_)?tokens", re.IGNORECASE)
_ASKED_TOO_MUCH = re.compile(
    r"too large|less than|at most|maximum|valid range|output tokens", re.IGNORECASE
)
_OF_PROMPT = re.compile(r"context length|context limit|input tokens|in the messages", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.-])(?:\d{1,3}(?:,\d{3})+|\d{3,})(?![\w-])")
_QUOTA = re.compile("insufficient_quota|billing", re.IGNORECASE)
_MONEY = re.compile(
    r"insufficient[ _](quota|balance|credits?|funds)|credit balance|out of credits", re.IGNORECASE
)
_KEY = re.compile(
    r"(invalid|incorrect|missing|expired|no)\W{1,3}api[ _-]?key"
    r"|api[ _-]?key.{0,20}(not valid|not found|invalid|incorrect|missing|expired)",
    re.IGNORECASE,
)
_MODEL = re.compile(
    r"\bmodel\b[^\n]{0,80}\b((doesn't|not) exist|not found)|model_not_found|not a valid model"
    r"|\b(invalid|unknown|no such) model\b(?! (parameter|output|response))|deployment ?not ?found",
    re.IGNORECASE,
)
_POLICY = re.compile(
    r"content[ _](filter|policy)|content management policy|moderation|was flagged"
    r"|inappropriate content|data_inspection_failed", re.IGNORECASE
)  # fmt: skip
_ADDRESS = re.compile(
    r"invalid url|page not found|file not found|cannot post|no route|<html"
    r"|\"detail\": ?\"not found\"|unexpected endpoint", re.IGNORECASE
)  # fmt: skip
_STARTING = re.compile(r"loading model|(currently|still|being) load|is loading", re.IGNORECASE)
_REFUSALS = frozenset({0, 400, 404, 405, 422})


class Refused(Exception):
    """A server's error: its status, 0 where a body of success held it, and its words, for
    looking through and for nobody's eyes. `field` is the field that it names, '' if none.
    """

    def __init__(
        self, status: int, words: str, field: str = "", kind: str = "", retry_after: str = ""
    ) -> None:
        super().__init__(status)
        self.status = status
        self.words = words
        self.field = field
        self.kind = kind
        self.wait = retry_after_seconds(retry_after)

    @classmethod
    def of(cls, error: openai.APIStatusError) -> Refused:
        return cls(
            error.status_code,
            _words(error.response.text),
            _word(error.param),
            f"{error.code} {error.type}",
            error.response.headers.get("retry-after", ""),
        )

    @classmethod
    def told(cls, error: Any) -> Refused:
        """An error that came as the body, or an event, of an answer."""
        said = error if isinstance(error, dict) else {}
        codes = (said.get(name) for name in ("status", "status_code", "code"))
        status = next((int(c) for c in map(str, codes) if re.fullmatch("[45]\\d\\d", c)), 0)
        kind = f"{said.get('code')} {said.get('type')}"
        return cls(status, _words(json.dumps(error)), _word(said.get("param")), kind)

    @property
    def is_final(self) -> bool:
        """Whether it is no matter of how the server was asked."""
        failure = _by_words(self)
        return failure is not None

    def most_output(self, asked: int) -> int | None:
        """How long an answer may be at most, where it says that so long a one was asked for."""
        words = self.words
        if not _LIMIT.search(words) or not _ASKED_TOO_MUCH.search(words):
            return None
        if _OF_PROMPT.search(words):
            return None
        numbers = (int(found.replace(",", "")) for found in _NUMBER.findall(words))
        return max((number for number in numbers if number < asked), default=None)


def refused(error: Refused, spent: ModelAnswer | None = None) -> ModelFailure:
    """The failure behind an error; `spent` is what came before it."""
    failure = _by_words(error) or _by_status(error)
    failure.spent = spent
    return failure


def _by_words(error: Refused) -> ModelFailure | None:
    """What the words say beyond doubt, whatever the status."""
    status, words = error.status, error.words
    if status in {401, 403, 402}:
        return None
    if error.most_output(1 << 40) is None and _TOO_LONG.search(words):
        return ModelFailure(TOO_LONG, retry_after_seconds=0.0, too_long=True)
    if status in {0, 500, 503} and _STARTING.search(words):
        return ModelFailure(LOADING, retry_after_seconds=error.wait or LOADING_SECONDS)
    if status not in _REFUSALS:
        return None
    meanings = ((_KEY, WRONG_KEY), (_MONEY, NOTHING_LEFT), (_POLICY, DECLINED), (_ADDRESS, NO_CHAT),
                (_MODEL, UNKNOWN_MODEL))  # fmt: skip
    said = next((reason for pattern, reason in meanings if pattern.search(words)), None)
    return ModelFailure(said, permanent=True) if said else None


def _by_status(error: Refused) -> ModelFailure:
    status, wait = error.status, error.wait
    if status == 402 or (status in {401, 403} and _MONEY.search(error.words)):
        return ModelFailure(NOTHING_LEFT, permanent=True)
    if status == 403 and _POLICY.search(error.words):
        return ModelFailure(DECLINED, permanent=True)
    if status in {401, 403}:
        return ModelFailure(WRONG_KEY, permanent=True)
    if status == 404:
        return ModelFailure(UNKNOWN_MODEL, permanent=True)
    if status == 405:
        return ModelFailure(NO_CHAT, permanent=True)
    if status == 413:
        return ModelFailure(TOO_LONG, retry_after_seconds=0.0, too_long=True)
    if status in {400, 422}:
        return ModelFailure("the model's server refused the request")
    if status == 429 and _QUOTA.search(error.kind):
        return ModelFailure(NOTHING_LEFT, permanent=True)
    if wait is not None and wait > LONGEST_WAIT_SECONDS:
        minutes = math.ceil(wait / 60)
        return ModelFailure(f"the model's server asks to wait {minutes} minutes", permanent=True)
    if status == 429:
        return ModelFailure("the model's server asks to slow down", retry_after_seconds=wait)
    if not status:
        return ModelFailure("the model's server reported an error")
    return ModelFailure(f"the model's server answered {status}", retry_after_seconds=wait)


def nobody_there(error: BaseException, address: str) -> bool:
    """Whether the connection was refused by this machine itself, where `address` is."""
    host = urlsplit(address).hostname or ""
    return any(isinstance(e, ConnectionRefusedError) for e in _causes(error)) and _is_here(host)


def was_sent(error: BaseException) -> bool:
    """Whether the server had the request when the connection failed, and may charge for it."""
    unsent = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
    return not any(isinstance(cause, unsent) for cause in _causes(error))


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _words(body: str) -> str:
    """A body without what it repeats of the request, whose pages may say anything."""
    try:
        return json.dumps(_unechoed(json.loads(body)), ensure_ascii=False)[:MOST_WORDS]
    except (ValueError, RecursionError):
        return body[:MOST_WORDS]


def _unechoed(value: Any) -> Any:
    if isinstance(value, list):
        return [_unechoed(part) for part in value]
    if isinstance(value, dict):
        return {key: _unechoed(part) for key, part in value.items() if key not in ECHOES}
    return value


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""


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
