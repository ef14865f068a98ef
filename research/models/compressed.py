"""Fields that compress large values in SQLite; PostgreSQL compresses them itself (TOAST).

Rows written before are read as they are, and no migration is needed: the columns stay text and
JSON. In SQLite a text column can hold a compressed BLOB. A JSON column has to stay valid JSON, so
the value becomes an object with the compressed original, and with its short members, which queries
can still reach.
"""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

SMALL_BYTES = 1_000
"""Values up to this size are stored as they are."""

LEVEL = 6
PACKED = "~zlib"
SHORT = 100


def compress(text: str) -> bytes | None:
    """Return the compressed text, or None if it is small or doesn't become smaller."""
    plain = text.encode()
    if len(plain) <= SMALL_BYTES:
        return None
    packed = zlib.compress(plain, LEVEL)
    return packed if len(packed) < len(plain) else None


def pack_json(value: Any) -> Any:
    """Return a large value as an object with its compressed JSON; a small one unchanged."""
    packed = compress(json.dumps(value, ensure_ascii=False))
    if packed is None:
        return value
    kept = value.items() if isinstance(value, dict) else ()
    short = {key: each for key, each in kept if _is_short(each)}
    return {**short, PACKED: base64.b85encode(packed).decode()}


def unpack_json(value: Any) -> Any:
    """Return the original of a value that `pack_json` returned."""
    if not isinstance(value, dict) or PACKED not in value:
        return value
    return json.loads(zlib.decompress(base64.b85decode(value[PACKED])))


def _is_short(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= SHORT
    return value is None or isinstance(value, bool | int | float)


class CompressedTextField(models.TextField):
    """Text, stored as a compressed BLOB in SQLite if it is large."""

    def get_db_prep_value(
        self, value: Any, connection: BaseDatabaseWrapper, prepared: bool = False
    ) -> Any:
        text = super().get_db_prep_value(value, connection, prepared)
        if connection.vendor != "sqlite" or not isinstance(text, str):
            return text
        return compress(text) or text

    def from_db_value(self, value: Any, expression: object, connection: object) -> Any:
        return zlib.decompress(value).decode() if isinstance(value, bytes) else value

    def deconstruct(self) -> Any:
        """Return a plain text field's definition: the column is the same."""
        name, _, arguments, options = super().deconstruct()
        return name, "django.db.models.TextField", arguments, options


class CompressedJSONField(models.JSONField):
    """JSON, stored in SQLite as an object with compressed JSON if it is large."""

    def get_db_prep_value(
        self, value: Any, connection: BaseDatabaseWrapper, prepared: bool = False
    ) -> Any:
        if connection.vendor == "sqlite" and isinstance(value, dict | list):
            value = pack_json(value)
        return super().get_db_prep_value(value, connection, prepared)

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        return unpack_json(super().from_db_value(value, expression, connection))

    def deconstruct(self) -> Any:
        """Return a plain JSON field's definition: the column is the same."""
        name, _, arguments, options = super().deconstruct()
        return name, "django.db.models.JSONField", arguments, options
