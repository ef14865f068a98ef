"""Users' commands and verdicts, append-only, and their blocked sites."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from research.models.base import enum_choices
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
    kind = models.CharField(max_length=12, choices=enum_choices(commands.Kind))
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
    """A reviewer's verdict on one evidence record; the last one counts."""

    class Kind(models.TextChoices):
        ACCEPT = "accept", "accepted"
        REJECT = "reject", "rejected"
        FLAG = "flag", "flagged"

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
