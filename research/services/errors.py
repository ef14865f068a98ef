"""How a service refuses."""

from __future__ import annotations


class ServiceError(Exception):
    """What was asked for cannot be done; the message is one sentence for the person.

    `about` names the setting or field that it is about, where it is one.
    """

    def __init__(self, message: str, about: str = "") -> None:
        super().__init__(message)
        self.about = about
