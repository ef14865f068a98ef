"""Serves a world on loopback until SIGINT or SIGTERM.

    python -m bench.world --seed 1 --port-base 9400 --latency

The first line on standard output is a JSON object with the addresses.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
from functools import partial

from bench.world.facts import World
from bench.world.generate import build_world
from bench.world.model import ModelServer
from bench.world.search import SearchServer
from bench.world.serving import Handler, Log, listen, port_of
from bench.world.supply import AMPLE, SUPPLIES
from bench.world.web import Web, host_of, url_of

LOOPBACK = "127.0.0.1"
PORT_TRIES = 20


def main() -> None:
    options = _options()
    world = build_world(options.seed, options.per_kind, options.supply)
    asyncio.run(serve(world, options.latency, options.port_base, options.with_parent))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.world", description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--per-kind", type=int, default=5, help="questions of each kind")
    parser.add_argument("--supply", choices=SUPPLIES, default=AMPLE, help="what the web holds")
    parser.add_argument(
        "--port-base", type=int, default=0, help="web; +1 search; +2 model; 0: free"
    )
    parser.add_argument("--latency", action="store_true", help="take the time that real ones take")
    parser.add_argument("--with-parent", action="store_true", help="end with standard input")
    return parser.parse_args()


async def serve(world: World, latency: bool, port_base: int, with_parent: bool) -> None:
    """Run all servers of the world on one event loop until a signal arrives or the parent exits."""
    log, ended = Log(), asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    if with_parent:
        loop.add_reader(sys.stdin, partial(_ended, ended))
    web = await _listen_on_all(world, Web(world, log, latency).answer, port_base)
    port = port_of(web[0])
    others: list[Handler] = [
        SearchServer(world, partial(url_of, port=port), log, latency).answer,
        ModelServer(log, latency).answer,
    ]
    servers = [*web]
    for at, handler in enumerate(others, 1):
        own = port_base + at if port_base else 0
        servers.append(await listen(log.answering(handler), LOOPBACK, own))
    print(json.dumps(_addresses(world, *(port_of(s) for s in (web[0], *servers[-2:])))), flush=True)
    await ended.wait()
    for server in servers:
        server.close()


def _ended(ended: asyncio.Event) -> None:
    if not os.read(sys.stdin.fileno(), 1):
        ended.set()


async def _listen_on_all(world: World, handler: Handler, port: int) -> list[asyncio.Server]:
    """Start one server per site, all on the same port; port 0 selects a free one."""
    for _ in range(PORT_TRIES):
        servers = [await listen(handler, host_of(world.sites[0].number), port)]
        try:
            for site in world.sites[1:]:
                servers.append(await listen(handler, host_of(site.number), port_of(servers[0])))
            return servers
        except OSError:
            for server in servers:
                server.close()
            if port:
                raise
    raise OSError("no port is free on all addresses of the world")


def _addresses(world: World, web: int, search: int, model: int) -> dict[str, object]:
    return {
        "hosts": [f"{host_of(site.number)}:{web}" for site in world.sites],
        "search": f"http://{LOOPBACK}:{search}",
        "model": f"http://{LOOPBACK}:{model}/v1",
        "log": f"http://{LOOPBACK}:{model}/log",
    }


if __name__ == "__main__":
    main()
