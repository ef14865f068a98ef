from __future__ import annotations

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from dashboard.forms.ask_forms import KnobsForm
from dashboard.forms.knob_labels import GROUPS
from dashboard.forms.knobs import knob_groups
from dashboard.forms.sources import at_work, at_work_by_choice, available_sources
from dashboard.views.ask import load_samples
from research.engine.config import ResearchConfig
from research.models import Collection, Run
from research.runtime.installation import current_installation
from research.search.providers import ProviderSettings
from tests.dashboard.conftest import make_run


def test_asking_makes_a_run_and_leads_to_its_page(client: Client, admin: User) -> None:
    answer = client.post("/", {"question": "How old do oaks get?", "key": "k1"})
    run = Run.objects.get()
    assert answer.headers["Location"] == f"/runs/{run.public_id}/"
    assert (run.owner, run.question) == (admin, "How old do oaks get?")


@pytest.mark.parametrize(
    ("sent", "agreed", "asks_above"),
    [
        ({"research_depth": "quick"}, True, 0.0),
        ({"research_depth": "standard"}, False, 0.0),
        ({"research_depth": "thorough", "ask_above_usd": "0.25"}, False, 0.25),
        ({"research_depth": "quick", "ask_first": "on"}, False, None),
        ({"ask_first": "on", "ask_above_usd": "0.25"}, False, None),
    ],
)
def test_only_what_is_quick_or_free_starts_unasked_and_who_wants_the_plan_is_asked(
    client: Client, sent: dict[str, str], agreed: bool, asks_above: float | None
) -> None:
    client.post("/", {"question": "How old do oaks get?", "key": "k1", **sent})
    run = Run.objects.get()
    assert (run.agreed, run.config["ask_above_usd"]) == (agreed, asks_above)


def test_a_form_sent_twice_makes_one_run(client: Client) -> None:
    for _ in range(2):
        client.post("/", {"question": "How old do oaks get?", "key": "k1"})
    assert Run.objects.count() == 1


def test_an_empty_question_is_told_so_beside_the_box(client: Client) -> None:
    answer = client.post("/", {"question": "  ", "key": "k1"})
    assert answer.status_code == 422
    assert b"Write a question first." in answer.content
    assert not Run.objects.exists()


def test_a_question_that_is_too_long_is_kept_in_the_box(client: Client) -> None:
    answer = client.post("/", {"question": "why " * 1000, "key": "k1"})
    assert answer.status_code == 422
    assert b"at most 2,000 characters; this one has 3,999." in answer.content
    box = BeautifulSoup(answer.content, "html.parser").textarea
    assert box is not None and not box.has_attr("maxlength")
    assert box.get_text().strip() == ("why " * 1000).strip()


def test_a_line_end_counts_as_one_character(client: Client) -> None:
    client.post("/", {"question": "why\r\n" * 500, "key": "k1"})
    assert Run.objects.get().question == "\n".join(["why"] * 500)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Compare … with …", "Fill in the gaps (…) first."),
        ("Compare restic with …", "Fill in the gaps (…) first."),
        ("Is it true that …", "Fill in the gaps (…) first."),
        ("a", "This is too short to search for."),
        ("??!", "This is too short to search for."),
        ("猫", "This is too short to search for."),
        ("Compare restic with bup", ""),
        ("What does “to be …” mean?", ""),
        ("猫咪", ""),
    ],
)
def test_a_question_with_gaps_or_without_words_is_refused(
    client: Client, question: str, told: str
) -> None:
    answer = client.post("/", {"question": question, "key": "k1"})
    assert answer.status_code == (422 if told else 302)
    assert told in answer.content.decode() and Run.objects.exists() is not bool(told)


def test_the_line_of_what_is_searched_names_no_collection(
    client: Client, settings: Settings
) -> None:
    settings.SEARCH_PROVIDER, settings.DOCUMENTS = "documents", ["/srv/zebras"]
    page = BeautifulSoup(client.get("/").content, "html.parser")
    line = page.select_one(".at-work [data-of=documents]")
    assert line is not None and line.get_text() == "Search: your documents"


def test_a_sample_runs_over_the_sample_library(client: Client) -> None:
    sample = load_samples()[0]
    client.post(f"/samples/{sample.slug}/", {"key": "k1"})
    run = Run.objects.get()
    assert run.question == sample.question
    assert run.sources == {"search": ["samples"]}


@pytest.mark.requirement("F5", "F16")
@pytest.mark.requirement("F5", "F16")
def test_samples_that_somebody_chose_are_not_called_all_that_there_is(
    settings: Settings, admin: User
) -> None:
    settings.SEARCH_PROVIDER, settings.DOCUMENTS, settings.PROVIDERS = "", [], ProviderSettings()
    settings.NETWORK_PROBE = "none"
    collections = [Collection(owner=admin, name="The mill")]
    unset = "your documents, or the bundled sample library (nothing else is configured)"
    assert at_work(current_installation(), collections) == unset
    settings.SEARCH_PROVIDER = "samples"
    assert (
        at_work(current_installation(), collections)
        == "your documents, or the bundled sample library"
    )


