"""Commands: those of the project's apps, and a few of Django's for accounts and the database.

Completions for shells are made from the commands' parsers.
"""

from __future__ import annotations

import sys
from argparse import SUPPRESS, ArgumentParser
from collections.abc import Sequence
from difflib import get_close_matches

from django.core.management import get_commands, load_command_class
from django.core.management.base import (
    BaseCommand,
    CommandError,
    CommandParser,
    handle_default_options,
)
from django.db import connections

APPS = frozenset({"dashboard", "research"})
OLDER_NAMES = frozenset({"export", "retry"})
"""`runs export` and `runs resume` do the same."""

OF_DJANGO = ("changepassword", "createsuperuser")
BAD_USE = 2
_OPTIONS_OF_DJANGO = frozenset(
    {"version", "verbosity", "settings", "pythonpath", "traceback", "no_color", "force_color",
     "skip_checks"}
)  # fmt: skip
"""Left out of the help, where they would come before a command's own."""

ENDING = """\
  completion SHELL     prints completions for bash or zsh

`plumbline COMMAND --help` explains one. Exit codes: 0 done, 1 failed or no answer, 2 wrong use,
130 interrupted."""
SHELLS = ("bash", "zsh")
USAGE = f"usage: plumbline completion {{{','.join(SHELLS)}}}"


def names() -> list[str]:
    """Return the names of the commands, as they are typed."""
    own = {name for name, app in get_commands().items() if app in APPS}
    return sorted(name.replace("_", "-") for name in (*(own - OLDER_NAMES), *OF_DJANGO))


def load(typed: str) -> BaseCommand:
    name = typed.replace("-", "_")
    command = load_command_class(get_commands()[name], name)
    command._called_from_command_line = True  # wrong options print the usage and exit with code 2
    return command


def make_parser(typed: str) -> CommandParser:
    """Return the command's parser, with Django's own options hidden."""
    parser = load(typed).create_parser("plumbline", typed)
    for action in parser._actions:
        if action.dest in _OPTIONS_OF_DJANGO:
            action.help = SUPPRESS
    return parser


def overview() -> str:
    lines = ["usage: plumbline COMMAND …", ""]
    lines += [f"  {name:<20} {_first_sentence(load(name).help)}" for name in names()]
    return "\n".join([*lines, ENDING])


def run(typed: str, arguments: Sequence[str]) -> int:
    """Run a command; return its exit code. A command may raise `SystemExit` with another one."""
    if typed not in names():
        return _unknown(typed)
    options = vars(make_parser(typed).parse_args(arguments))
    handle_default_options(_Namespace(options))
    command = load(typed)
    try:
        command.execute(*options.pop("args", ()), **options)
    except CommandError as error:
        print(f"plumbline {typed}: {error}", file=sys.stderr)
        return int(error.returncode)
    finally:
        connections.close_all()
    return 0


def _first_sentence(text: str) -> str:
    return f"{text.split('. ')[0].rstrip('.')}."


class _Namespace:
    def __init__(self, values: dict[str, object]) -> None:
        self.__dict__.update(values)


def root_parser() -> ArgumentParser:
    """Return one parser of all commands, for completions."""
    parser = ArgumentParser("plumbline")
    actions = parser.add_subparsers(metavar="COMMAND")
    for name in names():
        known = make_parser(name)
        actions.add_parser(name, parents=[known], add_help=False, help=known.description)
    return parser


def _unknown(typed: str) -> int:
    near = get_close_matches(typed, names(), 1)
    hint = f" Did you mean {near[0]}?" if near else " `plumbline help` lists them."
    print(f"plumbline: there is no command {typed}.{hint}", file=sys.stderr)
    return BAD_USE


def print_completions(arguments: Sequence[str]) -> int:
    """Print the script of completions for a shell, and return the exit code."""
    import shtab

    if len(arguments) != 1 or arguments[0] not in SHELLS:
        wants_help = arguments and arguments[0] in ("-h", "--help")
        print(USAGE, file=sys.stdout if wants_help else sys.stderr)
        return 0 if wants_help else BAD_USE
    print(shtab.complete(root_parser(), shell=arguments[0]))
    return 0
