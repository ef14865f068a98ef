"""Decorator for views that accept form submissions only."""

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
    """Call the view on POST; redirect GET to the parent path, the page that has the form.

    GET requests come from signing in again, and from bookmarked addresses of submitted forms.
    """

    @require_http_methods(["GET", "POST"])
    @wraps(view)
    def sent(request: HttpRequest, *args: Any, **named: Any) -> HttpResponseBase:
        if request.method == "GET":
            return redirect(urljoin(request.path, ".."))
        return view(request, *args, **named)

    return sent
