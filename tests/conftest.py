"""Some tests need a real browser, PostgreSQL or Redis, and say so with the `services` marker.

Where one is missing they are left out, and the run ends by naming them and how to get them.
With REQUIRE_SERVICES=1 a missing service is a failure instead.
Generated cases are the same ones each time, so that a red test is red for everybody; FUZZ=1
makes new ones. They get no deadline: a busy machine is no fault of the code's.
"""

import asyncio
import gc
import os
import platform
import shutil
import ssl
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial

import psycopg
import pytest
import redis
from asgiref.sync import sync_to_async
from django.conf import settings as django_settings
from django.core.management.color import Style
from django.core.management.commands import flush
from django.db import connection, connections
from django.utils import translation
from hypothesis import HealthCheck, settings
from whitenoise.responders import StaticFile

from dashboard.static_files import StaticFiles
from tests.support.virtual_time import VirtualTimeLoop

BROWSER_FOLDER = "browser"
SLOWEST = (("slow", "services"), ("slow",), ("services",), ("subprocess",))
"""Markers that the slowest tests have, then those that are slower than most."""
WHOLE_BROWSER, SHELL = "whole browser", "chromium-headless-shell"
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")
DEFAULT_DATABASE_URL = "postgresql://postgres@127.0.0.1:5432/postgres"
DEFAULT_REDIS_URL = "redis://127.0.0.1:6379/0"


