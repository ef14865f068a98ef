"""Findings of a run: sub-questions, evidence with its quotes, sources, gaps, and reports."""

from __future__ import annotations

from django.db import models
from django.db.models import Exists, OuterRef, Q, Subquery, Value
from django.db.models.functions import Coalesce, NullIf
from django.utils.text import Truncator

from research.engine.ports import SourceKind
from research.engine.records import AspectState, SourceStatus
from research.models.base import KEY_LENGTH, EngineRow, enum_choices, literal_choices
from research.models.runs import Run, in_other_form


class Aspect(EngineRow):
    """A sub-question; `label` is the engine's id (A1, A2, …)."""

    key_fields = ("run", "label")

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="aspects")
    label = models.CharField(max_length=40)
    position = models.PositiveIntegerField()
    text = models.TextField()
    query = models.TextField(blank=True)
    raised_by = models.TextField(blank=True, help_text="An address, 'plan' or 'user'.")
    round = models.PositiveIntegerField()
    state = models.CharField(max_length=12, choices=enum_choices(AspectState))
    evidence_labels = models.JSONField(default=list, blank=True)
    searches_without_news = models.PositiveIntegerField(default=0)
    dropped = models.BooleanField(default=False, help_text="Left out by a person.")
    standing = models.JSONField(
        null=True,
        blank=True,
        help_text="Who answers directly, as far as code alone can tell.",
    )
    open_points = models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="Points that the report lists as open."
    )

    class Meta:
        ordering = ("run_id", "position", "label")
        verbose_name = "sub-question"
        verbose_name_plural = "sub-questions"
        constraints = (models.UniqueConstraint(fields=("run", "label"), name="aspect_key"),)

    def __str__(self) -> str:
        return f"{self.label} {Truncator(self.text).chars(80)}"


class EvidenceQuerySet(models.QuerySet["Evidence"]):
    def with_review(self) -> EvidenceQuerySet:
        """Annotate with `last_verdict`: accept, reject, flag or None."""
        from research.models.people import Verdict

        last = Verdict.objects.filter(evidence=OuterRef("pk")).order_by("-pk")
        said = Subquery(last.values("verdict")[:1])
        return self.annotate(last_verdict=NullIf(said, Value(Verdict.Kind.WITHDRAW.value)))

    def unreviewed(self) -> EvidenceQuerySet:
        return self.with_review().filter(last_verdict=None)

    def judged(self, verdict: str) -> EvidenceQuerySet:
        """Return the evidence whose last verdict is `verdict`."""
        from research.models.people import Verdict

        later = Verdict.objects.filter(evidence=OuterRef("evidence"), pk__gt=OuterRef("pk"))
        said = Verdict.objects.filter(~Exists(later), verdict=verdict)
        return self.filter(pk__in=said.values("evidence"))

    def of_newest_versions(self) -> EvidenceQuerySet:
        """Exclude copies in report versions that a later, successful version replaced, and in
        reports of another form.
        """
        first = Coalesce(OuterRef("run__origin"), OuterRef("run"))
        later = Run.objects.filter(origin=first, origin__isnull=False, pk__gt=OuterRef("run"))
        kept = later.exclude(status__in=("failed", "cancelled")).exclude(in_other_form())
        return self.filter(~Exists(kept)).exclude(in_other_form("run__"))

    def from_site(self, domain: str) -> EvidenceQuerySet:
        return self.filter(pk__in=EvidenceSource.objects.filter(domain=domain).values("evidence"))


class Evidence(EngineRow):
    """An atomic claim; `label` is the engine's id (E1, E2, …)."""

    key_fields = ("run", "label")

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="evidence")
    label = models.CharField(max_length=40)
    position = models.PositiveIntegerField()
    claim = models.TextField()
    aspect_label = models.CharField(max_length=40, null=True, blank=True)
    round = models.PositiveIntegerField()
    relevance = models.FloatField()
    key = models.BooleanField(
        default=False, help_text="The best claim of an answered sub-question."
    )
    confidence = models.FloatField(default=0.5)
    uncertainty = models.JSONField(default=list, blank=True)
    contradicts = models.JSONField(default=list, blank=True)
    fields = models.JSONField(default=dict, blank=True)

    objects = EvidenceQuerySet.as_manager()

    class Meta:
        ordering = ("run_id", "position", "label")
        verbose_name = "evidence"
        verbose_name_plural = "evidence"
        constraints = (models.UniqueConstraint(fields=("run", "label"), name="evidence_key"),)
        indexes = (
            models.Index(fields=("-id",), condition=~Q(contradicts=[]), name="evidence_disputed"),
        )

    def __str__(self) -> str:
        return f"{self.label} {Truncator(self.claim).chars(80)}"


