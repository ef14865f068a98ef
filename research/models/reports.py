"""Reports of a run."""

from __future__ import annotations

from django.db import models

from research.models.base import EngineRow
from research.models.runs import Run


class Report(EngineRow):
    """One version of a run's report; versions are never changed.

    `evidence_digest` identifies the evidence and verdicts that it is based on; the report is stale
    once `research.threads.staleness.evidence_digest` of the current ones differs.
    """

    key_fields = ("run", "number")
    immutable = True

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="reports")
    number = models.PositiveIntegerField()
    markdown = models.TextField(blank=True)
    short_answer = models.TextField(blank=True)
    citations = models.JSONField(default=list, blank=True)
    checks = models.JSONField(default=dict, blank=True)
    evidence_digest = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("run_id", "number")
        verbose_name = "report"
        verbose_name_plural = "reports"
        constraints = (models.UniqueConstraint(fields=("run", "number"), name="report_key"),)

    def __str__(self) -> str:
        return f"report {self.number} of {self.run_id}"
