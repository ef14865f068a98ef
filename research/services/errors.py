"""The errors that services raise, and the check of texts that people send."""

from __future__ import annotations

from research.errors import PlumblineError


class ServiceError(PlumblineError):
    """A request that can't be fulfilled; the message is one sentence for the user.

    `about` is the setting or form field concerned, if any.
    """

    def __init__(self, message: str, about: str = "") -> None:
        super().__init__(message)
        self.about = about


class InvalidValueError(ServiceError):
    """A value that would be refused in every state, as opposed to a request at the wrong time.

    `about` has the name that the API gives to the value.
    """

    def __init__(self, message: str, about: str) -> None:
        super().__init__(message, about)


def clean_text(value: str, what: str, limit: int, about: str, *, empty: bool = False) -> str:
    """Return a text without the space around it; raise `InvalidValueError` if it can't be used."""
    text = value.strip()
    if "\x00" in text:
        raise InvalidValueError(f"{what} has a NUL character, which can't be stored.", about)
    if not text and not empty:
        raise InvalidValueError(f"{what} is empty.", about)
    if len(text) > limit:
        told = f"{what} has {len(text):,} characters; the maximum is {limit:,}."
        raise InvalidValueError(told, about)
    return text
