"""Focus management for forms that are shown again with validation errors."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urljoin

from django.forms import BaseForm, BoundField
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from dashboard.words import format_number


def too_long(text: str, most: int) -> str:
    """Return that a question is too long, with its length."""
    told = gettext("A question has at most %(most)s characters; this one has %(n)s.")
    return told % {"most": format_number(most), "n": format_number(len(text))}


def focus_on_first(*forms: BaseForm) -> None:
    """Set the focus to the first invalid field, so that the browser scrolls to it.

    If only a form as a whole is invalid, focus its first field.
    """
    found = next((field for form in forms for field in _mistaken(form)), None)
    if found is None:
        return
    for form in forms:
        for field in form.fields.values():
            field.widget.attrs.pop("autofocus", None)
    found.field.widget.attrs["autofocus"] = True


def _mistaken(form: BaseForm) -> list[BoundField]:
    shown = form.visible_fields()
    return [field for field in shown if field.errors] or (shown if form.errors else [])


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
