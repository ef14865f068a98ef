"""Translates a model server's errors to failures with a sentence for users.

Nothing of the server's own text is passed on.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai

from research.engine.ports import ModelAnswer, ModelFailedError
from research.errors import PlumblineError
from research.limits.breaker import BreakerOpenError
from research.llm.settings import is_loopback

TOO_LONG = "the prompt is longer than the model's context window"
UNREADABLE = "the model's server gave an answer that can't be read"
OUT_OF_TIME = "the model did not answer in time"
UNREACHABLE = "the model's server could not be reached"
SILENT = "the model's server accepts connections but does not answer"
CONNECTION_LOST = "the connection to the model's server was lost"
NO_CHAT = "the model's server offers no chat completions at this address"
WRONG_KEY = "the model's server refused the key"
UNKNOWN_MODEL = "the model's server does not know this model"
NOTHING_LEFT = "the quota at the model's server is used up"
DECLINED = "the model refused to answer"
LOADING = "the model's server is still loading the model"
LONGEST_WAIT_SECONDS = 60.0
"""Total wait of one call's retries; a longer Retry-After ends the call."""
LOADING_SECONDS = 10.0
MOST_WORDS = 4000
ECHOES = frozenset({"input", "body", "request", "failed_generation"})

# "This model's maximum context length is 8192 tokens", "prompt is too long"
_TOO_LONG = re.compile(
    r"context.{0,30}(length|window|size)|too many tokens|(prompt|input)[^.]{0,40} is too long"
    r"|exceed.{0,40}(context|n_ctx|number of tokens|token limit|model limit)"
    r"|(prompt|input)[^.]{0,40} (longer|larger|greater) than|maximum (model|prompt|input) length"
    r"|inputs`? (tokens|must have)|input length should|(request|body) too large"
    r"|reduced?.{0,30}(length|size)|tokens must be reduced|max_tokens must be at least",
    re.IGNORECASE | re.DOTALL,
)
# "max_tokens", "max_completion_tokens"
_LIMIT = re.compile(r"max_(completion_|output_)?tokens", re.IGNORECASE)
# "max_tokens is too large: 9000; at most 4096"
_ASKED_TOO_MUCH = re.compile(
    r"too large|less than|at most|maximum|valid range|output tokens", re.IGNORECASE
)
# the limit is that of the prompt: "reduce the length of the input tokens"
_OF_PROMPT = re.compile(r"context length|context limit|input tokens|in the messages", re.IGNORECASE)
# "4096", "16,384"
_NUMBER = re.compile(r"(?<![\w.-])(?:\d{1,3}(?:,\d{3})+|\d{3,})(?![\w-])")
_QUOTA = re.compile("insufficient_quota|billing", re.IGNORECASE)
# "insufficient_quota", "Your credit balance is too low"
_MONEY = re.compile(
    r"insufficient[ _](quota|balance|credits?|funds)|credit balance|out of credits", re.IGNORECASE
)
# "Incorrect API key provided", "api key not valid"
_KEY = re.compile(
    r"(invalid|incorrect|missing|expired|no)\W{1,3}api[ _-]?key"
    r"|api[ _-]?key.{0,20}(not valid|not found|invalid|incorrect|missing|expired)",
    re.IGNORECASE,
)
# "The model `x` does not exist", "model_not_found"
_MODEL = re.compile(
    r"\bmodel\b[^\n]{0,80}\b((doesn't|not) exist|not found)|model_not_found|not a valid model"
    r"|\b(invalid|unknown|no such) model\b(?! (parameter|output|response))|deployment ?not ?found",
    re.IGNORECASE,
)
# "content_filter", "data_inspection_failed"
_POLICY = re.compile(
    r"content[ _](filter|policy)|content management policy|moderation|was flagged"
    r"|inappropriate content|data_inspection_failed", re.IGNORECASE
)  # fmt: skip
# "Cannot POST /v2/chat/completions", '{"detail": "Not Found"}'
_ADDRESS = re.compile(
    r"invalid url|page not found|file not found|cannot post|no route|<html"
    r"|\"detail\": ?\"not found\"|unexpected endpoint", re.IGNORECASE
)  # fmt: skip
# "Loading model", "is currently loading"
_STARTING = re.compile(r"loading model|(currently|still|being) load|is loading", re.IGNORECASE)
_REFUSALS = frozenset({0, 400, 404, 405, 422})


