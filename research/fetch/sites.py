"""Properties of a source that follow from its address alone: domain, independence key, kind."""

from __future__ import annotations

import re
from functools import cache
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from research.engine.ports import SourceKind

if TYPE_CHECKING:
    from tldextract import TLDExtract

_RESERVED_SUFFIXES = (".example", ".test", ".localhost", ".invalid", ".local", ".internal")
_LOOPBACK_NAMES = ("localhost",)

_STANDARDS = (
    *("w3.org", "ietf.org", "rfc-editor.org", "iso.org", "ecma-international.org", "whatwg.org"),
    *("unicode.org", "itu.int", "iana.org", "nist.gov", "who.int", "un.org", "europa.eu"),
)
_ACADEMIC = (
    *("arxiv.org", "doi.org", "nature.com", "science.org", "sciencedirect.com", "springer.com"),
    *("jstor.org", "plos.org", "biorxiv.org", "medrxiv.org", "semanticscholar.org", "acm.org"),
    *("ieee.org", "pubmed.ncbi.nlm.nih.gov", "ncbi.nlm.nih.gov", "aclanthology.org", "mdpi.com"),
    *("openreview.net", "wiley.com", "tandfonline.com", "frontiersin.org", "ssrn.com"),
)
_FORUMS = (
    *("stackoverflow.com", "stackexchange.com", "superuser.com", "serverfault.com", "reddit.com"),
    *("askubuntu.com", "quora.com", "news.ycombinator.com", "lobste.rs", "mathoverflow.net"),
)
_NEWS = (
    *("reuters.com", "apnews.com", "bbc.com", "bbc.co.uk", "nytimes.com", "theguardian.com"),
    *("washingtonpost.com", "wsj.com", "ft.com", "economist.com", "bloomberg.com", "cnn.com"),
    *("spiegel.de", "zeit.de", "faz.net", "lemonde.fr", "elpais.com", "aljazeera.com", "npr.org"),
    *("theverge.com", "arstechnica.com", "techcrunch.com", "wired.com", "heise.de"),
)
# "data.gov", "hmrc.gov.uk", "service.gouv.fr", "who.int"
_OFFICIAL_HOST = re.compile(
    r"\.(?:gov|mil)(?:\.[a-z]{2})?$|\.(?:gouv|gob|govt|go|gc)\.[a-z]{2}$|\.int$"
)
# "mit.edu", "ox.ac.uk", "www.uni-bonn.de"
_ACADEMIC_HOST = re.compile(r"\.edu(?:\.[a-z]{2})?$|\.ac\.[a-z]{2}$|(?:^|\.)uni-[a-z-]+\.")
# "discuss.python.org", "community.openai.com"
_FORUM_HOST = re.compile(r"^(?:forums?|discuss|discourse|community|answers)\.")
# "example.org/forum/…", "/viewtopic.php"
_FORUM_PATH = re.compile(r"^/(?:forums?|boards?)(?:/|$)|/(?:viewtopic|showthread)\b")
# "Gardeners' Forum", as a site calls itself
_FORUM_NAME = re.compile(
    r"\b(?:forums?|foros?|fóru(?:m|ns)|message boards?)\b|论坛|論壇|掲示板", re.IGNORECASE
)
# "news.mit.edu"
_NEWS_HOST = re.compile(r"^news\.")
# "docs.djangoproject.com", "support.apple.com"
_VENDOR_HOST = re.compile(r"^(?:docs?|developers?|support|help|learn|shop|store|api)\.")


def host_of(url: str) -> str:
    """Return the lower-case host of a URL without trailing dot, or "" if there is none."""
    return (_parts(url).hostname or "").rstrip(".")


def domain_of(url: str) -> str:
    """Return the host without `www.`."""
    return host_of(url).removeprefix("www.")


def independence_key(url: str) -> str:
    """Return the key of a source's publisher; sources with the same key count as one voice.

    The key is the registrable domain if its public suffix is known (suffixes of hosting platforms
    included: two authors on one platform are two voices), otherwise the host. On loopback, used by
    test sites, the port is part of the key. A document is its own key.
    """
    host = host_of(url)
    if not host or _parts(url).scheme == "file":
        return url
    if _is_loopback(host):
        return f"{host}:{_port_of(url)}"
    if _is_ip(host) or host.endswith(_RESERVED_SUFFIXES):
        return host.removeprefix("www.")
    return _suffixes()(host).top_domain_under_public_suffix or host.removeprefix("www.")


def kind_of(url: str, site: str = "") -> SourceKind:
    """Return the source's kind by fixed rules on its address, and what its site calls itself: a
    first guess, not a verdict.
    """
    if _parts(url).scheme == "file":
        return "document"
    host = host_of(url)
    if _under(host, _ACADEMIC) or _ACADEMIC_HOST.search(host):
        return "academic"
    if _under(host, _STANDARDS) or _OFFICIAL_HOST.search(host):
        return "official"
    if _under(host, _FORUMS) or _FORUM_HOST.search(host):
        return "forum"
    if _under(host, _NEWS) or _NEWS_HOST.search(host):
        return "news"
    if _FORUM_PATH.search(_parts(url).path) or _FORUM_NAME.search(site):
        return "forum"
    return "vendor" if _VENDOR_HOST.search(host) else "unknown"


def _under(host: str, domains: tuple[str, ...]) -> bool:
    return any(host == domain or host.endswith(f".{domain}") for domain in domains)


def _is_ip(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _is_loopback(host: str) -> bool:
    return host in _LOOPBACK_NAMES or (_is_ip(host) and ip_address(host).is_loopback)


def _parts(url: str) -> SplitResult:
    """Return the parts of a URL, all empty if it is malformed."""
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")


def _port_of(url: str) -> int:
    parts = _parts(url)
    return parts.port or (443 if parts.scheme == "https" else 80)


@cache
def _suffixes() -> TLDExtract:
    """Return the public suffix list bundled with tldextract, without any download or cache file."""
    from tldextract import TLDExtract

    return TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True)
