"""Tokens with which programs act for a user."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from research.models.base import new_public_id


class ApiToken(models.Model):
    """A user's token. Only its hash is stored; `hint` is its end, to recognise it in a list."""

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens"
    )
    name = models.CharField(max_length=80)
    digest = models.CharField(max_length=64, unique=True)
    hint = models.CharField(max_length=4)
    scopes = models.JSONField(default=list, help_text='"read", "write", or both.')
    max_cost_usd = models.FloatField(
        null=True, blank=True, help_text="Upper limit of each run's budget in US dollars."
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("owner_id", "-created_at", "-pk")
        verbose_name = "API token"
        verbose_name_plural = "API tokens"

    def __str__(self) -> str:
        return f"{self.name} (…{self.hint})"

    @property
    def has_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now()
