"""What servers say when they refuse, in the words of each, and what people are told of it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from research.engine.ports import ModelFailedError, ModelRequest
from research.llm import failures
from research.llm.client import ChatModel
from research.llm.settings import ModelSettings
from tests.support.serving import LoopbackServer, Reply, json_reply

REQUEST = ModelRequest("read", "You read.", "# QUESTION\nHow old?\n", {"type": "object"}, 3000)


class Refuses(LoopbackServer):
    def __init__(self, said: Reply) -> None:
        super().__init__()
        self.said = said
        self.requests = 0

    def reply(self, path: str, body: bytes) -> Reply:
        self.requests += 1
        return self.said


def told(said: Reply) -> ModelFailedError:
    """What becomes of it, in one request."""

    async def ask() -> ModelFailedError:
        model = ChatModel(ModelSettings("m", base_url=server.url("/v1"), temperature=0.2))
        try:
            with pytest.raises(ModelFailedError) as failed:
                await model.complete(REQUEST)
            return failed.value
        finally:
            await model.aclose()

    with Refuses(said) as server:
        failed = asyncio.run(ask())
        assert server.requests == 1
    return failed


def error(status: int, message: str, **more: Any) -> Reply:
    return json_reply({"error": {"message": message, **more}}, status)


@pytest.mark.parametrize(
    "said",
    [
        error(400, "This model's maximum context length is 4096 tokens. However, you requested "
                   "5000 tokens (2000 in the messages, 3000 in the completion)."),
        error(400, "'max_tokens' or 'max_completion_tokens' is too large: 3000. This model's "
                   "maximum context length is 4096 tokens and your request has 2000 input tokens"),
        error(400, "prompt is too long: 210000 tokens > 200000 maximum"),
        error(400, "input length and `max_tokens` exceed context limit: 190000 + 3000 > 200000"),
        error(400, "The input token count (1200000) exceeds the maximum number of tokens allowed "
                   "(1048576)."),
        error(400, "Prompt contains 40000 tokens and 0 draft tokens, too large for model with "
                   "32768 maximum context length"),
        error(400, "Please reduce the length of the messages or completion.",
              code="context_length_exceeded"),
        error(413, "Request too large for model `m` on tokens per minute (TPM): Limit 6000, "
                   "Requested 12000, please reduce your message size and try again.",
              code="rate_limit_exceeded"),
        error(429, "Request too large for m on tokens per min (TPM): Limit 10000, Requested 12000."
                   " The input or output tokens must be reduced in order to run successfully."),
        error(413, "Request body too large for m model. Max size: 8000 tokens."),
        Reply(b"<html>413 Request Entity Too Large", 413, "text/html"),
        error(400, "the request exceeds the available context size. try increasing it",
              type="exceed_context_size_error"),
        error(400, "The decoder prompt (length 5000) is longer than the maximum model length of "
                   "4096."),
        json_reply({"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be "
                             "<= 4096. Given: 5000 `inputs` tokens and 1000 `max_new_tokens`",
                    "error_type": "validation"}, 422),
        error(400, "This model's maximum prompt length is 131072 but the request contains 140000 "
                   "tokens."),
        error(400, "Invalid request: Your request exceeded model token limit: 8192"),
        error(400, "<400> InternalError.Algo.InvalidParameter: Range of input length should be "
                   "[1, 30720]"),
        error(400, "max_tokens must be at least 1, got -1904."),
        json_reply({"error": "The number of tokens to keep from the initial prompt is greater "
                             "than the context length."}, 400),
        json_reply({"error": "the input length exceeds the context length"}, 500),
        json_reply({"error": {"code": 400, "message": "This endpoint's maximum context length is "
                                                      "8192 tokens."}}),
    ],
)  # fmt: skip
def test_a_prompt_that_is_too_long_is_known_in_every_wording(said: Reply) -> None:
    failed = told(said)
    assert (failed.reason, failed.too_long) == (failures.TOO_LONG, True)


@pytest.mark.parametrize(
    "said, reason",
    [
        (error(400, "API key not valid. Please pass a valid API key."), failures.WRONG_KEY),
        (json_reply({"error": "no key"}, 401), failures.WRONG_KEY),
        (error(403, "Country, region, or territory not supported"), failures.WRONG_KEY),
        (error(404, "The model `m` does not exist or you do not have access to it."),
         failures.UNKNOWN_MODEL),
        (json_reply({"error": 'model "llama3.1:8b" not found, try pulling it first'}, 404),
         failures.UNKNOWN_MODEL),
        (error(400, "Model Not Exist"), failures.UNKNOWN_MODEL),
        (error(400, "m is not a valid model ID"), failures.UNKNOWN_MODEL),
        (error(400, "Invalid model: m"), failures.UNKNOWN_MODEL),
        (error(404, "The API deployment for this resource does not exist.",
               code="DeploymentNotFound"), failures.UNKNOWN_MODEL),
        (Reply(b"404 page not found", 404, "text/plain"), failures.NO_CHAT),
        (json_reply({"detail": "Not Found"}, 404), failures.NO_CHAT),
        (error(404, "File Not Found", type="not_found_error"), failures.NO_CHAT),
        (error(404, "Invalid URL (POST /chat/completions)"), failures.NO_CHAT),
        (Reply(b"<!DOCTYPE html><html>Nothing here", 404, "text/html"), failures.NO_CHAT),
        (json_reply({"detail": "Method Not Allowed"}, 405), failures.NO_CHAT),
        (error(402, "Insufficient Balance"), failures.NOTHING_LEFT),
        (error(400, "Your credit balance is too low to access the API."), failures.NOTHING_LEFT),
        (error(403, "Your team has run out of credits."), failures.NOTHING_LEFT),
        (error(429, "You exceeded your current quota.", type="insufficient_quota"),
         failures.NOTHING_LEFT),
        (error(400, "The response was filtered due to the prompt triggering Azure OpenAI's "
                    "content management policy.", code="content_filter"), failures.DECLINED),
        (error(403, "Your chosen model requires moderation and your input was flagged"),
         failures.DECLINED),
    ],
)  # fmt: skip
def test_what_trying_again_does_not_change_is_final_and_said(said: Reply, reason: str) -> None:
    failed = told(said)
    assert (failed.reason, failed.permanent) == (reason, True)


@pytest.mark.parametrize(
    "said, reason, wait",
    [
        (error(503, "Loading model", type="unavailable_error"), failures.LOADING, 10),
        (json_reply({"error": "Model m is currently loading", "estimated_time": 20}, 503),
         failures.LOADING, 10),
        (json_reply({"error": {"message": "Loading model"}}, 503, Retry_After="3"),
         failures.LOADING, 3),
        (error(429, "Rate limit reached for m in organization x on tokens per day",
               type="tokens", code="rate_limit_exceeded"),
         "the model's server asks to slow down", None),
        (error(429, "You exceeded your current quota, please check your plan and billing "
                    "details. Please retry in 32s.", type="RESOURCE_EXHAUSTED"),
         "the model's server asks to slow down", None),
        (error(529, "Overloaded"), "the model's server answered 529", None),
        (error(408, "no"), "the model's server answered 408", None),
        (error(409, "no"), "the model's server answered 409", None),
        (error(500, "model not found in the cache"), "the model's server answered 500", None),
    ],
)  # fmt: skip
def test_what_may_pass_is_worth_waiting_for(said: Reply, reason: str, wait: float | None) -> None:
    failed = told(said)
    assert (failed.reason, failed.permanent) == (reason, False)
    assert failed.retry_after_seconds == wait


@pytest.mark.parametrize("header", ["", "soon", "2s", "1m30s", "-5", "Mon, 99", ":", "0x10", "."])
def test_a_wait_that_cannot_be_read_is_none(header: str) -> None:
    assert failures.retry_after_seconds(header) is None
