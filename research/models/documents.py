"""Collections of documents, and the files uploaded to them."""

from __future__ import annotations

from typing import Literal

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from research.models.base import new_public_id

State = Literal["waiting", "indexing", "failed", "empty", "ready"]


class CollectionQuerySet(models.QuerySet["Collection"]):
    def visible_to(self, user: AbstractBaseUser | AnonymousUser) -> CollectionQuerySet:
        """Return a user's own collections and the shared ones; staff see no more."""
        if not user.is_authenticated:
            return self.none()
        return self.filter(Q(owner=user) | Q(is_shared=True), deleted_at=None)

    def with_files(self) -> CollectionQuerySet:
        """Exclude upload collections without files; a folder may get files at any time."""
        uploaded = Document.objects.filter(collection=OuterRef("pk"))
        return self.filter(~Q(folder="") | Exists(uploaded))

    def readable(self) -> CollectionQuerySet:
        """Exclude those none of whose files could be read when they were last indexed."""
        return self.exclude(
            documents=0, unreadable_count__gt=0, indexed_revision__gte=F("revision")
        )


class Collection(models.Model):
    """A named set of documents: uploaded files, or a folder of this server.

    `revision` counts changes that the index must follow; the index is up to date once
    `indexed_revision` equals it. `done`, `total` and `failed` count files during indexing. A
    deleted collection stays until the indexer has removed its data.
    """

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.RESTRICT, related_name="collections"
    )
    name = models.CharField(max_length=80)
    is_shared = models.BooleanField("shared", default=False)
    folder = models.TextField(blank=True, help_text="Of this server; empty for uploaded files.")
    thread = models.ForeignKey(
        "research.Thread",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="attached",
        help_text="The question that its files were attached to.",
    )
    from_settings = models.BooleanField(default=False, help_text="Named by DOCUMENTS.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    deleted_at = models.DateTimeField(null=True, blank=True)

    revision = models.PositiveIntegerField(default=1)
    indexed_revision = models.PositiveIntegerField(default=0)
    indexed_at = models.DateTimeField(null=True, blank=True)
    index_name = models.CharField(
        max_length=255, blank=True, help_text="Its name in the index and in addresses; it stays."
    )
    documents = models.PositiveIntegerField(default=0, help_text="Those that can be searched.")
    unreadable = models.JSONField(default=list, blank=True, help_text="Paths and reasons.")
    unreadable_count = models.PositiveIntegerField(default=0)
    problem = models.TextField(blank=True, help_text="Why it could not be indexed at all.")

    lease_owner = models.CharField(max_length=100, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)

    objects = CollectionQuerySet.as_manager()

    class Meta:
        ordering = ("name", "pk")
        verbose_name = "collection"
        verbose_name_plural = "collections"
        constraints = (
            models.UniqueConstraint(
                fields=("owner", "name"), condition=Q(deleted_at=None), name="collection_name_once"
            ),
            models.UniqueConstraint(
                fields=("folder",),
                condition=Q(deleted_at=None) & ~Q(folder=""),
                name="collection_folder_once",
            ),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def state(self) -> State:
        if self.lease_until is not None and self.lease_until > timezone.now():
            return "indexing"
        if self.indexed_revision < self.revision:
            return "waiting"
        if self.problem:
            return "failed"
        return "ready" if self.documents or self.unreadable_count else "empty"

    @property
    def is_attached(self) -> bool:
        """Return whether its files were attached to a question."""
        return self.thread_id is not None

    @property
    def is_unreadable(self) -> bool:
        """Return whether it is indexed, but none of its files could be read."""
        return self.state == "ready" and not self.documents


class Document(models.Model):
    """An uploaded file; its text and state are in the index."""

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="files")
    name = models.CharField(max_length=200)
    name_key = models.CharField(max_length=200, help_text="The name without regard to case.")
    size = models.PositiveBigIntegerField(help_text="In bytes.")
    sha256 = models.CharField(max_length=64)
    added_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("collection_id", "name_key")
        verbose_name = "document"
        verbose_name_plural = "documents"
        constraints = (
            models.UniqueConstraint(fields=("collection", "name_key"), name="document_name_once"),
            models.UniqueConstraint(fields=("collection", "sha256"), name="document_content_once"),
        )

    def __str__(self) -> str:
        return self.name
