"""Progress of a run: its rounds, their units, gate results and problems; and its replays."""

from __future__ import annotations

from django.db import models

from research.engine.records import GateDecision, GateName, Stage, UnitStatus
from research.models.base import KEY_LENGTH, EngineRow, enum_choices, literal_choices, within
from research.models.runs import Run


class Round(EngineRow):
    """One iteration of the loop: its topics and its assessment."""

    key_fields = ("run", "number")

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="rounds")
    number = models.PositiveIntegerField()
    stage = models.CharField(max_length=16, choices=enum_choices(Stage))
    topics = models.JSONField(default=list, blank=True)
    skipped = models.JSONField(default=list, blank=True)
    instructions = models.JSONField(default=list, db_default=[], blank=True)
    dimensions = models.JSONField(default=dict, blank=True)
    score = models.FloatField(null=True, blank=True)
    model_score = models.FloatField(null=True, blank=True)
    model_overall = models.FloatField(null=True, blank=True)
    cap = models.FloatField(null=True, blank=True)
    cap_reason = models.TextField(blank=True)
    reasoning = models.TextField(blank=True)
    novelty = models.FloatField(null=True, blank=True)
    pages_read = models.PositiveIntegerField(default=0)
    new_evidence = models.PositiveIntegerField(default=0)
    answered = models.PositiveIntegerField(default=0)
    gaps = models.JSONField(default=list, blank=True)
    decision = models.TextField(blank=True)
    closed = models.BooleanField(default=False)

    class Meta:
        ordering = ("run_id", "number")
        verbose_name = "round"
        verbose_name_plural = "rounds"
        constraints = (
            models.UniqueConstraint(fields=("run", "number"), name="round_key"),
            within("score", 0, 10, "round_score_range"),
            within("model_score", 0, 10, "round_model_score_range"),
            within("cap", 0, 10, "round_cap_range"),
            within("novelty", 0, 1, "round_novelty_range"),
        )

    def __str__(self) -> str:
        return f"round {self.number}"


class Unit(EngineRow):
    """One topic of one round; `status` is null while it is being researched."""

    key_fields = ("run", "round", "number")

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="units")
    round = models.PositiveIntegerField()
    number = models.PositiveIntegerField()
    topic = models.TextField()
    aspect_label = models.CharField(max_length=40, null=True, blank=True)
    queries = models.JSONField(default=list, blank=True)
    status = models.CharField(
        max_length=10, choices=literal_choices(UnitStatus), null=True, blank=True
    )
    seconds = models.FloatField(default=0)
    failure = models.TextField(null=True, blank=True)

    class Meta:
        ordering = ("run_id", "round", "number")
        verbose_name = "unit"
        verbose_name_plural = "units"
        constraints = (models.UniqueConstraint(fields=("run", "round", "number"), name="unit_key"),)

    def __str__(self) -> str:
        return f"{self.round}.{self.number} {self.topic[:80]}"


class GateResult(EngineRow):
    """One evaluation of a gate, with its criteria and its feedback."""

    key_fields = ("run", "round", "gate")

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="gates")
    round = models.PositiveIntegerField()
    gate = models.CharField(max_length=16, choices=literal_choices(GateName))
    decision = models.CharField(max_length=16, choices=literal_choices(GateDecision))
    score = models.FloatField(null=True, blank=True)
    threshold = models.FloatField(null=True, blank=True)
    criteria = models.JSONField(default=list, blank=True)
    feedback = models.JSONField(default=list, blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ("run_id", "round", "at", "pk")
        verbose_name = "gate result"
        verbose_name_plural = "gate results"
        constraints = (models.UniqueConstraint(fields=("run", "round", "gate"), name="gate_key"),)

    def __str__(self) -> str:
        return f"round {self.round}, {self.get_gate_display()}: {self.get_decision_display()}"


class Problem(EngineRow):
    """A problem of the run, in a sentence that contains nothing confidential."""

    key_fields = ("run", "key")

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="problems")
    key = models.CharField(max_length=KEY_LENGTH, editable=False)
    where = models.TextField()
    message = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("run_id", "pk")
        verbose_name = "problem"
        verbose_name_plural = "problems"
        constraints = (models.UniqueConstraint(fields=("run", "key"), name="problem_key"),)

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


class WhatIf(models.Model):
    """Cost and findings of a finished run under another `ADAPTIVE_QUALITY_THRESHOLD`.

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