def test_samples_beside_documents_are_not_called_all_that_there_is(
    settings: Settings, admin: User
) -> None:
    settings.SEARCH_PROVIDER, settings.DOCUMENTS, settings.PROVIDERS = "", [], ProviderSettings()
    settings.NETWORK_PROBE = "none"

    def told(*collections: Collection) -> dict[str, str]:
        now = current_installation()
        return at_work_by_choice(now, available_sources(now, collections), collections)

    assert told() == {"samples": "the bundled sample library (nothing else is configured)"}
    mill = Collection(owner=admin, name="The mill")
    both = {"documents": "your documents", "samples": "the bundled sample library"}
    assert told(mill) == both
    settings.SEARCH_PROVIDER = "samples"
    assert told(mill) == both


def test_each_choice_of_sources_says_what_it_searches(
    client: Client, admin: User, settings: Settings
) -> None:
    settings.SEARCH_PROVIDER, settings.DOCUMENTS = "", []
    settings.PROVIDERS = ProviderSettings({"SEARXNG_URL": "http://127.0.0.1:9"})
    Collection.objects.create(owner=admin, name="The mill", folder="/srv/mill")
    page = BeautifulSoup(client.get("/").content, "html.parser")
    assert {each["data-of"]: each.get_text() for each in page.select(".at-work [data-of]")} == {
        "files": "Search: only the attached files",
        "web": "Search: searxng",
        "documents": "Search: your documents",
        "both": "Search: your documents, searxng",
        "samples": "Search: the bundled sample library",
    }


def test_an_unknown_sample_is_not_found(client: Client) -> None:
    assert client.post("/samples/nothing/", {"key": "k1"}).status_code == 404


def test_the_page_says_what_is_searched(client: Client) -> None:
    page = client.get("/").content
    assert b"Search: " in page


def test_the_pages_hold_scripts_of_ours_only_and_no_other_host(client: Client) -> None:
    answer = client.get("/")
    assert answer.content.count(b"<script") == answer.content.count(b'<script src="/static/')
    assert b"//" not in answer.content.replace(b"://", b"")
    assert "script-src 'self'" in answer.headers["Content-Security-Policy"]


def test_the_list_shows_states_page_by_page(client: Client, admin: User) -> None:
    for number in range(30):
        make_run(admin, "completed", question=f"Question {number}")
    first, second = client.get("/runs/").content, client.get("/runs/?page=2").content
    assert b"Question 29" in first and b"Question 0" not in first
    assert b"Question 0" in second and b"Done" in first


def test_an_empty_list_leads_to_asking(client: Client) -> None:
    assert b"No questions yet" in client.get("/runs/").content


def test_an_honest_end_without_findings_is_not_shown_as_done(client: Client, admin: User) -> None:
    make_run(admin, "completed", termination_reason="nothing_found")
    assert b"Nothing found" in client.get("/runs/").content


