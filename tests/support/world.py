"""The simulated world of the tests on loopback: a small web, a search over it, a scripted model.

It answers two questions. The second part of the second question is answered by a page that only the
first part's page names.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from tests.support.model_server import ModelServer, Part, Script
from tests.support.search_server import Listed, SearchServer
from tests.support.web_server import WebServer, html

SIMPLE = "When was the Harrow Point lighthouse first lit?"
CHAINED = "Who designed the Harrow Point lighthouse, and where was that engineer trained?"
WIDE = (
    "When was the Harrow Point lighthouse first lit, who designed it, what is its tower built of, "
    "and when was the Gull Rock lighthouse first lit?"
)
TRAINING = "Where was the engineer of the Harrow Point lighthouse trained?"

LIT = "The Harrow Point lighthouse was first lit on 14 March 1887."
LIT_TOO = "Harrow Point lighthouse was first lit in March 1887 and is still in use."
DESIGNED = "The Harrow Point lighthouse was designed by Edda Marlow."
DESIGNED_TOO = "According to the register, Edda Marlow designed the Harrow Point lighthouse."
TRAINED = "Edda Marlow was trained at the Calder foundry in Leith for six years."

SCRIPTS = {
    SIMPLE: Script((Part(SIMPLE, "Harrow Point lighthouse first lit", ("first lit", "1887")),)),
    CHAINED: Script(
        (
            Part(
                "Who designed the Harrow Point lighthouse?",
                "Harrow Point lighthouse designer",
                ("designed", "Marlow"),
            ),
            Part(TRAINING, "lighthouse engineers apprenticeship", ("trained at",)),
        ),
        leads={"designed by Edda Marlow": "Edda Marlow"},
    ),
    WIDE: Script(
        (
            Part(SIMPLE, "Harrow Point lighthouse first lit", ("Harrow", "first lit")),
            Part(
                "Who designed the Harrow Point lighthouse?",
                "Harrow Point lighthouse designer",
                ("designed", "Marlow"),
            ),
            Part(
                "What is the tower of Harrow Point built of?",
                "Harrow Point tower granite",
                ("granite", "barges"),
            ),
            Part(
                "When was the Gull Rock lighthouse first lit?",
                "Gull Rock lighthouse first lit",
                ("first lit in 1902",),
            ),
        ),
        complexity="complex",
    ),
}

SITES = {
    "coast": {
        "/harrow-point": html(
            "Harrow Point lighthouse",
            "Harrow Point is the last cape before the open sea. Ships have feared its reef for "
            f"centuries, and many were lost there. {LIT} Before that, a fire of coal was kept on "
            "the cliff in winter.",
            f"{DESIGNED} The tower is built of grey granite that was landed from barges.",
            "Visitors may climb the tower in summer. The path from the village takes an hour.",
        ),
    },
    "register": {
        "/lights/harrow-point": html(
            "Harrow Point lighthouse in the register of lights",
            "The register lists every light of the coast with its character and its range. "
            f"{LIT_TOO} The lamp was changed to electricity two generations later.",
            f"{DESIGNED_TOO} The drawings are kept in the archive of the harbour board.",
        ),
        "/lights/gull-rock": html(
            "Gull Rock lighthouse in the register of lights",
            "Gull Rock lighthouse stands on a skerry nine miles to the north. It was first lit in "
            "1902, and its keepers were relieved by boat every second month.",
            "The light is automatic today and is looked after from the mainland.",
        ),
    },
    "people": {
        "/edda-marlow": html(
            "Edda Marlow",
            f"{TRAINED} Afterwards she built bridges and harbour walls along the northern coast.",
            "Her notebooks were found in an attic and are shown in the town museum. They hold "
            "sketches of cranes, of lamps, and of the granite quarry.",
        ),
        "/apprenticeship": html(
            "Apprenticeship in the old trades",
            "An apprenticeship of engineers took from four to seven years and was often unpaid. "
            "Masters lodged their apprentices in the house and taught them to draw.",
            "Guild records give the names of the masters and seldom those of the apprentices.",
        ),
    },
}


@dataclass
class World:
    """The services of a run and their logs."""

    model: ModelServer
    search: SearchServer
    sites: dict[str, WebServer]

    @property
    def fetched(self) -> list[str]:
        return [url for site in self.sites.values() for url in site.requests]

    def calls(self) -> list[tuple[str, str]]:
        """Return all requests to the servers since the last reset of their logs."""
        prompts = [("model", asked.prompt) for asked in self.model.requests]
        searches = [("search", query) for query in self.search.requests]
        return [*prompts, *searches, *(("fetch", url) for url in self.fetched)]

    def forget(self) -> None:
        for log in (self.model.requests, self.search.requests):
            log.clear()
        for site in self.sites.values():
            site.requests.clear()

    def page(self, url: str) -> str:
        """Return the HTML served at a URL."""
        served = {site.url(path): page for site in self.sites.values()
                  for path, page in site.pages.items()}  # fmt: skip
        return served[url]

    def environment(self) -> dict[str, str]:
        """Return the environment of an installation that uses this world."""
        return {
            "OPENAI_BASE_URL": self.model.url("/v1"),
            "OPENAI_API_KEY": "none",
            "RESEARCH_MODEL": "scripted",
            "SEARXNG_URL": self.search.url(),
            "FETCH_ALLOW_PRIVATE_HOSTS": ",".join(site.place for site in self.sites.values()),
        }


@contextmanager
def opened(domain: str = "") -> Iterator[World]:
    """Yield the world with all servers running, at hosts of `domain` if one is given."""
    with ExitStack() as stack:
        sites = {
            name: stack.enter_context(
                WebServer(pages, f"{name}.{domain}") if domain else WebServer(pages)
            )
            for name, pages in SITES.items()
        }
        search = stack.enter_context(SearchServer(_listed(sites)))
        yield World(stack.enter_context(ModelServer(SCRIPTS)), search, sites)


def _listed(sites: dict[str, WebServer]) -> list[Listed]:
    found = []
    for site in sites.values():
        for path, page in site.pages.items():
            title = page.split("<title>")[1].split("</title>")[0]
            first = page.split("<p>")[1].split("</p>")[0]
            found.append(Listed(site.url(path), title, first, title))
    return found
