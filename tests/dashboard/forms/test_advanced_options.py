"""What can be chosen for one question: where to look, and the knobs under More."""

from __future__ import annotations

from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from pytest_django import Settings

from research.engine.config import ResearchConfig
from research.models import Run
from research.search.providers import ProviderSettings

ASKED = {"question": "How old do oaks get?", "key": "k1"}


@pytest.fixture(autouse=True)
def unconfigured(settings: Settings) -> None:
    """No provider, no documents, no network."""
    settings.SEARCH_PROVIDER, settings.DOCUMENTS = "", []
    settings.PROVIDERS, settings.NETWORK_PROBE = ProviderSettings(), "none"


def soup_of(content: bytes) -> BeautifulSoup:
    return BeautifulSoup(content, "html.parser")


def offered(client: Client) -> list[str]:
    """The sources to choose from; the one that is chosen has a mark."""
    choices = soup_of(client.get("/").content).select("input[name=sources]")
    return [choice["value"] + ("*" if choice.has_attr("checked") else "") for choice in choices]


# --- where to look -----------------------------------------------------------------------------


def test_where_there_is_one_source_nothing_is_to_choose(client: Client) -> None:
    assert offered(client) == []
    client.post("/", ASKED)
    assert Run.objects.get().sources == {}


def test_documents_and_the_web_can_be_chosen_where_both_are_there(
    client: Client, settings: Settings, tmp_path: Path
) -> None:
    settings.PROVIDERS = ProviderSettings({"SEARXNG_URL": "http://127.0.0.1:9"})
    assert offered(client) == ["web*", "samples"]
    settings.DOCUMENTS = [str(tmp_path)]
    assert offered(client) == ["web", "documents*", "both", "samples"]
    client.post("/", {**ASKED, "sources": "both"})
    expected = {"search": ["documents", "searxng"], "documents": [str(tmp_path)]}
    assert Run.objects.get().sources == expected


def test_a_mix_that_was_set_up_stays_the_first_choice(client: Client, settings: Settings) -> None:
    settings.SEARCH_PROVIDER = "arxiv,samples"
    assert offered(client) == ["*", "web", "samples"]
    client.post("/", {**ASKED, "sources": ""})
    assert Run.objects.get().sources["search"] == ["arxiv", "samples"]


def test_a_source_that_is_not_there_is_refused(client: Client, settings: Settings) -> None:
    settings.PROVIDERS = ProviderSettings({"SEARXNG_URL": "http://127.0.0.1:9"})
    answer = client.post("/", {**ASKED, "sources": "documents"})
    assert answer.status_code == 422 and not Run.objects.exists()
    assert b"cannot be searched here" in answer.content


# --- more --------------------------------------------------------------------------------------


@pytest.mark.requirement("A13", "F13")
def test_what_stands_under_more_holds_for_the_run(client: Client) -> None:
    sent = {
        "search_language": "de",
        "search_since": "2024-01-31",
        "search_until": "",
        "only_sites": "Example.org, https://www.trees.test/oak",
        "never_sites": "",
        "max_cost_usd": "0.5",
        "max_minutes": "2.5",
        "deep_research_mode": "fixed",
    }
    client.post("/", {**ASKED, **sent})
    expected = ResearchConfig(
        search_language="de",
        search_since="2024-01-31",
        only_sites=("example.org", "trees.test"),
        max_cost_usd=0.5,
        max_seconds=150,
        deep_research_mode="fixed",
        ask_above_usd=0,
    )
    assert Run.objects.get().config == expected.model_dump(mode="json")


def test_it_is_filled_in_as_the_installation_has_it(client: Client, settings: Settings) -> None:
    settings.RESEARCH_DEFAULTS = ResearchConfig(
        search_language="pt-BR", max_seconds=90, ask_above_usd=0.5, never_sites=("spam.test",)
    )
    form = client.get("/").context["more"]
    shown = {field.name: field.value() for field in form}
    assert (shown["search_language"], shown["max_minutes"]) == ("pt-BR", "1.5")
    client.post("/", {**ASKED, **shown})
    client.post("/", {**ASKED, "key": "k2"})
    configs = list(Run.objects.values_list("config", flat=True))
    assert configs == [settings.RESEARCH_DEFAULTS.model_dump(mode="json")] * 2


