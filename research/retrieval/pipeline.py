"""What happens to search results before anyone sees them; deterministic, without a model.

Normalise, deduplicate, sort by fused reciprocal rank, truncate. The order in which
providers answer makes no difference.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from urllib.parse import SplitResult, urlsplit

from research.engine.tools import SearchHit

# Cormack, Clarke and Buettcher (2009): how little the first ranks stand out.
RANK_CONSTANT = 60
MAX_SNIPPET = 400

_UNREADABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_SCHEMES = frozenset({"http", "https", "file"})
_TRACKING = frozenset(
    {"fbclid", "gclid", "dclid", "msclkid", "yclid", "igshid", "mc_cid", "mc_eid", "_ga", "_gl"}
    | {"ref_src", "ref_url", "spm", "wt_mc", "cmpid", "vero_id", "oly_anon_id", "oly_enc_id"}
)


def prepare(hits: Iterable[SearchHit], limit: int) -> tuple[SearchHit, ...]:
    """The best `limit` hits of any number of providers, numbered from 1.

    The order of `hits` has no influence, and what comes out goes through unchanged again.
    """
    groups: dict[str, list[SearchHit]] = defaultdict(list)
    for hit in hits:
        url = canonical_url(hit.url)
        if url:
            groups[_page_key(url)].append(_tidied(hit, url))
    fused = [_fused(group) for group in groups.values()]
    fused.sort(key=lambda scored: (-scored[0], scored[1].url))
    return tuple(replace(hit, rank=rank) for rank, (_, hit) in enumerate(fused[:limit], start=1))


def canonical_url(url: str) -> str:
    """One spelling for the addresses of a page; "" for what is no address of a page.

    Scheme and host in lower case, no default port, fragment or tracking parameters, and "/"
    for an empty path. A final slash elsewhere stays, as some servers tell the two apart.
    Control characters and lone surrogates are in no address.
    """
    url = url.strip()
    if _UNREADABLE.search(url):
        return ""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return ""
    if parts.scheme not in _SCHEMES or (parts.scheme != "file" and not parts.hostname):
        return ""
    return SplitResult(
        scheme=parts.scheme,
        netloc=_netloc(parts, port),
        path=parts.path or "/",
        query=_without_tracking(parts.query),
        fragment="",
    ).geturl()


def _fused(group: Sequence[SearchHit]) -> tuple[float, SearchHit]:
    """The group's score, and its best-placed hit with the first date that is known."""
    ordered = sorted(group, key=_placing)
    best_ranks: dict[str, int] = {}
    for hit in ordered:
        best_ranks.setdefault(hit.provider, hit.rank)
    score = math.fsum(1 / (RANK_CONSTANT + rank) for rank in best_ranks.values())
    published = next((hit.published for hit in ordered if hit.published), None)
    return score, replace(ordered[0], published=published)


def _placing(hit: SearchHit) -> tuple[int, str, str, str, str, str]:
    return hit.rank, hit.url, hit.provider, hit.title, hit.snippet, hit.published or ""


def _tidied(hit: SearchHit, url: str) -> SearchHit:
    title = " ".join(hit.title.split())
    snippet = " ".join(hit.snippet.split())
    if len(snippet) > MAX_SNIPPET:
        snippet = snippet[: MAX_SNIPPET - 1].rstrip() + "…"
    return replace(hit, url=url, title=title, snippet=snippet)


def _page_key(url: str) -> str:
    return url.removesuffix("/")


def _netloc(parts: SplitResult, port: int | None) -> str:
    host = parts.hostname or ""
    if ":" in host:
        host = f"[{host}]"
    is_default = port is None or port == _DEFAULT_PORTS.get(parts.scheme)
    return host if is_default else f"{host}:{port}"


def _without_tracking(query: str) -> str:
    kept = (part for part in query.split("&") if part and not _is_tracking(part))
    return "&".join(kept)


def _is_tracking(parameter: str) -> bool:
    name = parameter.partition("=")[0].lower()
    return name in _TRACKING or name.startswith("utm_")
