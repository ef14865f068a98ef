"""Reads, validates and declares settings from the environment and the `.env` file.

No other module reads `os.environ`. Every reader raises `ImproperlyConfigured` with one sentence for
the operator, and adds the setting to `DECLARED`, from which documentation, forms and checks derive.
"""

from __future__ import annotations

import ipaddress
import json
import math
import os
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, TypedDict, Unpack
from urllib.parse import urlsplit

import environ
from django.conf.locale import LANG_INFO
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import to_language

from research.engine.config import ResearchConfig, knob_names
from research.engine.knobs import ConfigError
from research.fetch.url_policy import is_server_address
from research.llm.prices import Price, PriceError, parse_prices, plain_name
from research.runtime.private_files import make_private_database, make_private_folder
from research.search.providers import ProviderSettings, declared_settings
from research.setting import Kind, Setting

TRUE = frozenset({"1", "true", "yes", "on"})
FALSE = frozenset({"0", "false", "no", "off", ""})
DATABASE_SCHEMES = frozenset({"sqlite", "postgres", "postgresql", "psql", "pgsql"})
CONNECTION_SECONDS = 60
"""For which a connection is used again; opening one costs more than most requests."""

DECLARED: dict[str, Setting] = {}
"""The settings that were read, by name, in the order of `config.settings`."""


class Description(TypedDict, total=False):
    """What is declared of a setting beside its value; see `Setting`."""

    help: str
    label: str
    hint: str


def declare(
    name: str,
    kind: Kind,
    default: object = "",
    aliases: tuple[str, ...] = (),
    **about: Unpack[Description],
) -> None:
    """Add a setting to the declared ones; a second reader of the same name changes nothing."""
    described: dict[str, Any] = {"help": "", **about}
    DECLARED.setdefault(
        name, Setting(name=name, kind=kind, default=str(default), aliases=aliases, **described)
    )


def setup_settings() -> tuple[Setting, ...]:
    """Return the declared settings that the Setup page offers."""
    return tuple(setting for setting in DECLARED.values() if setting.label)


def load_env_file() -> Path | None:
    """Load `DEEPRESEARCH_ENV_FILE`, else the nearest `.env` upwards; the environment wins.

    Return the file, or None if there is none.
    """
    path = find_env_file(os.environ, Path.cwd())
    if path is not None:
        environ.Env.read_env(path)
    return path


def find_env_file(values: Mapping[str, str], start: Path) -> Path | None:
    """Return the file to load, or None; raise `ImproperlyConfigured` if a named one is missing."""
    named = values.get("DEEPRESEARCH_ENV_FILE")
    if named:
        path = Path(named).expanduser()
        if not path.exists() or path.is_dir():
            raise ImproperlyConfigured(f"DEEPRESEARCH_ENV_FILE names {named}, which is not a file.")
        return path
    candidates = (folder / ".env" for folder in (start, *start.parents))
    return next((path for path in candidates if path.is_file()), None)


def given_value(name: str, default: str = "") -> str:
    """Return what the environment has; an empty value counts as not set."""
    return os.environ.get(name, "").strip() or default


def read_string(name: str, default: str = "", **about: Unpack[Description]) -> str:
    declare(name, "text", default, **about)
    return given_value(name, default)


def read_key(name: str, **about: Unpack[Description]) -> str:
    """Return a secret, which no page shows."""
    declare(name, "key", **about)
    return given_value(name)


def read_model_name(*names: str, **about: Unpack[Description]) -> str:
    """Return the first of these settings that is set, without a provider prefix."""
    declare(names[0], "model", aliases=names[1:], **about)
    return plain_name(next(filter(None, map(given_value, names)), ""))


def read_list(name: str, **about: Unpack[Description]) -> list[str]:
    """Return the items of a comma-separated list."""
    declare(name, "list", **about)
    return [part.strip() for part in given_value(name).split(",") if part.strip()]


def read_folders(name: str, **about: Unpack[Description]) -> list[str]:
    """Return comma-separated folders as absolute paths; refuse those that don't exist."""
    found = [Path(part).expanduser().resolve() for part in read_list(name, **about)]
    for folder in found:
        if not folder.is_dir():
            raise ImproperlyConfigured(f"{name} names {folder}, which is not a folder.")
    return [str(folder) for folder in found]


