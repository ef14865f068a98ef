"""Where people are notified about their runs, and what was sent to them."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from research.models.base import TextChoices, new_public_id
from research.models.runs import Run


class Event(TextChoices):
    """Occasions of a notification, as programs read them."""

    FINISHED = "run.finished", "run finished"
    FAILED = "run.failed", "run failed"
    ASKS = "run.asks", "run asks for a decision"
    SCHEDULE = "schedule.result", "result of a schedule"
    TEST = "test", "test"


class Webhook(models.Model):
    """An address of a person's program.

    For a while after a rotation deliveries are signed with `previous_secret`, too. A webhook with a
    `disabled_reason` receives nothing until its owner enables it again.
    """

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="webhooks"
    )
    url = models.CharField(max_length=2_000)
    events = models.JSONField(default=list)
    secret = models.CharField(max_length=100)
    previous_secret = models.CharField(max_length=100, blank=True)
    previous_until = models.DateTimeField(null=True, blank=True)
    disabled_reason = models.CharField(max_length=300, blank=True)
    succeeded_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("owner_id", "pk")
        verbose_name = "webhook"
        verbose_name_plural = "webhooks"

    def __str__(self) -> str:
        return self.url

    def secrets(self, now: datetime) -> list[str]:
        """Return the secrets that sign a delivery at this time, the current one first."""
        is_valid = self.previous_until is not None and now < self.previous_until
        return [self.secret, self.previous_secret] if is_valid else [self.secret]


class EmailChoice(models.Model):
    """The e-mail address of a person, and the events that are mailed to it once it is confirmed."""

    owner = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="email_choice"
    )
    address = models.EmailField()
    confirmed = models.BooleanField(default=False, db_default=False)
    events = models.JSONField(default=list)

    class Meta:
        verbose_name = "e-mail choice"
        verbose_name_plural = "e-mail choices"

    def __str__(self) -> str:
        return self.address


class Delivery(models.Model):
    """One notification to a webhook, or to a person's e-mail address if `webhook` is None.

    `public_id` identifies it to its receiver over all attempts. `attempts` records each one; those
    since the last request to deliver are counted by `tries`. The `lease_*` columns identify the
    process that delivers it, as for runs.
    """

    class State(TextChoices):
        PENDING = "pending", "pending"
        DELIVERED = "delivered", "delivered"
        FAILED = "failed", "failed"

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="deliveries"
    )
    webhook = models.ForeignKey(
        Webhook, on_delete=models.CASCADE, null=True, blank=True, related_name="deliveries"
    )
    event = models.CharField(max_length=20, choices=Event.choices)
    run = models.ForeignKey(
        Run, on_delete=models.CASCADE, null=True, blank=True, related_name="deliveries"
    )
    run_status = models.CharField(max_length=24, blank=True)
    body = models.TextField(blank=True, help_text="Composed by the first attempt, then unchanged.")
    state = models.CharField(max_length=10, choices=State.choices, default=State.PENDING)
    tries = models.PositiveSmallIntegerField(default=0)
    attempts = models.JSONField(default=list, blank=True)
    due_at = models.DateTimeField(default=timezone.now)
    lease_owner = models.CharField(max_length=100, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    lease_epoch = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-pk",)
        verbose_name = "delivery"
        verbose_name_plural = "deliveries"
        indexes = (
            models.Index(
                fields=("due_at", "id"), condition=Q(state="pending"), name="delivery_due"
            ),
            models.Index(fields=("webhook", "-id"), name="delivery_of_webhook"),
            models.Index(fields=("owner", "-id"), name="delivery_of_owner"),
        )

    def __str__(self) -> str:
        return f"{self.event} ({self.public_id})"
