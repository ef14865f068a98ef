"""The parts of a knob's declaration: types of values, metadata, and messages for invalid values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, get_args

import idna
from pydantic import AfterValidator, BeforeValidator, Field, PositiveInt, ValidationError
from pydantic.fields import FieldInfo

from research.engine.ports import SearchKind
from research.errors import PlumblineError

LONGEST_LABEL = 63

_HOST = re.compile(r"(?=.{1,253}$)[^\W_]([\w-]*[^\W_])?(\.[^\W_]([\w-]*[^\W_])?)*")


def _as_list(value: Any) -> Any:
    """Return a single text as a tuple of one, and an empty value as an empty one."""
    return () if value in (None, "") else (value,) if isinstance(value, str) else value


def _host_name(written: str) -> str:
    """Return a host's name without the scheme and path of its URL."""
    host = re.sub(r"^\w+://", "", written.strip().lower()).split("/")[0].removeprefix("www.")
    if not _HOST.fullmatch(host) or not all(map(_is_label, host.split("."))):
        raise ValueError("takes names of sites, such as example.org, with commas between")
    return host


def _is_label(label: str) -> bool:
    """Return whether a label is valid in a host name: short enough and, if need be, valid IDNA."""
    try:
        if label.startswith("xn--"):
            idna.decode(label)
        elif not label.isascii():
            label = idna.encode(label, uts46=True).decode("ascii")
    except idna.IDNAError:
        return False
    return len(label) <= LONGEST_LABEL


def _unique_kinds(named: tuple[SearchKind, ...]) -> tuple[SearchKind, ...]:
    if not named:
        raise ValueError(f"takes one or more of {', '.join(get_args(SearchKind))}")
    return tuple(dict.fromkeys(named))


def _parse_day(written: str | None) -> str | None:
    if not written:
        return None
    try:
        return date.fromisoformat(written.strip()).isoformat()
    except ValueError:
        raise ValueError("takes a day, such as 2026-01-31") from None


def _for_all(value: Any) -> Any:
    """Return one number as a triple: the same for simple, ordinary and complex questions."""
    return (value,) * 3 if isinstance(value, int | str) else value


Triple = Annotated[tuple[PositiveInt, PositiveInt, PositiveInt], BeforeValidator(_for_all)]
Sites = Annotated[tuple[Annotated[str, AfterValidator(_host_name)], ...], BeforeValidator(_as_list)]
Day = Annotated[str | None, AfterValidator(_parse_day)]


Kinds = Annotated[tuple[SearchKind, ...], BeforeValidator(_as_list), AfterValidator(_unique_kinds)]


class ConfigError(PlumblineError, ValueError):
    """Invalid knobs; the message names each and the values that it takes.

    `problems` has the same by field, with '' for problems of several fields, but without the value
    that was given.
    """

    def __init__(self, message: str, problems: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.problems = dict(problems or {})


def define_knob(
    default: Any, help: str, *, unit: str = "", aliases: tuple[str, ...] = (), **rules: Any
) -> Any:
    return Field(
        default,
        description=help,
        json_schema_extra={"unit": unit, "aliases": list(aliases)},
        **rules,
    )


def knob_extra(info: FieldInfo) -> dict[str, Any]:
    """Return unit and aliases of a knob."""
    declared = info.json_schema_extra
    assert isinstance(declared, dict)
    return declared


def parse_value(value: str) -> Any:
    """Parse a value as written in the environment: None, a comma-separated list, or a text."""
    text = value.strip()
    if text.lower() in {"", "none"}:
        return None
    if "," in text:
        return tuple(part.strip() for part in text.split(","))
    return text


ONE_OR_THREE = "takes one number, or three with commas between"
_SAYS = {
    "int_parsing": "takes a whole number",
    "int_from_float": "takes a whole number",
    "int_type": "takes a whole number",
    "float_parsing": "takes a number",
    "float_type": "takes a number",
    "bool_parsing": "takes on or off",
    "greater_than_equal": "takes {ge} or more",
    "greater_than": "takes a number above {gt}",
    "less_than_equal": "takes {le} or less",
    "literal_error": "takes {expected}",
    "tuple_type": ONE_OR_THREE,
    "missing": ONE_OR_THREE,
    "too_long": ONE_OR_THREE,
}


def explain_refusal(error: ValidationError) -> ConfigError:
    """Return an error that names every invalid knob with the values that it takes."""
    problems, told = dict[str, str](), dict[str, str]()
    for problem in error.errors():
        name = str(problem["loc"][0]) if problem["loc"] else ""
        says = _SAYS.get(problem["type"], "")
        limits = {key: _plain(limit) for key, limit in problem.get("ctx", {}).items()}
        text = says.format(**limits) if says else problem["msg"].removeprefix("Value error, ")
        given = f", not {problem['input']!r}" if isinstance(problem["input"], str) else ""
        problems[name] = text
        told[name] = f"{name.upper()} {text}{given}".strip()
    return ConfigError("; ".join(told.values()) + ".", problems)


def _plain(limit: Any) -> str:
    """Return a limit as text, a whole number without decimals."""
    return str(limit).removesuffix(".0")
