"""Which URLs and IP addresses may be fetched.

`check_url` judges what is written, `check_address` what a name resolved to; the network
layer asks for both, the second at the moment of the connection. Refusals never repeat
the address, so they can be shown to anyone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv4Network, IPv6Address, IPv6Network
from urllib.parse import urlsplit

import idna

from research.engine.tools import FetchFailure

DEFAULT_PORTS = frozenset({80, 443, 8080, 8443})
MAX_URL_LENGTH = 4_096

_SCHEME_PORTS = {"http": 80, "https": 443}
_AUTHORITY = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^\[\]:@]+)(?::(?P<port>[0-9]{0,5}))?")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_UNPRINTABLE = re.compile(r"[\x00-\x20\x7f-\xa0\\\u2028\u2029\ud800-\udfff]")

# RFC 6761, 6762, 7686, 8375, 9476, ICANN's reservations, and what routers hand out.
_INTERNAL_SUFFIXES = (
    *("local", "internal", "localhost", "lan", "home.arpa", "localdomain", "intranet"),
    *("corp", "home", "private", "invalid", "onion", "alt", "arpa", "metadata.goog"),
)

_PRIVATE = "the address is on a private network"
_LOOPBACK = "the address is this machine itself"
_LINK_LOCAL = "the address is on the local link"
_MULTICAST = "the address is a multicast group"
_RESERVED = "the address is reserved"
_METADATA = "the address belongs to the hosting platform"
_WRAPPED = "the address wraps another one"

# The IANA special-purpose registries, plus the platform addresses that lie outside them.
_CLOSED_V4 = tuple(
    (IPv4Network(network), reason)
    for network, reason in (
        ("169.254.169.254/32", _METADATA),
        ("168.63.129.16/32", _METADATA),
        ("100.100.100.200/32", _METADATA),
        ("192.0.0.192/32", _METADATA),
        ("127.0.0.0/8", _LOOPBACK),
        ("10.0.0.0/8", _PRIVATE),
        ("172.16.0.0/12", _PRIVATE),
        ("192.168.0.0/16", _PRIVATE),
        ("100.64.0.0/10", _PRIVATE),
        ("169.254.0.0/16", _LINK_LOCAL),
        ("224.0.0.0/4", _MULTICAST),
        ("0.0.0.0/8", _RESERVED),
        ("192.0.0.0/24", _RESERVED),
        ("192.0.2.0/24", _RESERVED),
        ("192.88.99.0/24", _RESERVED),
        ("198.18.0.0/15", _RESERVED),
        ("198.51.100.0/24", _RESERVED),
        ("203.0.113.0/24", _RESERVED),
        ("240.0.0.0/4", _RESERVED),
    )
)
_OPEN_V6 = IPv6Network("2000::/3")
_CLOSED_V6 = tuple(
    (IPv6Network(network), reason)
    for network, reason in (
        ("fd00:ec2::254/128", _METADATA),
        ("::1/128", _LOOPBACK),
        ("::/128", _RESERVED),
        ("::/96", _WRAPPED),
        ("::ffff:0:0/96", _WRAPPED),
        ("::ffff:0:0:0/96", _WRAPPED),
        ("64:ff9b::/96", _WRAPPED),
        ("64:ff9b:1::/48", _WRAPPED),
        ("2001::/32", _WRAPPED),
        ("2002::/16", _WRAPPED),
        ("fc00::/7", _PRIVATE),
        ("fec0::/10", _PRIVATE),
        ("fe80::/10", _LINK_LOCAL),
        ("ff00::/8", _MULTICAST),
        ("2001::/23", _RESERVED),
        ("2001:db8::/32", _RESERVED),
        ("3fff::/20", _RESERVED),
    )
)


class AddressRefused(FetchFailure):
    """An address that is not fetched, whatever answers there."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"refused: {reason}", status="refused")


@dataclass(frozen=True)
class AddressRules:
    """`allow_private_hosts` holds exact `host:port` pairs and is the only opening.

    A listed pair may have any name, address and port; an IPv6 host is in brackets.
    """

    allow_private_hosts: frozenset[str] = frozenset()
    ports: frozenset[int] = DEFAULT_PORTS

    def opens(self, host: str, port: int) -> bool:
        bracketed = f"[{host}]" if ":" in host else host
        return f"{bracketed}:{port}" in self.allow_private_hosts

    def lists(self, url: str) -> bool:
        """Whether a URL leads to a listed pair; False for one that could not be fetched."""
        try:
            target = check_url(url, self)
        except AddressRefused:
            return False
        return self.opens(target.host, target.port)


@dataclass(frozen=True)
class Target:
    """A URL that may be asked for: `host` is lower case, without brackets or final dot.

    `url` is rebuilt from the parts that were checked, so that no second parser can
    read another host in it; the fragment is dropped.
    """

    url: str
    scheme: str
    host: str
    port: int


