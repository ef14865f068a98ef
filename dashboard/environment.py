"""Reads settings from the environment and the `.env` file; what cannot be used is one sentence.

Nothing else in Plumbline looks at `os.environ`. Every reader here raises `ImproperlyConfigured`
with that sentence.
"""

from __future__ import annotations

import ipaddress
import math
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

from research.engine.config import ResearchConfig, names
from research.engine.knobs import ConfigError
from research.llm.names import plain_name
from research.llm.prices import Price, PriceError, parse_prices
from research.private_files import make_private_database, make_private_folder
from research.retrieval.addresses import is_server_address

TRUE = frozenset({"1", "true", "yes", "on"})
FALSE = frozenset({"0", "false", "no", "off", ""})
PROVIDER_URLS = (
    *("SEARXNG_URL", "TAVILY_URL", "EXA_URL", "BRAVE_URL", "WIKIPEDIA_URL", "ARXIV_URL"),
)
PROVIDER_KEYS = ("TAVILY_API_KEY", "EXA_API_KEY", "BRAVE_API_KEY")
DATABASE_SCHEMES = frozenset({"sqlite", "postgres", "postgresql", "psql", "pgsql"})


def load_env_file() -> Path | None:
    """Read `DEEPRESEARCH_ENV_FILE`, else the nearest `.env` upwards; the environment wins.

    Returns the file, None where there is none.
    """
    path = find_env_file(os.environ, Path.cwd())
    if path is not None:
        environ.Env.read_env(path)
    return path


def find_env_file(values: Mapping[str, str], start: Path) -> Path | None:
    """Raises `ImproperlyConfigured` where the file that was named does not exist."""
    named = values.get("DEEPRESEARCH_ENV_FILE")
    if named:
        path = Path(named).expanduser()
        if not path.exists() or path.is_dir():
            raise ImproperlyConfigured(f"DEEPRESEARCH_ENV_FILE names {named}, which is no file.")
        return path
    candidates = (folder / ".env" for folder in (start, *start.parents))
    return next((path for path in candidates if path.is_file()), None)


def text(name: str, default: str = "") -> str:
    """Empty counts as not set."""
    return os.environ.get(name, "").strip() or default


def model(*names: str) -> str:
    """The model that the first of these names that is set names, without its provider."""
    return plain_name(next(filter(None, map(text, names)), ""))


def texts(name: str) -> list[str]:
    """A list with commas between."""
    return [part.strip() for part in text(name).split(",") if part.strip()]


def folders(name: str) -> list[str]:
    """Folders with commas between, as absolute paths; one that is no folder is refused."""
    found = [Path(part).expanduser().resolve() for part in texts(name)]
    for folder in found:
        if not folder.is_dir():
            raise ImproperlyConfigured(f"{name} names {folder}, which is no folder.")
    return [str(folder) for folder in found]


def boolean(name: str, default: bool = False) -> bool:
    value = text(name, "on" if default else "off").lower()
    if value not in TRUE | FALSE:
        raise ImproperlyConfigured(f"{name} is {value!r}; it takes on or off.")
    return value in TRUE


def one_of(name: str, choices: tuple[str, ...]) -> str:
    """The first choice where it is not set."""
    value = text(name, choices[0]).lower()
    if value not in choices:
        raise ImproperlyConfigured(f"{name} is {value!r}; it takes {' or '.join(choices)}.")
    return value


def port(name: str, default: int) -> int:
    value = text(name, str(default))
    if not value.isascii() or not value.isdigit() or not 0 < int(value) < 65536:
        raise ImproperlyConfigured(f"{name} is {value!r}; it takes a number from 1 to 65535.")
    return int(value)


def count(name: str, default: int, least: int = 1, most: int | None = None) -> int:
    value = text(name, str(default))
    is_count = value.isascii() and value.isdigit() and int(value) >= least
    if not is_count or (most is not None and int(value) > most):
        limits = f"from {least}" if most is None else f"from {least} to {most}"
        raise ImproperlyConfigured(f"{name} is {value!r}; it takes a whole number {limits}.")
    return int(value)


def seconds(name: str, default: float) -> float:
    value = optional_number(name)
    if value is None:
        return default
    if value <= 0:
        raise ImproperlyConfigured(f"{name} is {text(name)!r}; it takes seconds above 0.")
    return value


def optional_number(name: str) -> float | None:
    """None where it is not set."""
    value = text(name)
    try:
        found = float(value) if value else None
    except ValueError:
        found = math.nan
    if found is not None and not math.isfinite(found):
        raise ImproperlyConfigured(f"{name} is {value!r}; it takes a number.")
    return found


def prices(name: str) -> dict[str, Price]:
    try:
        return parse_prices(text(name))
    except PriceError as error:
        raise ImproperlyConfigured(str(error)) from None


