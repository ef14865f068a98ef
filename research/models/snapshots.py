"""Starting points of follow-up runs."""

from __future__ import annotations

from django.db import models

from research.models.runs import Run


class Snapshot(models.Model):
    """The seed of a follow-up run, frozen when the run was created.

    `content` is a `research.engine.threads.seed.Seed`; its pages' texts are the run's own
    `RunPage`s.
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