def read_boolean(name: str, default: bool = False, **about: Unpack[Description]) -> bool:
    written = "on" if default else "off"
    declare(name, "switch", written, **about)
    value = given_value(name, written).lower()
    if value not in TRUE | FALSE:
        raise ImproperlyConfigured(f"{name} is {value!r}; it must be on or off.")
    return value in TRUE


def has_display() -> bool:
    """Return whether windows can be shown: on Linux, if there is an X or a Wayland server."""
    if sys.platform in ("darwin", "win32"):
        return not os.environ.get("SSH_CONNECTION")
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def one_of(name: str, choices: tuple[str, ...], **about: Unpack[Description]) -> str:
    """Return one of the choices; the first is the default."""
    declare(name, "choice", choices[0], **about)
    value = given_value(name, choices[0]).lower()
    if value not in choices:
        raise ImproperlyConfigured(f"{name} is {value!r}; it must be {' or '.join(choices)}.")
    return value


def read_port(name: str, default: int, **about: Unpack[Description]) -> int:
    declare(name, "number", default, **about)
    value = given_value(name, str(default))
    if not value.isascii() or not value.isdigit() or not 0 < int(value) < 65536:
        raise ImproperlyConfigured(f"{name} is {value!r}; it must be a number from 1 to 65535.")
    return int(value)


def read_count(
    name: str,
    default: int,
    least: int = 1,
    most: int | None = None,
    **about: Unpack[Description],
) -> int:
    declare(name, "number", default, **about)
    value = given_value(name, str(default))
    is_count = value.isascii() and value.isdigit() and int(value) >= least
    if not is_count or (most is not None and int(value) > most):
        limits = f"from {least}" if most is None else f"from {least} to {most}"
        raise ImproperlyConfigured(f"{name} is {value!r}; it must be a whole number {limits}.")
    return int(value)


def read_seconds(name: str, default: float, **about: Unpack[Description]) -> float:
    declare(name, "number", default, **about)
    value = optional_number(name)
    if value is None:
        return default
    if value <= 0:
        raise ImproperlyConfigured(f"{name} is {given_value(name)!r}; it must be above 0 seconds.")
    return value


def optional_number(name: str, **about: Unpack[Description]) -> float | None:
    """Return a finite number, or None if it is not set."""
    declare(name, "number", **about)
    value = given_value(name)
    try:
        found = float(value) if value else None
    except ValueError:
        found = math.nan
    if found is not None and not math.isfinite(found):
        raise ImproperlyConfigured(f"{name} is {value!r}; it must be a number.")
    return found


def read_prices(name: str, **about: Unpack[Description]) -> dict[str, Price]:
    declare(name, "list", **about)
    try:
        return parse_prices(given_value(name))
    except PriceError as error:
        raise ImproperlyConfigured(str(error)) from None


def read_ports(
    name: str, default: tuple[int, ...], **about: Unpack[Description]
) -> tuple[int, ...]:
    declare(name, "list", ",".join(map(str, default)), **about)
    values = read_list(name)
    if not all(value.isascii() and value.isdigit() and 0 < int(value) < 65536 for value in values):
        raise ImproperlyConfigured(f"{name} must be port numbers separated by commas.")
    return tuple(map(int, values)) or default


def read_number(name: str, default: float, **about: Unpack[Description]) -> float:
    declare(name, "number", default, **about)
    value = given_value(name, str(default))
    try:
        given = float(value)
    except ValueError:
        given = -1.0
    if not 0 <= given < float("inf"):
        raise ImproperlyConfigured(f"{name} is {value!r}; it must be a number from 0.")
    return given


def read_rates(name: str, **about: Unpack[Description]) -> dict[str, float]:
    """Return comma-separated `NAME=NUMBER` pairs."""
    found = {}
    for part in read_list(name, **about):
        key, _, value = part.partition("=")
        try:
            found[key.strip()] = float(value)
        except ValueError:
            raise ImproperlyConfigured(
                f"{name} contains {part!r}; it must contain pairs such as brave=20."
            ) from None
    return found


