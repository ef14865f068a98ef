"""Base of the tables: public ids, digests of long keys, engine rows."""

from __future__ import annotations

import hashlib
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, ClassVar, Self, get_args

from django.db import models
from django.utils.crypto import get_random_string

if TYPE_CHECKING:
    # Django has no types: its members would be taken for the tuples that declare them.

    class TextChoices(StrEnum):
        _value_: str
        label: str
        choices: ClassVar[list[tuple[str, str]]]
        values: ClassVar[list[str]]

        def __new__(cls, value: str, label: object = "") -> Self: ...

    class IntegerChoices(IntEnum):
        _value_: int
        label: str
        choices: ClassVar[list[tuple[int, str]]]
        values: ClassVar[list[int]]

        def __new__(cls, value: int, label: object = "") -> Self: ...
else:
    from django.db.models import IntegerChoices, TextChoices

__all__ = [
    "EngineRow",
    "IntegerChoices",
    "TextChoices",
    "enum_choices",
    "key_digest",
    "literal_choices",
    "new_public_id",
    "within",
]

ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"
KEY_LENGTH = 32


def new_public_id() -> str:
    """Return 60 random bits as an id without easily confused characters, safe in URLs."""
    return get_random_string(12, ALPHABET)


def key_digest(*parts: str) -> str:
    """Return a fixed-length key for long texts: PostgreSQL indexes at most 2,704 bytes."""
    joined = "\x1f".join(parts)
    return hashlib.blake2b(joined.encode(), digest_size=KEY_LENGTH // 2).hexdigest()


def enum_choices(kinds: type[StrEnum]) -> list[tuple[str, str]]:
    return [(kind.value, kind.value.replace("_", " ")) for kind in kinds]


def literal_choices(literal: object) -> list[tuple[str, str]]:
    return [(value, value.replace("_", " ")) for value in get_args(literal)]


def within(column: str, least: float, most: float, name: str) -> models.CheckConstraint:
    """Return the constraint that a column is null or from `least` to `most`."""
    limits = {f"{column}__gte": least, f"{column}__lte": most}
    return models.CheckConstraint(condition=models.Q(**limits), name=name)


class EngineRow(models.Model):
    """A row projected from the engine's records, upserted by `key_fields`.

    `key_fields` are unique together; `immutable` rows are never updated.
    """

    key_fields: ClassVar[tuple[str, ...]] = ()
    immutable: ClassVar[bool] = False

    class Meta:
        abstract = True
