"""SSRF guard: rules for the URLs and IP addresses that may be fetched.

`check_url` checks the URL as written, `check_address` the IP address that its host resolved to;
the network layer applies both, the second at connection time. Refusals never contain the
address, so they can be shown to any user.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv4Network, IPv6Address, IPv6Network
from urllib.parse import urlsplit

import idna

from research.engine.ports import FetchFailedError

DEFAULT_PORTS = frozenset({80, 443, 8080, 8443})
MAX_URL_LENGTH = 4_096

_SCHEME_PORTS = {"http": 80, "https": 443}
# "example.org", "example.org:8080", "[2001:db8::1]:443"
_AUTHORITY = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^\[\]:@]+)(?::(?P<port>[0-9]{0,5}))?")
# one label of a host name: "example", "xn--bcher-kva", "_dmarc"
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
# a last label that some parsers read as an IPv4 number: "127", "0x7f"
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
# white space, control characters, backslash, lone surrogates
_UNPRINTABLE = re.compile(r"[\x00-\x20\x7f-\xa0\\\u2028\u2029\ud800-\udfff]")

# RFC 6761, 6762, 7686, 8375, 9476, ICANN's reservations, and common router defaults.
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
_WRAPPED = "the address embeds another one"

# The IANA special-purpose registries, plus metadata addresses of cloud platforms outside them.
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


class AddressRefusedError(FetchFailedError):
    """An address that the SSRF guard refuses, whatever it serves."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"refused: {reason}", status="refused")


@dataclass(frozen=True)
class AddressRules:
    """Allowed ports, and exceptions for private hosts.

    `allow_private_hosts` contains exact `host:port` pairs and is the only exception; a listed pair
    may have any name, address and port. IPv6 hosts are written in brackets.
    """

    allow_private_hosts: frozenset[str] = frozenset()
    ports: frozenset[int] = DEFAULT_PORTS

    def opens(self, host: str, port: int) -> bool:
        bracketed = f"[{host}]" if ":" in host else host
        return f"{bracketed}:{port}" in self.allow_private_hosts

    def lists(self, url: str) -> bool:
        """Return whether a URL leads to a listed pair; False for one that may not be fetched."""
        try:
            target = check_url(url, self)
        except AddressRefusedError:
            return False
        return self.opens(target.host, target.port)


@dataclass(frozen=True)
class Target:
    """A URL that may be requested; `host` is lower case, without brackets or trailing dot.

    `url` is rebuilt from the checked parts, so that no second parser can find another host in
    it; the fragment is dropped.
    """

    url: str
    scheme: str
    host: str
    port: int


def check_url(url: str, rules: AddressRules) -> Target:
    """Return the checked target of `url`; raise `AddressRefusedError`.

    The addresses that its host resolves to are checked later, at connection time.
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
    """Return whether a URL set by the operator is well-formed; private addresses are allowed."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
        labels = [host] if ":" in host else _ascii_host(host).removesuffix(".").split(".")
    except (ValueError, AddressRefusedError):
        return False
    fits = all(0 < len(label) <= 63 for label in labels)
    return parts.scheme in schemes and fits and not _UNPRINTABLE.search(url)


def check_address(address: str) -> None:
    """Raise `AddressRefusedError` unless `address`, an IP in canonical form, is public."""
    ip = _ip(address)
    if ip is None:
        raise AddressRefusedError("the address could not be read")
    reason = _closed(ip)
    if reason:
        raise AddressRefusedError(reason)


def check_resolved(addresses: Iterable[str]) -> None:
    """Raise `AddressRefusedError` if any of the addresses that a name resolved to is not public."""
    for address in addresses:
        check_address(address)


def _split(url: str) -> tuple[str, str, str]:
    """Return scheme, authority and the rest (path and query) of a URL; refuse malformed ones."""
    url = url.strip(" ")
    if len(url) > MAX_URL_LENGTH:
        raise AddressRefusedError("the address is too long")
    if _UNPRINTABLE.search(url):
        raise AddressRefusedError("the address contains invalid characters")
    try:
        parts = urlsplit(url)
    except ValueError:
        raise AddressRefusedError("the address could not be read") from None
    if parts.scheme not in _SCHEME_PORTS:
        raise AddressRefusedError("only http and https addresses are fetched")
    if "@" in parts.netloc:
        raise AddressRefusedError("the address contains a user name or password")
    query = f"?{parts.query}" if parts.query else ""
    path = parts.path if parts.path.startswith("/") else f"/{parts.path}"
    return parts.scheme, parts.netloc, f"{path}{query}"


def _host_and_port(authority: str, scheme: str) -> tuple[str, int]:
    match = _AUTHORITY.fullmatch(authority)
    if match is None:
        raise AddressRefusedError("the address could not be read")
    port = int(match["port"] or _SCHEME_PORTS[scheme])
    if not 0 < port < 65_536:
        raise AddressRefusedError("the port does not exist")
    return _normal_host(match["host"]), port


def _normal_host(written: str) -> str:
    """Return the canonical form of a host; refuse hosts that have none."""
    if written.startswith("["):
        return _normal_ipv6(written[1:-1])
    host = _ascii_host(written).removesuffix(".")
    labels = host.split(".")
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise AddressRefusedError("the host's name is not valid")
    if _NUMBER.fullmatch(labels[-1]) and _ip(host) is None:
        raise AddressRefusedError("the address is a number in an unusual spelling")
    return host


def _normal_ipv6(written: str) -> str:
    ip = _ip(written)
    if ip is None:
        raise AddressRefusedError("the address could not be read")
    return str(ip)


def _ascii_host(written: str) -> str:
    """Return the host in ASCII (IDNA).

    A label with the prefix "xn--" must decode, since clients decode it too.
    """
    try:
        if not written.isascii():
            return idna.encode(written, uts46=True).decode("ascii").lower()
        host = written.lower()
        for label in host.split("."):
            if label.startswith("xn--"):
                idna.decode(label)
    except idna.IDNAError:
        raise AddressRefusedError("the host's name is not valid") from None
    return host


def _check_port(port: int, rules: AddressRules) -> None:
    if port not in rules.ports:
        raise AddressRefusedError("the port is not a usual web port")


def _check_host(host: str) -> None:
    if _ip(host) is not None:
        check_address(host)
    elif "." not in host or _is_internal(host):
        raise AddressRefusedError("the host's name is an internal one")


def _is_internal(host: str) -> bool:
    return any(host == name or host.endswith(f".{name}") for name in _INTERNAL_SUFFIXES)


def _ip(written: str) -> IPv4Address | IPv6Address | None:
    """Parse an IP address strictly: no leading zeros, no shorthand, no zone."""
    if "%" in written:
        return None
    try:
        return IPv6Address(written) if ":" in written else IPv4Address(written)
    except AddressValueError:
        return None


def _closed(ip: IPv4Address | IPv6Address) -> str | None:
    """Return the reason why an address is not public, or None."""
    if isinstance(ip, IPv4Address):
        return next((reason for network, reason in _CLOSED_V4 if ip in network), None)
    listed = next((reason for network, reason in _CLOSED_V6 if ip in network), None)
    return listed or (None if ip in _OPEN_V6 else _RESERVED)
