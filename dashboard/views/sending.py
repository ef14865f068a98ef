"""What is done only by sending a form."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urljoin

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

View = Callable[..., HttpResponseBase]


def by_form(view: View) -> View:
    """Only POST does it. GET, which comes of signing in again and of the kept address of an
    answer, leads one step up, to the page that has the form.
    """

    @require_http_methods(["GET", "POST"])
    @wraps(view)
    def sent(request: HttpRequest, *args: Any, **named: Any) -> HttpResponseBase:
        if request.method == "GET":
            return redirect(urljoin(request.path, ".."))
        return view(request, *args, **named)

    return sent