settings.register_profile(
    "repeatable",
    derandomize=not os.environ.get("FUZZ"),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repeatable")


@dataclass(frozen=True)
class Service:
    is_there: Callable[[], bool]
    how_to_get_it: str


def find_chromium(*, whole: bool = False) -> str | None:
    """Return the headless shell where there is one: it needs a third of the browser's CPU time,
    but has no notifications and forgets the pages behind it.
    """
    named = os.environ.get("PLUMBLINE_CHROMIUM")
    names = [named] if named else CHROMIUM_NAMES if whole else (SHELL, *CHROMIUM_NAMES)
    return next(filter(None, map(shutil.which, names)), None)


def database_url() -> str:
    return os.environ.get("TEST_DATABASE_URL", DEFAULT_DATABASE_URL)


def redis_server_url() -> str:
    return os.environ.get("TEST_REDIS_URL", DEFAULT_REDIS_URL)


def postgresql_answers() -> bool:
    try:
        psycopg.connect(database_url(), connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def redis_answers() -> bool:
    with redis.Redis.from_url(redis_server_url(), socket_connect_timeout=2) as client:
        try:
            return bool(client.ping())
        except redis.RedisError:
            return False


SERVICES = {
    "browser": Service(
        lambda: find_chromium() is not None,
        "apt install chromium-headless-shell, or name a Chromium or Chrome with PLUMBLINE_CHROMIUM",
    ),
    WHOLE_BROWSER: Service(
        lambda: find_chromium(whole=True) is not None,
        "apt install chromium, or name a Chromium or Chrome with PLUMBLINE_CHROMIUM",
    ),
    "postgresql": Service(
        postgresql_answers,
        "apt install postgresql, or start it, or name a server with TEST_DATABASE_URL",
    ),
    "redis": Service(
        redis_answers,
        "apt install redis-server, or start it, or name a server with TEST_REDIS_URL",
    ),
}
left_out = pytest.StashKey[dict[str, list[str]]]()
FILLED_BY_MIGRATIONS = {"auth_permission", "django_content_type"}
STARTS_A_PROCESS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system"}


class ProcessWatch:
    """Refuses a new process to a test that isn't marked `subprocess`, and fails the test."""

    def __init__(self) -> None:
        self.is_on = False
        self.refused: list[str] = []
        platform.processor()  # asks a program, once; clients of model servers want to know
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.is_on and event in STARTS_A_PROCESS:
            told = " ".join(map(str, arguments[:2]))[:300]
            self.refused.append(told)
            raise RuntimeError(f"mark this test `subprocess`: it starts {told}")

    def begin(self, item: pytest.Item) -> None:
        may = needed_services(item) or item.get_closest_marker("subprocess")
        self.is_on, self.refused = not may, []

    def check(self) -> None:
        """What a test swallowed, or a thread of its own met, fails it too."""
        if self.refused:
            pytest.fail(f"mark this test `subprocess`: it starts {self.refused[0]}", pytrace=False)


process_watch = ProcessWatch()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Spare the garbage collector what stays: a tenth of the CPU time went into looking at it."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None) -> None:
    """Don't wait for the disk: test databases need not survive a power loss."""
    options = connections["default"].settings_dict.get("OPTIONS", {})
    if "init_command" in options:
        options["init_command"] = options["init_command"].replace("=FULL", "=OFF")


@cache
def is_missing(service: str) -> bool:
    return not SERVICES[service].is_there()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> Iterator[None]:
    """PostgreSQL drops no database that a thread of the tests still has a connection to."""
    empty = delete_all if connection.vendor == "postgresql" else connection.ops.sql_flush
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection.ops, "sql_flush", partial(empty_changed, empty))
        patch.setattr(flush, "emit_post_migrate_signal", lambda *_: None)
        yield
    asyncio.run(sync_to_async(connections.close_all)())


def empty_changed(
    empty: Callable[..., list[str]], style: Style, tables: Sequence[str], **options: bool
) -> list[str]:
    """Empty all tables but those that migrations fill: Django would fill these again each time."""
    return empty(style, [table for table in tables if table not in FILLED_BY_MIGRATIONS], **options)


def delete_all(style: Style, tables: Sequence[str], **_: bool) -> list[str]:
    """Empty the tables: for the few rows of a test much quicker than TRUNCATE.

    Their order doesn't matter, since foreign keys are looked at when the transaction ends.
    """
    return [f"DELETE FROM {connection.ops.quote_name(table)}" for table in tables]


@pytest.fixture(autouse=True)
def language_of_no_other_test() -> None:
    """A request leaves its language active in its thread."""
    translation.deactivate()


@pytest.fixture(scope="session", autouse=True)
def certificates_read_once() -> Iterator[None]:
    """Each HTTP client reads all certificates, which takes longer than most tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
        yield


@pytest.fixture(scope="session", autouse=True)
def static_files_listed_once() -> Iterator[None]:
    """Each test client looks for all static files, which takes longer than most requests."""
    listed: dict[str, StaticFile] = {}

    def add_files_from_finders(middleware: StaticFiles) -> None:
        if not listed:
            list_files(middleware)
            listed.update(middleware.files)
        middleware.files.update(listed)

    list_files = StaticFiles.add_files_from_finders
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StaticFiles, "add_files_from_finders", add_files_from_finders)
        yield


@pytest.fixture(scope="session")
def postgresql_url() -> str:
    return database_url()


@pytest.fixture(scope="session")
def redis_url() -> str:
    return redis_server_url()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[left_out] = {}
    config.pluginmanager.register(SlowFirst())
    if django_settings.configured:
        django_settings.NETWORK_PROBE = "none"  # no test asks whether there is a network


@pytest.hookimpl(optionalhook=True)
def pytest_asyncio_loop_factories(
    item: pytest.Item,
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    if item.get_closest_marker("virtual_time"):
        return {"virtual time": VirtualTimeLoop}
    return {"real time": asyncio.new_event_loop}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if BROWSER_FOLDER in item.path.parent.relative_to(item.config.rootpath).parts:
            item.add_marker("browser")
        elif "browser" in needed_services(item):
            raise pytest.UsageError(
                f"{item.nodeid} needs a browser: such tests stand under tests/{BROWSER_FOLDER}, "
                "which runs in a process of its own"
            )


class SlowFirst:
    """Begin with the tests that take longest, so that no process is left alone with one at the end.

    Registered as a plugin of its own, because it sorts after pytest-django has.
    """

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=self.rank)

    def rank(self, item: pytest.Item) -> int:
        ranks = (rank for rank, markers in enumerate(SLOWEST)
                 if all(map(item.get_closest_marker, markers)))  # fmt: skip
        return next(ranks, len(SLOWEST))


def needed_services(item: pytest.Item) -> set[str]:
    names = {name for marker in item.iter_markers("services") for name in marker.args}
    if item.get_closest_marker("browser"):
        names.add("browser")
    if unknown := names - SERVICES.keys():
        raise pytest.UsageError(f"{item.nodeid}: no such service: {', '.join(sorted(unknown))}")
    return names


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[object]:
    process_watch.begin(item)
    try:
        return (yield)
    finally:
        process_watch.is_on = False


@pytest.hookimpl(trylast=True)
def pytest_runtest_call() -> None:
    process_watch.check()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    missing = sorted(filter(is_missing, needed_services(item)))
    if not missing:
        return
    reason = "; ".join(f"no {name}: {SERVICES[name].how_to_get_it}" for name in missing)
    if os.environ.get("REQUIRE_SERVICES") == "1":
        pytest.fail(f"REQUIRE_SERVICES=1, but {reason}", pytrace=False)
    for name in missing:
        item.config.stash[left_out].setdefault(name, []).append(item.nodeid)
    pytest.skip(reason)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    for name, tests in config.stash[left_out].items():
        terminalreporter.section(f"left out: {len(tests)} tests, for want of {name}")
        for test in tests:
            terminalreporter.line(test)
        terminalreporter.line(f"To run them: {SERVICES[name].how_to_get_it}.")
