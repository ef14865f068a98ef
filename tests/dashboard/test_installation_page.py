"""Model and search are set and tried in the browser, without JavaScript."""

from __future__ import annotations

import ast
import html
import inspect
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from django.conf import settings as in_effect
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client
from pytest_django import Settings

from research.engine.config import ResearchConfig, knob_names
from research.llm import probe
from research.llm.settings import ModelSettings
from research.models import Collection, InstallationSetting, VerifierQualification
from research.runtime import preflight
from research.runtime.installation import current_installation, setting_names
from research.search.providers import ProviderSettings
from tests.dashboard.conftest import make_run
from tests.dashboard.test_activity import record
from tests.support.model_server import PLAIN, Manner, ModelServer, refuses, says
from tests.support.serving import closed_place

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.subprocess]
KEY = "sk-very-secret"


@pytest.fixture
def server(settings: Settings) -> Iterator[ModelServer]:
    """A model server at a port that is looked at, and nothing set by the environment."""
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "RESEARCH_MODEL", "EVALUATOR_MODEL"):
        setattr(settings, name, "")
    settings.RESEARCH_DEFAULTS = ResearchConfig()
    with ModelServer({}) as server:
        settings.LOCAL_MODEL_PORTS = [int(server.place.rpartition(":")[2])]
        yield server


@pytest.mark.requirement("F16")
def test_a_local_server_is_found_and_used_by_one_button(
    client: Client, server: ModelServer
) -> None:
    page = client.get("/installation/").content.decode()
    assert "Found on this machine" in page and server.url("/v1") in page
    offer = {"OPENAI_BASE_URL": server.url("/v1"), "RESEARCH_MODEL": "scripted", "try": "1"}
    tried = client.post("/installation/", offer, follow=True).content.decode()
    assert "Works, with 1 limit " in tried and "report its context window" in tried
    assert "Answers keep to a JSON schema" in tried
    assert current_installation()["RESEARCH_MODEL"] == "scripted"
    assert "scripted at" in client.get("/").content.decode()


def test_the_key_is_written_and_never_shown(client: Client, server: ModelServer) -> None:
    sent = {"OPENAI_BASE_URL": server.url("/v1"), "OPENAI_API_KEY": KEY, "RESEARCH_MODEL": "m"}
    assert client.post("/installation/", sent).status_code == 302
    assert current_installation()["OPENAI_API_KEY"] == KEY
    for page in (client.get("/installation/"), client.post("/installation/try/", follow=True)):
        assert KEY not in page.content.decode()
    client.post("/installation/", {"RESEARCH_MODEL": "m", "OPENAI_API_KEY": ""})
    assert current_installation()["OPENAI_API_KEY"] == KEY
    client.post("/installation/", {"forget_OPENAI_API_KEY": "on"})
    assert current_installation()["OPENAI_API_KEY"] == ""


def test_what_is_set_is_told_apart_from_defaults(
    client: Client, server: ModelServer, settings: Settings
) -> None:
    assert "No model connected" in client.get("/installation/").content.decode()
    client.post("/installation/", {"RESEARCH_MODEL": "scripted"})
    settings.SEARCH_PROVIDER = "samples"
    page = BeautifulSoup(client.get("/installation/").content, "html.parser")
    states = [each.get_text(strip=True) for each in page.select(".channel > .state")]
    assert states == ["Set, not tested", "Sample pages only"]
    labels = {each["for"]: each.select_one(".changed") for each in page.select(".field label[for]")}
    told = {name: mark.get_text() for name, mark in labels.items() if mark}
    assert told == {"id_RESEARCH_MODEL": "set here", "id_SEARCH_PROVIDER": "set outside"}
    assert "2 changed" in page.select_one("summary .changed").get_text()


