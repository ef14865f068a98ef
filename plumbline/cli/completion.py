"""`plumbline completion SHELL`: a script of completions, made from the commands' parsers."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import shtab

from plumbline.cli.commands import BAD_USE, root_parser

SHELLS = ("bash", "zsh")
USAGE = f"usage: plumbline completion {{{','.join(SHELLS)}}}"


def print_script(arguments: Sequence[str]) -> int:
    """Print the script for a shell, and return the exit code."""
    if len(arguments) != 1 or arguments[0] not in SHELLS:
        wants_help = arguments and arguments[0] in ("-h", "--help")
        print(USAGE, file=sys.stdout if wants_help else sys.stderr)
        return 0 if wants_help else BAD_USE
    print(shtab.complete(root_parser(), shell=arguments[0]))
    return 0
