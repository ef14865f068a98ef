from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("research", "0014_unreadable_pages"),
    ]

    operations = [
        migrations.AlterField(
            model_name="aspect",
            name="state",
            field=models.CharField(
                choices=[
                    ("answered", "answered"),
                    ("one_source", "one source"),
                    ("disputed", "disputed"),
                    ("open", "open"),
                    ("not_found", "not found"),
                    ("not_searched", "not searched"),
                ],
                max_length=12,
            ),
        ),
    ]
