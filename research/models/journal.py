"""The journal of a run and the page texts that its quotes are checked against."""

from __future__ import annotations

from django.db import models

from research.engine.journal import EntryKind, EntryStatus
from research.models.base import KEY_LENGTH, EngineRow, key_digest, literals
from research.models.runs import Run

PUBLIC = "public"


class JournalEntry(EngineRow):
    """One outside call or decision; `place_key` is a digest of its place."""

    key_fields = ("run", "place_key", "attempt")

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="journal")
    place = models.TextField()
    place_key = models.CharField(max_length=KEY_LENGTH, editable=False)
    attempt = models.PositiveIntegerField()
    kind = models.CharField(max_length=10, choices=literals(EntryKind))
    status = models.CharField(max_length=10, choices=literals(EntryStatus))
    request_hash = models.CharField(max_length=64, blank=True)
    request = models.JSONField(default=dict, blank=True)
    answer = models.JSONField(null=True, blank=True)
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
    """A page's text, stored once for each scope and never changed.

    A scope is 'public', 'private:OWNER' or 'collection:NAME', so that nobody's documents or
    intranet reach a run that has no right to them. `id` follows from scope and hash, so no
    query has to look it up.
    """

    key_fields = ("id",)
    immutable = True

    id = models.CharField(max_length=KEY_LENGTH, primary_key=True, editable=False)
    sha256 = models.CharField(max_length=64)
    scope = models.CharField(max_length=255, default=PUBLIC)
    text = models.TextField()
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
    """The newest text of an address, with what else is known of the page, for later runs."""

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
    """A page that a run fetched: which stored text its address gave."""

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
