"""Errors with the bodies of OpenAI's API."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError

from dashboard.api.rate_limits import ThrottledError
from research.engine.knobs import ConfigError
from research.errors import PlumblineError
from research.services.errors import ServiceError

log = logging.getLogger(__name__)

DELETED = "The run was deleted."


class InvalidRequestError(PlumblineError):
    """A request that can't be answered; `param` names the field concerned."""

    def __init__(
        self,
        message: str,
        param: str | None = None,
        code: str | None = None,
        status: int = 400,
        type: str = "invalid_request_error",
    ) -> None:
        super().__init__(message)
        self.param, self.code, self.status, self.type = param, code, status, type

    def body(self) -> dict[str, Any]:
        told = {"message": str(self), "type": self.type, "param": self.param, "code": self.code}
        return {"error": told}


class ResearchFailedError(InvalidRequestError):
    """A run that ended without a report."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="research_failed", status=500, type="server_error")


def error_response(error: InvalidRequestError) -> HttpResponse:
    return JsonResponse(error.body(), status=error.status)


def add_handlers(api: NinjaAPI) -> None:
    for kind, convert in CONVERTED.items():
        api.add_exception_handler(kind, _handler(convert))
    api.add_exception_handler(ThrottledError, _throttled)
    api.add_exception_handler(Exception, _unexpected)


def _handler(convert: Callable[[Any], InvalidRequestError]) -> Callable[..., HttpResponse]:
    return lambda request, error: error_response(convert(error))


def _throttled(request: HttpRequest, error: Any) -> HttpResponse:
    told = InvalidRequestError(str(error), code="rate_limit_exceeded", status=429, type="requests")
    response = error_response(told)
    response.headers["Retry-After"] = str(error.wait)
    return response


def _unexpected(request: HttpRequest, error: Any) -> HttpResponse:
    log.error("unexpected error at %s", request.path, exc_info=error)
    told = InvalidRequestError("The server failed; its log has the reason.", status=500)
    told.type = "server_error"
    return error_response(told)


def _validation(error: ValidationError) -> InvalidRequestError:
    first = error.errors[0]
    path = [str(part) for part in first["loc"] if part not in ("body", "payload", "query")]
    return InvalidRequestError(str(first["msg"]), ".".join(path) or None)


CONVERTED: dict[type[Exception], Callable[[Any], InvalidRequestError]] = {
    InvalidRequestError: lambda error: error,
    ValidationError: _validation,
    ConfigError: lambda error: InvalidRequestError(str(error)),
    ServiceError: lambda error: InvalidRequestError(str(error), error.about or None),
    AuthenticationError: lambda error: InvalidRequestError(
        "Send a valid token as the API key.", code="invalid_api_key", status=401
    ),
    PermissionDenied: lambda error: InvalidRequestError(str(error), status=403),
    Http404: lambda error: InvalidRequestError("There is no such object.", status=404),
    HttpError: lambda error: InvalidRequestError(
        str(error),
        status=error.status_code,
        type="server_error" if error.status_code >= 500 else "invalid_request_error",
    ),
}