def read_provider_settings() -> ProviderSettings:
    """Return the search provider settings that are set; their values are read on first use."""
    return ProviderSettings(
        LateMapping(_read_declared_settings),
        per_second=read_rates(
            "SEARCH_RATES",
            help="Rate limits in searches per second by provider, such as brave=20,tavily=10; 0 is"
            " no limit.",
        ),
        at_once=read_count(
            "SEARCH_AT_ONCE",
            4,
            help="Concurrent searches at one provider. Wikipedia and arXiv are limited to one, ddgs"
            " to two.",
        ),
    )


def _read_declared_settings() -> dict[str, str]:
    given = {setting.name: _read_setting(setting) for setting in declared_settings()}
    return {name: value for name, value in given.items() if value}


class LateMapping(Mapping[str, str]):
    """A mapping that is made when it is first used.

    The declarations are in the providers' modules, which most processes never need to import.
    """

    def __init__(self, make: Callable[[], Mapping[str, str]]) -> None:
        self._make = make

    @cached_property
    def _made(self) -> Mapping[str, str]:
        return self._make()

    def __getitem__(self, name: str) -> str:
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)


def _read_setting(setting: Setting) -> str:
    if setting.kind == "url":
        return _checked_url(setting.name, ("http", "https"))
    value = given_value(setting.name)
    if setting.kind == "list":
        return ",".join(part.strip() for part in value.split(",") if part.strip())
    return value


def read_url(name: str, schemes: tuple[str, ...], **about: Unpack[Description]) -> str:
    """Return a URL, or '' if it is not set."""
    declare(name, "url", **about)
    return _checked_url(name, schemes)


def _checked_url(name: str, schemes: tuple[str, ...]) -> str:
    value = given_value(name)
    if value and not is_server_address(value, schemes):
        example = f"{schemes[0]}://localhost:1234"
        raise ImproperlyConfigured(f"{name} is not an address; it must look like {example}.")
    return value


def default_state_folder(base: Path) -> Path:
    """Return `var` of a checkout; for an installed package a folder of the user's data."""
    if (base / "pyproject.toml").is_file():
        return base / "var"
    return Path("~/.local/share/plumbline")


def state_folder(default: Path) -> Path:
    """Return the state folder, created on first use and accessible only by its owner."""
    declare(
        "PLUMBLINE_HOME",
        "text",
        help="Folder of database, index and keys; var/ in the checkout, or ~/.local/share/plumbline"
        " of an installed package, if not set.",
    )
    folder = Path(given_value("PLUMBLINE_HOME", str(default))).expanduser().absolute()
    try:
        make_private_folder(folder)
    except OSError as error:
        raise ImproperlyConfigured(
            f"The state folder {folder} cannot be created ({error.strerror}); "
            "set PLUMBLINE_HOME to another."
        ) from None
    return folder


def secret_key(folder: Path) -> str:
    """Return `SECRET_KEY`, else a key generated once and stored in the state folder."""
    given = read_key(
        "SECRET_KEY",
        help="Django's secret key; generated and stored in the state folder if not set.",
    )
    if given:
        return given
    path = folder / "secret-key"
    try:
        if not path.exists():
            _write_once(path, secrets.token_urlsafe(48))
        key = path.read_text().strip()
    except OSError as error:
        raise ImproperlyConfigured(
            f"The secret key cannot be stored in {path} ({error.strerror}); set SECRET_KEY."
        ) from None
    if len(key) < 32:
        raise ImproperlyConfigured(f"{path} contains no usable key; remove it to get a new one.")
    return key


