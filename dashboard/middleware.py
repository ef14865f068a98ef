"""Response headers, compression and the language of pages."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.middleware.locale import LocaleMiddleware
from django.utils import translation

from dashboard.serving.error_bodies import error_body, error_format

PROGRAM_PATHS = ("/api/", "/v1/")
GetResponse = Callable[[HttpRequest], HttpResponseBase]


def content_security_policy(get_response: GetResponse) -> GetResponse:
    """Set a Content-Security-Policy without inline code, foreign hosts or framing."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        response.headers.setdefault("Content-Security-Policy", settings.CONTENT_SECURITY_POLICY)
        return response

    return middleware


def errors_for_programs(get_response: GetResponse) -> GetResponse:
    """Replace error pages of paths for programs, such as those of a wrong method or host."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        kind = error_format(request.path)
        is_page = response.headers.get("Content-Type", "").startswith(("text/html", "text/plain"))
        if kind is None or response.status_code < 400 or not is_page or response.streaming:
            return response
        assert isinstance(response, HttpResponse)
        response.content = error_body(kind, response.status_code)
        response.headers["Content-Type"] = kind.content_type
        response.headers["Content-Length"] = str(len(response.content))
        return response

    return middleware


def refuse_nul(get_response: GetResponse) -> GetResponse:
    """Answer 400 where path, query or cookies have a NUL character, which PostgreSQL refuses."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        query = request.META.get("QUERY_STRING", "")
        if "%00" in query or "\x00" in "".join((request.path, query, *request.COOKIES.values())):
            raise BadRequest("The address or a cookie has a NUL character.")
        return get_response(request)

    return middleware


class CompressedPages(GZipMiddleware):
    """Compress responses, except streams: compression would hold back their events."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        if response.streaming:
            return response
        return super().process_response(request, response)


class InterfaceLanguage(LocaleMiddleware):
    """Answer people in the language of their cookie or browser, and programs always in English."""

    def process_request(self, request: HttpRequest) -> None:
        if request.path_info.startswith(PROGRAM_PATHS):
            translation.activate(settings.LANGUAGE_CODE)
            request.LANGUAGE_CODE = settings.LANGUAGE_CODE
        else:
            super().process_request(request)
