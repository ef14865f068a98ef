"""Stored replays of finished runs under other quality thresholds."""

from __future__ import annotations

from django.db import models

from research.models.base import within
from research.models.runs import Run


class WhatIf(models.Model):
    """Cost and findings of a run under another `ADAPTIVE_QUALITY_THRESHOLD`.

    `calls` and `run_calls` are model calls, searches and fetches, of the replay and of the original
    run; costs are None if a price is unknown. `is_complete` is False if the journal ended before
    the replay did.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="what_if")
    threshold = models.FloatField()
    engine_version = models.CharField(max_length=40)
    is_complete = models.BooleanField()
    rounds = models.PositiveIntegerField()
    run_rounds = models.PositiveIntegerField()
    calls = models.PositiveIntegerField()
    run_calls = models.PositiveIntegerField()
    cost_usd = models.FloatField(null=True)
    run_cost_usd = models.FloatField(null=True)
    evidence_lost = models.PositiveIntegerField()
    run_evidence = models.PositiveIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("run_id", "threshold")
        verbose_name = "what-if"
        verbose_name_plural = "what-ifs"
        constraints = (
            models.UniqueConstraint(
                fields=("run", "threshold", "engine_version"), name="what_if_once"
            ),
            within("threshold", 1, 10, "what_if_threshold_range"),
        )

    def __str__(self) -> str:
        return f"run {self.run_id} with threshold {self.threshold}"
