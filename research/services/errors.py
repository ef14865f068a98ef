"""The error that services raise."""

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
