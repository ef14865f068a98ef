"""Focus management for forms that are shown again with validation errors."""

from __future__ import annotations

from django.forms import BaseForm, BoundField


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