class EvidenceSource(EngineRow):
    """A verbatim quote behind a claim: `text[start:end]` of the stored page."""

    key_fields = ("evidence", "position")

    evidence = models.ForeignKey(Evidence, on_delete=models.CASCADE, related_name="quotes")
    position = models.PositiveIntegerField()
    url = models.TextField()
    title = models.TextField(blank=True)
    domain = models.CharField(max_length=255, db_index=True)
    independence_key = models.TextField()
    quote = models.TextField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    text_sha256 = models.CharField(max_length=64)
    fetched_at = models.DateTimeField()
    section = models.TextField(blank=True)
    published = models.CharField(max_length=64, null=True, blank=True)

    class Meta:
        ordering = ("evidence_id", "position")
        verbose_name = "quote"
        verbose_name_plural = "quotes"
        constraints = (models.UniqueConstraint(fields=("evidence", "position"), name="quote_key"),)

    def __str__(self) -> str:
        return f"“{Truncator(self.quote).chars(80)}” ({self.domain})"


class Source(EngineRow):
    """A page that a search found; `url_key` is a digest of its address."""

    key_fields = ("run", "url_key")

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="source_pages")
    url = models.TextField()
    url_key = models.CharField(max_length=KEY_LENGTH, editable=False)
    title = models.TextField(blank=True)
    domain = models.CharField(max_length=255)
    round = models.PositiveIntegerField()
    kind = models.CharField(max_length=12, choices=literal_choices(SourceKind), default="unknown")
    published = models.CharField(max_length=64, null=True, blank=True)
    relevance = models.FloatField(null=True, blank=True)
    status = models.CharField(
        max_length=10, choices=literal_choices(SourceStatus), default="not_read"
    )
    reason = models.TextField(null=True, blank=True)
    site = models.TextField(
        blank=True, default="", db_default="", help_text="The name that the page gives its site."
    )

    class Meta:
        ordering = ("run_id", "round", "pk")
        verbose_name = "source"
        verbose_name_plural = "sources"
        constraints = (models.UniqueConstraint(fields=("run", "url_key"), name="source_key"),)

    def __str__(self) -> str:
        return self.title or self.url


class Gap(EngineRow):
    """Missing information, open or closed; `label` is the engine's id (G1, G2, …)."""

    key_fields = ("run", "label")

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="gaps")
    label = models.CharField(max_length=40)
    position = models.PositiveIntegerField()
    text = models.TextField()
    aspect_label = models.CharField(max_length=40, null=True, blank=True)
    critical = models.BooleanField(default=False)
    query = models.TextField(blank=True)
    opened_round = models.PositiveIntegerField()
    closed_round = models.PositiveIntegerField(null=True, blank=True)
    closed_by = models.JSONField(default=list, blank=True)

    class Meta:
        ordering = ("run_id", "position", "label")
        verbose_name = "gap"
        verbose_name_plural = "gaps"
        constraints = (models.UniqueConstraint(fields=("run", "label"), name="gap_key"),)

    def __str__(self) -> str:
        return f"{self.label} {Truncator(self.text).chars(80)}"


class RefusedQuote(EngineRow):
    """A finding whose quote or claim failed verification against its page."""

    key_fields = ("run", "round", "unit", "ordinal")

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="refused_quotes")
    round = models.PositiveIntegerField()
    unit = models.PositiveIntegerField()
    ordinal = models.PositiveIntegerField()
    claim = models.TextField()
    url = models.TextField()
    reason = models.TextField()

    class Meta:
        ordering = ("run_id", "round", "unit", "ordinal")
        verbose_name = "refused quote"
        verbose_name_plural = "refused quotes"
        constraints = (
            models.UniqueConstraint(
                fields=("run", "round", "unit", "ordinal"), name="refused_quote_key"
            ),
        )

    def __str__(self) -> str:
        return f"{Truncator(self.claim).chars(80)}: {self.reason}"


class Report(EngineRow):
    """One version of a run's report; versions are never changed.

    `evidence_digest` identifies the evidence and verdicts that it is based on; the report is stale
    once `research.threads.verdicts.evidence_digest` of the current ones differs.
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
