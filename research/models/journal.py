"""A run's journal, and the page texts that its quotes are verified against."""

from __future__ import annotations

from django.db import models

from research.engine.journal import EntryKind, EntryStatus
from research.models.base import KEY_LENGTH, EngineRow, key_digest, literal_choices
from research.models.compressed import CompressedJSONField, CompressedTextField
from research.models.runs import Run

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
