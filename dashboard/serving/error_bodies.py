"""Errors for programs where Django, Twisted or the server itself would send a page.

Paths of the API and of MCP get problems (RFC 9457), those of OpenAI's API its error object.
"""

from __future__ import annotations

import json
from http import HTTPStatus

PROBLEM = "application/problem+json"
OPENAI = "application/json"
FORMATS = {"/api/": PROBLEM, "/v1/": OPENAI, "/mcp": PROBLEM}
"""Content types of errors by the beginning of the path."""

DETAILS = {
    400: "The request can't be read, or asks for a host name that this server doesn't have.",
    404: "There is no such path.",
    405: "This path doesn't support the method.",
    408: "The request took too long to arrive.",
    413: "The body is too large.",
    503: "The server can't accept the request now; try again soon.",
}


def error_format(path: str) -> str | None:
    """Return the content type of errors at a path; None where people get a page."""
    return next((kind for start, kind in FORMATS.items() if path.startswith(start)), None)


def error_body(kind: str, status: int) -> bytes:
    """Return an error as `kind` of `error_format`."""
    phrase = HTTPStatus(status).phrase
    detail = DETAILS.get(status, f"{phrase}.")
    if kind == OPENAI:
        type_ = "server_error" if status >= 500 else "invalid_request_error"
        error = {"message": detail, "type": type_, "param": None, "code": None}
        return json.dumps({"error": error}).encode()
    problem = {"type": "about:blank", "title": phrase, "status": status, "detail": detail}
    return json.dumps({**problem, "errors": []}).encode()
