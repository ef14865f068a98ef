"""Trials of a fleet: processes killed, services lost, clocks that are off, a restored copy.

Each returns its figures, on a PostgreSQL server of its own.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from bench.cutting import Proxy
from bench.outages import REDIS_SERVER
from bench.scale.fleet import Fleet, Found, Trial
from bench.scale.parts import Figures
from bench.scale.postgres import OwnServer, own_server
from bench.world.running import running_world

KILL_EVERY_SECONDS = 10.0
FIRST_SECONDS = 3.0
KINDS = 3
"""Kinds of answerable questions of the world."""

CLOCK_SECONDS = 600.0
REDIS_DATABASE = 9
DATABASE = "plumbline_scale"

NEW_VERSION = "UPDATE research_run SET engine_version = '2' WHERE id % 2 = 0"
VERSIONS = "SELECT id, lease_owner, engine_version FROM research_run WHERE lease_owner <> ''"


@dataclass(frozen=True)
class Extent:
    """Runs of a trial, seconds in which processes are killed, and seconds that an outage lasts."""

    runs: int = 12
    kill_seconds: float = 60.0
    outage_seconds: float = 20.0


@dataclass(frozen=True)
class Site:
    """A fleet whose services are reached through proxies."""

    fleet: Fleet
    server: OwnServer
    database: Proxy
    redis: Proxy


@contextmanager
def site(extent: Extent, *, web: int = 0, workers: int = 2, runs: int = 0) -> Iterator[Site]:
    """Yield a fleet that has not started, on a database in which only the questions are."""
    redis = urlsplit(REDIS_SERVER)
    runs = runs or extent.runs
    with (
        running_world(1, latency=True, per_kind=-(-runs // KINDS)) as running,
        tempfile.TemporaryDirectory(prefix="plumbline-scale-") as home,
        own_server() as server,
        Proxy("127.0.0.1", server.port) as database,
        Proxy(redis.hostname or "127.0.0.1", redis.port or 6379) as cache,
    ):
        create_database(server, DATABASE)
        fleet = Fleet(
            running, Path(home), _through(database, server, DATABASE),
            direct=server.url(DATABASE), redis=f"redis://127.0.0.1:{cache.port}/{REDIS_DATABASE}",
        )  # fmt: skip
        fleet.ask(runs)
        with fleet:
            for _ in range(web):
                fleet.add_web()
            for _ in range(workers):
                fleet.add_worker()
            yield Site(fleet, server, database, cache)


def _through(proxy: Proxy, server: OwnServer, database: str) -> str:
    return server.url(database).replace(f":{server.port}/", f":{proxy.port}/")


def create_database(server: OwnServer, name: str) -> None:
    with psycopg.connect(server.url(), autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}".encode())


# --- killed ------------------------------------------------------------------------------------


def kills(extent: Extent, runs: int) -> Figures:
    """Kill one of two web processes and four workers every ten seconds."""
    with site(extent, web=2, workers=4, runs=runs) as at:
        trial = Trial(at.fleet)
        number = round(extent.kill_seconds / KILL_EVERY_SECONDS)
        times = [KILL_EVERY_SECONDS * (turn + 0.5) for turn in range(number)]
        found = trial.run([(at_second, trial.kill_one) for at_second in times])
    figures = {f"kills_{name}": value for name, value in _figures(found).items()}
    if found.takeover_p95 is not None:
        figures["kills_takeover_p95"] = found.takeover_p95
    return {**figures, "kills_untrue_pages": found.untrue_pages, "kills_pages": found.pages}


# --- services lost -----------------------------------------------------------------------------


def postgresql_restarted(extent: Extent) -> Figures:
    """Restart the server twice, as after a crash."""
    with site(extent) as at:
        restarts = [(FIRST_SECONDS * (turn + 1), at.server.restart) for turn in range(2)]
        return _named("postgresql", Trial(at.fleet).run(restarts))


def redis_away(extent: Extent) -> Figures:
    with site(extent) as at:
        return _named("redis", _lost(at, extent, at.redis.cut, at.redis.restore))


def proxy_hangs(extent: Extent) -> Figures:
    """Let the proxy in front of the database pass nothing on for a while."""
    with site(extent) as at:
        return _named("hanging", _lost(at, extent, at.database.hang, at.database.resume))


def clocks_off(extent: Extent) -> Figures:
    """Kill workers while one has a clock ten minutes slow and another one ten minutes fast."""
    with site(extent, workers=1) as at:
        for offset in (-CLOCK_SECONDS, CLOCK_SECONDS):
            at.fleet.add_worker("--clock", str(offset))
        trial = Trial(at.fleet)
        times = [FIRST_SECONDS + turn * KILL_EVERY_SECONDS / 2 for turn in range(3)]
        return _named("clocks", trial.run([(at_, trial.kill_one) for at_ in times]))


def rolled_out(extent: Extent) -> Figures:
    """Replace workers of one engine version by others that cannot replay its journals.

    Half of the runs are of the new version. The last old worker stays until its runs have ended.
    """
    with site(extent) as at:
        with psycopg.connect(at.fleet.direct, autocommit=True) as database:
            database.execute(NEW_VERSION)
        old, new = at.fleet.workers[:], []
        foreign = set()

        def look() -> None:
            pids = {str(member.pid): member for member in new if member.process}
            for run, owner, version in at.fleet.rows(VERSIONS) or ():
                is_new = owner.split(":")[1] in pids
                if is_new != (version == "2"):
                    foreign.add(run)

        def add() -> None:
            new.append(at.fleet.add_worker("--version", "2"))
            new[-1].start()

        steps = [add, old[0].drain, add]
        found = Trial(at.fleet, look=look).run(
            [(FIRST_SECONDS * (number + 1), step) for number, step in enumerate(steps)]
        )
    return {**_named("rolled_out", found), "rolled_out_foreign": len(foreign)}


def _lost(at: Site, extent: Extent, lose: Callable[[], None], find: Callable[[], None]) -> Found:
    back = FIRST_SECONDS + extent.outage_seconds
    return Trial(at.fleet).run([(FIRST_SECONDS, lose), (back, find)])


# --- restored ----------------------------------------------------------------------------------


def restored(extent: Extent) -> Figures:
    """Back up while runs are in progress, and let the runs of the copy end on another database."""
    with site(extent) as at, tempfile.TemporaryDirectory(prefix="plumbline-copy-") as name:
        home, archive = Path(name), Path(name) / "backup.tar.gz"
        states: dict[str, int] = {}

        def back_up() -> None:
            at.fleet.run("manage.py", "backup", str(archive))
            rows = at.fleet.rows("SELECT status, count(*) FROM research_run GROUP BY status")
            states.update(dict(rows or ()))

        original = Trial(at.fleet).run([(FIRST_SECONDS, back_up)])
        create_database(at.server, "restored")
        with Fleet(at.fleet.running, home, at.server.url("restored")) as copy:
            copy.run("manage.py", "restore", str(archive))
            copy.add_worker()
            found = Trial(copy).run()
    unfinished_then = extent.runs - states.get("completed", 0)
    return {
        "restored_unfinished": found.unfinished + original.unfinished,
        "restored_lost": extent.runs - found.runs,
        "restored_in_progress": unfinished_then,
    }


# --- figures -----------------------------------------------------------------------------------


def _named(trial: str, found: Found) -> Figures:
    return {f"{trial}_{name}": value for name, value in _figures(found).items()}


def _figures(found: Found) -> Figures:
    return {
        "runs": found.runs,
        "unfinished": found.unfinished,
        "asked_again": found.asked_again,
        "compared": found.compared,
        "disturbances": found.disturbances,
        "takeovers": len(found.takeovers),
    }
