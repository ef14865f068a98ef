import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import research.models.base


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="PageText",
            fields=[
                (
                    "id",
                    models.CharField(
                        editable=False, max_length=32, primary_key=True, serialize=False
                    ),
                ),
                ("sha256", models.CharField(max_length=64)),
                ("scope", models.CharField(default="public", max_length=255)),
                ("text", models.TextField()),
                ("extractor_version", models.CharField(blank=True, max_length=40)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "verbose_name": "page text",
                "verbose_name_plural": "page texts",
                "ordering": ("-created_at",),
                "constraints": [
                    models.UniqueConstraint(fields=("sha256", "scope"), name="page_text_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Run",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "public_id",
                    models.CharField(
                        default=research.models.base.new_public_id,
                        editable=False,
                        max_length=22,
                        unique=True,
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("initial", "question"),
                            ("follow_up", "follow-up"),
                            ("deeper", "dig deeper"),
                            ("revise", "revision"),
                            ("reshape", "reshape"),
                        ],
                        default="initial",
                        max_length=12,
                    ),
                ),
                ("question", models.TextField()),
                (
                    "agreed",
                    models.BooleanField(
                        default=False,
                        help_text="Nobody is asked to clarify or to approve the plan.",
                    ),
                ),
                ("today", models.DateField(help_text="The day that the run takes for today.")),
                (
                    "mode",
                    models.CharField(
                        choices=[("adaptive", "adaptive"), ("fixed", "fixed")],
                        default="adaptive",
                        max_length=10,
                    ),
                ),
                (
                    "config",
                    models.JSONField(default=dict, help_text="Every knob, as frozen for this run."),
                ),
                (
                    "sources",
                    models.JSONField(
                        blank=True, default=dict, help_text="The chosen searches and collections."
                    ),
                ),
                ("engine_version", models.CharField(blank=True, max_length=40)),
                ("prompt_digests", models.JSONField(blank=True, default=dict)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("queued", "queued"),
                            ("intake", "intake"),
                            ("awaiting_clarification", "awaiting clarification"),
                            ("awaiting_approval", "awaiting approval"),
                            ("researching", "researching"),
                            ("paused", "paused"),
                            ("writing", "writing"),
                            ("completed", "completed"),
                            ("failed", "failed"),
                            ("cancelled", "cancelled"),
                        ],
                        default="queued",
                        max_length=24,
                    ),
                ),
                (
                    "stage",
                    models.CharField(
                        choices=[
                            ("overview", "overview"),
                            ("deep_research", "deep research"),
                            ("verification", "verification"),
                            ("report", "report"),
                        ],
                        default="overview",
                        max_length=16,
                    ),
                ),
                ("round", models.PositiveIntegerField(default=0)),
                (
                    "complexity",
                    models.CharField(
                        choices=[
                            ("simple", "simple"),
                            ("ordinary", "ordinary"),
                            ("complex", "complex"),
                        ],
                        default="ordinary",
                        max_length=10,
                    ),
                ),
                ("language", models.CharField(default="en", help_text="BCP 47", max_length=35)),
                ("analyst", models.CharField(default="extractive", max_length=200)),
                ("quality_score", models.FloatField(blank=True, null=True)),
                ("verdict", models.TextField(blank=True)),
                (
                    "termination_reason",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("cancelled", "cancelled"),
                            ("user_stopped", "user stopped"),
                            ("budget_time", "budget time"),
                            ("budget_calls", "budget calls"),
                            ("budget_tokens", "budget tokens"),
                            ("budget_cost", "budget cost"),
                            ("budget_searches", "budget searches"),
                            ("budget_fetches", "budget fetches"),
                            ("max_units", "max units"),
                            ("max_rounds", "max rounds"),
                            ("nothing_found", "nothing found"),
                            ("quality_met", "quality met"),
                            ("no_gaps", "no gaps"),
                            ("stuck", "stuck"),
                            ("no_novelty", "no novelty"),
                            ("diminishing_quality", "diminishing quality"),
                            ("tree_complete", "tree complete"),
                        ],
                        max_length=24,
                        null=True,
                    ),
                ),
                ("termination_text", models.TextField(blank=True, null=True)),
                ("plan", models.JSONField(blank=True, null=True)),
                ("action", models.TextField(blank=True)),
                ("action_at", models.DateTimeField(blank=True, null=True)),
                ("usage", models.JSONField(blank=True, default=dict)),
                ("sequence", models.PositiveBigIntegerField(default=0)),
                ("lease_owner", models.CharField(blank=True, max_length=100)),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("lease_epoch", models.PositiveBigIntegerField(default=0)),
                (
                    "crashes",
                    models.PositiveSmallIntegerField(
                        default=0, help_text="How often a worker died while it had the run."
                    ),
                ),
                ("idempotency_key", models.CharField(blank=True, max_length=200, null=True)),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="runs",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "parent",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="children",
                        to="research.run",
                    ),
                ),
            ],
            options={
                "verbose_name": "run",
                "verbose_name_plural": "runs",
                "ordering": ("-created_at", "-pk"),
            },
        ),
        migrations.CreateModel(
            name="Evidence",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("label", models.CharField(max_length=40)),
                ("position", models.PositiveIntegerField()),
                ("claim", models.TextField()),
                ("aspect_label", models.CharField(blank=True, max_length=40, null=True)),
                ("round", models.PositiveIntegerField()),
                ("relevance", models.FloatField()),
                (
                    "key",
                    models.BooleanField(
                        default=False, help_text="The best claim of an answered sub-question."
                    ),
                ),
                ("confidence", models.FloatField(default=0.5)),
                ("uncertainty", models.JSONField(blank=True, default=list)),
                ("contradicts", models.JSONField(blank=True, default=list)),
                ("fields", models.JSONField(blank=True, default=dict)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="evidence",
                        to="research.run",
                    ),
                ),
            ],
            options={
                "verbose_name": "evidence",
                "verbose_name_plural": "evidence",
                "ordering": ("run", "position", "label"),
            },
        ),
        migrations.CreateModel(
            name="Command",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("answer", "answer"),
                            ("skip", "skip"),
                            ("approve", "approve"),
                            ("revise", "revise"),
                            ("stop", "stop"),
                            ("cancel", "cancel"),
                            ("pause", "pause"),
                            ("resume", "resume"),
                            ("add_topic", "add topic"),
                            ("drop_topic", "drop topic"),
                        ],
                        max_length=12,
                    ),
                ),
                ("payload", models.JSONField(blank=True, default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("taken_at_place", models.TextField(blank=True, null=True)),
                (
                    "actor",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.RESTRICT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="commands",
                        to="research.run",
                    ),
                ),
            ],
            options={
                "verbose_name": "command",
                "verbose_name_plural": "commands",
                "ordering": ("run", "pk"),
            },
        ),
        migrations.CreateModel(
            name="Aspect",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("label", models.CharField(max_length=40)),
                ("position", models.PositiveIntegerField()),
                ("text", models.TextField()),
                ("query", models.TextField(blank=True)),
                (
                    "raised_by",
                    models.TextField(blank=True, help_text="An address, 'plan' or 'user'."),
                ),
                ("round", models.PositiveIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("answered", "answered"),
                            ("one_source", "one source"),
                            ("disputed", "disputed"),
                            ("open", "open"),
                            ("not_found", "not found"),
                        ],
                        max_length=12,
                    ),
                ),
                ("evidence_labels", models.JSONField(blank=True, default=list)),
                ("searches_without_news", models.PositiveIntegerField(default=0)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="aspects",
                        to="research.run",
                    ),
                ),
            ],
            options={
                "verbose_name": "sub-question",
                "verbose_name_plural": "sub-questions",
                "ordering": ("run", "position", "label"),
            },
        ),
        migrations.CreateModel(
            name="RunPage",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("url", models.TextField()),
                ("url_key", models.CharField(editable=False, max_length=32)),
                (
                    "page",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="uses",
                        to="research.pagetext",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pages",
                        to="research.run",
                    ),
                ),
            ],
            options={
                "verbose_name": "page of a run",
                "verbose_name_plural": "pages of runs",
                "ordering": ("run", "pk"),
            },
        ),
        migrations.CreateModel(
            name="Source",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("url", models.TextField()),
                ("url_key", models.CharField(editable=False, max_length=32)),
                ("title", models.TextField(blank=True)),
                ("domain", models.CharField(max_length=255)),
                ("round", models.PositiveIntegerField()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("official", "official"),
                            ("academic", "academic"),
                            ("news", "news"),
                            ("forum", "forum"),
                            ("vendor", "vendor"),
                            ("document", "document"),
                            ("unknown", "unknown"),
                        ],
                        default="unknown",
                        max_length=12,
                    ),
                ),
                ("published", models.CharField(blank=True, max_length=64, null=True)),
                ("relevance", models.FloatField(blank=True, null=True)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("cited", "cited"),
                            ("read", "read"),
                            ("empty", "empty"),
                            ("refused", "refused"),
                            ("failed", "failed"),
                            ("not_read", "not read"),
                        ],
                        default="not_read",
                        max_length=10,
                    ),
                ),
                ("reason", models.TextField(blank=True, null=True)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="source_pages",
                        to="research.run",
                    ),
                ),
            ],
            options={
                "verbose_name": "source",
                "verbose_name_plural": "sources",
                "ordering": ("run", "round", "pk"),
            },
        ),
        migrations.CreateModel(
            name="Thread",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "public_id",
                    models.CharField(
                        default=research.models.base.new_public_id,
                        editable=False,
                        max_length=22,
                        unique=True,
                    ),
                ),
                ("title", models.CharField(max_length=200)),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="threads",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "thread",
                "verbose_name_plural": "threads",
                "ordering": ("-created_at", "-pk"),
            },
        ),
        migrations.AddField(
            model_name="run",
            name="thread",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="runs",
                to="research.thread",
            ),
        ),
        migrations.CreateModel(
            name="Unit",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("round", models.PositiveIntegerField()),
                ("number", models.PositiveIntegerField()),
                ("topic", models.TextField()),
                ("aspect_label", models.CharField(blank=True, max_length=40, null=True)),
                ("queries", models.JSONField(blank=True, default=list)),
                (
                    "status",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("done", "done"),
                            ("failed", "failed"),
                            ("late", "late"),
                            ("dropped", "dropped"),
                        ],
                        max_length=10,
                        null=True,
                    ),
                ),
                ("seconds", models.FloatField(default=0)),
                ("failure", models.TextField(blank=True, null=True)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="units",
                        to="research.run",
                    ),
                ),
            ],
            options={
                "verbose_name": "unit",
                "verbose_name_plural": "units",
                "ordering": ("run", "round", "number"),
            },
        ),
        migrations.CreateModel(
            name="Verdict",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "verdict",
                    models.CharField(
                        choices=[
                            ("accept", "accepted"),
                            ("reject", "rejected"),
                            ("flag", "flagged"),
                        ],
                        max_length=8,
                    ),
                ),
                ("note", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "actor",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.RESTRICT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "evidence",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="verdicts",
                        to="research.evidence",
                    ),
                ),
            ],
            options={
                "verbose_name": "verdict",
                "verbose_name_plural": "verdicts",
                "ordering": ("evidence", "pk"),
            },
        ),
        migrations.CreateModel(
            name="EvidenceSource",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("position", models.PositiveIntegerField()),
                ("url", models.TextField()),
                ("title", models.TextField(blank=True)),
                ("domain", models.CharField(db_index=True, max_length=255)),
                ("independence_key", models.TextField()),
                ("quote", models.TextField()),
                ("start", models.PositiveIntegerField()),
                ("end", models.PositiveIntegerField()),
                ("text_sha256", models.CharField(max_length=64)),
                ("fetched_at", models.DateTimeField()),
                ("section", models.TextField(blank=True)),
                ("published", models.CharField(blank=True, max_length=64, null=True)),
                (
                    "evidence",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="quotes",
                        to="research.evidence",
                    ),
                ),
            ],
            options={
                "verbose_name": "quote",
                "verbose_name_plural": "quotes",
                "ordering": ("evidence", "position"),
                "constraints": [
                    models.UniqueConstraint(fields=("evidence", "position"), name="quote_key")
                ],
            },
        ),
        migrations.CreateModel(
            name="Round",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                (
                    "stage",
                    models.CharField(
                        choices=[
                            ("overview", "overview"),
                            ("deep_research", "deep research"),
                            ("verification", "verification"),
                            ("report", "report"),
                        ],
                        max_length=16,
                    ),
                ),
                ("topics", models.JSONField(blank=True, default=list)),
                ("skipped", models.JSONField(blank=True, default=list)),
                ("dimensions", models.JSONField(blank=True, default=dict)),
                ("score", models.FloatField(blank=True, null=True)),
                ("model_score", models.FloatField(blank=True, null=True)),
                ("model_overall", models.FloatField(blank=True, null=True)),
                ("cap", models.FloatField(blank=True, null=True)),
                ("cap_reason", models.TextField(blank=True)),
                ("reasoning", models.TextField(blank=True)),
                ("novelty", models.FloatField(blank=True, null=True)),
                ("pages_read", models.PositiveIntegerField(default=0)),
                ("new_evidence", models.PositiveIntegerField(default=0)),
                ("answered", models.PositiveIntegerField(default=0)),
                ("gaps", models.JSONField(blank=True, default=list)),
                ("decision", models.TextField(blank=True)),
                ("closed", models.BooleanField(default=False)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="rounds",
                        to="research.run",
                    ),
                ),
            ],
            options={
                "verbose_name": "round",
                "verbose_name_plural": "rounds",
                "ordering": ("run", "number"),
                "constraints": [
                    models.UniqueConstraint(fields=("run", "number"), name="round_key")
                ],
            },
        ),
        migrations.CreateModel(
            name="Report",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("markdown", models.TextField(blank=True)),
                ("short_answer", models.TextField(blank=True)),
                ("citations", models.JSONField(blank=True, default=list)),
                ("checks", models.JSONField(blank=True, default=dict)),
                ("evidence_digest", models.CharField(max_length=64)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reports",
                        to="research.run",
                    ),
                ),
            ],
            options={
                "verbose_name": "report",
                "verbose_name_plural": "reports",
                "ordering": ("run", "number"),
                "constraints": [
                    models.UniqueConstraint(fields=("run", "number"), name="report_key")
                ],
            },
        ),
        migrations.CreateModel(
            name="RefusedQuote",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("round", models.PositiveIntegerField()),
                ("unit", models.PositiveIntegerField()),
                ("ordinal", models.PositiveIntegerField()),
                ("claim", models.TextField()),
                ("url", models.TextField()),
                ("reason", models.TextField()),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="refused_quotes",
                        to="research.run",
                    ),
                ),
            ],
            options={
                "verbose_name": "refused quote",
                "verbose_name_plural": "refused quotes",
                "ordering": ("run", "round", "unit", "ordinal"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("run", "round", "unit", "ordinal"), name="refused_quote_key"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Problem",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(editable=False, max_length=32)),
                ("where", models.TextField()),
                ("message", models.TextField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="problems",
                        to="research.run",
                    ),
                ),
            ],
            options={
                "verbose_name": "problem",
                "verbose_name_plural": "problems",
                "ordering": ("run", "pk"),
                "constraints": [models.UniqueConstraint(fields=("run", "key"), name="problem_key")],
            },
        ),
        migrations.CreateModel(
            name="JournalEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("place", models.TextField()),
                ("place_key", models.CharField(editable=False, max_length=32)),
                ("attempt", models.PositiveIntegerField()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("model", "model"),
                            ("search", "search"),
                            ("fetch", "fetch"),
                            ("decision", "decision"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("pending", "pending"),
                            ("done", "done"),
                            ("failed", "failed"),
                            ("refused", "refused"),
                        ],
                        max_length=10,
                    ),
                ),
                ("request_hash", models.CharField(blank=True, max_length=64)),
                ("request", models.JSONField(blank=True, default=dict)),
                ("answer", models.JSONField(blank=True, null=True)),
                ("seconds", models.FloatField(default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="journal",
                        to="research.run",
                    ),
                ),
            ],
            options={
                "verbose_name": "call",
                "verbose_name_plural": "calls",
                "ordering": ("run", "pk"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("run", "place_key", "attempt"), name="journal_key"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="GateResult",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("round", models.PositiveIntegerField()),
                (
                    "gate",
                    models.CharField(
                        choices=[
                            ("overview", "overview"),
                            ("deep_research", "deep research"),
                            ("evidence", "evidence"),
                            ("report_ready", "report ready"),
                            ("draft", "draft"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "decision",
                    models.CharField(
                        choices=[
                            ("pass", "pass"),
                            ("retry", "retry"),
                            ("not_to_be_had", "not to be had"),
                        ],
                        max_length=16,
                    ),
                ),
                ("score", models.FloatField(blank=True, null=True)),
                ("threshold", models.FloatField(blank=True, null=True)),
                ("criteria", models.JSONField(blank=True, default=list)),
                ("feedback", models.JSONField(blank=True, default=list)),
                ("at", models.DateTimeField()),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="gates",
                        to="research.run",
                    ),
                ),
            ],
            options={
                "verbose_name": "gate result",
                "verbose_name_plural": "gate results",
                "ordering": ("run", "round", "at", "pk"),
                "constraints": [
                    models.UniqueConstraint(fields=("run", "round", "gate"), name="gate_key")
                ],
            },
        ),
        migrations.CreateModel(
            name="Gap",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("label", models.CharField(max_length=40)),
                ("position", models.PositiveIntegerField()),
                ("text", models.TextField()),
                ("aspect_label", models.CharField(blank=True, max_length=40, null=True)),
                ("critical", models.BooleanField(default=False)),
                ("query", models.TextField(blank=True)),
                ("opened_round", models.PositiveIntegerField()),
                ("closed_round", models.PositiveIntegerField(blank=True, null=True)),
                ("closed_by", models.JSONField(blank=True, default=list)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="gaps",
                        to="research.run",
                    ),
                ),
            ],
            options={
                "verbose_name": "gap",
                "verbose_name_plural": "gaps",
                "ordering": ("run", "position", "label"),
                "constraints": [models.UniqueConstraint(fields=("run", "label"), name="gap_key")],
            },
        ),
        migrations.AddConstraint(
            model_name="evidence",
            constraint=models.UniqueConstraint(fields=("run", "label"), name="evidence_key"),
        ),
        migrations.AddConstraint(
            model_name="aspect",
            constraint=models.UniqueConstraint(fields=("run", "label"), name="aspect_key"),
        ),
        migrations.AddConstraint(
            model_name="runpage",
            constraint=models.UniqueConstraint(fields=("run", "url_key"), name="run_page_key"),
        ),
        migrations.AddConstraint(
            model_name="source",
            constraint=models.UniqueConstraint(fields=("run", "url_key"), name="source_key"),
        ),
        migrations.AddIndex(
            model_name="thread",
            index=models.Index(fields=["owner", "-created_at"], name="thread_owner_newest"),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["owner", "-created_at"], name="run_owner_newest"),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(fields=["-created_at"], name="run_newest"),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(
                    ("status__in", ["cancelled", "completed", "failed"]), _negated=True
                ),
                fields=["created_at"],
                name="run_claimable",
            ),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.UniqueConstraint(
                fields=("owner", "idempotency_key"), name="run_idempotency_key"
            ),
        ),
        migrations.AddConstraint(
            model_name="unit",
            constraint=models.UniqueConstraint(fields=("run", "round", "number"), name="unit_key"),
        ),
    ]
