"""A run's journal, and the page texts that its quotes are verified against.

Large values are compressed in SQLite; PostgreSQL compresses them itself (TOAST). Rows written
before are read as they are, and no migration is needed: the columns stay text and JSON. In SQLite a
text column can hold a compressed BLOB. A JSON column has to stay valid JSON, so the value becomes
an object with the compressed original, and with its short members, which queries can still reach.
"""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

from research.engine.journal import EntryKind, EntryStatus
from research.models.base import KEY_LENGTH, EngineRow, key_digest, literal_choices
from research.models.runs import Run

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


PUBLIC = "public"


class JournalEntry(EngineRow):
    """An outside call or a decision; `place_key` is a digest of its place."""

    key_fields = ("run", "place_key", "attempt")

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="journal")
    place = models.TextField()
    place_key = models.CharField(max_length=KEY_LENGTH, editable=False)
    attempt = models.PositiveIntegerField()
    kind = models.CharField(max_length=10, choices=literal_choices(EntryKind))
    status = models.CharField(max_length=10, choices=literal_choices(EntryStatus))
    request_hash = models.CharField(max_length=64, blank=True)
    request = CompressedJSONField(default=dict, blank=True)
    answer = CompressedJSONField(null=True, blank=True)
    seconds = models.FloatField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("run_id", "pk")
        verbose_name = "call"
        verbose_name_plural = "calls"
        constraints = (
            models.UniqueConstraint(fields=("run", "place_key", "attempt"), name="journal_key"),
        )

    def __str__(self) -> str:
        return f"{self.place} ({self.status})"


class PageText(EngineRow):
    """A page's text, stored once per scope and never changed.

    The scope is 'public', 'private:OWNER' or 'collection:NAME' and prevents leaks of documents and
    intranet pages between users. `id` is derived from scope and hash, so no query is needed.
    """

    key_fields = ("id",)
    immutable = True

    id = models.CharField(max_length=KEY_LENGTH, primary_key=True, editable=False)
    sha256 = models.CharField(max_length=64)
    scope = models.CharField(max_length=255, default=PUBLIC)
    text = CompressedTextField()
    extractor_version = models.CharField(max_length=40, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-created_at",)
        verbose_name = "page text"
        verbose_name_plural = "page texts"
        constraints = (models.UniqueConstraint(fields=("sha256", "scope"), name="page_text_once"),)

    def __str__(self) -> str:
        return f"{self.sha256[:12]} ({self.scope})"

    @classmethod
    def id_for(cls, scope: str, sha256: str) -> str:
        return key_digest(scope, sha256)


class CachedPage(models.Model):
    """The newest text and metadata of an address, cached for later runs."""

    scope = models.CharField(max_length=255)
    url = models.TextField()
    url_key = models.CharField(max_length=KEY_LENGTH, editable=False)
    page = models.ForeignKey(PageText, on_delete=models.CASCADE, related_name="cached_for")
    said = models.JSONField(help_text="The page as the engine knows it, without its text.")
    extractor_version = models.CharField(max_length=40)
    fetched_at = models.DateTimeField()

    class Meta:
        ordering = ("-fetched_at",)
        verbose_name = "cached page"
        verbose_name_plural = "cached pages"
        constraints = (
            models.UniqueConstraint(fields=("url_key", "scope"), name="cached_page_key"),
        )

    def __str__(self) -> str:
        return self.url


class RunPage(EngineRow):
    """A page that a run fetched: the stored text that its address returned."""

    key_fields = ("run", "url_key")
    immutable = True

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="pages")
    page = models.ForeignKey(PageText, on_delete=models.PROTECT, related_name="uses")
    url = models.TextField()
    url_key = models.CharField(max_length=KEY_LENGTH, editable=False)

    class Meta:
        ordering = ("run_id", "pk")
        verbose_name = "page of a run"
        verbose_name_plural = "pages of runs"
        constraints = (models.UniqueConstraint(fields=("run", "url_key"), name="run_page_key"),)

    def __str__(self) -> str:
        return self.url
