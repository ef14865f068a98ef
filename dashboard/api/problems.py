"""Errors as `application/problem+json` (RFC 9457)."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from ninja import NinjaAPI, Schema
from ninja.errors import AuthenticationError, HttpError, ValidationError
from pydantic import Field

from dashboard.api.rate_limits import ThrottledError
from dashboard.api.schemas import KINDS
from dashboard.exports import NothingToExportError
from research.engine.knobs import ConfigError
from research.services.errors import InvalidValueError, ServiceError

log = logging.getLogger(__name__)

CONTENT_TYPE = "application/problem+json"
INVALID = "The request does not match the description of the API."


class InvalidField(Schema):
    """`location` is the path to the value, such as `body.question`."""

    location: str
    message: str


class Problem(Schema):
    """What went wrong; `errors` names the values concerned."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    errors: list[InvalidField] = Field(default_factory=list)


def problem_response(
    status: int, detail: str, errors: Sequence[InvalidField] = (), **headers: str
) -> HttpResponse:
    """Return an error response; header names have underscores for hyphens."""
    title = HTTPStatus(status).phrase
    problem = Problem(title=title, status=status, detail=detail, errors=list(errors))
    response = HttpResponse(
        json.dumps(problem.model_dump()), status=status, content_type=CONTENT_TYPE
    )
    for name, value in headers.items():
        response.headers[name.replace("_", "-")] = value
    return response


def add_handlers(api: NinjaAPI) -> None:
    """Answer every exception that a view may raise with a problem."""
    for kind, handler in HANDLERS.items():
        api.add_exception_handler(kind, handler)


def _validation(request: HttpRequest, error: ValidationError) -> HttpResponse:
    fields = [
        InvalidField(location=_location(each), message=str(each["msg"])) for each in error.errors
    ]
    return problem_response(422, INVALID, fields)


def _location(error: Mapping[str, Any]) -> str:
    """Return the path to a value as the request has it, without the names that django-ninja and
    Pydantic add. Where the kind of an object is missing or unknown, it is the path to that.
    """
    parts = [str(part) for part in error.get("loc", ())]
    kept = [part for part in parts if part not in ("payload", "tagged-union")]
    if parts[:2] == ["body", "payload"] and kept[1:2] and kept[1] in KINDS:
        del kept[1]
    kind = error.get("ctx", {}).get("discriminator", "").strip("'")
    return ".".join([*kept, *filter(None, [kind])])


def _service_error(request: HttpRequest, error: ServiceError) -> HttpResponse:
    """Answer 422 to an invalid value, else 409: the state of the run or the installation doesn't
    allow the request.
    """
    about = [InvalidField(location=f"body.{error.about}", message=str(error))]
    status = 422 if isinstance(error, InvalidValueError) else 409
    return problem_response(status, str(error), about if error.about else ())


def _invalid_settings(request: HttpRequest, error: ConfigError) -> HttpResponse:
    fields = [
        InvalidField(location=f"body.settings.{name}".rstrip("."), message=text)
        for name, text in error.problems.items()
    ]
    return problem_response(422, str(error), fields)


def _unexpected(request: HttpRequest, error: Exception) -> HttpResponse:
    log.error("unexpected error at %s", request.path, exc_info=error)
    return problem_response(500, "The server failed; its log has the reason.")


def _unauthorized(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    detail = "Send a valid token: Authorization: Bearer TOKEN."
    return problem_response(401, detail, WWW_Authenticate="Bearer")


def _throttled(request: HttpRequest, error: ThrottledError) -> HttpResponse:
    return problem_response(429, str(error), Retry_After=str(error.wait))


def _not_found(request: HttpRequest, error: Http404) -> HttpResponse:
    return problem_response(404, f"There is {error}." if str(error) else "There is no such thing.")


HANDLERS: dict[type[Exception], Callable[[HttpRequest, Any], HttpResponse]] = {
    Exception: _unexpected,
    ValidationError: _validation,
    AuthenticationError: _unauthorized,
    ThrottledError: _throttled,
    Http404: _not_found,
    PermissionDenied: lambda request, error: problem_response(403, str(error)),
    ServiceError: _service_error,
    ConfigError: _invalid_settings,
    NothingToExportError: lambda request, error: problem_response(409, str(error)),
    SuspiciousOperation: lambda request, error: problem_response(400, str(error)),
    MultiPartParserError: lambda request, error: problem_response(400, str(error)),
    HttpError: lambda request, error: problem_response(error.status_code, str(error)),
}
