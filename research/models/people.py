"""Users' commands and verdicts, append-only, blocked sites, API tokens and links to reports."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from research.models.base import TextChoices, enum_choices, new_public_id
from research.models.findings import Evidence
from research.models.runs import Run
from research.worker import commands


class Command(models.Model):
    """A user's command to a run.

    `taken_at_place` is set in the transaction that writes the journal entry which processed the
    command; the journal entry, not this column, is the source of truth.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="commands")
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.RESTRICT, related_name="+")
    kind = models.CharField(max_length=20, choices=enum_choices(commands.Kind))
    payload = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    taken_at_place = models.TextField(null=True, blank=True)

    class Meta:
        ordering = ("run_id", "pk")
        verbose_name = "command"
        verbose_name_plural = "commands"
        indexes = (
            models.Index(
                fields=("run",), condition=Q(taken_at_place__isnull=True), name="command_untaken"
            ),
        )

    def __str__(self) -> str:
        return f"{self.get_kind_display()} ({self.created_at:%Y-%m-%d %H:%M})"


class Verdict(models.Model):
    """A reviewer's verdict on one evidence record; the last one counts, and after one that
    withdraws the record is unreviewed again.
    """

    class Kind(TextChoices):
        ACCEPT = "accept", "accepted"
        REJECT = "reject", "rejected"
        FLAG = "flag", "flagged"
        WITHDRAW = "withdraw", "withdrawn"

    evidence = models.ForeignKey(Evidence, on_delete=models.CASCADE, related_name="verdicts")
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.RESTRICT, related_name="+")
    verdict = models.CharField(max_length=8, choices=Kind.choices)
    note = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("evidence_id", "pk")
        verbose_name = "verdict"
        verbose_name_plural = "verdicts"

    def __str__(self) -> str:
        return self.get_verdict_display()


class NeverSite(models.Model):
    """A site, with its subdomains, that a user's new runs exclude."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="never_sites"
    )
    site = models.CharField(max_length=253)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("owner_id", "site")
        verbose_name = "site to leave out"
        verbose_name_plural = "sites to leave out"
        constraints = (models.UniqueConstraint(fields=("owner", "site"), name="never_site_key"),)

    def __str__(self) -> str:
        return self.site


def new_share_token() -> str:
    """Return 192 random bits as 32 characters, safe in URLs."""
    return secrets.token_urlsafe(24)


class ShareLink(models.Model):
    """A link by which anyone can read the report of a run, until the link is deleted.

    The token is stored as it is, to be shown again: whoever can read this table can read the
    reports, too.
    """

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="share_link")
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    token = models.CharField(max_length=32, unique=True, default=new_share_token, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("-created_at", "-pk")
        verbose_name = "shared report"
        verbose_name_plural = "shared reports"

    def __str__(self) -> str:
        return f"link of {self.created_at:%Y-%m-%d %H:%M} to {self.run}"


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
