"""Commands use threads, which share the database."""

from __future__ import annotations

from tests.support.database_file import use_database_file

use_database_file()