def test_the_list_takes_the_same_queries_for_many_runs(
    client: Client, admin: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    make_run(admin)
    with django_assert_num_queries(6):
        client.get("/runs/")
    for _ in range(20):
        make_run(admin)
    with django_assert_num_queries(6):
        client.get("/runs/")


def test_a_depth_is_frozen_in_the_run(client: Client) -> None:
    client.post("/", {"question": "Why?", "key": "k1", "research_depth": "thorough"})
    assert Run.objects.get().config["research_depth"] == "thorough"


def test_more_brings_what_was_typed_along(client: Client) -> None:
    typed = {"question": "How old?", "key": "k1", "research_depth": "quick", "settings": "1"}
    page = client.post("/settings/", typed).content.decode()
    assert "How old?" in page and '<option value="quick" selected>' in page
    assert not Run.objects.exists()


@pytest.mark.requirement("C12")
def test_every_knob_is_offered_and_a_changed_one_holds_for_the_run(client: Client) -> None:
    page = client.get("/settings/").content.decode()
    assert all(name.upper() in page for name in ResearchConfig.model_fields)
    typed = shown_knobs(client) | {"question": "Why?", "key": "k1"}
    client.post("/settings/", typed | {"max_searches": "7", "topics_per_round": "1, 2, 3"})
    expected = ResearchConfig(max_searches=7, topics_per_round=(1, 2, 3), ask_above_usd=0)
    assert Run.objects.get().config == expected.model_dump(mode="json")


def test_a_knob_has_a_plain_name_and_its_variable_second(client: Client) -> None:
    page = client.get("/settings/").content.decode()
    assert page.index("Maximum rounds") < page.index(
        '<code class="variable">ADAPTIVE_MAX_DEPTH</code>'
    )
    shown = [name for _, names in knob_groups() for name in names]
    assert sorted(shown) == sorted(ResearchConfig.model_fields)


def test_what_most_people_change_comes_first_and_thresholds_last(client: Client) -> None:
    soup = BeautifulSoup(client.get("/settings/").content, "html.parser")
    names = [each["name"] for each in soup.select(".knob :is(input, select)")]
    assert names[:5] == [
        "search_language", "search_since", "search_until", "only_sites", "never_sites"
    ]  # fmt: skip
    expert = soup.select_one(".expert")
    assert expert is not None
    hidden = [each["name"] for each in expert.find_all_next(["input", "select"])]
    assert {name for name in names if "threshold" in name or "verifier_" in name} <= {
        *hidden, "enable_verifier"
    }  # fmt: skip
    assert "research_depth" not in hidden


def test_a_link_may_bring_a_question(client: Client) -> None:
    page = client.get("/", {"question": "Is it true that oaks get old?"}).content.decode()
    assert ">\nIs it true that oaks get old?</textarea>" in page
    assert 'href="?question=Compare%20' in page


def test_earlier_questions_are_suggested_while_typing(client: Client, admin: User) -> None:
    make_run(admin, "completed", question="How old do oaks get?")
    make_run(User.objects.create_user("ada"), "completed", question="How old do oaks grow?")
    found = client.get("/runs/asked-before/", {"q": "old oaks"}).content
    assert b"oaks get" in found and b"oaks grow" not in found
    assert not client.get("/runs/asked-before/", {"q": "old"}).content.strip()
    assert not client.get("/runs/asked-before/", {"q": "oaks birches"}).content.strip()


def test_a_knob_out_of_range_is_told_beside_it_and_nothing_is_lost(client: Client) -> None:
    typed = shown_knobs(client) | {"question": "Why oaks?", "key": "k1"}
    answer = client.post("/settings/", typed | {"adaptive_max_depth": "90"})
    page = answer.content.decode()
    assert answer.status_code == 422 and not Run.objects.exists()
    assert "Enter 20 or less." in page and "Why oaks?" in page and 'value="90"' in page
    assert '<a href="#id_adaptive_max_depth">Maximum rounds</a>' in page


def test_knobs_that_contradict_each_other_are_told(client: Client) -> None:
    typed = shown_knobs(client) | {"question": "Why?", "key": "k1"}
    typed |= {"adaptive_min_depth": "5", "adaptive_max_depth": "2"}
    page = client.post("/settings/", typed).content.decode()
    assert "“Minimum rounds” (5) is above “Maximum rounds” (2)" in page


def test_each_group_says_what_it_is_for_in_each_language(client: Client) -> None:
    for language, told in (("en", "How the model is asked"), ("de", "Wie das Modell gefragt wird")):
        page = client.get("/settings/", headers={"Accept-Language": language})
        soup = BeautifulSoup(page.content, "html.parser")
        purposes = [each.get_text() for each in soup.select(".knobs .purpose")]
        assert told in purposes and all(purposes) and len(purposes) == len(GROUPS)


def test_what_differs_from_the_default_is_counted_and_marked(client: Client) -> None:
    assert 'is-changed"' not in client.get("/settings/").content.decode()
    typed = shown_knobs(client) | {"question": "", "key": "k1", "enable_verifier": ""}
    page = client.post("/settings/", typed | {"max_searches": "7", "max_fetches": "9"})
    groups = page.context["knobs"].groups()
    assert [(str(each.title), each.changed) for each in groups if each.changed] == [
        ("Limits of a run", 2),
        ("Checks by a model", 1),
    ]
    soup = BeautifulSoup(page.content, "html.parser")
    assert [code.text for code in soup.select(".is-changed code")] == [
        "MAX_SEARCHES", "MAX_FETCHES", "ENABLE_VERIFIER",
    ]  # fmt: skip
    assert "Default: 60" in soup.select_one(".is-changed .usual").text


def test_a_default_has_the_reader_s_decimals_and_can_be_typed_so(client: Client) -> None:
    page = client.get("/settings/", headers={"Accept-Language": "de"}).content.decode()
    assert "Voreinstellung: 0,75" in page and "Voreinstellung: 0.75" not in page
    assert "(0–1)" in page
    form = KnobsForm(shown_knobs(client) | {"duplicate_topic_similarity_threshold": "0,5"})
    assert form.is_valid() and form.config.duplicate_topic_similarity_threshold == 0.5


def shown_knobs(client: Client) -> dict[str, str]:
    """What a browser would send of the form as it is shown."""
    form = client.get("/settings/").context["knobs"]
    values = {field.name: field.value() for field in form}
    return {name: str(value) for name, value in values.items() if value is not False}


def test_runs_are_found_by_words_and_state(client: Client, admin: User) -> None:
    make_run(admin, "completed", question="How old do oaks get?")
    make_run(admin, "completed", question="Old oak beams", termination_reason="nothing_found")
    make_run(admin, "awaiting_approval", question="Elms, how old?")
    shown = client.get("/runs/?text=old+OAK").content
    assert b"oaks get" in shown and b"oak beams" in shown and b"Elms" not in shown
    assert b"oak beams" not in client.get("/runs/?text=old+oak&state=done").content
    assert b"Elms" in client.get("/runs/?state=waiting").content
    assert b"No results" in client.get("/runs/?text=birch").content
    assert b"oaks get" in client.get("/runs/?state=no-such-state").content


def test_the_next_page_keeps_what_was_looked_for(client: Client, admin: User) -> None:
    for number in range(30):
        make_run(admin, "completed", question=f"Question {number}")
    assert b'href="?text=question&amp;page=2"' in client.get("/runs/?text=question").content
