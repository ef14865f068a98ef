"""Reference of all settings: generates `.env.example` and `docs/settings.md`.

Run settings (knobs) are declared in `ResearchConfig`, installation settings where
`config.settings` reads them, and settings of search providers in the provider's module.
`.venv/bin/python -m config.reference` writes both files.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotated_types import Ge, Gt, Le
from pydantic.fields import FieldInfo

from config import settings
from research.engine.config import ResearchConfig
from research.engine.knobs import knob_extra
from research.search.providers import declared_settings
from research.setting import Setting

ROOT = Path(__file__).resolve().parent.parent


def installation_settings() -> dict[str, Setting]:
    """Return the declared installation settings by name, those of providers after their choice."""
    found: dict[str, Setting] = {}
    for setting in settings.DECLARED_SETTINGS.values():
        if setting.name == "SEARCH_RATES":
            found |= {each.name: each for each in declared_settings()}
        found[setting.name] = setting
    return found


def env_example() -> str:
    """Return `.env.example`: every setting, commented out, with its default."""
    lines = [
        "# Settings of Plumbline. Copy to .env and uncomment what you need; the real",
        "# environment wins. Written by `python -m config.reference`: do not edit by hand.",
        "",
        "# --- this installation",
    ]
    for name, setting in installation_settings().items():
        lines += ["", f"# {_help(setting)}", f"# {name}={setting.default}"]
    lines += ["", "# --- how research is done (frozen in each run)"]
    for name, info in ResearchConfig.model_fields.items():
        lines += ["", f"# {_knob_help(info)}", f"# {name.upper()}={_value(info.default)}"]
    return "\n".join(lines) + "\n"


def settings_page() -> str:
    """Return the same settings as a Markdown page."""
    lines = [
        "# Settings",
        "",
        "Written by `python -m config.reference` from the one place where each setting is",
        "declared. Settings come from the environment or from `.env` (the file that",
        "`DEEPRESEARCH_ENV_FILE` names, else the nearest one in the working folder or above).",
        "",
        "## Of an installation",
        "",
        "| name | default | meaning | also known as |",
        "| --- | --- | --- | --- |",
        *(_row(setting) for setting in installation_settings().values()),
        "",
        "## Of a run",
        "",
        "Frozen when the run is created; `--set NAME=VALUE` overrides one for one run. A triple",
        "applies to simple, ordinary and complex questions; one number applies to all three.",
        "",
        "| name | default | range | meaning | also known as |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, info in ResearchConfig.model_fields.items():
        aliases = ", ".join(f"`{alias}`" for alias in knob_extra(info)["aliases"])
        row = (
            f"`{name.upper()}`",
            f"`{_value(info.default)}`",
            _range(info),
            _knob_help(info),
            aliases,
        )
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n"


def _help(setting: Setting) -> str:
    also = f" Also known as {', '.join(setting.aliases)}." if setting.aliases else ""
    return f"{setting.help}{also}"


def _row(setting: Setting) -> str:
    default = f"`{setting.default}`" if setting.default else ""
    aliases = ", ".join(f"`{alias}`" for alias in setting.aliases)
    return "| " + " | ".join((f"`{setting.name}`", default, setting.help, aliases)) + " |"


def _knob_help(info: FieldInfo) -> str:
    unit = knob_extra(info)["unit"]
    return f"{info.description} ({unit})" if unit else str(info.description)


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(str(part) for part in value)
    if isinstance(value, bool):
        return "on" if value else "off"
    return "" if value is None else str(value)


def _range(info: FieldInfo) -> str:
    return " ".join(_bounds(info))


def _bounds(info: FieldInfo) -> Iterator[str]:
    for rule in info.metadata:
        if isinstance(rule, Ge):
            yield f"≥ {rule.ge}"
        elif isinstance(rule, Gt):
            yield f"> {rule.gt}"
        elif isinstance(rule, Le):
            yield f"≤ {rule.le}"


FILES = {ROOT / ".env.example": env_example, ROOT / "docs" / "settings.md": settings_page}


def main() -> None:
    for path, made in FILES.items():
        path.write_text(made(), encoding="utf-8")


if __name__ == "__main__":
    main()
