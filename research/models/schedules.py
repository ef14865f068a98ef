"""Questions that are asked again at regular times."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from research.models.base import TextChoices, new_public_id
from research.models.runs import Run


class Cadence(TextChoices):
    DAILY = "daily", "every day"
    WEEKLY = "weekly", "every week"
    MONTHLY = "monthly", "every month"


class Schedule(models.Model):
    """A question with its configuration, and when it is asked.

    `at` is a time in `time_zone`. `weekday` (0 is Monday) applies to weekly schedules, `day` to
    monthly ones: in shorter months the last day counts.
    """

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="schedules"
    )
    question = models.TextField()
    config = models.JSONField(default=dict)
    sources = models.JSONField(default=dict, blank=True)
    cadence = models.CharField(max_length=8, choices=Cadence.choices)
    weekday = models.PositiveSmallIntegerField(default=0)
    day = models.PositiveSmallIntegerField(default=1)
    at = models.TimeField()
    time_zone = models.CharField(max_length=64)
    only_new = models.BooleanField(default=False, help_text="Report only what is new.")
    paused = models.BooleanField(default=False)
    next_at = models.DateTimeField(help_text="When it is due next.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("owner_id", "pk")
        verbose_name = "schedule"
        verbose_name_plural = "schedules"
        indexes = (
            models.Index(fields=("next_at",), condition=Q(paused=False), name="schedule_due"),
        )

    def __str__(self) -> str:
        return f"{self.question[:80]} ({self.cadence})"


class Occurrence(models.Model):
    """One due date of a schedule: the run that it started, or why it started none.

    `missed` counts earlier due dates at which no worker was running and that this one covers.
    """

    schedule = models.ForeignKey(Schedule, on_delete=models.CASCADE, related_name="occurrences")
    due_at = models.DateTimeField()
    run = models.OneToOneField(
        Run, on_delete=models.SET_NULL, null=True, blank=True, related_name="occurrence"
    )
    skipped = models.CharField(max_length=300, blank=True)
    missed = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ("schedule_id", "-due_at")
        verbose_name = "occurrence"
        verbose_name_plural = "occurrences"
        constraints = (
            models.UniqueConstraint(fields=("schedule", "due_at"), name="occurrence_key"),
        )

    def __str__(self) -> str:
        return f"{self.schedule_id} at {self.due_at:%Y-%m-%d %H:%M}"
