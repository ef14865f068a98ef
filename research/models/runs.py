"""Threads of questions, the runs that answer them, and starting points of follow-up runs."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from research.engine.records import ENDED, WAITING, Complexity, Stage, Status, StopReason
from research.models.base import IntegerChoices, TextChoices, enum_choices, new_public_id, within


class Thread(models.Model):
    """A question and its follow-ups.

    `name` replaces the question in lists. A deleted thread is hidden, and removed for good later.
    """

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="threads"
    )
    title = models.CharField(max_length=200)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    name = models.CharField(max_length=200, blank=True)
    folder = models.CharField(max_length=60, blank=True)
    pinned = models.BooleanField(default=False)
    archived = models.BooleanField(default=False)
    deleted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at", "-pk")
        verbose_name = "thread"
        verbose_name_plural = "threads"
        indexes = (models.Index(fields=("owner", "-created_at"), name="thread_owner_newest"),)

    def __str__(self) -> str:
        return self.title


WRITTEN_BY_MODEL = "Written by the model"
"""Reason of a version that replaces a report that code had to put together."""


def in_other_form(run: str = "") -> Q:
    """Return the condition that a run only tells a report in another form; `run` is the prefix of
    its columns.
    """
    is_form = Q(**{f"{run}kind": "reshape", f"{run}origin__isnull": False})
    return is_form & ~Q(**{f"{run}reason": WRITTEN_BY_MODEL})


class RunQuerySet(models.QuerySet["Run"]):
    def visible_to(self, user: AbstractBaseUser | AnonymousUser) -> RunQuerySet:
        """Return a user's own runs; staff see all."""
        if not user.is_authenticated:
            return self.none()
        kept = self.filter(thread__deleted_at=None)
        return kept if user.is_staff else kept.filter(owner=user)

    def newest_versions(self) -> RunQuerySet:
        """Exclude versions that a later, successful version replaced, and reports in another form,
        which stand beside the one that they were made from.
        """
        first = Coalesce(OuterRef("origin"), OuterRef("pk"))
        # Redundant, but lets the database skip the many runs without an origin.
        later = Run.objects.filter(origin=first, origin__isnull=False, pk__gt=OuterRef("pk"))
        replaced = Exists(
            later.exclude(status__in=("failed", "cancelled")).exclude(in_other_form())
        )
        return self.filter(~replaced).exclude(in_other_form())


class Kind(TextChoices):
    """Reason for which a run was created."""

    INITIAL = "initial", "question"
    FOLLOW_UP = "follow_up", "follow-up"
    DEEPER = "deeper", "dig deeper"
    REVISE = "revise", "revision"
    RESHAPE = "reshape", "reshape"


# Kinds that only rewrite a report from the ledger: nothing is searched or fetched.
REWRITES = frozenset({Kind.REVISE, Kind.RESHAPE})


class Mode(TextChoices):
    ADAPTIVE = "adaptive", "adaptive"
    FIXED = "fixed", "fixed"


class Priority(IntegerChoices):
    """Class of a run in the queue: a lower one goes first."""

    INTERACTIVE = 0, "interactive"
    SCHEDULED = 1, "scheduled"