def _write_once(path: Path, content: str) -> None:
    """Create the file atomically: processes that start together end up with the same content."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(content)
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def read_database(folder: Path) -> dict[str, Any]:
    """Return Django's database settings: `DATABASE_URL`, else SQLite in the state folder."""
    given = read_key(
        "DATABASE_URL",
        help="Database to use instead of SQLite, such as postgres://user@host/name.",
    )
    url = given or f"sqlite:///{folder / 'plumbline.sqlite3'}"
    if urlsplit(url).scheme not in DATABASE_SCHEMES:
        raise ImproperlyConfigured(
            "DATABASE_URL must be sqlite:///PATH or postgres://USER:PASSWORD@HOST:PORT/NAME."
        )
    try:
        settings = dict(environ.Env.db_url_config(url))
    except (ValueError, ImproperlyConfigured):
        raise ImproperlyConfigured("DATABASE_URL is not a valid address.") from None
    synchronous = one_of(
        "SQLITE_SYNCHRONOUS",
        ("full", "normal"),
        help="full: what SQLite has committed survives a power loss; normal: faster, and a power"
        " loss can undo the last minutes, but damages nothing.",
    )
    if settings["ENGINE"].endswith("sqlite3"):
        _close_to_others(settings["NAME"])
        settings["OPTIONS"] = {
            "timeout": 20,
            # under DEFERRED, upgrading a read to a write fails at once: "database is locked"
            "transaction_mode": "IMMEDIATE",
            "init_command": f"PRAGMA journal_mode=WAL; PRAGMA synchronous={synchronous.upper()};",
        }
    return settings | {"CONN_MAX_AGE": CONNECTION_SECONDS, "CONN_HEALTH_CHECKS": True}


def _close_to_others(name: str) -> None:
    """Restrict access to the file of an SQLite database, unless the database is in memory."""
    if name.startswith((":memory:", "file:")):
        return
    try:
        make_private_database(Path(name))
    except OSError as error:
        raise ImproperlyConfigured(
            f"The database {name} cannot be created ({error.strerror})."
        ) from None


def read_email(url: str) -> dict[str, Any]:
    """Return Django's settings for a mail server; without one nothing is sent."""
    if urlsplit(url or "dummymail://").scheme not in environ.Env.EMAIL_SCHEMES:
        raise ImproperlyConfigured(
            "EMAIL_URL must be smtp+tls://USER:PASSWORD@HOST:PORT, smtp+ssl://… or smtp://…."
        )
    try:
        return dict(environ.Env.email_url_config(url or "dummymail://"))
    except (ValueError, ImproperlyConfigured):
        raise ImproperlyConfigured("EMAIL_URL is not a valid address.") from None


def channel_layer(redis_url: str) -> dict[str, Any]:
    if not redis_url:
        return {"BACKEND": "channels.layers.InMemoryChannelLayer"}
    return {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [redis_url]},
    }


def read_upload_storage(*, help: str = "", options_help: str = "") -> dict[str, Any]:
    """Return Django's storage of uploads: `UPLOADS_STORAGE`, else the state folder."""
    backend = read_string("UPLOADS_STORAGE", help=help)
    try:
        options = json.loads(read_string("UPLOADS_STORAGE_OPTIONS", help=options_help) or "{}")
    except ValueError:
        options = None
    if not isinstance(options, dict):
        raise ImproperlyConfigured(
            'UPLOADS_STORAGE_OPTIONS must be a JSON object, such as {"location": "/srv/files"}.'
        )
    return {"BACKEND": backend or "research.documents.uploads.StateFolder", "OPTIONS": options}


def read_cache(redis_url: str) -> dict[str, Any]:
    """Return Django's cache, which counts requests of the API: per process without Redis."""
    if not redis_url:
        return {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
    return {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": redis_url,
        "KEY_PREFIX": "plumbline",
    }


def research_defaults() -> ResearchConfig:
    """Return the knobs set in the environment, by name or alias; the name wins over an alias."""
    known = knob_names()
    fields = {
        known[name].upper(): given_value(name) for name in reversed(known) if given_value(name)
    }
    try:
        return ResearchConfig.from_strings(fields)
    except ConfigError as error:
        raise ImproperlyConfigured(str(error)) from None


def find_languages(folders: Iterable[Path]) -> list[tuple[str, str]]:
    """Return code and own name of each language of the interface: English and each catalogue."""
    found = {path.parts[-3] for folder in folders for path in folder.glob("*/LC_MESSAGES/*.mo")}
    codes = ["en", *sorted(to_language(name) for name in found)]
    names = {code: LANG_INFO.get(code, {}).get("name_local", code) for code in codes}
    return [(code, name[:1].upper() + name[1:]) for code, name in names.items()]


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
