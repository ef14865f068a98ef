"""Settings that are stored in the browser, below the environment."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.contrib.auth.models import AbstractUser
from django.core.exceptions import PermissionDenied
from pytest_django import Settings

from research.engine.config import ResearchConfig
from research.llm.prices import parse_prices
from research.llm.settings import EmbeddingSettings
from research.models import InstallationSetting
from research.runtime import status_summary
from research.runtime.installation import Value, current_installation
from research.runtime.source_choices import provider_settings
from research.search.providers import ProviderSettings
from research.services import runs
from research.services.errors import ServiceError
from research.services.installation import change_settings, disconnect_model, propose_settings

pytestmark = pytest.mark.django_db
LOCAL = {"OPENAI_BASE_URL": "http://127.0.0.1:11434/v1", "RESEARCH_MODEL": "small"}


@pytest.fixture(autouse=True)
def nothing_given(settings: Settings) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "RESEARCH_MODEL"):
        setattr(settings, name, "")
    settings.PROVIDERS = ProviderSettings()
    settings.RESEARCH_DEFAULTS = ResearchConfig()


def test_what_an_admin_stores_holds(staff: AbstractUser) -> None:
    assert current_installation().model_settings is None
    change_settings(staff, LOCAL)
    now = current_installation()
    assert now.values["RESEARCH_MODEL"] == Value("small", "stored")
    assert now.model_settings and now.model_settings.base_url == LOCAL["OPENAI_BASE_URL"]


@pytest.mark.requirement("F5", "F16")
def test_what_somebody_chose_is_not_called_all_that_there_is(
    staff: AbstractUser, settings: Settings
) -> None:
    settings.SEARCH_PROVIDER, settings.DOCUMENTS = "", []
    settings.NETWORK_PROBE = "none"
    assert (
        status_summary.describe_search(current_installation())
        == "the bundled sample library (nothing else is configured)"
    )
    change_settings(staff, {"SEARCH_PROVIDER": "samples"})
    assert status_summary.describe_search(current_installation()) == "the bundled sample library"
    change_settings(staff, {"SEARCH_PROVIDER": "ddgs,wikipedia"})
    assert status_summary.describe_search(current_installation()) == "ddgs, wikipedia"
    settings.DOCUMENTS = ["/usr/share/doc/postgresql-doc-15/html", "/srv/minutes"]
    change_settings(staff, {"SEARCH_PROVIDER": "documents"})
    told = status_summary.describe_search(current_installation())
    assert told == "your documents (postgresql-doc-15, minutes)"


def test_the_environment_wins(staff: AbstractUser, settings: Settings) -> None:
    change_settings(staff, LOCAL)
    settings.RESEARCH_MODEL = "large"
    assert current_installation().values["RESEARCH_MODEL"] == Value("large", "environment")
    with pytest.raises(ServiceError, match="environment"):
        change_settings(staff, {"RESEARCH_MODEL": "small"})


def test_a_server_for_embeddings_alone_never_gets_the_models_key(
    staff: AbstractUser, settings: Settings
) -> None:
    settings.EMBEDDING_MODEL = settings.EMBEDDING_BASE_URL = settings.EMBEDDING_API_KEY = ""
    change_settings(staff, {**LOCAL, "OPENAI_API_KEY": "secret"})
    assert current_installation().embedding_settings is None
    change_settings(staff, {"EMBEDDING_MODEL": "small-embed"})
    shared = EmbeddingSettings("small-embed", LOCAL["OPENAI_BASE_URL"], "secret")
    assert current_installation().embedding_settings == shared
    settings.EMBEDDING_BASE_URL = "http://127.0.0.1:9/v1"
    apart = EmbeddingSettings("small-embed", "http://127.0.0.1:9/v1", "")
    assert current_installation().embedding_settings == apart
    settings.EMBEDDING_API_KEY = "its own"
    assert current_installation().embedding_settings == replace(apart, api_key="its own")


@pytest.mark.requirement("A15")
def test_what_is_judged_goes_to_the_evaluator_where_one_is_named(
    staff: AbstractUser, settings: Settings
) -> None:
    change_settings(staff, LOCAL)
    one = current_installation().model_settings
    assert one and one.model_of("evaluator") == one.model_of("research") == "small"
    settings.RESEARCH_MODEL, settings.EVALUATOR_MODEL = "large", "small"
    two = current_installation().model_settings
    assert two and (two.model_of("research"), two.model_of("evaluator")) == ("large", "small")
    assert two.model_of("reader") == "large"
    settings.READER_MODEL = "quick"
    three = current_installation().model_settings
    assert three and (three.model_of("reader"), three.model_of("evaluator")) == ("quick", "small")
    settings.REASONING_EFFORT = "low"
    thinking = current_installation().model_settings
    assert thinking and thinking.reasoning_effort == "low"


def test_a_key_of_the_environment_never_goes_to_a_stored_address(
    staff: AbstractUser, settings: Settings
) -> None:
    change_settings(staff, LOCAL)
    settings.OPENAI_API_KEY = "sk-given"
    assert current_installation()["OPENAI_BASE_URL"] == ""
    with pytest.raises(ServiceError):
        change_settings(staff, {"OPENAI_BASE_URL": "http://elsewhere.test/v1"})


@pytest.mark.parametrize("search", ["JSON_SEARCH", "MCP_SEARCH"])
def test_a_search_key_of_the_environment_never_goes_to_a_stored_address(
    staff: AbstractUser, settings: Settings, search: str
) -> None:
    url, key = f"{search}_URL", f"{search}_AUTHORIZATION"
    settings.PROVIDERS = ProviderSettings({key: "Bearer sesame", url: "http://own.test/{query}"})
    assert provider_settings(current_installation()).values[key] == "Bearer sesame"
    settings.PROVIDERS = ProviderSettings({key: "Bearer sesame"})
    change_settings(staff, {url: "http://elsewhere.test/{query}"})
    found = provider_settings(current_installation()).values
    assert found[url] == "http://elsewhere.test/{query}" and key not in found


def test_a_key_is_dropped_when_the_address_becomes_another_server_s(staff: AbstractUser) -> None:
    change_settings(staff, {**LOCAL, "OPENAI_API_KEY": "sk-one"})
    change_settings(staff, {"OPENAI_BASE_URL": "http://127.0.0.1:11434/v2"})
    assert current_installation()["OPENAI_API_KEY"] == "sk-one"
    change_settings(staff, {"OPENAI_BASE_URL": "http://elsewhere.test/v1"})
    assert current_installation()["OPENAI_API_KEY"] == ""
    change_settings(staff, {"OPENAI_BASE_URL": "http://other.test/v1", "OPENAI_API_KEY": "sk-two"})
    assert current_installation()["OPENAI_API_KEY"] == "sk-two"


def test_a_proposal_is_what_would_hold_and_stores_nothing(staff: AbstractUser) -> None:
    change_settings(staff, {**LOCAL, "OPENAI_API_KEY": "sk-one"})
    same = propose_settings(staff, {"OPENAI_BASE_URL": "http://127.0.0.1:11434/v2"})
    assert same["OPENAI_API_KEY"] == "sk-one"
    moved = propose_settings(staff, {"OPENAI_BASE_URL": "http://elsewhere.test/v1"})
    assert (moved["OPENAI_API_KEY"], moved["RESEARCH_MODEL"]) == ("", "small")
    assert moved.values["OPENAI_BASE_URL"] == Value("http://elsewhere.test/v1", "stored")
    with pytest.raises(ServiceError, match="looks like"):
        propose_settings(staff, {"OPENAI_BASE_URL": "nowhere"})
    now = current_installation()
    assert (now["OPENAI_BASE_URL"], now["OPENAI_API_KEY"]) == (LOCAL["OPENAI_BASE_URL"], "sk-one")


def test_an_empty_value_takes_a_setting_back(staff: AbstractUser) -> None:
    change_settings(staff, LOCAL)
    change_settings(staff, {"RESEARCH_MODEL": ""})
    assert not InstallationSetting.objects.filter(name="RESEARCH_MODEL").exists()


def test_a_stored_model_is_known_without_its_provider(staff: AbstractUser) -> None:
    change_settings(staff, {**LOCAL, "RESEARCH_MODEL": "openai:large", "READER_MODEL": "qwen3:8b"})
    assert (current_installation()["RESEARCH_MODEL"], current_installation()["READER_MODEL"]) == (
        "large",
        "qwen3:8b",
    )


def test_only_admins_may_change_settings(ada: AbstractUser) -> None:
    for change in (change_settings, propose_settings):
        with pytest.raises(PermissionDenied):
            change(ada, LOCAL)


@pytest.mark.parametrize(
    "values, says",
    [
        ({"OPENAI_BASE_URL": "file:///etc/passwd"}, "looks like"),
        ({"SEARXNG_URL": "localhost"}, "looks like"),
        ({"MODEL_PROFILE": "huge"}, "standard or small"),
        ({"SEARCH_PROVIDER": "samples,oracle"}, "no search called oracle"),
        ({"SEARCH_PROVIDER": "searxng"}, "SearXNG needs its address"),
        ({"SEARCH_PROVIDER": "searxng", "SEARXNG_URL": ""}, "SearXNG needs its address"),
        ({"SEARCH_PROVIDER": "ddgs,tavily"}, "Tavily needs its key"),
        ({"SECRET_KEY": "x"}, "no setting"),
    ],
)
def test_what_cannot_be_used_is_refused(
    staff: AbstractUser, values: dict[str, str], says: str
) -> None:
    with pytest.raises(ServiceError, match=says):
        change_settings(staff, values)
    assert not InstallationSetting.objects.exists()


def test_a_search_is_taken_with_the_address_that_it_needs(staff: AbstractUser) -> None:
    change_settings(staff, {"SEARCH_PROVIDER": "searxng", "SEARXNG_URL": "http://127.0.0.1:8888"})
    change_settings(staff, {"SEARCH_PROVIDER": "searxng,ddgs"})
    with pytest.raises(ServiceError, match="needs its address"):
        change_settings(staff, {"SEARCH_PROVIDER": "searxng", "SEARXNG_URL": ""})
    assert current_installation()["SEARXNG_URL"] == "http://127.0.0.1:8888"


def test_the_stored_profile_is_frozen_into_new_runs(staff: AbstractUser) -> None:
    change_settings(staff, {"MODEL_PROFILE": "small"})
    assert runs.ask_question(staff, "How old are oaks?").config["model_profile"] == "small"


def test_context_window_and_prices_hold_below_the_environment(
    staff: AbstractUser, settings: Settings
) -> None:
    typed = {"MODEL_CONTEXT_TOKENS": "16384", "MODEL_PRICES": "small=0.10/0.40"}
    change_settings(staff, LOCAL | typed)
    held = current_installation().model_settings
    assert held is not None and held.context_tokens == 16384
    assert held.prices == parse_prices("small=0.10/0.40")
    settings.MODEL_CONTEXT_TOKENS, settings.MODEL_PRICES = 8192, parse_prices("small=1/2.5")
    now = current_installation()
    assert now.values["MODEL_PRICES"] == Value("small=1/2.5", "environment")
    assert now.model_settings is not None and now.model_settings.context_tokens == 8192
    with pytest.raises(ServiceError, match="environment"):
        change_settings(staff, {"MODEL_PRICES": "small=1/1"})


@pytest.mark.parametrize(
    "changed",
    [{"RESEARCH_MODEL": "large"}, {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}, None],
)
def test_a_context_window_is_that_of_one_model(
    staff: AbstractUser, changed: dict[str, str] | None
) -> None:
    change_settings(staff, {**LOCAL, "MODEL_CONTEXT_TOKENS": "16384", "MODEL_PRICES": "small=1/2"})
    if changed is None:
        disconnect_model(staff)
    else:
        change_settings(staff, changed)
    now = current_installation()
    assert now["MODEL_CONTEXT_TOKENS"] == "" and now["MODEL_PRICES"] == "small=1/2"
    if changed:
        change_settings(staff, {"RESEARCH_MODEL": "small", "MODEL_CONTEXT_TOKENS": "4096"})
        assert current_installation()["MODEL_CONTEXT_TOKENS"] == "4096"


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("MODEL_CONTEXT_TOKENS", "16k", "whole number, such as 16384"),
        ("MODEL_CONTEXT_TOKENS", "-1", "whole number"),
        ("MODEL_PRICES", "cheap", "look like small=0.10/0.40"),
    ],
)
def test_a_window_or_price_that_cannot_be_read_is_refused(
    staff: AbstractUser, name: str, value: str, says: str
) -> None:
    with pytest.raises(ServiceError, match=says) as refused:
        change_settings(staff, {name: value})
    assert refused.value.about == name
