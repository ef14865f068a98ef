"""Database models of the web application."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class SignInLink(models.Model):
    """The latest sign-in link until it is used. Only its hash is stored."""

    digest = models.CharField(max_length=64, unique=True)
    created = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"sign-in link of {self.created:%Y-%m-%d %H:%M}"


class StoredResponse(models.Model):
    """A request to `/v1/responses`, whose answer is made from its run.

    `request` has the fields that the answer repeats.
    """

    run = models.OneToOneField(
        "research.Run", on_delete=models.CASCADE, related_name="stored_response"
    )
    request = models.JSONField(default=dict)
    created = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"response {self.run_id}"


class RepeatableRequest(models.Model):
    """A request with an `Idempotency-Key`; `made` is the id of what it created.

    `key` begins with the caller's; `digest` is that of method, path and body.
    """

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="repeatable_requests"
    )
    key = models.CharField(max_length=200)
    digest = models.CharField(max_length=64)
    made = models.CharField(max_length=22)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("owner", "key"), name="repeatable_request_key"),
        )

    def __str__(self) -> str:
        return f"request {self.key}"
