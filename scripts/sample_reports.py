"""Research the sample questions without a model and store the finished runs as sample reports:
`python -m scripts.sample_reports`.
"""

from __future__ import annotations

import os
import tempfile


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "PLUMBLINE_HOME": home,
            "NETWORK_PROBE": "none",
            "RESEARCH_MODEL": "",
            "DATABASE_URL": "",
        }
        import django

        django.setup()
        make_reports()


def make_reports() -> None:
    from django.core.management import call_command

    from dashboard.views.ask import load_samples
    from research.models import Run
    from research.services.sample_reports import store_sample

    for sample in load_samples():
        call_command("research", sample.question, yes=True, search="samples")
        path = store_sample(Run.objects.get(question=sample.question), sample.slug)
        print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
