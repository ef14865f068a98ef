"""A made-up search provider in a single file, as a contributor would add one."""

from __future__ import annotations

import httpx

from research.engine.ports import SearchAnswer, SearchRequest
from research.search.providers.base import Provider, ProviderSettings, Setting, make_hit
from research.search.providers.client import ProviderClient, RetryPolicy
from research.search.providers.refusals import Named

KEY = Setting("LARDER_API_KEY", "A key for Larder.", "key", label="Key for Larder")
URL = Setting(
    "LARDER_URL", "Another address for Larder's interface.", "url", default="http://127.0.0.1:9"
)
NAMED = Named("Larder", URL.name, KEY.name)


class LarderSearch:
    def __init__(self, url: str, key: str, client: httpx.AsyncClient, manners: RetryPolicy):
        self._client = ProviderClient(NAMED, f"{url}/find", client, manners)
        self._headers = {"X-Key": key}

    async def search(self, request: SearchRequest) -> SearchAnswer:
        body = await self._client.get({"q": request.query}, headers=self._headers)
        lines = enumerate(body.decode().splitlines(), start=1)
        hits = (make_hit("larder", rank, *line.split("|")) for rank, line in lines)
        return SearchAnswer(tuple(hits))


def _make_search(settings: ProviderSettings, client: httpx.AsyncClient) -> LarderSearch:
    manners = RetryPolicy(at_once=settings.at_once, per_second=0.0)
    return LarderSearch(settings[URL], settings[KEY], client, manners)


PROVIDER = Provider(label="Larder", needs=KEY, options=(URL,), make=_make_search)
