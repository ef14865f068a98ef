from django.db import migrations, models

NAME = "evidence_words"
MADE = (
    f"CREATE INDEX {NAME} ON research_evidence USING gin (to_tsvector('simple'::regconfig, claim))"
)


def make(apps, schema_editor):
    """Only PostgreSQL has such an index; elsewhere claims are searched row by row."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(MADE)


def drop(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(f"DROP INDEX {NAME}")


class Migration(migrations.Migration):
    dependencies = [
        ("research", "0009_threads"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="evidence",
            index=models.Index(
                condition=models.Q(("contradicts", []), _negated=True),
                fields=["-id"],
                name="evidence_disputed",
            ),
        ),
        migrations.RunPython(make, drop),
    ]
