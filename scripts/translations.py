"""Keep the catalogues of the interface: `python -m scripts.translations [update] [compile]`.

`update` collects the texts from templates and code into each `locale/*/LC_MESSAGES/django.po`, for
which GNU gettext is needed. `compile` writes the `django.mo` beside each, without gettext. Both
files are committed, so that a checkout or an installed Plumbline needs neither step. A new language
begins with an empty folder, such as `locale/fr/LC_MESSAGES`, and both steps.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import django
import polib

ROOT = Path(__file__).resolve().parent.parent
LOCALE = ROOT / "locale"
REVISION = "POT-Creation-Date"
"""Changes with every update, so it is left out."""


def catalogues() -> Iterator[Path]:
    yield from sorted(LOCALE.glob("*/LC_MESSAGES/django.po"))


def update() -> None:
    from django.core.management import call_command

    languages = [folder.name for folder in LOCALE.iterdir() if folder.is_dir()]
    ignored = ["bench/*", "tests/*", "scripts/*", "deploy/*", "var/*", ".venv/*", "docs/*"]
    call_command(
        "makemessages", locale=languages, extensions=["html", "py"], ignore_patterns=ignored,
        add_location="file", no_wrap=True,
    )  # fmt: skip
    for path in catalogues():
        catalogue = polib.pofile(str(path), wrapwidth=0)
        add_declared(catalogue, declared_texts())
        drop_guesses(catalogue)
        for entry in catalogue.obsolete_entries():
            catalogue.remove(entry)
        catalogue.metadata.pop(REVISION, None)
        catalogue.save()


def declared_texts() -> set[str]:
    """Return texts that are declared as data: help of settings and presets, units and choices."""
    from typing import Literal, get_args, get_origin

    from django.conf import settings

    from dashboard.views.ask import load_samples
    from research.engine.config import ResearchConfig
    from research.engine.knobs import knob_extra
    from research.llm.presets import MODEL_PRESETS
    from research.search.providers import PROVIDERS, needed_settings

    found: set[str] = {sample.hint for sample in load_samples()}
    for info in ResearchConfig.model_fields.values():
        found |= {info.description or "", knob_extra(info)["unit"]}
        if get_origin(info.annotation) is Literal:
            found |= {str(choice) for choice in get_args(info.annotation)}
    found |= {text for preset in MODEL_PRESETS for text in (preset.hint, preset.label)}
    for setting in (*settings.SETUP_SETTINGS, *needed_settings()):
        found |= {setting.label, setting.hint or setting.help}
    for provider in PROVIDERS.values():
        if provider.needs:
            found |= {provider.needs.help, provider.label}
    return found - {""}


def add_declared(catalogue: polib.POFile, texts: Iterable[str]) -> None:
    """Add declared texts, and bring back those that were collected before as obsolete."""
    known = {entry.msgid: entry for entry in catalogue}
    for text in sorted(texts):
        entry = known.get(text)
        if entry is None:
            catalogue.append(polib.POEntry(msgid=text, comment="declared as data"))
        elif entry.obsolete:
            entry.obsolete = False


def drop_guesses(catalogue: polib.POFile) -> None:
    """Empty the translations that gettext took over from similar texts: they have to be written."""
    for entry in catalogue.fuzzy_entries():
        entry.flags.remove("fuzzy")
        entry.msgstr = ""
        entry.msgstr_plural = dict.fromkeys(entry.msgstr_plural, "")
        entry.previous_msgid = entry.previous_msgid_plural = entry.previous_msgctxt = None


def compile_all() -> None:
    for path in catalogues():
        path.with_suffix(".mo").write_bytes(compiled(path))


def compiled(path: Path) -> bytes:
    """Return the binary catalogue of a .po file."""
    return bytes(polib.pofile(str(path)).to_binary())


def main(steps: list[str]) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.chdir(ROOT)
    django.setup()
    for step in steps or ["update", "compile"]:
        {"update": update, "compile": compile_all}[step]()


if __name__ == "__main__":
    main(sys.argv[1:])
