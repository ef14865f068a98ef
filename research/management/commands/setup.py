"""`manage.py setup`: asks for model and search, and writes them to `.env`."""

from __future__ import annotations

import asyncio
import getpass
import json
import os
import sys
from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from research.llm.local import LocalServer, find_local
from research.runtime.program import program_name

QUESTIONS = {
    "OPENAI_BASE_URL": "Address of the model's server (empty for OpenAI's own)",
    "OPENAI_API_KEY": "Its key (empty for none)",
    "RESEARCH_MODEL": "Model (empty for none: passages are quoted)",
    "MODEL_PROFILE": "Profile: standard, or small for a model of a few billion parameters or less",
    "SEARXNG_URL": "Address of a SearXNG to search the web with (empty for none)",
    "DOCUMENTS": "Folders of documents to search, separated by commas (empty for none)",
}


class Command(BaseCommand):
    help = "Asks for the essential settings and writes them to .env, keeping the others."
    requires_system_checks: list[str] = []  # noqa: RUF012 - Django's own declaration

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--json",
            action="store_true",
            help="ask on standard error, print one JSON object: the file and its settings' names",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = settings.ENV_FILE or Path.cwd() / ".env"
        kept = read_env_file(path)
        self._asking = self.stderr if options["json"] else self.stdout
        self._tell(f"Settings go to {path}. Enter keeps the value in brackets.")
        suggested = {**self._suggested(kept), **kept}
        answers = {name: self._ask(name, suggested.get(name, "")) for name in QUESTIONS}
        written = {name: value for name, value in answers.items() if value or name in kept}
        write_env_file(path, written)
        if options["json"]:
            told = {"file": str(path), "settings": list(written)}  # no values: one is a key
            self.stdout.write(json.dumps(told, ensure_ascii=False, indent=1))
        else:
            self._tell(f"Written. {program_name()} preflight tries it all.")

    def _read(self, prompt: str) -> str:
        if self._asking is self.stdout:
            return input(prompt)  # knows the prompt's width on a terminal
        self._tell(prompt, ending="")
        return input()

    def _tell(self, text: str, ending: str = "\n") -> None:
        self._asking.write(text, style_func=str, ending=ending)

    def _suggested(self, kept: Mapping[str, str]) -> dict[str, str]:
        """Return a model server found on this machine, unless a model is already configured."""
        if "RESEARCH_MODEL" in kept:
            return {}
        found: list[LocalServer] = asyncio.run(find_local(settings.LOCAL_MODEL_PORTS))
        for server in found:
            self._tell(f"Found {server.name} at {server.address}: {', '.join(server.models)}")
        if not found:
            return {}
        return {"OPENAI_BASE_URL": found[0].address, "RESEARCH_MODEL": found[0].models[0]}

    def _ask(self, name: str, present: str) -> str:
        """Read a line of standard input; at its end keep the present value."""
        secret = name == "OPENAI_API_KEY"
        shown = " [kept]" if secret and present else f" [{present}]" if present else ""
        prompt = f"{QUESTIONS[name]}{shown}: "
        try:
            if secret and sys.stdin.isatty():
                return getpass.getpass(prompt).strip() or present
            return self._read(prompt).strip() or present
        except EOFError:
            self._tell("")
            return present


def read_env_file(path: Path) -> dict[str, str]:
    """Return the assignments of an env file, {} if it doesn't exist."""
    lines = path.read_text().splitlines() if path.is_file() else []
    pairs = (line.split("=", 1) for line in lines if "=" in line and not _is_comment(line))
    return {
        name.strip().removeprefix("export "): value.strip().strip("'\"") for name, value in pairs
    }


def write_env_file(path: Path, values: Mapping[str, str]) -> None:
    """Write the settings in place, new ones at the end; the file is readable only by its owner."""
    lines = path.read_text().splitlines() if path.is_file() else []
    left = dict(values)
    for number, line in enumerate(lines):
        name = _setting_name(line.split("=", 1)[0])
        if "=" in line and not _is_comment(line) and name in left:
            lines[number] = f"{name}={left.pop(name)}"
    lines += [f"{name}={value}" for name, value in left.items()]
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write("\n".join(lines) + "\n")
    draft.replace(path)


def _setting_name(text: str) -> str:
    return text.strip().removeprefix("export ").strip()


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")
