"""No spelling, redirect or name leads to an address that is closed.

What counts is the connect call of the operating system, seen by an audit hook, and that
listeners on forbidden addresses of this machine count no connection.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from ipaddress import IPv4Address, ip_address

import pytest

from research.engine.ports import FetchFailedError
from research.fetch.fetch import FetchSettings, SafeFetch
from tests.support.retrieval.web import Site, open_site, redirect

PUBLIC = "93.184.216.34"
LOOPBACK = ("127.0.0.1", "127.0.0.2", "127.1.2.3", "127.255.255.254")
PRIVATE = ("10.0.0.1", "172.16.0.1", "172.31.255.1", "192.168.1.1", "100.64.0.1", "169.254.1.1")
METADATA = ("169.254.169.254", "168.63.129.16", "100.100.100.200", "192.0.0.192")
RESERVED = ("0.0.0.0", "0.0.0.1", "192.0.2.1", "198.18.0.1", "224.0.0.1", "240.0.0.1")
CLOSED_V4 = (*LOOPBACK, *PRIVATE, *METADATA, *RESERVED, "255.255.255.255", "203.0.113.1")
CLOSED_V6 = (
    *("::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "fec0::1", "2001:db8::1"),
    *("0:0:0:0:0:0:0:1", "0000::0001", "2001::1", "100::1", "3fff::1", "5f00::1"),
)
NAMES = (
    *("localhost", "LocalHost", "localhost.", "ip6-localhost", "a.localhost", "printer.local"),
    *("metadata.google.internal", "wiki.internal", "db", "router.lan", "nas.home.arpa", "x.onion"),
    *("intranet", "a.corp", "b.private", "metadata.goog", "1.0.0.127.in-addr.arpa"),
)
FULL_WIDTH = str.maketrans("0123456789.", "０１２３４５６７８９。")
CIRCLED = str.maketrans("0123456789", "⓪①②③④⑤⑥⑦⑧⑨")


def spellings(written: str) -> Iterator[str]:
    """One IPv4 address as resolvers, libraries and browsers have been known to read it."""
    address = IPv4Address(written)
    number, parts = int(address), [int(part) for part in written.split(".")]
    a, b, c, d = parts
    yield from (written, f"{written}.", str(number), hex(number), f"0{number:o}", f"0x{number:08X}")
    yield from (f"{a}.{number & 0xFFFFFF}", f"{a}.{b}.{number & 0xFFFF}", f"{a}.{b}.{c}.0{d:o}")
    yield ".".join(f"0{part:o}" for part in parts)
    yield ".".join(f"{part:04o}" for part in parts)
    yield ".".join(hex(part) for part in parts)
    yield f"{hex(a)}.{b}.{c}.{d}"
    yield f"{a + 256}.{b}.{c}.{d}"
    yield written.translate(FULL_WIDTH)
    yield written.translate(CIRCLED)
    yield "".join(f"%{ord(letter):02x}" for letter in written)
    yield from (f"[::ffff:{written}]", f"[::{written}]", f"[64:ff9b::{written}]")
    yield from (f"[::ffff:{a:02x}{b:02x}:{c:02x}{d:02x}]", f"[::ffff:0:{written}]")
    yield from (f"[2002:{number >> 16:x}:{number & 0xFFFF:x}::1]", f"[64:ff9b:1::{written}]")
    yield from (f"user@{written}", f"example.com@{written}", f"example.com%40{written}")


SPELLINGS = [
    *(spelling for written in CLOSED_V4 for spelling in spellings(written)),
    *(f"[{written}]" for written in CLOSED_V6),
    *(f"[{written}%25eth0]" for written in CLOSED_V6),
    *NAMES,
]


class Connects:
    """Every address that the process asks the operating system to connect to.

    Outside of this machine the call is heard and not made.
    """

    def __init__(self) -> None:
        self.watching = False
        self.addresses: list[str] = []
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.watching and event == "socket.connect":
            where = arguments[1]
            address = str(where[0]) if isinstance(where, tuple) else str(where)
            self.addresses.append(address)
            if address == PUBLIC:
                raise ConnectionRefusedError


CONNECTS = Connects()


@pytest.fixture
def connects() -> Iterator[list[str]]:
    CONNECTS.addresses.clear()
    CONNECTS.watching = True
    yield CONNECTS.addresses
    CONNECTS.watching = False


@asynccontextmanager
async def listening() -> AsyncIterator[tuple[int, list[int]]]:
    """Listeners on one port of every loopback address; gives the port and what they count."""
    connections: list[int] = []

    async def count(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(1)
        writer.close()

    async with AsyncExitStack() as stack:
        first = await asyncio.start_server(count, "0.0.0.0", 0)
        await stack.enter_async_context(first)
        port = first.sockets[0].getsockname()[1]
        await stack.enter_async_context(await asyncio.start_server(count, "::1", port))
        yield port, connections


async def refused(fetch: SafeFetch, url: str) -> bool:
    """Whether a fetch gave no page; anything but a `FetchFailedError` is a fault."""
    try:
        await fetch.download(url)
    except FetchFailedError:
        return True
    return False


def test_there_are_enough_of_them() -> None:
    assert len(set(SPELLINGS)) >= 500


@pytest.mark.requirement("D10")
async def test_no_spelling_is_connected_to(pool, connects) -> None:
    async with listening() as (port, connections):
        limits = FetchSettings(ports=frozenset({port}), interval_seconds=0.0)
        async with SafeFetch(limits, pool) as fetch:
            passed = [
                url
                for host in SPELLINGS
                for url in (f"http://{host}:{port}/", f"https://{host}:{port}/x?y=z")
                if not await refused(fetch, url)
            ]
        assert (passed, connects, connections) == ([], [], [])


@pytest.mark.requirement("D10")
@pytest.mark.slow
async def test_no_redirect_is_connected_to(pool, connects) -> None:
    """Through one hop and through three, from a site that may be fetched."""
    async with listening() as (port, connections), open_site() as site:
        limits = FetchSettings(
            frozenset({site.place}), ports=frozenset({port}), interval_seconds=0.0
        )
        async with SafeFetch(limits, pool) as fetch:
            passed = [host for host in SPELLINGS if not await _through(fetch, site, host, port)]
        assert passed == []
        assert connections == []
        assert set(connects) == {"127.0.0.1"}
        assert len(connects) == site.connections


async def _through(fetch: SafeFetch, site: Site, host: str, port: int) -> bool:
    ways = [f"http://{host}:{port}/", f"//{host}:{port}/x"]
    site.answers |= {"/one": redirect(_latin(ways[0])), "/two": redirect("/three", 301)}
    site.answers |= {"/three": redirect("/four", 307), "/four": redirect(_latin(ways[1]), 308)}
    return all([await refused(fetch, site.url(path)) for path in ("/one", "/two")])


def _latin(location: str) -> str:
    """As a header can carry it; what it cannot is sent percent-encoded."""
    return "".join(
        letter if ord(letter) < 128 else "".join(f"%{byte:02X}" for byte in letter.encode())
        for letter in location
    )


class Rebinding:
    """A name server whose answers alternate between a public address and closed ones."""

    def __init__(self, closed: str) -> None:
        self.closed = closed
        self.asked = 0

    async def __call__(self, host: str, port: int) -> list[str]:
        self.asked += 1
        return [PUBLIC] if self.asked % 2 else [self.closed]


@pytest.mark.parametrize("closed", [*CLOSED_V4, *CLOSED_V6])
async def test_a_rebinding_name_is_connected_to_where_it_was_checked(pool, connects, closed):
    """The first answer is public and connected to (in vain); the second one never is."""
    names = Rebinding(str(ip_address(closed)))
    async with listening() as (port, connections):
        limits = FetchSettings(ports=frozenset({port}), interval_seconds=0.0)
        async with SafeFetch(limits, pool, resolve=names) as fetch:
            for number in range(4):
                assert await refused(fetch, f"http://rebinding{number}.example:{port}/")
    assert connections == []
    assert connects == [PUBLIC, PUBLIC]
    assert names.asked == 4


async def test_a_name_among_whose_addresses_one_is_closed_is_not_connected_to(pool, connects):
    async def resolve(host: str, port: int) -> list[str]:
        return [PUBLIC, "127.0.0.1"]

    async with listening() as (port, connections):
        limits = FetchSettings(ports=frozenset({port}), interval_seconds=0.0)
        async with SafeFetch(limits, pool, resolve=resolve) as fetch:
            assert await refused(fetch, f"http://mixed.example:{port}/")
    assert (connects, connections) == ([], [])
