"""What a new user finds on the first page: a sentence, finished samples, and what is missing."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from dashboard.views.ask import load_samples
from research.llm.prices import Price
from research.models import PageText, Run
from research.services import sample_reports
from research.services.errors import ServiceError
from tests.dashboard.conftest import make_run

SLUGS = [sample.slug for sample in load_samples()]
NO_MODEL = "No model connected: you get passages, not answers"
NO_SEARCH = "No search connected: only sample pages are read"
NOTHING = "Demo mode: answers come from sample pages only"


@pytest.fixture
def no_model(settings: Settings) -> None:
    settings.RESEARCH_MODEL = ""


@pytest.mark.parametrize("slug", SLUGS)
def test_a_sample_report_is_read_like_any_other(client: Client, admin: User, slug: str) -> None:
    answer = client.post(f"/samples/{slug}/report/")
    run = Run.objects.get()
    assert answer.headers["Location"] == f"/runs/{run.public_id}/"
    assert (run.owner, run.status, run.reason) == (admin, "completed", "Sample report")
    page = client.get(answer.headers["Location"]).content.decode()
    assert "Best passage" in page and f"/runs/{run.public_id}/citations/1/" in page
    assert b"<mark" in client.get(f"/runs/{run.public_id}/citations/1/").content
    for part in ("activity/", "sources/", "evidence/", "export/md"):
        assert client.get(f"/runs/{run.public_id}/{part}").status_code == 200


def test_a_sample_report_is_copied_once_for_each_user(admin: User) -> None:
    ada = User.objects.create_user("ada")
    mine = sample_reports.open_sample(admin, SLUGS[0])
    assert sample_reports.open_sample(admin, SLUGS[0]) == mine
    hers = sample_reports.open_sample(ada, SLUGS[0])
    assert hers.pk != mine.pk and hers.owner == ada
    assert hers.evidence.count() == mine.evidence.count() > 0
    assert PageText.objects.count() == mine.pages.count()


def test_a_stored_sample_is_the_run_that_it_was_made_from(
    admin: User, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = sample_reports.open_sample(admin, SLUGS[0])
    monkeypatch.setattr(sample_reports, "FOLDER", tmp_path)
    sample_reports.store_sample(run, "copy")
    copy = sample_reports.open_sample(admin, "copy")
    assert copy.reports.get().markdown == run.reports.get().markdown
    labels = [list(one.evidence.values_list("label", "claim")) for one in (run, copy)]
    assert labels[0] == labels[1]


def test_an_unknown_sample_report_is_refused(client: Client, admin: User) -> None:
    assert client.post("/samples/nothing/report/").status_code == 404
    with pytest.raises(ServiceError, match="no such sample"):
        sample_reports.open_sample(admin, "../questions")


def test_each_depth_says_what_it_gives(client: Client, settings: Settings) -> None:
    def depths() -> list[str]:
        page = BeautifulSoup(client.get("/").content, "html.parser")
        return [" ".join(each.get_text().split()) for each in page.select(".depths label")]

    settings.RESEARCH_MODEL = "qwen3:8b"
    assert depths() == [
        "Quick 150–390 words up to 2 rounds",
        "Standard 300–2,000 words 2–5 rounds",
        "Thorough 900–6,000 words 3–5 rounds",
    ]
    settings.RESEARCH_MODEL = ""
    assert depths() == [
        "Quick up to 2 rounds",
        "Standard 2–5 rounds",
        "Thorough 3–5 rounds",
    ]


def test_a_depth_says_how_long_it_usually_takes_once_it_was_used(
    client: Client, admin: User, settings: Settings
) -> None:
    def finish(
        *seconds: float, owner: User = admin, status: str = "completed", **columns: object
    ) -> None:
        for each in seconds:
            told = {"analyst": "qwen3:8b", "usage": {"seconds": each}, **columns}
            make_run(owner, status, **told)

    settings.RESEARCH_MODEL = "qwen3:8b"
    finish(100, 130)
    finish(9000, status="failed")
    finish(9000, analyst="another")
    finish(9000, kind="revise")
    finish(9000, owner=User.objects.create_user("ada"))
    assert "usually" not in client.get("/").content.decode()
    finish(7000)
    page = BeautifulSoup(client.get("/").content, "html.parser")
    quick, standard, thorough = (
        " ".join(each.get_text().split()) for each in page.select(".depths label")
    )
    assert standard == "Standard 300–2,000 words usually 2:10 min"
    assert "rounds" in quick and "rounds" in thorough


def test_a_newcomer_reads_what_it_does_and_others_find_their_runs_first(
    client: Client, admin: User
) -> None:
    page = BeautifulSoup(client.get("/").content, "html.parser")
    assert len(page.select(".intro p")) == 2
    assert [each["aria-labelledby"] for each in page.select(".ask > section")] == ["samples-title"]
    make_run(admin)
    page = BeautifulSoup(client.get("/").content, "html.parser")
    assert len(page.select(".intro p")) == 1
    assert [each["aria-labelledby"] for each in page.select(".ask > section")] == [
        "recent-title",
        "samples-title",
    ]


def test_a_missing_model_is_shown_with_the_way_to_connect_one(
    client: Client, no_model: None, settings: Settings
) -> None:
    page = client.get("/").content.decode()
    assert NOTHING in page and 'href="/installation/">Set up' in page
    settings.SEARCH_PROVIDER = "searxng"
    settings.SEARXNG_URL = "http://127.0.0.1:9"
    page = client.get("/").content.decode()
    assert NO_MODEL in page and 'href="/installation/">Connect a model' in page
    settings.SEARCH_PROVIDER = settings.SEARXNG_URL = ""
    settings.RESEARCH_MODEL = "qwen3:8b"
    page = client.get("/").content.decode()
    assert NO_MODEL not in page and NO_SEARCH in page and "Model: qwen3:8b" in page
    assert "The model has no price here." in page and "You see the plan before it starts" in page
    settings.OPENAI_BASE_URL = "http://127.0.0.1:9/v1"
    page = client.get("/").content.decode()
    assert "No cost: the model is on this machine." in page and "Price unknown" not in page
    settings.MODEL_PRICES = {"qwen3:8b": Price(1, 2, 1)}
    page = client.get("/").content.decode()
    assert "that cost anything show you the plan first" in page
    assert "You see the plan before it starts" not in page
    settings.RESEARCH_DEFAULTS = settings.RESEARCH_DEFAULTS.model_copy(
        update={"ask_above_usd": 0.5}
    )
    page = client.get("/").content.decode()
    assert "that may cost more than $0.50 show you the plan first" in page


@pytest.mark.parametrize("address", ["/", "/settings/"])
def test_what_limits_every_question_is_told_before_the_button(
    client: Client, no_model: None, address: str
) -> None:
    page = client.get(address).content.decode()
    form = page[page.index("ask-form") :]
    assert 0 < form.index(NOTHING) < form.index('<button class="primary"')


def test_who_cannot_connect_a_model_is_told_who_can(db: None, no_model: None) -> None:
    client = Client()
    client.force_login(User.objects.create_user("ada"))
    page = client.get("/").content.decode()
    assert "An administrator can connect one." in page and "/installation/" not in page