def test_the_state_of_the_model_follows_its_last_test(client: Client, server: ModelServer) -> None:
    def state(answer: HttpResponse) -> str:
        page = BeautifulSoup(answer.content, "html.parser")
        return page.select(".channel > .state")[0].get_text(strip=True)

    sent = {"OPENAI_BASE_URL": server.url("/v1"), "RESEARCH_MODEL": "scripted"}
    client.post("/installation/", sent)
    assert state(client.get("/installation/")) == "Set, not tested"
    assert state(client.post("/installation/try/", follow=True)) == "Connected"
    assert state(client.get("/installation/")) == "Connected"
    client.post("/installation/", sent | {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"})
    assert state(client.get("/installation/")) == "Set, not tested"
    client.post("/installation/try/")
    assert state(client.get("/installation/")) == "Failed the last test"


def test_results_of_a_test_stay_on_the_page_until_a_setting_changes(
    client: Client, server: ModelServer
) -> None:
    sent = {"OPENAI_BASE_URL": server.url("/v1"), "RESEARCH_MODEL": "scripted"}
    client.post("/installation/", sent)
    assert client.post("/installation/try/").url == "/installation/"
    for _ in range(2):
        page = client.get("/installation/").content.decode()
        assert "Works, with 1 limit" in page and "tested just now" in page and "Test again" in page
    client.post("/installation/", {"SEARCH_PROVIDER": "samples"})
    page = client.get("/installation/").content.decode()
    assert "Works, with" not in page and "Test current setup" in page


def test_a_server_that_answers_nothing_is_found_out_before_the_model_is_called(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "SILENT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        sent = {"OPENAI_BASE_URL": address, "RESEARCH_MODEL": "any", "try": "1"}
        page = client.post("/installation/", sent, follow=True).content.decode()
    assert "Not saved: the model failed its test." in page
    assert "accepts connections but does not answer" in page and "Restart the server" in page


def test_a_run_that_the_model_answered_counts_as_a_test(
    client: Client, admin: User, server: ModelServer
) -> None:
    def state() -> str:
        page = BeautifulSoup(client.get("/installation/").content, "html.parser")
        return page.select(".channel > .state")[0].get_text(strip=True)

    sent = {"OPENAI_BASE_URL": server.url("/v1"), "RESEARCH_MODEL": "scripted"}
    client.post("/installation/", sent)
    record(make_run(admin, analyst="another"), "a", "model", {}, {})
    record(make_run(admin, analyst="scripted"), "b", "model", {}, {}, status="failed")
    assert state() == "Set, not tested"
    record(make_run(admin, analyst="scripted"), "c", "model", {}, {}, seconds=0)
    assert state() == "Answered just now"
    client.post("/installation/", sent | {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"})
    assert state() == "Set, not tested"


def test_collections_that_are_searched_are_named(
    client: Client, admin: User, settings: Settings, server: ModelServer
) -> None:
    settings.SEARCH_PROVIDER = "samples"
    for name in ("Leases", "Manuals"):
        Collection.objects.create(owner=admin, name=name, folder=f"/nowhere/{name}")
    page = BeautifulSoup(client.get("/installation/").content, "html.parser")
    assert page.select(".channel > .state")[1].get_text(strip=True) == "Ready"
    told = page.select(".channel")[1].get_text()
    assert "your documents" in told and "Leases and Manuals" in told


@pytest.mark.requirement("F16")
def test_the_search_is_set_and_tried(
    client: Client, server: ModelServer, settings: Settings, tmp_path: Path
) -> None:
    settings.SEARCH_PROVIDER, settings.DOCUMENTS = "", [str(tmp_path)]
    tried = client.post("/installation/", {"SEARCH_PROVIDER": "samples", "try": "1"}, follow=True)
    assert current_installation()["SEARCH_PROVIDER"] == "samples"
    checks = {check["name"]: check for check in tried.context["checks"]}
    found = checks["Search"]["found"]
    assert "sample library" in found and ": 5 results for a test query." in found
    assert found in html.unescape(tried.content.decode())


@pytest.mark.requirement("D15", "F16")
def test_what_does_not_work_is_said_with_what_to_do(client: Client, server: ModelServer) -> None:
    server.faults["shape"] = [refuses(401)]
    sent = {"OPENAI_BASE_URL": server.url("/v1"), "RESEARCH_MODEL": "scripted", "try": "1"}
    page = client.post("/installation/", sent, follow=True).content.decode()
    assert "Not saved: the model failed its test." in page
    assert "refused the key" in page and "Check the API key." in page


def test_advice_names_a_field_of_the_page_or_a_line_of_env() -> None:
    """Every variable that a check names: one value suffices, or where its line belongs."""
    known = {*in_effect.DECLARED_SETTINGS, *knob_names()} - {*setting_names()}
    nodes = list(ast.walk(ast.parse(inspect.getsource(preflight))))
    pieces = [part for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values]
    texts = (each for each in nodes if isinstance(each, ast.Constant | ast.JoinedStr))
    told = 0
    for text in (ast.unparse(each) for each in texts if each not in pieces):
        for name in known.intersection(re.findall(r"[A-Z_]{8,}", text)):
            told += 1
            assert ".env" in text or "{RESTART}" in text, name
    assert told > 5


def test_window_and_price_that_the_advice_asks_for_are_fields(
    client: Client, server: ModelServer
) -> None:
    sent = {"OPENAI_BASE_URL": server.url("/v1"), "RESEARCH_MODEL": "scripted", "try": "1"}
    page = client.post("/installation/", sent, follow=True).content.decode()
    assert "Enter it under “Context window”, so that nothing is cut silently." in page
    typed = {"MODEL_CONTEXT_TOKENS": "16384", "MODEL_PRICES": "scripted=0.10/0.40", "try": "1"}
    page = client.post("/installation/", typed, follow=True).content.decode()
    assert "All checks passed" in page and "16,384 tokens." in page
    assert "The price of scripted is known." in page
    soup = BeautifulSoup(page, "html.parser")
    for name, label in (("MODEL_CONTEXT_TOKENS", "Context window"), ("MODEL_PRICES", "Prices")):
        [field] = soup.select(f"#id_{name}")
        assert field["value"] == typed[name]
        assert soup.select_one(f"label[for=id_{name}]").get_text().startswith(label)
    answer = client.post("/installation/", {"MODEL_CONTEXT_TOKENS": "much"})
    assert "A context window is a whole number" in answer.content.decode()


def test_a_model_that_always_says_the_same_is_not_saved(
    client: Client, server: ModelServer
) -> None:
    server.manner = Manner(always=("OK",))
    sent = {"OPENAI_BASE_URL": server.url("/v1"), "RESEARCH_MODEL": "scripted", "try": "1"}
    page = client.post("/installation/", sent, follow=True).content.decode()
    assert "Not saved: the model failed its test." in page
    assert "can’t be used: it answers different questions with the same text." in page
    assert "Choose a chat model that follows instructions, and check" in page
    assert current_installation()["RESEARCH_MODEL"] == ""


def test_one_that_ignores_schemas_and_can_do_little_is_told_apart(
    client: Client, server: ModelServer
) -> None:
    server.manner = PLAIN
    server.faults["sense"] = [says('{"sentence": 1}')]
    sent = {"OPENAI_BASE_URL": server.url("/v1"), "RESEARCH_MODEL": "scripted", "try": "1"}
    page = client.post("/installation/", sent, follow=True).content.decode()
    assert "takes no notice of a schema" in page
    assert "Choose the small profile: short prompts" in page and "Works, with 3 limits" in page


def test_what_the_environment_sets_is_shown_and_not_changed(
    client: Client, server: ModelServer, settings: Settings
) -> None:
    settings.OPENAI_BASE_URL, settings.RESEARCH_MODEL = server.url("/v1"), "given"
    page = client.get("/installation/").content.decode()
    assert page.count("Set by an environment variable") == 3
    assert "Found on this machine" not in page
    client.post("/installation/", {"RESEARCH_MODEL": "other"})
    assert current_installation()["RESEARCH_MODEL"] == "given"


def test_a_bad_address_is_told_beside_its_field(client: Client, server: ModelServer) -> None:
    page = client.post("/installation/", {"OPENAI_BASE_URL": "nonsense"})
    assert page.status_code == 422
    assert b'id="id_OPENAI_BASE_URL_error">An address looks like' in page.content


def test_settings_are_for_admins(db: None) -> None:
    User.objects.create_user("ada", password="x")
    client = Client()
    client.force_login(User.objects.get(username="ada"))
    for address in ("/installation/", "/installation/try/"):
        assert client.post(address).status_code == 302
    assert b"Setup" not in client.get("/").content


def test_a_model_is_qualified_as_verifier_by_a_button_that_names_its_price(
    client: Client, server: ModelServer
) -> None:
    sent = {"OPENAI_BASE_URL": server.url("/v1"), "RESEARCH_MODEL": "scripted"}
    client.post("/installation/", sent)
    page = client.get("/installation/").content.decode()
    assert "Takes 8 model calls" in page and "It will be tested on the first run" in html.unescape(
        page
    )
    assert "Not tested yet" in page and "Not set up" not in page
    done = client.post("/installation/qualify/", follow=True).content.decode()
    assert server.tasks.count("verify") == 8
    assert "It may check statements: of 80 wrong examples it let 0 pass" in done


def test_a_model_that_carries_everything_is_not_qualified(
    client: Client, server: ModelServer
) -> None:
    server.twists["verify"] = lambda answer: {
        "carried": sorted(answer["carried"] + answer["more"]), "more": [], "other": [],
    }  # fmt: skip
    client.post("/installation/", {"OPENAI_BASE_URL": server.url("/v1"), "RESEARCH_MODEL": "m"})
    done = client.post("/installation/qualify/", follow=True).content.decode()
    assert "It may not check statements: of 80 wrong examples it let 80 pass" in done
    assert VerifierQualification.objects.get().refused == 0


def test_a_preset_asks_only_for_what_its_server_needs(client: Client, server: ModelServer) -> None:
    plain = client.get("/installation/").content.decode()
    assert 'id="preset"' not in plain and 'href="?preset=ollama#preset"' in plain
    hosted = client.get("/installation/?preset=openai").context["chosen"]
    assert [field.name for field in hosted.visible_fields()] == ["OPENAI_API_KEY", "RESEARCH_MODEL"]
    local = client.get("/installation/?preset=ollama").context["chosen"]
    assert local["OPENAI_BASE_URL"].value() == "http://127.0.0.1:11434/v1"
    for name in ("ollama", "vllm", "lm-studio", "llama-cpp", "other"):
        chosen = client.get(f"/installation/?preset={name}").context["chosen"]
        fields = [field.name for field in chosen.visible_fields()]
        assert fields == ["OPENAI_BASE_URL", "RESEARCH_MODEL", "OPENAI_API_KEY"]
        assert chosen["OPENAI_API_KEY"].help_text == "Only if the server asks for one."
        assert chosen["OPENAI_BASE_URL"].help_text == "Usually ends in /v1."
    assert client.get("/installation/?preset=nothing").context["chosen"] is None


@pytest.mark.parametrize("is_found", [True, False])
def test_what_most_people_start_with_is_not_folded(
    client: Client, server: ModelServer, settings: Settings, is_found: bool
) -> None:
    if not is_found:
        settings.LOCAL_MODEL_PORTS = []
    page = BeautifulSoup(client.get("/installation/").content, "html.parser")
    offered = [link.strong.get_text() for link in page.select(".starts a") if link.strong]
    assert offered == ["OpenAI", "Ollama"] * (not is_found) + ["Web without a key"]
    assert bool(page.select("#model-title ~ .found, :has(> #model-title) ~ .found")) == is_found
    assert not page.select(".others[open]") and page.select(".others a[href*=vllm]")
    chosen = BeautifulSoup(client.get("/installation/?preset=vllm").content, "html.parser")
    assert [each.get_text() for each in chosen.select(".others[open] summary")] == [
        "Other model servers"
    ]


def test_a_preset_is_saved_and_tested_in_one_step(client: Client, server: ModelServer) -> None:
    sent = {
        "preset": "anthropic", "OPENAI_BASE_URL": server.url("/v1"), "OPENAI_API_KEY": KEY,
        "RESEARCH_MODEL": "scripted", "try": "1",
    }  # fmt: skip
    page = client.post("/installation/", sent, follow=True).content.decode()
    assert "Works, with 1 limit" in page and KEY not in page
    assert current_installation()["OPENAI_API_KEY"] == KEY


def test_a_hosted_preset_needs_a_key_unless_one_is_saved_for_its_server(
    client: Client, server: ModelServer
) -> None:
    sent = {"preset": "openrouter", "OPENAI_BASE_URL": server.url("/v1"), "RESEARCH_MODEL": "m"}
    answer = client.post("/installation/", sent)
    assert answer.status_code == 422 and "Enter your API key." in answer.content.decode()
    assert current_installation()["RESEARCH_MODEL"] == ""
    assert client.post("/installation/", sent | {"OPENAI_API_KEY": KEY}).status_code == 302
    assert client.post("/installation/", sent | {"RESEARCH_MODEL": "n"}).status_code == 302
    assert current_installation()["RESEARCH_MODEL"] == "n"
    elsewhere = sent | {"OPENAI_BASE_URL": "https://other.test/v1"}
    assert client.post("/installation/", elsewhere).status_code == 422


def test_a_preset_never_goes_to_the_address_of_another_server(
    client: Client, server: ModelServer
) -> None:
    sent = {"OPENAI_BASE_URL": server.url("/v1"), "RESEARCH_MODEL": "m", "OPENAI_API_KEY": KEY}
    client.post("/installation/", sent)
    chosen = client.get("/installation/?preset=openai").context["chosen"]
    assert chosen["OPENAI_BASE_URL"].value() == ""
    assert chosen["OPENAI_API_KEY"].help_text == "No key saved."
    assert client.get("/installation/?preset=other").context["chosen"]["RESEARCH_MODEL"].value()


@pytest.mark.parametrize(
    ("preset", "missing", "told"),
    [
        ("openai", "RESEARCH_MODEL", "Enter a model name."),
        ("vllm", "OPENAI_BASE_URL", "Enter the server’s address."),
        ("anthropic", "OPENAI_API_KEY", "Enter your API key."),
    ],
)
def test_a_field_that_is_missing_says_what_to_enter(
    client: Client, server: ModelServer, preset: str, missing: str, told: str
) -> None:
    sent = {"OPENAI_BASE_URL": server.url("/v1"), "RESEARCH_MODEL": "m", "OPENAI_API_KEY": KEY}
    answer = client.post("/installation/", sent | {"preset": preset, missing: ""})
    page = BeautifulSoup(answer.content, "html.parser")
    assert page.select_one(f"#preset_{missing}_error").get_text() == told


def test_a_search_preset_sets_the_key_and_the_search(
    client: Client, server: ModelServer, settings: Settings
) -> None:
    settings.SEARCH_PROVIDER = ""
    settings.PROVIDERS = ProviderSettings()
    sent = {"preset": "tavily", "SEARCH_PROVIDER": "tavily", "TAVILY_API_KEY": ""}
    assert "Enter your API key." in client.post("/installation/", sent).content.decode()
    client.post("/installation/", sent | {"TAVILY_API_KEY": KEY})
    now = current_installation()
    assert (now["SEARCH_PROVIDER"], now["TAVILY_API_KEY"]) == ("tavily", KEY)


def test_no_preset_is_offered_for_what_the_environment_sets(
    client: Client, server: ModelServer, settings: Settings
) -> None:
    settings.OPENAI_BASE_URL, settings.SEARCH_PROVIDER = server.url("/v1"), "samples"
    page = client.get("/installation/").content.decode()
    assert "?preset=" not in page and "by environment variables or .env" in page


def test_a_found_model_that_is_set_is_shown_as_in_use(client: Client, server: ModelServer) -> None:
    sent = {"OPENAI_BASE_URL": server.url("/v1"), "RESEARCH_MODEL": "scripted"}
    client.post("/installation/", sent)
    page = client.get("/installation/").content.decode()
    assert "In use" in page and "Use this model" not in page


# --- a new model is tested before it is saved ---------------------------------------------------


@pytest.fixture
def works(client: Client, server: ModelServer) -> dict[str, str]:
    """A model that works is set, with a key."""
    sent = {"OPENAI_BASE_URL": server.url("/v1"), "RESEARCH_MODEL": "good", "OPENAI_API_KEY": KEY}
    client.post("/installation/", sent | {"try": "1"})
    assert current_installation()["RESEARCH_MODEL"] == "good"
    return sent


@pytest.mark.parametrize("preset", ["vllm", "other", ""])
def test_a_model_that_fails_its_test_replaces_no_other_until_somebody_insists(
    client: Client, works: dict[str, str], preset: str
) -> None:
    typed = {"OPENAI_BASE_URL": f"http://{closed_place()}/v1", "RESEARCH_MODEL": "bad"}
    typed |= {"OPENAI_API_KEY": "sk-typed"} | ({"preset": preset} if preset else {})
    answer = client.post("/installation/", typed | {"try": "1"})
    assert answer.status_code == 422
    now = current_installation()
    assert {name: now[name] for name in works} == works
    page = BeautifulSoup(answer.content, "html.parser")
    form = page.select_one("form:has(#refused)")
    told = form.select_one("#refused").get_text()
    assert "bad at " in told and "could not be reached" in told
    assert "is the server address right?" in told and "OPENAI_" not in told
    kept = {each["name"]: each.get("value", "") for each in form.select("input[name]")}
    assert typed.items() <= kept.items()
    assert [each.get_text() for each in form.select("button")][:2] == [
        "Save and test", "Save anyway"
    ]  # fmt: skip
    assert "Failed the last test" not in page.get_text()
    assert client.post("/installation/", typed).status_code == 302
    assert current_installation()["RESEARCH_MODEL"] == "bad"
    assert "Failed the last test" in client.get("/installation/").content.decode()


def test_a_found_model_that_fails_its_test_is_not_used(
    client: Client, server: ModelServer, works: dict[str, str]
) -> None:
    server.faults["shape"] = [refuses(401)]
    offer = BeautifulSoup(client.get("/installation/").content, "html.parser").select_one(
        ".offers form"
    )
    sent = {each["name"]: each["value"] for each in offer.select("input")}
    answer = client.post("/installation/", sent | {"try": "1"})
    assert current_installation()["RESEARCH_MODEL"] == "good"
    page = BeautifulSoup(answer.content, "html.parser")
    assert "Check the API key." in page.select_one("#preset #refused").get_text()
    assert page.select_one("#preset input[type=password][name=OPENAI_API_KEY]") is not None


def test_a_saved_key_is_tried_at_its_own_server_only(
    client: Client, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[tuple[str, str]] = []

    async def note(wanted: ModelSettings) -> probe.Probe:
        tried.append((wanted.address, wanted.api_key))
        return probe.Probe(failure="the model's server refused the key")

    monkeypatch.setattr(preflight, "probe_model", note)
    own = {"OPENAI_BASE_URL": server.url("/v1"), "RESEARCH_MODEL": "m", "OPENAI_API_KEY": KEY}
    client.post("/installation/", own)
    empty = {"preset": "vllm", "OPENAI_API_KEY": "", "RESEARCH_MODEL": "n", "try": "1"}
    other = f"http://{closed_place()}/v1"
    for address in (server.url("/v2"), other):
        client.post("/installation/", empty | {"OPENAI_BASE_URL": address})
    assert tried == [(server.url("/v2"), KEY), (other, "")]


def test_a_search_is_saved_whatever_the_model_says(
    client: Client, server: ModelServer, works: dict[str, str], settings: Settings
) -> None:
    settings.SEARCH_PROVIDER = ""
    server.faults["shape"] = [refuses(401)]
    sent = {"preset": "samples", "SEARCH_PROVIDER": "samples", "try": "1"}
    page = client.post("/installation/", sent, follow=True).content.decode()
    assert current_installation()["SEARCH_PROVIDER"] == "samples"
    assert "Some checks failed" in page and "Check the API key." in page


# --- what is stored, and how it is taken back ---------------------------------------------------


def test_the_model_is_disconnected_by_one_button(
    client: Client, works: dict[str, str], settings: Settings
) -> None:
    client.post("/installation/", {"READER_MODEL": "reads", "EMBEDDING_MODEL": "embeds"})
    client.post("/installation/", {"MODEL_PROFILE": "small"})
    assert 'action="/installation/disconnect/"' in client.get("/installation/").content.decode()
    page = client.post("/installation/disconnect/", follow=True).content.decode()
    assert "No model connected" in page and "/installation/disconnect/" not in page
    assert set(InstallationSetting.objects.values_list("name", flat=True)) == {"MODEL_PROFILE"}
    settings.RESEARCH_MODEL = "given"
    assert "/installation/disconnect/" not in client.get("/installation/").content.decode()


def test_an_embedding_model_of_another_server_stays_connected(
    client: Client, works: dict[str, str], settings: Settings
) -> None:
    settings.EMBEDDING_BASE_URL = "http://127.0.0.1:9/v1"
    client.post("/installation/", {"EMBEDDING_MODEL": "embeds"})
    client.post("/installation/disconnect/")
    assert [row.name for row in InstallationSetting.objects.all()] == ["EMBEDDING_MODEL"]


def test_only_what_was_changed_is_stored_and_can_be_put_back(
    client: Client, server: ModelServer, settings: Settings
) -> None:
    settings.SEARCH_PROVIDER = ""

    def save(**typed: str) -> dict[str, str]:
        page = BeautifulSoup(client.get("/installation/").content, "html.parser")
        form = page.select_one("form:has(.save-bar)")
        shown = {
            each["name"]: each.get("value", "")
            for each in form.select("input[name]:not([type=checkbox])")
        }
        for each in form.select("select"):
            chosen = each.select_one("option[selected]") or each.select_one("option")
            shown[each["name"]] = chosen["value"]
        client.post("/installation/", shown | typed)
        return dict(InstallationSetting.objects.values_list("name", "value"))

    assert save() == {}
    assert save(READER_MODEL="reads") == {"READER_MODEL": "reads"}
    assert save(MODEL_PROFILE="small") == {"READER_MODEL": "reads", "MODEL_PROFILE": "small"}
    assert save(MODEL_PROFILE="standard") == {"READER_MODEL": "reads"}
    assert save(MODEL_PROFILE="small", READER_MODEL="") == {"MODEL_PROFILE": "small"}
    assert "Back to the default: Profile" in client.get("/installation/").content.decode()
    assert save(forget_MODEL_PROFILE="on") == {}
    assert "Back to the default" not in client.get("/installation/").content.decode()


def test_a_model_that_failed_its_test_is_told_where_questions_are_asked(
    client: Client, admin: User, server: ModelServer, works: dict[str, str]
) -> None:
    def notice(path: str) -> str:
        page = BeautifulSoup(client.get(path).content, "html.parser")
        found = page.select_one(".notice-row.bad")
        return found.get_text(" ", strip=True) if found else ""

    assert notice("/") == ""
    server.faults["shape"] = [refuses(401)]
    client.post("/installation/try/")
    for path in ("/", "/settings/"):
        assert "The model failed its last test: good at " in notice(path)
        assert "refused the key. Check the model server" in notice(path)
    record(make_run(admin, analyst="good"), "c", "model", {}, {}, seconds=0)
    assert notice("/") == "", "it has answered since"
    server.faults["shape"] = [refuses(401)]
    client.post("/installation/try/")
    assert notice("/")
    client.post("/installation/", {"RESEARCH_MODEL": "another"})
    assert notice("/") == "", "it is another model"


def test_own_documents_need_not_know_what_the_search_is_tried_with(
    client: Client, server: ModelServer, settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "pump.txt").write_text("The pump is primed by filling its housing with water.")
    settings.SEARCH_PROVIDER, settings.DOCUMENTS = "documents", [str(tmp_path)]
    page = html.unescape(client.post("/installation/try/", follow=True).content.decode())
    assert "All checks passed" in page and "): the search answers." in page
    assert "printing" not in page


def test_the_page_speaks_of_its_own_fields_and_buttons(
    client: Client, server: ModelServer, works: dict[str, str]
) -> None:
    page = html.unescape(client.get("/installation/").content.decode())
    assert "“Test the model on the examples” below tests it now." in page
    assert "manage.py" not in page and "on Setup" not in page
