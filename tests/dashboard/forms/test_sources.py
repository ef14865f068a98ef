"""The sources of a run in three folds, and a person's own list of sites to leave out."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from bs4 import BeautifulSoup, Tag
from django.contrib.auth.models import User
from django.test import Client

from dashboard.contexts.evidence import describe_published
from dashboard.words import format_day
from research.models import EvidenceSource, NeverSite, PageText, Run, Source
from research.models.base import key_digest
from tests.dashboard.conftest import URL, add_evidence, add_report, make_later, make_run
from tests.dashboard.test_run_page import count_queries


@pytest.fixture
def run(admin: User) -> Run:
    """A run with a source of every status; the cited one is [1]."""
    run = make_run(admin, "completed")
    add_evidence(run, 1)
    add_report(run, "About 600 years. [1]")
    add_source(run, URL, "cited", kind="academic", published="2024-03")
    add_source(run, "https://elms.test/", "read")
    add_source(run, "https://bot.test/", "refused", reason="robots.txt refuses it")
    add_source(run, "https://blank.test/", "empty")
    add_source(run, "https://down.test/", "failed")
    add_source(run, "https://unread.test/", "not_read")
    return run


def cite(run: Run, marker: int, url: str, places: int = 1, **columns: object) -> EvidenceSource:
    """Add a cited page with one quote to the report, and return the quote."""
    quote = add_evidence(run, marker).quotes.get()
    quote.url, quote.independence_key, quote.text_sha256 = url, url.split("/")[2], f"{marker}"
    quote.published = columns.get("published")
    quote.save()
    add_source(run, url, "cited", title=f"Page {marker}", **columns)
    report = run.reports.get()
    labels = [f"E{marker}"]
    entry = {"marker": marker, "url": url, "evidence_ids": labels, "places": [labels] * places}
    report.citations += [entry]
    report.save()
    return quote


def add_source(run: Run, url: str, status: str, **columns: object) -> None:
    told = {"domain": url.split("/")[2], "round": 1, "status": status, **columns}
    Source.objects.create(run=run, url=url, url_key=key_digest(url), **told)


def folds(client: Client, run: Run, query: str = "") -> list[Tag]:
    page = client.get(f"/runs/{run.public_id}/sources/{query}").content
    return BeautifulSoup(page, "html.parser").select(".sources > details")


def said(tag: Tag) -> str:
    return " ".join(tag.get_text(" ").split())


@pytest.mark.requirement("C20")
def test_each_source_stands_in_its_fold(client: Client, run: Run) -> None:
    cited, read, failed = folds(client, run)
    assert [len(fold.select("ol > li")) for fold in (cited, read, failed)] == [1, 1, 3]
    assert said(cited.select("h3")[0]) == "T trees.test academic"
    assert "trees.test/oak.html published March 2024 · 1 quote" in said(cited)
    assert said(cited.select("blockquote")[0]) == "“An oak lives for about 600 years.”"
    assert cited.select_one("a.marker")["href"].endswith("/citations/1/")  # type: ignore[index]
    assert "elms.test" in said(read) and "undated" not in said(read)
    assert not read.select(".source-facts"), "nothing is known of it"
    assert "robots.txt refuses it" in said(failed)
    page = client.get(f"/runs/{run.public_id}/sources/").content
    assert b"1 more search result was not opened" in page


def test_sources_of_one_kind_can_be_shown(client: Client, run: Run) -> None:
    [cited] = folds(client, run, "?kind=academic")
    assert "trees.test/oak.html" in said(cited) and cited.has_attr("open")
    assert folds(client, run, "?kind=news") == []


def test_known_kinds_of_cited_pages_are_links_that_narrow_the_list(
    client: Client, run: Run
) -> None:
    def links(query: str = "") -> list[Tag]:
        page = client.get(f"/runs/{run.public_id}/sources/{query}").content
        return BeautifulSoup(page, "html.parser").select(".site-counts a")

    assert not links(), "all are of one kind"
    cite(run, 2, "https://elms.test/2")
    assert [said(link) for link in links()] == ["academic 1"], "nothing is known of the other"
    cite(run, 3, "https://news.test/3", kind="news")
    found = links("?kind=news&sort=date")
    assert [link["href"] for link in found] == ["?kind=academic&sort=date", "?sort=date"]
    assert found[1].has_attr("aria-current")


def test_the_pages_of_a_site_stand_below_its_name(client: Client, run: Run) -> None:
    for number in (2, 3, 4):
        published = f"202{number}-03-05"
        cite(run, number, f"https://trees.test/{number}", places=number, published=published)
    [alone] = folds(client, run)[0].select(".by-site > li")
    assert alone.details.has_attr("open"), "nothing else is listed"
    cite(run, 5, "https://elms.test/5", places=5, site="The elm club")
    cite(run, 6, "https://elms.test/6", published="2027-03-05", kind="news")
    trees, elms = folds(client, run)[0].select(".by-site > li")
    assert [said(marker) for marker in trees.select("ol .marker")] == ["1", "2", "3", "4"]
    assert said(trees.select("summary h3")[0]) == "T trees.test"
    assert said(trees.select(".site-line")[0]) == (
        "4 pages · cited 10 times · newest 5 March 2024 1 2 3 4"
    )
    assert trees.details.has_attr("open"), "the first is shown, later ones of many are folded"
    assert not elms.select("summary h3")
    assert said(elms.select("h3")[0]) == "T The elm club elms.test"
    line, second = said(elms.select(".site-line")[0]), said(elms.select("ol > li")[1])
    assert line == "2 pages · cited 6 times", "none is known to be the newest"
    assert "Page 6 elms.test/6 news gives 5 March 2027 as its date" in second
    first = folds(client, run, "?sort=cited")[0].select_one(".by-site > li")
    assert [said(marker) for marker in first.select("ol .marker")] == ["4", "3", "2", "1"]
    quote = run.evidence.get(label="E4")
    quote.contradicts = ["E1"]
    quote.save()
    assert "Sources disagree" in said(folds(client, run)[0].select("summary .doubted")[0])


def test_documents_are_grouped_by_collection(client: Client, run: Run) -> None:
    for number in (2, 3):
        cite(run, number, f"file:///notes/{number}.md")
    documents = folds(client, run)[0].select(".by-site > li")[1]
    assert said(documents.select("h3")[0]) == "N notes"
    assert said(documents.select(".site-line")[0]) == "2 documents · cited 2 times"


def test_a_source_says_what_for_it_is_cited_and_that_others_disagree(
    client: Client, run: Run
) -> None:
    report = run.reports.get()
    newer = {
        **report.citations[0],
        "marker": 2,
        "url": "https://elms.test/",
        "evidence_ids": ["E2"],
    }
    quote = add_evidence(run, 2).quotes.get()
    quote.url, quote.independence_key, quote.text_sha256 = newer["url"], "elms.test", "other"
    quote.save()
    report.citations += [newer]
    report.markdown = "It is 700. [2] Previously (2020-03): It was 600. [1]"
    report.save()
    add_source(run, newer["url"] + "new", "read")
    run.source_pages.filter(url=newer["url"]).update(status="cited")
    run.evidence.filter(label="E2").update(contradicts=["E1"])
    first, second = folds(client, run)[0].select("ol > li")
    assert "Earlier value Used for: Part 1" in said(first)
    assert "Sources disagree Used for: Part 2" in said(second) and "Earlier" not in said(second)


def test_what_a_source_is_cited_for_has_the_headings_of_the_plan(client: Client, run: Run) -> None:
    part = {"text": "Part 1", "query": "oak age", "heading": "Age of oaks"}
    Run.objects.filter(pk=run.pk).update(plan={"aspects": [part]})
    assert "Used for: Age of oaks" in said(folds(client, run)[0])


def test_the_sources_begin_with_what_the_report_cites(client: Client, run: Run) -> None:
    page = client.get(f"/runs/{run.public_id}/sources/").content
    [summary] = BeautifulSoup(page, "html.parser").select(".sources > p.summary")
    read = format_day(run.evidence.get().quotes.get().fetched_at)
    assert said(summary) == f"The report cites 1 page from 1 site. 1 gives no date. Read {read}."


@pytest.mark.parametrize("published", ["2020-03-05", "2020-03-05T08:00:00+00:00"])
def test_a_date_with_a_time_of_day_is_a_date(client: Client, run: Run, published: str) -> None:
    run.evidence.get().quotes.update(published=published)
    page = client.get(f"/runs/{run.public_id}/sources/").content
    [summary] = BeautifulSoup(page, "html.parser").select(".sources > p.summary")
    assert "Published 5 March 2020." in said(summary) and "no date" not in said(summary)


def test_a_date_after_the_page_was_read_is_not_called_its_publication() -> None:
    read = datetime(2026, 11, 21, 23, tzinfo=UTC)
    assert describe_published("2026-11-22", read) == "published 22 November 2026"
    assert describe_published("2026-11", read) == "published November 2026"
    late = describe_published("2027-03-05", read)
    assert late == "gives 5 March 2027 as its date, after it was read"
    assert describe_published("2027-03-05T08:00:00+00:00", read) == late
    assert describe_published("next spring", read) == "published next spring"
    assert describe_published(None, read) == ""


def test_sources_are_sorted_by_number_date_kind_or_citations(client: Client, run: Run) -> None:
    cite(run, 2, "https://elms.test/2", places=5, published="2026-01-02T08:00:00Z")
    cite(run, 3, "https://news.test/3", kind="news", published="2027-03-05")
    cite(run, 4, "https://ash.test/4", kind="official", places=3, published="2025")
    cite(run, 5, "https://fir.test/5")

    def numbers(query: str) -> list[str]:
        return [said(marker) for marker in folds(client, run, query)[0].select("ol .marker")]

    assert numbers("") == numbers("?sort=nothing") == ["1", "2", "3", "4", "5"]
    assert numbers("?sort=date") == ["2", "4", "1", "3", "5"], "not read yet on its date, no date"
    assert numbers("?sort=kind") == ["4", "1", "3", "2", "5"]
    assert numbers("?sort=cited") == ["2", "4", "1", "3", "5"]
    page = client.get(f"/runs/{run.public_id}/sources/?kind=news&sort=date").content
    soup = BeautifulSoup(page, "html.parser")
    links = soup.select(".sort a")
    assert [(said(link), link["href"]) for link in links] == [
        ("First cited", "?kind=news"),
        ("Date", "?kind=news&sort=date"),
        ("Kind", "?kind=news&sort=kind"),
        ("Times cited", "?kind=news&sort=cited"),
    ]
    assert [said(link) for link in links if link.has_attr("aria-current")] == ["Date"]
    assert all("sort=date" in link["href"] for link in soup.select(".site-counts a"))


def test_a_source_says_how_often_it_is_cited(client: Client, run: Run) -> None:
    cite(run, 2, "https://elms.test/2", places=5)
    first, second = folds(client, run)[0].select("ol > li")
    assert "published March 2024 · 1 quote · cited once" in said(first)
    assert "Page 2 elms.test/2 1 quote · cited 5 times" in said(second)
    assert "website" not in said(folds(client, run)[0]), "nothing is said of an unknown kind"


def test_pages_with_one_text_are_one_entry(client: Client, run: Run) -> None:
    words = " ".join(f"Oak number {n} stands at the mill." for n in range(60))
    text = PageText.objects.create(id="copy", sha256="2", text=f"{words} Sent in by a reader.")
    run.pages.create(url="https://elms.test/2", url_key="2", page=text)
    PageText.objects.filter(uses__run=run).exclude(pk="copy").update(text=words)
    quote = cite(run, 2, "https://elms.test/2")
    cite(run, 3, "https://fir.test/3")
    assert len(folds(client, run)[0].select("ol > li")) == 3
    quote.independence_key = "trees.test"  # as the engine has it of a copy
    quote.save()
    cited = folds(client, run)[0]
    first, third = cited.select("ol > li")
    assert "Same text: 2 Page 2 elms.test" in said(first) and "Page 3" in said(third)
    assert said(cited.select("summary")[0]) == "Cited 3"
    more = " ".join(f"Elm number {n} is felled in spring." for n in range(99))
    PageText.objects.filter(pk="copy").update(text=f"{words} {more}")
    assert "Same text" not in said(folds(client, run)[0]), "the first is a part of the second"
    PageText.objects.filter(pk="copy").update(text="Something else about elms. " * 60)
    assert "Same text" not in said(folds(client, run)[0])


def test_dates_after_the_reading_are_counted_apart(client: Client, run: Run) -> None:
    cite(run, 2, "https://elms.test/2", published="2027-03-05")
    page = client.get(f"/runs/{run.public_id}/sources/").content
    [summary] = BeautifulSoup(page, "html.parser").select(".sources > p.summary")
    assert "1 gives a date after it was read. 1 gives no date." in said(summary)


def test_a_source_of_an_earlier_run_leads_to_where_it_was_found(client: Client, run: Run) -> None:
    shorter = make_later(run, kind="reshape")
    deeper = make_later(shorter, kind="deeper")
    other = make_later(deeper, kind="follow_up", origin=None)
    for later in (shorter, deeper, other):
        add_source(later, "https://elms.test/", "read", round=0)
    add_source(deeper, "https://new.test/", "read")
    for later, told in ((shorter, "in version 1"), (deeper, "in version 1"), (other, "for an e")):
        read = folds(client, later)[-1]
        assert f"found {told}" in said(read) and "round 0" not in said(read)
        assert read.select_one(f"a[href='/runs/{run.public_id}/sources/']") is not None
    assert "new.test N new.test new.test" in said(folds(client, deeper)[-1])
    for earlier in (shorter, deeper):
        earlier.delete()
    assert "found in an earlier run" in said(folds(client, Run.objects.get(pk=other.pk))[-1])


@pytest.mark.requirement("F13")
def test_never_again_holds_for_new_runs_and_can_be_undone(client: Client, run: Run) -> None:
    sent = {"site": "trees.test", "run": run.public_id}
    answer = client.post("/sites/never/", sent)
    assert answer.headers["Location"] == f"/runs/{run.public_id}/sources/"
    assert "Undo" in said(folds(client, run)[0])
    client.post("/", {"question": "How old?", "key": "k1"})
    client.post("/sites/allow/", sent)
    assert "Block site" in said(folds(client, run)[0])
    client.post("/", {"question": "How old?", "key": "k2"})
    lists = [each.config["never_sites"] for each in Run.objects.order_by("pk")]
    assert lists == [[], ["trees.test"], []]


def test_a_question_may_keep_to_a_site_of_the_list(client: Client, admin: User) -> None:
    for site in ("trees.test", "elms.test"):
        NeverSite.objects.create(owner=admin, site=site)
    sent = {"only_sites": "elms.test", "never_sites": "spam.test"}
    client.post("/", {"question": "How old?", "key": "k1", **sent})
    assert Run.objects.get().config["never_sites"] == ["spam.test", "trees.test"]


def test_a_subdomain_counts_as_its_site(client: Client, run: Run, admin: User) -> None:
    add_source(run, "https://old.elms.test/", "read")
    add_source(run, "https://helms.test/", "read")
    NeverSite.objects.create(owner=admin, site="elms.test")
    assert folds(client, run)[1].has_attr("open") and not folds(client, run)[2].has_attr("open")
    assert [said(button) for button in folds(client, run)[1].select("button")] == [
        "Undo : allow elms.test again",
        "Undo : allow elms.test again",
        "Block site : helms.test",
    ]


def test_documents_and_samples_are_no_sites(client: Client, run: Run) -> None:
    Source.objects.filter(status="read").update(url="file:notes/elms.md")
    Source.objects.filter(status="cited").update(url="https://trees.example/oak.html")
    assert not any(fold.select("button") for fold in folds(client, run)[:2])


def test_the_list_takes_sites_with_commas_and_says_what_is_none(client: Client) -> None:
    client.post("/sites/never/", {"site": "https://www.Spam.test/x, more.test"})
    answer = client.post("/sites/never/", {"site": "no site"})
    page = answer.content
    assert answer.status_code == 422 and b'value="no site"' in page
    assert b"Name sites such as example.org" in page
    assert b"spam.test" in page and b"more.test" in page


def test_the_list_and_the_sources_are_a_persons_own(run: Run) -> None:
    eve = User.objects.create_user("eve")
    stranger = Client()
    stranger.force_login(eve)
    assert stranger.get(f"/runs/{run.public_id}/sources/").status_code == 404
    sent = {"site": "trees.test", "run": run.public_id}
    assert stranger.post("/sites/never/", sent).status_code == 404
    assert [row.owner for row in NeverSite.objects.all()] == [eve]


def test_many_sources_take_the_same_queries(client: Client, run: Run) -> None:
    few = count_queries(lambda: folds(client, run))
    for number in range(40):
        add_source(run, f"https://more.test/{number}", "read")
    assert count_queries(lambda: folds(client, run)) == few


def test_a_page_is_listed_with_its_address_and_every_quote(client: Client, run: Run) -> None:
    for number, quote in ((2, "Old."), (3, "Slow."), (4, "Slow.")):
        add_evidence(run, number).quotes.update(quote=quote)
    report = run.reports.get()
    report.citations[0]["evidence_ids"] = ["E2", "E3", "E4"]
    report.save()
    Source.objects.filter(url=URL).update(title="Oak")
    page = folds(client, run)[0].select_one(".by-site ol > li")
    assert page is not None
    assert [each.get_text() for each in page.select(".source-place")] == ["trees.test/oak.html"]
    assert [each.get_text() for each in page.select(".quote > *")] == [
        "Quotes",
        "“Old.”",
        "“Slow.”",
    ]