class RefusedError(PlumblineError):
    """An error response: status (0 if it came in a 200 body), text and the rejected `field` ('' if
    none is named). The text is only matched against patterns, never shown.
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
    def of(cls, error: openai.APIStatusError) -> RefusedError:
        return cls(
            error.status_code,
            _body_words(error.response.text),
            _word(error.param),
            f"{error.code} {error.type}",
            error.response.headers.get("retry-after", ""),
        )

    @classmethod
    def told(cls, error: Any) -> RefusedError:
        """Return the error that came as body, or as a stream event, of a 200 response."""
        said = error if isinstance(error, dict) else {}
        codes = (said.get(name) for name in ("status", "status_code", "code"))
        status = next((int(c) for c in map(str, codes) if re.fullmatch("[45]\\d\\d", c)), 0)
        kind = f"{said.get('code')} {said.get('type')}"
        return cls(status, _body_words(json.dumps(error)), _word(said.get("param")), kind)

    @property
    def is_final(self) -> bool:
        """Return whether repeating the request with other options is useless."""
        failure = _by_words(self)
        return failure is not None

    def most_output(self, asked: int) -> int | None:
        """Return the maximum answer length if the error says that `asked` tokens exceed it."""
        words = self.words
        if not _LIMIT.search(words) or not _ASKED_TOO_MUCH.search(words):
            return None
        if _OF_PROMPT.search(words):
            return None
        numbers = (int(found.replace(",", "")) for found in _NUMBER.findall(words))
        return max((number for number in numbers if number < asked), default=None)


def refusal_failure(error: RefusedError, spent: ModelAnswer | None = None) -> ModelFailedError:
    """Return the failure for an error; `spent` is the usage before it."""
    failure = _by_words(error) or _by_status(error)
    failure.spent = spent
    return failure


def _by_words(error: RefusedError) -> ModelFailedError | None:
    """Return the failure that the error's text identifies unambiguously, whatever the status."""
    status, words = error.status, error.words
    if status in {401, 403, 402}:
        return None
    if error.most_output(1 << 40) is None and _TOO_LONG.search(words):
        return ModelFailedError(TOO_LONG, retry_after_seconds=0.0, too_long=True)
    if status in {0, 500, 503} and _STARTING.search(words):
        return ModelFailedError(LOADING, retry_after_seconds=error.wait or LOADING_SECONDS)
    if status not in _REFUSALS:
        return None
    meanings = ((_KEY, WRONG_KEY), (_MONEY, NOTHING_LEFT), (_POLICY, DECLINED), (_ADDRESS, NO_CHAT),
                (_MODEL, UNKNOWN_MODEL))  # fmt: skip
    said = next((reason for pattern, reason in meanings if pattern.search(words)), None)
    return ModelFailedError(said, permanent=True) if said else None


def _by_status(error: RefusedError) -> ModelFailedError:
    status, wait = error.status, error.wait
    if status == 402 or (status in {401, 403} and _MONEY.search(error.words)):
        return ModelFailedError(NOTHING_LEFT, permanent=True)
    if status == 403 and _POLICY.search(error.words):
        return ModelFailedError(DECLINED, permanent=True)
    if status in {401, 403}:
        return ModelFailedError(WRONG_KEY, permanent=True)
    if status == 404:
        return ModelFailedError(UNKNOWN_MODEL, permanent=True)
    if status == 405:
        return ModelFailedError(NO_CHAT, permanent=True)
    if status == 413:
        return ModelFailedError(TOO_LONG, retry_after_seconds=0.0, too_long=True)
    if status in {400, 422}:
        return ModelFailedError("the model's server refused the request")
    if status == 429 and _QUOTA.search(error.kind):
        return ModelFailedError(NOTHING_LEFT, permanent=True)
    if wait is not None and wait > LONGEST_WAIT_SECONDS:
        minutes = math.ceil(wait / 60)
        return ModelFailedError(
            f"the model's server asks to wait {minutes} minutes", permanent=True
        )
    if status == 429:
        return ModelFailedError("the model's server asks to slow down", retry_after_seconds=wait)
    if not status:
        return ModelFailedError("the model's server reported an error")
    return ModelFailedError(f"the model's server answered {status}", retry_after_seconds=wait)


def not_called(error: BreakerOpenError) -> ModelFailedError:
    """Return the failure of a call that the circuit breaker refused."""
    return ModelFailedError(
        f"the model's server failed {error.failures} times in a row and is not called for a while",
        permanent=error.is_down,
        retry_after_seconds=error.seconds,
    )


def nobody_there(error: BaseException, address: str) -> bool:
    """Return whether the connection was refused by this machine, where `address` is."""
    host = urlsplit(address).hostname or ""
    return any(isinstance(e, ConnectionRefusedError) for e in _causes(error)) and is_loopback(host)


def was_sent(error: BaseException) -> bool:
    """Return whether the request reached the server before the failure, and may be billed."""
    unsent = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
    return not any(isinstance(cause, unsent) for cause in _causes(error))


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _body_words(body: str) -> str:
    """Return an error body without the echoed request, whose pages may contain any text."""
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
    """Return the seconds of a Retry-After header, a number or a date; None if it is invalid."""
    text = header.strip()
    if text.isascii() and text.replace(".", "", 1).isdigit():
        return float(text)
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (at - datetime.now(UTC)).total_seconds())
