"""The entry point `plumbline`.

Exit codes: 0 done, 1 the work failed or found no answer, 2 wrong use or an unusable setting,
130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.metadata import version

import django
from django.core.exceptions import ImproperlyConfigured

OVERVIEW = ("-h", "--help", "help")
BAD_USE, INTERRUPTED = 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if words == ["--version"]:
        print(f"plumbline {version('plumbline')}")
        return 0
    try:
        django.setup()
        return _run(words)
    except ImproperlyConfigured as error:
        print(error, file=sys.stderr)
        return BAD_USE
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(words: Sequence[str]) -> int:
    from plumbline.cli import commands

    if not words or words[0] in OVERVIEW:
        print(commands.overview())
        return 0
    if words[0] == "completion":
        return commands.print_completions(words[1:])
    return commands.run(words[0], words[1:])
