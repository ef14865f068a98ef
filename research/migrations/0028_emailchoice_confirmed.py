from django.db import migrations, models


class Migration(migrations.Migration):
    """Addresses that are in use already count as confirmed."""

    dependencies = [("research", "0027_ranges")]

    operations = [
        migrations.AddField(
            model_name="emailchoice",
            name="confirmed",
            field=models.BooleanField(default=True),
        ),
        migrations.AlterField(
            model_name="emailchoice",
            name="confirmed",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