@pytest.mark.parametrize(
    ("name", "typed", "told"),
    [
        ("search_since", "soon", "Enter a day, such as 2026-01-31."),
        ("only_sites", "not a site", "Enter names of sites, such as example.org"),
        ("max_cost_usd", "-1", "Enter 0 or more."),
        ("max_cost_usd", "1,500", "Enter a number."),
        ("max_cost_usd", "999999999999999999", "Enter 10000 or less."),
        ("max_minutes", "1e99", "up to 10,080."),
        ("max_minutes", "ten", "Enter a number of minutes above 0, up to 10,080."),
        ("max_minutes", "-3", "Enter a number of minutes above 0, up to 10,080."),
        ("search_language", "klingon", "Select a valid choice."),
    ],
)
def test_a_mistake_is_told_beside_its_field_and_nothing_is_lost(
    client: Client, name: str, typed: str, told: str
) -> None:
    answer = client.post("/", {"question": "", "key": "k1", "never_sites": "a.test", name: typed})
    assert answer.status_code == 422 and not Run.objects.exists()
    soup = soup_of(answer.content)
    field = soup.find(attrs={"name": name})
    assert field is not None and field.parent is not None
    assert told in field.parent.get_text() and ".." not in field.parent.get_text()
    assert soup.select_one("details.more[open]") is not None
    assert soup.select_one("[name=never_sites][value='a.test']") is not None
    assert name == "search_language" or field["value"] == typed
    assert [each["name"] for each in soup.select("[autofocus]")] == ["question"]
    answer = client.post("/", {**ASKED, name: typed})
    assert [each["name"] for each in soup_of(answer.content).select("[autofocus]")] == [name]


@pytest.mark.parametrize("other", [{}, {"max_cost_usd": "much"}])
def test_days_in_the_wrong_order_are_told_beside_the_last_whatever_else_is_wrong(
    client: Client, other: dict[str, str]
) -> None:
    days = {"search_since": "2025-01-01", "search_until": "2024-01-01"}
    shown = soup_of(client.post("/", {**ASKED, **days, **other}).content)
    problems = [tag.get_text() for tag in shown.select(".more .problem")]
    assert "Enter a day from 2025-01-01 on." in problems
    assert len(problems) == 1 + len(other)
    assert shown.select_one("#id_search_until_error") is not None


@pytest.mark.requirement("C21")
def test_several_kinds_of_pages_can_be_chosen(client: Client) -> None:
    ticked = soup_of(client.get("/").content).select("[name=search_kind][checked]")
    assert [each["value"] for each in ticked] == ["web"]
    client.post("/", {**ASKED, "search_kind": ["web", "academic"]})
    assert Run.objects.get().config["search_kind"] == ["web", "academic"]
    sent = {**ASKED, "search_kind": ["academic", "video"], "settings": "1"}
    soup = soup_of(client.post("/settings/", sent).content)
    assert soup.select_one("[name=search_kind][value='academic, video']") is not None
    answer = client.post("/", {**ASKED, "key": "k2", "search_kind": ["books"]})
    assert answer.status_code == 422 and "Select a valid choice" in answer.content.decode()


def test_a_number_may_have_a_decimal_comma(client: Client) -> None:
    typed = {"max_cost_usd": "1,5", "ask_above_usd": "0,05", "max_minutes": "2,5"}
    client.post("/", {**ASKED, **typed})
    config = Run.objects.get().config
    found = (config["max_cost_usd"], config["ask_above_usd"], config["max_seconds"])
    assert found == (1.5, 0.05, 150)


def test_all_settings_take_over_what_was_typed_under_more(client: Client) -> None:
    typed = {"max_minutes": "3", "never_sites": "a.test, b.test", "settings": "1"}
    soup = soup_of(client.post("/settings/", {**ASKED, **typed}).content)
    assert soup.select_one("[name=max_seconds][value='180']") is not None
    assert soup.select_one("[name=never_sites][value='a.test, b.test']") is not None
