"""The declaration of an installation setting, from which everything that shows it derives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "url", "key", "list", "model", "number", "choice", "switch"]


@dataclass(frozen=True)
class Setting:
    """The single declaration of an installation setting.

    The environment's reader, `.env.example`, the documentation, the check for unknown names and the
    Setup page derive from it. `name` is the environment variable, `help` one sentence. A `url` must
    be an address, a `key` is never shown, a `list` is separated by commas, a `model` is a name
    without a provider prefix. Settings with a `label` are on the Setup page, which shows `hint`
    below the field; `aliases` are other names under which the setting is read.
    """

    name: str
    help: str
    kind: Kind
    label: str = ""
    default: str = ""
    hint: str = ""
    aliases: tuple[str, ...] = ()
