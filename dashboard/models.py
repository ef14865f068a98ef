"""What the dashboard itself keeps."""

from __future__ import annotations

from django.db import models


class SignInLink(models.Model):
    """The link that was printed last and nobody used yet; only its hash is stored."""

    digest = models.CharField(max_length=64, unique=True)
    created = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"sign-in link of {self.created:%Y-%m-%d %H:%M}"
