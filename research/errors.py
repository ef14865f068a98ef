"""The root of all exceptions that Plumbline defines."""

from __future__ import annotations


class PlumblineError(Exception):
    """Catches everything that Plumbline raises on purpose, and no bug and no error of a library."""
