"""What a run of a thread starts from."""

from __future__ import annotations

from django.db import models

from research.models.runs import Run


class Snapshot(models.Model):
    """What a run took over from an earlier one of its thread, frozen when it was asked for.

    `content` is a `research.engine.seed.Seed`; pages' texts are the run's own `RunPage`s.
    """

    run = models.OneToOneField(
        Run, on_delete=models.CASCADE, primary_key=True, related_name="snapshot"
    )
    content = models.JSONField()

    class Meta:
        ordering = ("run_id",)
        verbose_name = "snapshot"
        verbose_name_plural = "snapshots"

    def __str__(self) -> str:
        return f"snapshot of {self.run_id}"