class Run(models.Model):
    """One execution of a question, with its configuration frozen on creation.

    `sequence` is incremented in every transaction that changes something visible. The `lease_*`
    columns identify the worker that executes the run; `lease_epoch` fences off late writers.
    """

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="runs"
    )
    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="runs")
    parent = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="children"
    )
    kind = models.CharField(max_length=12, choices=Kind.choices, default=Kind.INITIAL)
    origin = models.ForeignKey(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="versions",
        help_text="The run whose question this one answers in another version.",
    )
    reason = models.CharField(
        max_length=200, blank=True, help_text="Why a later run of the thread was made."
    )
    question = models.TextField()
    understood_as = models.TextField(
        blank=True, help_text="A follow-up question, worded so that it can be understood alone."
    )
    agreed = models.BooleanField(
        default=False, help_text="Nobody is asked to clarify or to approve the plan."
    )
    today = models.DateField(help_text="The day that the run takes for today.")
    mode = models.CharField(max_length=10, choices=Mode.choices, default=Mode.ADAPTIVE)
    config = models.JSONField(default=dict, help_text="Every knob, as frozen for this run.")
    sources = models.JSONField(
        default=dict, blank=True, help_text="The chosen searches and collections."
    )
    engine_version = models.CharField(max_length=40, blank=True)
    prompt_digests = models.JSONField(default=dict, blank=True)

    status = models.CharField(
        max_length=24, choices=enum_choices(Status), default=Status.QUEUED.value
    )
    stage = models.CharField(
        max_length=16, choices=enum_choices(Stage), default=Stage.OVERVIEW.value
    )
    round = models.PositiveIntegerField(default=0)
    complexity = models.CharField(
        max_length=10, choices=enum_choices(Complexity), default=Complexity.ORDINARY.value
    )
    language = models.CharField(max_length=35, default="en", help_text="BCP 47")
    analyst = models.CharField(max_length=200, default="extractive")
    quality_score = models.FloatField(null=True, blank=True)
    verdict = models.TextField(blank=True)
    termination_reason = models.CharField(
        max_length=24, choices=enum_choices(StopReason), null=True, blank=True
    )
    termination_text = models.TextField(null=True, blank=True)

    asks = models.TextField(blank=True, help_text="What a paused run wants to know.")
    plan = models.JSONField(null=True, blank=True)
    action = models.TextField(blank=True)
    action_at = models.DateTimeField(null=True, blank=True)
    draft = models.JSONField(
        default=list, blank=True, help_text="The report's sentences so far, while it is written."
    )
    usage = models.JSONField(default=dict, blank=True)
    evaluation = models.JSONField(
        null=True, blank=True, help_text="A model's marks of the finished run, where wanted."
    )

    priority = models.PositiveSmallIntegerField(
        choices=Priority.choices, default=Priority.INTERACTIVE
    )
    turn = models.PositiveBigIntegerField(
        default=0, help_text="Place in the queue: runs of one person take every other turn."
    )

    sequence = models.PositiveBigIntegerField(default=0)
    lease_owner = models.CharField(max_length=100, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    lease_epoch = models.PositiveBigIntegerField(default=0)
    crashes = models.PositiveSmallIntegerField(
        default=0, help_text="How often in a row a worker died without any progress of the run."
    )
    entries_at_claim = models.PositiveIntegerField(
        default=0, help_text="Settled entries of the journal when a worker last took the run."
    )
    idempotency_key = models.CharField(max_length=200, null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "-pk")
        verbose_name = "run"
        verbose_name_plural = "runs"
        indexes = (
            models.Index(fields=("owner", "-created_at"), name="run_owner_newest"),
            models.Index(fields=("-created_at",), name="run_newest"),
            models.Index(
                fields=("created_at",),
                condition=~Q(status__in=sorted(status.value for status in ENDED)),
                name="run_claimable",
            ),
            models.Index(
                fields=("priority", "turn", "id"), condition=Q(status="queued"), name="run_queued"
            ),
            models.Index(
                fields=("owner", "turn"), condition=Q(status="queued"), name="run_queued_of_owner"
            ),
            models.Index(
                fields=("priority", "turn", "id"),
                condition=Q(status__in=("intake", "researching", "writing")),
                name="run_begun",
            ),
            models.Index(
                fields=("lease_until",),
                condition=Q(lease_until__isnull=False),
                name="run_leased",
            ),
        )
        constraints = (
            models.UniqueConstraint(
                fields=("owner", "idempotency_key"), name="run_idempotency_key"
            ),
            within("quality_score", 0, 10, "run_quality_score_range"),
        )

    def __str__(self) -> str:
        return f"{self.question[:80]} ({self.public_id})"

    @property
    def has_model(self) -> bool:
        return self.analyst != "extractive"

    @property
    def answered_at_once(self) -> bool:
        """Return whether earlier findings of the thread answered a follow-up, without a search."""
        return self.termination_reason == StopReason.KNOWN_BEFORE

    @property
    def plans_anew(self) -> bool:
        """Return whether a comment changes the plan: without a model the same plan would result."""
        return self.has_model and self.mode == Mode.ADAPTIVE

    @property
    def ended(self) -> bool:
        return self.status in ENDED

    @property
    def waiting(self) -> bool:
        """Return whether the user has to act before a worker can continue."""
        return self.status in WAITING


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
