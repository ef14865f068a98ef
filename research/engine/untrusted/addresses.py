"""Addresses in a text: of pages, hosts and mailboxes, and telephone numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, Literal

from research.engine.text.folding import folded, without_invisible

if TYPE_CHECKING:
    from tldextract import TLDExtract

Kind = Literal["page", "host", "mail", "phone"]

_PAGE = re.compile(
    r"(?:(?:https?|ftps?|hxxps?)\s?(?::|%3a|：)\s?(?:/|%2f|／){1,3}|(?<![\w.@])www\s?\.|(?<!\w)(?:mailto|tel|data|javascript):)"
    r"[^\s<>\"'“”„«»`|\\^{}\[\]（）「」『』，。、；]+",
    re.IGNORECASE,
)
"""Such as "https://a.example/b?c=d" and "www.a.example"."""
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
"""Such as "desk@a.example"."""
_HOST = re.compile(
    r"(?<![\w.@/-])(?:[^\W_][\w-]{0,62}\.){1,8}[^\W\d_]{2,24}(?![\w-])(?:[/?#][^\s<>\"'“”«»|\[\]「」『』，。、]*)?"
)
"""Such as "a.example" and "a.example/b"."""
_SPELLED = re.compile(
    r"(?<!\w)[\w-]{2,63}(?:\s?[\[(]\s?(?:dot|punkt|point|punto|ponto|точка)\s?[\])]\s?[\w-]{2,63}){1,5}",
    re.IGNORECASE,
)
"""Such as "a [dot] example"."""
_PHONE = re.compile(
    r"(?<![\w.,/:-])(?:\+|00)\d{1,3}(?:[ ()./-]{0,2}\d){6,12}(?![\d.,]\d|\w)"
    r"|(?<![\w.,/:+-])\(?0\d{1,5}\)?(?:[ /-]{1,2}\d{2,8}){1,4}(?![\d.,]\d|\w)"
    r"|(?<![\w.,/:+-])0\d{8,12}(?!\w)"
    r"|(?<![\w.,/:+-])(?:1[ -])?\(?[2-9]\d{2}\)?[ -]\d{3}-\d{4}(?!\w)"
    r"|(?<![\w.,/:+-])(?<!\d )\d{3} (?:\d{3} \d{4}|\d{4} \d{3,4})(?! ?\d|[.,]\d|\w)"
)
"""Such as "+44 20 7946 0958", "030 23125 118", "(212) 555-0147", "555 0143 288"; groups of three
digits alone are thousands."""
_RELATIVE = re.compile(
    r"(?<![\w:/.@-])//(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}(?![\w-])(?::\d{1,5})?"
    r"(?:[/?#][^\s<>\"'“”«»|\[\]「」『』，。、]*)?"
)
"""Such as "//a.example/b", an address without its scheme."""
_LOCAL_PHONE = re.compile(
    r"(?<![\w.,/:+€$£%-])(?<!\d )(?:[2-9]\d{2}[ .-]?\d{4}|\d{2,4}(?:[ -]\d{2,4}){1,3})"
    r"(?![ -]?\d|[.,]\d|\w)"
)
"""Such as "555-0142" and "23 12 518", a number without its area."""
_FICTITIOUS = re.compile(r"\d{3}-0\d{3}")
"""No range of figures ends like this."""
_OF_PHONES = re.compile(
    r"(?<!\w)(?:tel(?:e?(?:ph|f)on\w*|efone\w*|\.)?|phones?|ring(?:s|ing)?|calls?|calling|dial\w*|hotline|fax"
    r"|helpline|anruf\w*|ruft?|rufnummer|wahl\w*|appel\w*|llam\w*|ligue|ligar|marque|numero|nummer)(?!\w)"
    r"|телефон|звон|набер|电话|拨打|致电|電話|هاتف|اتصل|رقم"
)
"""A word for telephones in a folded text: what makes a local number of figures."""
_OF_PAGES = re.compile(r"[:：]|%3a|www", re.IGNORECASE)
_OF_HOSTS = re.compile(r"\.[^\W\d_]")
_OF_NUMBERS = re.compile(r"\d(?:[ ()./-]{0,3}\d){8}")
"""What every address of a page, every host and every telephone number has, and few sentences."""
LOCAL_DIGITS, LOCAL_REACH = (7, 8), 40
LEAST_DIGITS = 9
_PATH = re.compile(r"[/?#]")
_TRAILING = ".,;:!?)'\"”»"
_RESERVED = frozenset({"example", "test", "invalid", "localhost", "onion", "local", "internal"})
_OWN = (".localhost", ".local", ".lan", ".home.arpa")
"""Endings that name servers of the internet don't resolve (RFC 6761, RFC 6762, RFC 8375)."""
_FILE_ENDINGS = frozenset({
    "py", "sh", "md", "rs", "pl", "cc", "so", "js", "ts", "zip", "mov", "app", "gz", "do", "in",
    "is", "it", "at", "to", "me", "be", "by", "am", "as", "no", "us", "my", "pm", "id", "cat",
    "name", "info", "post", "int", "pro",
})  # fmt: skip
"""Endings that file names, words and abbreviations have too: a bare name with one is no host."""
_MAILBOX = re.compile(r"(?<=[^\W\d_]) ?<[\w.+-]{1,64}@[\w.-]{1,254}>")


