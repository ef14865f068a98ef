"""Error pages for refused requests."""

from __future__ import annotations

import re

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import DisallowedHost, RequestDataTooBig, TooManyFilesSent
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.csrf import csrf_exempt

from dashboard.serving import refusals
from research.services.runs import visible_to

_BELOW_RUN = re.compile(r"/runs/([\w-]{1,40})/")


@login_not_required
def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Render the page for a failed CSRF check: the form was too old or came from another site."""
    context = {"came_from": came_from(request)}
    return render(request, "dashboard/csrf_failure.html", context, status=403)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Render specific pages for errors that the user can correct: request size and unknown host."""
    if isinstance(exception, RequestDataTooBig):
        told = refusals.too_large(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
        context = {"refusal": told, "came_from": came_from(request)}
        return render(request, "dashboard/refused.html", context, status=413)
    if isinstance(exception, TooManyFilesSent):
        most = settings.DATA_UPLOAD_MAX_NUMBER_FILES
        context = {"most": most, "came_from": came_from(request)}
        return render(request, "dashboard/too_many_files.html", context, status=400)
    if isinstance(exception, DisallowedHost):
        return render(request, "dashboard/unknown_host.html", status=400)
    # Without the request, whose session may be what can't be read.
    return HttpResponseBadRequest(render_to_string("400.html", {"came_from": came_from(request)}))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Render the page for an address without anything, with a link to the run that it is below."""
    match, below = request.resolver_match, _BELOW_RUN.match(request.path_info)
    named = match.kwargs.get("public_id", "") if match else below[1] if below else ""
    is_known = named and visible_to(request.user).filter(public_id=named).exists()
    way = reverse("run", args=[named]) if is_known else ""
    return render(request, "404.html", {"of_run": way}, status=404)


def came_from(request: HttpRequest) -> str:
    """Return the page of ours from which a request was sent; '' if it isn't known."""
    address = request.headers.get("Referer", "")
    is_ours = url_has_allowed_host_and_scheme(address, {request.get_host()})
    return address if is_ours else ""


@csrf_exempt
@login_not_required
def unknown_api_path(request: HttpRequest, **_: str) -> HttpResponse:
    """Answer unknown paths below `/api/` with a problem instead of a page."""
    from dashboard.api.problems import problem_response  # imports the API's framework

    return problem_response(404, "There is no such path; see /api/v1/openapi.json.")
