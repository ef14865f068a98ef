"""Claims beside their words: parsing them again for each search was most of its time."""

from django.db import migrations

MADE = (
    "DROP INDEX evidence_words",
    "ALTER TABLE research_evidence ADD COLUMN claim_words tsvector "
    "GENERATED ALWAYS AS (to_tsvector('simple'::regconfig, claim)) STORED",
    "CREATE INDEX evidence_words ON research_evidence USING gin (claim_words)",
)
UNMADE = (
    "ALTER TABLE research_evidence DROP COLUMN claim_words",
    "CREATE INDEX evidence_words ON research_evidence "
    "USING gin (to_tsvector('simple'::regconfig, claim))",
)


def make(apps, schema_editor):
    """Only PostgreSQL has such a column; elsewhere claims are searched row by row."""
    execute(schema_editor, MADE)


def unmake(apps, schema_editor):
    execute(schema_editor, UNMADE)


def execute(schema_editor, statements):
    if schema_editor.connection.vendor == "postgresql":
        for statement in statements:
            schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [
        ("research", "0010_evidence_at_scale"),
    ]

    operations = [migrations.RunPython(make, unmake)]