@dataclass(frozen=True)
class Address:
    """An address at `text[start:end]`; `host` is '' for a telephone number."""

    start: int
    end: int
    text: str
    kind: Kind
    host: str


@cache
def _suffixes() -> TLDExtract:
    from tldextract import TLDExtract  # imports requests

    return TLDExtract(suffix_list_urls=(), include_psl_private_domains=True)


def without_mailboxes(text: str) -> str:
    """Return a text without the addresses behind names, as in "Ada Reed <ada@example.org>"."""
    return _MAILBOX.sub(" ", text)


@lru_cache(maxsize=8_000)
def addresses_in(text: str, *, is_wide: bool = False) -> tuple[Address, ...]:
    """Return the addresses of a text in order, none within another.

    `is_wide` finds telephone numbers without an area and addresses without a scheme, too.
    """
    found: list[Address] = []
    every = (*_every(text), *(_wide(text) if is_wide else ()))
    for address in sorted(every, key=lambda each: (each.start, -each.end)):
        if not found or address.start >= found[-1].end:
            found.append(address)
    return tuple(found)


def _every(text: str) -> Iterator[Address]:
    if "." in text or ":" in text or "：" in text:
        if _OF_PAGES.search(text):
            yield from (_address(match, "page") for match in _PAGE.finditer(text))
        if "@" in text:
            yield from (_address(match, "mail") for match in _MAIL.finditer(text))
        if _OF_HOSTS.search(text):
            hosts = (_address(match, "host") for match in _HOST.finditer(text))
            yield from (each for each in hosts if _is_host(each.text))
    if "[" in text or "(" in text:
        yield from (_address(match, "host") for match in _SPELLED.finditer(text))
    for match in _PHONE.finditer(text) if _OF_NUMBERS.search(text) else ():
        if sum(map(str.isdigit, match[0])) >= LEAST_DIGITS:
            yield _address(match, "phone")


def _wide(text: str) -> Iterator[Address]:
    if "//" in text:
        found = (_address(match, "page") for match in _RELATIVE.finditer(text))
        yield from (each for each in found if _is_host(each.text.removeprefix("//")))
    for match in _LOCAL_PHONE.finditer(text):
        digits = sum(map(str.isdigit, match[0]))
        before = folded(text[max(0, match.start() - LOCAL_REACH) : match.start()])
        is_phone = _FICTITIOUS.fullmatch(match[0]) or _OF_PHONES.search(before)
        if LOCAL_DIGITS[0] <= digits <= LOCAL_DIGITS[1] and is_phone:
            yield _address(match, "phone")


def _address(match: re.Match[str], kind: Kind) -> Address:
    text = match[0].rstrip(_TRAILING)
    host = "" if kind == "phone" else _host_of(text)
    return Address(match.start(), match.start() + len(text), text, kind, host)


def _host_of(text: str) -> str:
    """Return the host of an address: "a.example" of "https://user@a.example:80/b"."""
    plain = without_invisible(text).lower().removeprefix("//")
    after = re.split(r"://?/?|：//", plain, maxsplit=1)[-1]
    return _PATH.split(after, maxsplit=1)[0].rpartition("@")[2].partition(":")[0].strip(".")


def _is_host(text: str) -> bool:
    """Return whether a dotted name is a host rather than a file, an abbreviation or a company's
    name such as "Amazon.com".
    """
    name = _PATH.split(text, maxsplit=1)[0]
    ending = name.rpartition(".")[2].lower()
    is_bare = name == text and name.count(".") == 1
    if is_bare and (name[0].isupper() or ending in _FILE_ENDINGS):
        return False
    return ending in _RESERVED or bool(_suffixes()(name).suffix)


def owner_of(host: str) -> str:
    """Return the registrable domain of a host, or the host if it has none."""
    parts = _suffixes()(host)
    return f"{parts.domain}.{parts.suffix}" if parts.suffix and parts.domain else host


def is_own_network(host: str) -> bool:
    """Return whether a host is on the asker's machine or network, where no page can lead anybody:
    "localhost", "192.168.1.10", "printer.local".
    """
    if host == "localhost" or host.endswith(_OWN):
        return True
    try:
        return ip_address(host).is_private
    except ValueError:
        return False
