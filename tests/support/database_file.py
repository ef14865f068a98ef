"""A test database that several threads can use at once."""

from __future__ import annotations

import os
import tempfile

from django.db import connections


def use_database_file() -> None:
    """Keep SQLite's test database in a file: in memory, a reader fails while another one writes.

    Call this when a conftest is imported, before the database is made.
    """
    test = connections["default"].settings_dict["TEST"]
    if connections["default"].vendor == "sqlite" and not test["NAME"]:
        test["NAME"] = f"{tempfile.gettempdir()}/plumbline-test-{os.getpid()}.sqlite3"
