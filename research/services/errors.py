"""How a service refuses."""

from __future__ import annotations


class ServiceError(Exception):
    """What was asked for cannot be done; the message is one sentence for the person."""
