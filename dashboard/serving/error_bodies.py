"""Errors for programs where Django, Twisted or the server itself would send a page.

Paths of the API get problems (RFC 9457), those of OpenAI's API its error object, and MCP an error
of JSON-RPC, whose message its clients show.
"""

from __future__ import annotations

import json
from enum import Enum
from http import HTTPStatus

REFUSED = -32000
"""Code of an error of JSON-RPC for a request that was refused; it leaves this one to servers."""


class ErrorFormat(Enum):
    PROBLEM = "problem"
    OPENAI = "openai"
    JSON_RPC = "json-rpc"

    @property
    def content_type(self) -> str:
        return f"application/{'problem+' if self is ErrorFormat.PROBLEM else ''}json"


FORMATS = {
    "/api/": ErrorFormat.PROBLEM,
    "/v1/": ErrorFormat.OPENAI,
    "/mcp": ErrorFormat.JSON_RPC,
}
"""Formats of errors by the beginning of the path."""

DETAILS = {
    400: "The request can't be read, or asks for a host name that this server doesn't have.",
    404: "There is no such path.",
    405: "This path doesn't support the method.",
    408: "The request took too long to arrive.",
    413: "The body is too large.",
    503: "The server can't accept the request now; try again soon.",
}


def error_format(path: str) -> ErrorFormat | None:
    """Return the format of errors at a path; None where people get a page."""
    return next((kind for start, kind in FORMATS.items() if path.startswith(start)), None)


def error_body(kind: ErrorFormat, status: int) -> bytes:
    phrase = HTTPStatus(status).phrase
    detail = DETAILS.get(status, f"{phrase}.")
    if kind is ErrorFormat.JSON_RPC:
        return rpc_error(HTTPStatus(status), detail)
    if kind is ErrorFormat.OPENAI:
        type_ = "server_error" if status >= 500 else "invalid_request_error"
        error = {"message": detail, "type": type_, "param": None, "code": None}
        return json.dumps({"error": error}).encode()
    problem = {"type": "about:blank", "title": phrase, "status": status, "detail": detail}
    return json.dumps({**problem, "errors": []}).encode()


def rpc_error(status: HTTPStatus, detail: str) -> bytes:
    """Return an error of JSON-RPC for a request of HTTP, which has no id yet."""
    data = {"title": status.phrase, "status": status.value}
    error = {"code": REFUSED, "message": detail, "data": data}
    return json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
