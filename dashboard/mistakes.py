"""Where the focus goes on a page that shows forms again, with what is wrong in them."""

from __future__ import annotations

from django.forms import BaseForm, BoundField


def focus_on_first(*forms: BaseForm) -> None:
    """The first field with a mistake takes the focus, and the browser scrolls to it; where the
    whole of a form is wrong, its first field does.
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
