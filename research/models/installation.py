"""Settings stored on the Setup page; the environment overrides them."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone


class InstallationSetting(models.Model):
    """A setting by its environment name. Not registered in the admin, since one is an API key."""

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


class VerifierQualification(models.Model):
    """How a server's model did as verifier, by the version of prompt and labelled pairs."""

    server = models.CharField(max_length=500)
    model = models.CharField(max_length=300)
    prompt_version = models.CharField(max_length=64)
    false_pairs = models.PositiveIntegerField()
    missed = models.PositiveIntegerField()
    faithful_pairs = models.PositiveIntegerField()
    refused = models.PositiveIntegerField()
    made_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("server", "model", "prompt_version")
        verbose_name = "qualification of a verifier"
        verbose_name_plural = "qualifications of verifiers"
        constraints = (
            models.UniqueConstraint(
                fields=("server", "model", "prompt_version"), name="verifier_qualification_key"
            ),
        )

    def __str__(self) -> str:
        return f"{self.model} as verifier"
