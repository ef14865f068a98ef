"""Post-processing of search results; deterministic, without a model.

Normalise, deduplicate, rank by reciprocal rank fusion, truncate. The order in which providers
answer has no influence.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from urllib.parse import SplitResult, urlsplit

from research.engine.ports import SearchHit

# The constant k of reciprocal rank fusion (Cormack, Clarke and Buettcher, 2009).
RANK_CONSTANT = 60
MAX_SNIPPET = 400

# control characters and lone surrogates
_UNREADABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_SCHEMES = frozenset({"http", "https", "file"})
_TRACKING = frozenset(
    {"fbclid", "gclid", "dclid", "msclkid", "yclid", "igshid", "mc_cid", "mc_eid", "_ga", "_gl"}
    | {"ref_src", "ref_url", "spm", "wt_mc", "cmpid", "vero_id", "oly_anon_id", "oly_enc_id"}
)


def prepare_hits(hits: Iterable[SearchHit], limit: int) -> tuple[SearchHit, ...]:
    """Return the best `limit` hits of any number of providers, ranked from 1.

    The order of `hits` has no influence, and the function is idempotent.
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
    """Return the canonical form of a page's address, or "" if it is not one.

    Lower-case scheme and host; no default port, fragment or tracking parameters; "/" for an empty
    path. A trailing slash elsewhere is kept, since some servers distinguish the two forms.
    Addresses with control characters or lone surrogates are rejected.
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
    """Return the group's fused score, and its best-ranked hit with the first known date."""
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
