"""Names, folders and marks of threads, attached files, and the words of reports."""

import django.db.models.deletion
from django.db import migrations, models

MADE = (
    "ALTER TABLE research_report ADD COLUMN markdown_words tsvector "
    "GENERATED ALWAYS AS (to_tsvector('simple'::regconfig, left(markdown, 250000))) STORED",
    "CREATE INDEX report_words ON research_report USING gin (markdown_words)",
)
UNMADE = ("ALTER TABLE research_report DROP COLUMN markdown_words",)


def make(apps, schema_editor):
    """Only PostgreSQL has such a column; elsewhere reports are searched row by row."""
    execute(schema_editor, MADE)


def unmake(apps, schema_editor):
    execute(schema_editor, UNMADE)


def execute(schema_editor, statements):
    if schema_editor.connection.vendor == "postgresql":
        for statement in statements:
            schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [
        ("research", "0018_api_tokens"),
    ]

    operations = [
        migrations.AddField(
            model_name="collection",
            name="thread",
            field=models.ForeignKey(
                blank=True,
                help_text="The question that its files were attached to.",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="attached",
                to="research.thread",
            ),
        ),
        migrations.AddField(
            model_name="thread",
            name="archived",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="thread",
            name="deleted_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="thread",
            name="folder",
            field=models.CharField(blank=True, max_length=60),
        ),
        migrations.AddField(
            model_name="thread",
            name="name",
            field=models.CharField(blank=True, max_length=200),
        ),
        migrations.AddField(
            model_name="thread",
            name="pinned",
            field=models.BooleanField(default=False),
        ),
        migrations.RunPython(make, unmake),
    ]