def check_url(url: str, rules: AddressRules) -> Target:
    """The target that `url` names; raises `AddressRefused`.

    Says nothing about where a name leads: that is known, and checked, at the connection.
    """
    scheme, authority, rest = _split(url)
    host, port = _host_and_port(authority, scheme)
    if not rules.opens(host, port):
        _check_port(port, rules)
        _check_host(host)
    shown = f"[{host}]" if ":" in host else host
    suffix = "" if port == _SCHEME_PORTS[scheme] else f":{port}"
    return Target(f"{scheme}://{shown}{suffix}{rest}", scheme, host, port)


def is_server_address(url: str, schemes: Collection[str] = tuple(_SCHEME_PORTS)) -> bool:
    """Whether a URL that the operator gives can name a server, wherever that may be."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
        labels = [host] if ":" in host else _ascii_host(host).removesuffix(".").split(".")
    except (ValueError, AddressRefused):
        return False
    fits = all(0 < len(label) <= 63 for label in labels)
    return parts.scheme in schemes and fits and not _UNPRINTABLE.search(url)


def check_address(address: str) -> None:
    """Raises `AddressRefused` unless `address`, an IP in canonical spelling, is public."""
    ip = _ip(address)
    if ip is None:
        raise AddressRefused("the address could not be read")
    reason = _closed(ip)
    if reason:
        raise AddressRefused(reason)


def check_resolved(addresses: Iterable[str]) -> None:
    """Refuses a name as soon as one of the addresses it resolved to is closed."""
    for address in addresses:
        check_address(address)


def _split(url: str) -> tuple[str, str, str]:
    """Scheme, authority and the rest (path and query) of a URL; refuses odd ones."""
    url = url.strip(" ")
    if len(url) > MAX_URL_LENGTH:
        raise AddressRefused("the address is too long")
    if _UNPRINTABLE.search(url):
        raise AddressRefused("the address holds characters that do not belong there")
    try:
        parts = urlsplit(url)
    except ValueError:
        raise AddressRefused("the address could not be read") from None
    if parts.scheme not in _SCHEME_PORTS:
        raise AddressRefused("only http and https addresses are fetched")
    if "@" in parts.netloc:
        raise AddressRefused("the address holds a user name or password")
    query = f"?{parts.query}" if parts.query else ""
    path = parts.path if parts.path.startswith("/") else f"/{parts.path}"
    return parts.scheme, parts.netloc, f"{path}{query}"


def _host_and_port(authority: str, scheme: str) -> tuple[str, int]:
    match = _AUTHORITY.fullmatch(authority)
    if match is None:
        raise AddressRefused("the address could not be read")
    port = int(match["port"] or _SCHEME_PORTS[scheme])
    if not 0 < port < 65_536:
        raise AddressRefused("the port does not exist")
    return _normal_host(match["host"]), port


def _normal_host(written: str) -> str:
    """The host in its one canonical spelling; refuses those that have none."""
    if written.startswith("["):
        return _normal_ipv6(written[1:-1])
    host = _ascii_host(written).removesuffix(".")
    labels = host.split(".")
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise AddressRefused("the host's name is not valid")
    if _NUMBER.fullmatch(labels[-1]) and _ip(host) is None:
        raise AddressRefused("the address is a number in an unusual spelling")
    return host


def _normal_ipv6(written: str) -> str:
    ip = _ip(written)
    if ip is None:
        raise AddressRefused("the address could not be read")
    return str(ip)


def _ascii_host(written: str) -> str:
    """The name in ASCII; a label that claims to be encoded has to decode, as clients rely on it."""
    try:
        if not written.isascii():
            return idna.encode(written, uts46=True).decode("ascii").lower()
        host = written.lower()
        for label in host.split("."):
            if label.startswith("xn--"):
                idna.decode(label)
    except idna.IDNAError:
        raise AddressRefused("the host's name is not valid") from None
    return host


def _check_port(port: int, rules: AddressRules) -> None:
    if port not in rules.ports:
        raise AddressRefused("the port is not one of the web's")


def _check_host(host: str) -> None:
    if _ip(host) is not None:
        check_address(host)
    elif "." not in host or _is_internal(host):
        raise AddressRefused("the host's name is an internal one")


def _is_internal(host: str) -> bool:
    return any(host == name or host.endswith(f".{name}") for name in _INTERNAL_SUFFIXES)


def _ip(written: str) -> IPv4Address | IPv6Address | None:
    """Strict: no leading zeros, no shorthand, no zone."""
    if "%" in written:
        return None
    try:
        return IPv6Address(written) if ":" in written else IPv4Address(written)
    except AddressValueError:
        return None


def _closed(ip: IPv4Address | IPv6Address) -> str | None:
    """The reason why an address is closed, or None."""
    if isinstance(ip, IPv4Address):
        return next((reason for network, reason in _CLOSED_V4 if ip in network), None)
    listed = next((reason for network, reason in _CLOSED_V6 if ip in network), None)
    return listed or (None if ip in _OPEN_V6 else _RESERVED)
