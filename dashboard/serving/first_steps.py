"""First steps for a person at a terminal: three lines, and the sign-in page in the browser."""

from __future__ import annotations

import threading
import webbrowser
from collections.abc import Sequence

from django.conf import settings


def next_steps(has_model: bool, opens_browser: bool) -> Sequence[str]:
    """Return what to do first, in three lines."""
    opened = "It opens in your browser now." if opens_browser else "It works once."
    connect = (
        "Change model and search under Setup."
        if has_model
        else "Connect a model under Setup; until then you get passages, not answers."
    )
    return (
        f"Next        1. Open the sign-in link above. {opened}",
        "            2. Ask a question, or read one of the three sample reports.",
        f"            3. {connect}",
    )


def has_browser() -> bool:
    """Return whether a graphical browser may be opened here.

    A text browser would take the terminal over: `webbrowser` knows those as `GenericBrowser`.
    """
    if not (settings.OPEN_BROWSER and settings.HAS_DISPLAY):
        return False
    try:
        return type(webbrowser.get()) is not webbrowser.GenericBrowser
    except webbrowser.Error:
        return False


def open_browser(address: str) -> None:
    """Open an address without waiting for the browser."""
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