def ports(name: str, default: tuple[int, ...]) -> tuple[int, ...]:
    values = texts(name)
    if not all(value.isascii() and value.isdigit() and 0 < int(value) < 65536 for value in values):
        raise ImproperlyConfigured(f"{name} takes port numbers with commas between.")
    return tuple(map(int, values)) or default


def number(name: str, default: float) -> float:
    value = text(name, str(default))
    try:
        given = float(value)
    except ValueError:
        given = -1.0
    if not 0 <= given < float("inf"):
        raise ImproperlyConfigured(f"{name} is {value!r}; it takes a number from 0.")
    return given


def rates(name: str) -> dict[str, float]:
    """`NAME=NUMBER` pairs with commas between."""
    found = {}
    for part in texts(name):
        key, _, value = part.partition("=")
        try:
            found[key.strip()] = float(value)
        except ValueError:
            raise ImproperlyConfigured(
                f"{name} holds {part!r}; it takes pairs like brave=20."
            ) from None
    return found


def providers() -> dict[str, Any]:
    """What is set of the search providers; the rest stays as they know it themselves."""
    given: dict[str, Any] = {
        **{name.lower(): address(name, ("http", "https")) for name in PROVIDER_URLS},
        **{name.lower(): text(name) for name in PROVIDER_KEYS},
        "ddgs_engines": ",".join(texts("DDGS_ENGINES")),
        "per_second": rates("SEARCH_RATES"),
        "at_once": count("SEARCH_AT_ONCE", 4),
    }
    return {name: value for name, value in given.items() if value}


def address(name: str, schemes: tuple[str, ...]) -> str:
    """A URL, or '' where it is not set."""
    value = text(name)
    if value and not is_server_address(value, schemes):
        example = f"{schemes[0]}://localhost:1234"
        raise ImproperlyConfigured(f"{name} is no address; it takes one like {example}.")
    return value


def state_folder(default: Path) -> Path:
    """Where the state lives, made on first use and readable for its owner only."""
    folder = Path(text("PLUMBLINE_HOME", str(default))).expanduser().absolute()
    try:
        make_private_folder(folder)
    except OSError as error:
        raise ImproperlyConfigured(
            f"The folder for the state, {folder}, cannot be made ({error.strerror}); "
            "PLUMBLINE_HOME names another."
        ) from None
    return folder


def secret_key(folder: Path) -> str:
    """`SECRET_KEY`, else one that is made once and kept in the state folder."""
    given = text("SECRET_KEY")
    if given:
        return given
    path = folder / "secret-key"
    try:
        if not path.exists():
            _write_once(path, secrets.token_urlsafe(48))
        key = path.read_text().strip()
    except OSError as error:
        raise ImproperlyConfigured(
            f"The secret key in {path} cannot be kept ({error.strerror}); SECRET_KEY sets one."
        ) from None
    if len(key) < 32:
        raise ImproperlyConfigured(f"{path} holds no usable key; remove it to get a new one.")
    return key


def _write_once(path: Path, content: str) -> None:
    """Two processes that start together end with one file and both read it whole."""
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


def database(folder: Path) -> dict[str, Any]:
    """Django's settings of the database: `DATABASE_URL`, else SQLite in the state folder."""
    url = text("DATABASE_URL", f"sqlite:///{folder / 'plumbline.sqlite3'}")
    if urlsplit(url).scheme not in DATABASE_SCHEMES:
        raise ImproperlyConfigured(
            "DATABASE_URL takes sqlite:///PATH or postgres://USER:PASSWORD@HOST:PORT/NAME."
        )
    try:
        settings = dict(environ.Env.db_url_config(url))
    except (ValueError, ImproperlyConfigured):
        raise ImproperlyConfigured("DATABASE_URL cannot be read as an address.") from None
    if settings["ENGINE"].endswith("sqlite3"):
        _close_to_others(settings["NAME"])
        settings["OPTIONS"] = {
            "timeout": 20,
            # Read-then-write under DEFERRED fails at once with "database is locked".
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        }
    return settings


def _close_to_others(name: str) -> None:
    """The file of an SQLite database; one in memory has none."""
    if name.startswith((":memory:", "file:")):
        return
    try:
        make_private_database(Path(name))
    except OSError as error:
        raise ImproperlyConfigured(
            f"The database {name} cannot be made ({error.strerror})."
        ) from None


def channel_layer(redis_url: str) -> dict[str, Any]:
    if not redis_url:
        return {"BACKEND": "channels.layers.InMemoryChannelLayer"}
    return {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [redis_url]},
    }


def research_defaults() -> ResearchConfig:
    """Every knob that the environment sets, by its own name or by an alias; its own name wins."""
    known = names()
    fields = {known[name].upper(): text(name) for name in reversed(known) if text(name)}
    try:
        return ResearchConfig.from_strings(fields)
    except ConfigError as error:
        raise ImproperlyConfigured(str(error)) from None


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
