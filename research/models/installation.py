"""What an admin set in the browser; the environment wins over it."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone


class InstallationSetting(models.Model):
    """One setting by its name in the environment. Not in the admin: one of them is a key."""

    name = models.CharField(max_length=60, unique=True)
    value = models.TextField()
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("name",)
        verbose_name = "setting"
        verbose_name_plural = "settings"

    def __str__(self) -> str:
        return self.name
