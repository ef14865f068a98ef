"""The pages of documents: forms that work without JavaScript, and whose they are."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from research.models import Collection, Run
from research.runtime import tool_factory
from research.search.providers import ProviderSettings
from research.services import documents
from tests.dashboard.conftest import make_run
from tests.dashboard.test_run_page import count_queries
from tests.research.collections import GRANARY, LEASE, filled, forget_index, index_all, sent
from tests.support.retrieval.folders import write

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.subprocess]


@pytest.fixture(autouse=True)
def state(settings: Settings, tmp_path: Path, transactional_db: None) -> Iterator[Path]:
    settings.SEARCH_PROVIDER, settings.DOCUMENTS = "", []
    settings.PROVIDERS, settings.NETWORK_PROBE = ProviderSettings(), "none"
    settings.STATE_DIR = tmp_path / "state"
    settings.STATE_DIR.mkdir()
    yield settings.STATE_DIR
    forget_index()


@pytest.fixture
def eve(db: None) -> User:
    return User.objects.create_user("eve")


@pytest.fixture
def mill(admin: User) -> Collection:
    """Indexed, with a file that cannot be read."""
    made = filled(admin, "The mill", lease__md=LEASE, broken__pdf=b"no")
    index_all()
    made.refresh_from_db()
    return made


def signed_in(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def text(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return said(answer.content)


def said(content: bytes) -> str:
    return " ".join(BeautifulSoup(content, "html.parser").get_text(" ").split())


def url(collection: Collection, rest: str = "") -> str:
    return f"/documents/{collection.public_id}/{rest}"


# --- the list ----------------------------------------------------------------------------


def test_an_empty_list_says_what_a_collection_is_for(client: Client) -> None:
    assert "No documents yet. Create a collection of files" in text(client, "/documents/")


def test_a_collection_is_made_of_several_files_at_once(client: Client) -> None:
    files = [sent("lease.md", LEASE), sent("budget.xlsx"), sent("granary.txt", GRANARY)]
    answer = client.post("/documents/", {"name": "The mill", "files": files}, follow=True)
    made = Collection.objects.get()
    assert answer.redirect_chain == [(url(made), 302)]
    shown = said(answer.content)
    assert "2 files added, reading them now." in shown and "1 file was not added" in shown
    assert "budget.xlsx : only HTML, Markdown" in shown
    assert "budget.xlsx" not in text(client, url(made))
    assert [row.name for row in made.files.all()] == ["granary.txt", "lease.md"]
    assert not made.is_shared


def test_a_large_file_comes_in_whole(client: Client, state: Path) -> None:
    content = b"".join(b"Line %d of a long log.\n" % number for number in range(150_000))
    client.post("/documents/", {"name": "Logs", "files": [sent("log.txt", content)]})
    made = Collection.objects.get()
    assert (state / "documents" / made.public_id / "log.txt").read_bytes() == content


def test_too_many_files_at_once_are_told(client: Client) -> None:
    files = [sent(f"{number}.txt", str(number)) for number in range(501)]
    answer = client.post("/documents/", {"name": "The mill", "files": files})
    assert answer.status_code == 400 and not Collection.objects.exists()
    assert "Up to 500 files can be sent at once" in said(answer.content)


def test_a_missing_name_is_told_beside_its_field(client: Client) -> None:
    answer = client.post("/documents/", {"name": " ", "files": [sent("a.md")]})
    assert answer.status_code == 422 and not Collection.objects.exists()
    assert (
        b'id="new-problem"' in answer.content and b"Give the collection a name." in answer.content
    )


def test_the_list_tells_state_counts_and_owner(
    client: Client, admin: User, eve: User, mill: Collection
) -> None:
    documents.change_collection(admin, mill, "The mill", shared=True)
    line = text(client, "/documents/")
    assert "Ready, 1 unread 1 document" in line
    assert "shared with everyone" in line
    assert "shared by local" in text(signed_in(eve), "/documents/")


def test_no_collection_is_made_of_files_that_cannot_be_read(client: Client) -> None:
    answer = client.post("/documents/", {"name": "The mill", "files": [sent("budget.xlsx")]})
    assert answer.status_code == 422
    shown = BeautifulSoup(answer.content, "html.parser")
    [problem] = shown.select("form.card .problem[role=alert]")
    assert problem.get_text().startswith("budget.xlsx: only HTML, Markdown")
    assert not Collection.objects.filter(deleted_at=None).exists()
    [name] = shown.select("#new-name")
    assert name["value"] == "The mill", "typed text stays"


def test_the_list_takes_the_same_queries_for_many_collections(client: Client, admin: User) -> None:
    filled(admin, "One", a__md=LEASE)
    few = count_queries(lambda: client.get("/documents/"))
    for number in range(20):
        filled(admin, f"More {number}", a__md=LEASE)
    assert count_queries(lambda: client.get("/documents/")) == few


# --- one collection ----------------------------------------------------------------------


def test_the_page_lists_files_and_why_one_could_not_be_read(
    client: Client, mill: Collection
) -> None:
    shown = text(client, url(mill))
    assert "lease.md" in shown and "2 files" in shown
    assert "1 file could not be read broken.pdf the PDF is damaged" in shown
    page = BeautifulSoup(client.get(url(mill)).content, "html.parser")
    broken, lease = page.select("#collection-files li")
    assert "Could not be read: the PDF is damaged" in said(str(broken).encode())
    assert lease.select_one(".unread") is None
    assert "Ready, 1 unread" in shown and "Ready, 1 unread" in text(client, "/documents/")


def test_the_end_of_the_wait_marks_the_files_that_could_not_be_read(
    client: Client, admin: User
) -> None:
    made = filled(admin, "The mill", lease__md=LEASE, broken__pdf=b"no")
    assert b'id="collection-files"' not in client.get(url(made, "state/")).content
    index_all()
    fragment = BeautifulSoup(client.get(url(made, "state/")).content, "html.parser")
    assert len(fragment.select("#collection-files[hx-swap-oob] .unread")) == 1


def test_removing_a_file_asks_first(client: Client, mill: Collection) -> None:
    page = BeautifulSoup(client.get(url(mill)).content, "html.parser")
    row = page.select("#collection-files li")[1]
    assert row.select_one("details:not([open]) form button[name=name][value='lease.md']")
    assert "Remove lease.md from this collection?" in row.get_text()


def test_the_heading_leads_to_the_form_for_a_new_collection(client: Client) -> None:
    page = BeautifulSoup(client.get("/documents/").content, "html.parser")
    link = page.select_one(".title-row a")
    assert link is not None and page.select_one(str(link["href"])) is not None


def test_the_fragment_asks_again_only_while_there_is_something_to_wait_for(
    client: Client, admin: User, mill: Collection
) -> None:
    documents.add_files(admin, mill, [sent("new.md", GRANARY)])
    Collection.objects.update(done=124, total=531, failed=2)
    for query in ("state/", "state/?line"):
        assert b"hx-trigger" in client.get(url(mill, query)).content
    assert "Queued" in text(client, url(mill, "state/"))
    index_all()
    for query in ("state/", "state/?line"):
        fragment = client.get(url(mill, query)).content
        assert b"hx-trigger" not in fragment and b"2 documents" in fragment


def test_the_progress_counts_what_was_read_and_what_could_not_be(
    client: Client, mill: Collection
) -> None:

    soon = timezone.now() + timedelta(seconds=20)
    Collection.objects.update(done=124, total=531, failed=2, lease_until=soon)
    content = client.get(url(mill, "state/")).content
    assert "Reading 124 of 531 read · 2 could not be read" in said(content)
    bar = BeautifulSoup(content, "html.parser").progress
    assert bar is not None and (bar["value"], bar["max"]) == ("124", "531")


def test_a_search_to_try_marks_the_words_and_says_where(client: Client, mill: Collection) -> None:
    soup = BeautifulSoup(client.get(url(mill, "?q=paying+<rent>+late")).content, "html.parser")
    passage = soup.select_one(".passages li")
    assert passage is not None and passage.h3 is not None
    assert passage.h3.get_text() == "Lease of the mill"
    assert [mark.get_text() for mark in passage.select("mark")] == ["Rent", "rent", "pays", "late"]
    assert "The mill/lease.md · Rent" in passage.get_text()
    assert soup.select_one("[name=q][value='paying <rent> late']") is not None


def test_a_search_that_finds_nothing_says_what_is_not_searched(
    client: Client, mill: Collection
) -> None:
    assert "No passage contains these words" in text(client, url(mill, "?q=zeppelin"))
    assert "No passage contains these words" in text(client, url(mill, "?q=%22*)+OR"))


def test_files_are_added_replaced_and_removed(client: Client, mill: Collection) -> None:
    files = [sent("lease.md", "# Lease\n\nOther words."), sent("granary.txt", GRANARY)]
    shown = said(client.post(url(mill, "add/"), {"files": files}, follow=True).content)
    assert "1 file added, reading it now." in shown
    assert "lease.md replaced the file of that name." in shown
    shown = said(client.post(url(mill, "remove/"), {"name": "granary.txt"}, follow=True).content)
    assert "granary.txt was removed." in shown
    assert [row.name for row in mill.files.all()] == ["broken.pdf", "lease.md"]
    again = client.post(url(mill, "remove/"), {"name": "granary.txt"}, follow=True)
    assert b"no longer in this collection" in again.content


def test_it_is_renamed_and_shared(client: Client, mill: Collection) -> None:
    client.post(url(mill, "change/"), {"name": "Leases", "shared": "on"})
    mill.refresh_from_db()
    assert (mill.name, mill.is_shared) == ("Leases", True)
    answer = client.post(url(mill, "change/"), {"name": ""})
    assert answer.status_code == 422 and b'id="change-problem"' in answer.content


def test_deleting_asks_first(client: Client, mill: Collection) -> None:
    assert "Delete “The mill”?" in text(client, url(mill, "delete/"))
    assert Collection.objects.visible_to(mill.owner).exists()
    answer = client.post(url(mill, "delete/"), follow=True)
    assert "“The mill” was deleted." in said(answer.content)
    assert client.get(url(mill)).status_code == 404


def test_nothing_that_was_uploaded_is_served(client: Client, admin: User) -> None:
    script = "<script>document.title = 'owned'</script>"
    page = f"<title>{script}</title><p>An <b>oak</b> lives for 600 years. {script}</p>"
    made = filled(admin, "Oaks", evil__html=page)
    index_all()
    shown = client.get(url(made, "?q=oak")).content
    assert b"600 years" in shown and b"<script>document" not in shown
    for address in (url(made, "evil.html"), f"/static/{made.public_id}/evil.html"):
        assert client.get(address).status_code == 404


# --- whose it is -------------------------------------------------------------------------

ACTIONS = ("add/", "remove/", "change/", "look/", "delete/")


def test_somebody_elses_is_not_found(eve: User, mill: Collection) -> None:
    stranger = signed_in(eve)
    assert "No documents yet" in text(stranger, "/documents/")
    for rest in ("", "state/", "delete/", "?q=rent"):
        assert stranger.get(url(mill, rest)).status_code == 404
    for action in ACTIONS:
        assert stranger.post(url(mill, action), {"name": "lease.md"}).status_code == 404
    assert Client().get(url(mill)).status_code == 302


def test_a_shared_one_is_searched_by_others_and_changed_by_nobody_else(
    admin: User, eve: User, mill: Collection
) -> None:
    documents.change_collection(admin, mill, "The mill", shared=True)
    reader = signed_in(eve)
    assert "1,200 crowns" in text(reader, url(mill, "?q=rent"))
    page = BeautifulSoup(reader.get(url(mill)).content, "html.parser")
    assert not page.select("main form[method=post]")
    for action in ACTIONS:
        sent_on = reader.post(url(mill, action), {"name": "lease.md", "files": [sent("a.md")]})
        assert sent_on.status_code in (403, 404)
    assert mill.files.count() == 2


# --- folders -----------------------------------------------------------------------------


def test_an_admin_uses_a_folder_and_others_are_not_told_its_path(
    client: Client, eve: User, tmp_path: Path
) -> None:
    papers = write(tmp_path / "papers", {"a/lease.md": LEASE, "b.pdf": "no", "c.odt": ""})
    client.post("/documents/folder/", {"path": str(papers), "name": "", "shared": "on"})
    made = Collection.objects.get()
    index_all()
    shown = text(client, url(made))
    assert f"Folder {papers}" in shown and "Check for changes" in shown
    assert "1 file could not be read b.pdf" in shown
    assert "1 file of another kind left out: .odt" in shown
    papers.rename(tmp_path / "elsewhere")
    client.post(url(made, "look/"))
    index_all()
    assert f"The folder {papers} does not exist" in text(client, url(made))
    for page in ("/documents/", url(made)):
        assert str(papers) not in text(signed_in(eve), page)
    assert "its owner can see why" in text(signed_in(eve), url(made))


def test_a_folder_that_cannot_be_used_is_told_beside_its_field(client: Client) -> None:
    answer = client.post("/documents/folder/", {"path": "papers", "name": "Papers"})
    assert answer.status_code == 422
    assert b'id="folder-problem"' in answer.content and b'value="papers"' in answer.content


def test_a_sign_that_no_database_keeps_is_no_failure_of_the_server(
    client: Client, mill: Collection, tmp_path: Path
) -> None:
    assert client.post(url(mill, "remove/"), {"name": "lease.md\x00"}).status_code == 302
    assert client.get(url(mill), {"q": "rent\x00"}).status_code == 400
    folder = client.post("/documents/folder/", {"path": f"{tmp_path}/no\x00", "name": "Papers"})
    assert folder.status_code == 422


def test_only_an_admin_is_offered_a_folder(eve: User, tmp_path: Path) -> None:
    stranger = signed_in(eve)
    assert "Use a folder" not in text(stranger, "/documents/")
    assert stranger.post("/documents/folder/", {"path": str(tmp_path)}).status_code == 403


def test_a_folder_of_the_settings_is_not_deleted_here(client: Client, tmp_path: Path) -> None:
    documents.take_in([str(write(tmp_path / "papers", {"a.md": LEASE}))])
    made = Collection.objects.get()
    assert "named in the settings" in text(client, url(made))
    assert client.post(url(made, "delete/")).status_code == 404


# --- asking over them --------------------------------------------------------------------

ASKED = {"question": "How much is the rent?", "key": "k1"}


def ticked(client: Client, address: str = "/") -> tuple[list[str], list[str]]:
    """The chosen sources and the ticked collections of the form."""
    page = BeautifulSoup(client.get(address).content, "html.parser")
    return (
        [box["value"] for box in page.select("input[name=sources][checked]")],
        [box.find_parent("label").get_text(strip=True)  # type: ignore[union-attr]
         for box in page.select("input[name=collections][checked]")],
    )  # fmt: skip


def test_a_question_is_asked_over_chosen_collections_and_the_choice_stays(
    client: Client, admin: User, mill: Collection
) -> None:
    other = filled(admin, "Other", barn__md=LEASE)
    assert ticked(client) == (["documents"], ["Other", "The mill"])
    client.post("/", {**ASKED, "sources": "documents", "collections": [mill.public_id]})
    assert Run.objects.get().sources == {
        "search": ["documents"],
        "documents": [],
        "collections": [{"id": mill.public_id, "name": "The mill"}],
    }
    assert ticked(client) == (["documents"], ["The mill"])
    assert ticked(client, f"/?collection={other.public_id}") == (["documents"], ["Other"])
    documents.delete_collection(admin, mill)
    assert ticked(client) == (["documents"], ["Other"])


def test_the_web_stays_the_first_choice_where_it_can_be_searched(
    client: Client, settings: Settings, mill: Collection
) -> None:
    settings.PROVIDERS = ProviderSettings({"SEARXNG_URL": "http://127.0.0.1:9"})
    assert ticked(client)[0] == ["web"]
    client.post("/", {**ASKED, "sources": "both", "collections": [mill.public_id]})
    assert Run.objects.get().sources["search"] == ["documents", "searxng"]
    client.post("/", {**ASKED, "key": "k2", "sources": "web"})
    assert ticked(client) == (["web"], ["The mill"])
    assert "collections" not in Run.objects.order_by("pk").last().sources  # type: ignore[union-attr]


def test_samples_that_are_tried_change_no_choice(
    client: Client, admin: User, mill: Collection
) -> None:
    make_run(admin, sources={"search": ["samples"]})
    assert ticked(client)[0] == ["documents"]


def test_a_question_from_before_the_first_upload_chooses_no_samples(
    client: Client, admin: User
) -> None:
    client.post("/", ASKED)
    run = Run.objects.select_related("owner").get()

    async def work() -> None:
        await tool_factory.build_tools(run)
        await tool_factory.close_tools()

    asyncio.run(work())
    run.refresh_from_db()
    assert run.sources["search"] == ["samples"]
    filled(admin, "The mill", lease__md=LEASE)
    assert ticked(client) == (["documents"], ["The mill"])


def test_a_collection_without_a_file_is_not_offered(
    client: Client, admin: User, tmp_path: Path
) -> None:
    made = documents.create_collection(admin, "Refused")
    assert ticked(client) == ([], [])
    assert f"collection={made.public_id}" not in client.get(url(made)).content.decode()
    (tmp_path / "papers").mkdir()
    documents.create_from_folder(admin, "Folder", str(tmp_path / "papers"))
    assert ticked(client) == (["documents"], ["Folder"])


def test_documents_without_a_collection_are_refused(client: Client, mill: Collection) -> None:
    answer = client.post("/", {**ASKED, "sources": "documents"})
    assert answer.status_code == 422 and not Run.objects.exists()
    assert b"Choose at least one collection." in answer.content


def test_somebody_elses_collection_cannot_be_asked(eve: User, mill: Collection) -> None:
    filled(eve, "Own", barn__md=LEASE)
    asked = {**ASKED, "sources": "documents", "collections": [mill.public_id]}
    answer = signed_in(eve).post("/", asked)
    assert answer.status_code == 422 and not Run.objects.exists()
    assert b"no longer exist" in answer.content


def test_all_settings_keep_the_ticked_collections(
    client: Client, admin: User, mill: Collection
) -> None:
    filled(admin, "Other", barn__md=LEASE)
    typed = {"sources": "documents", "collections": [mill.public_id], "settings": "1"}
    page = client.post("/settings/", {**ASKED, **typed}).content
    chosen = BeautifulSoup(page, "html.parser").select("input[name=collections][checked]")
    assert [box["value"] for box in chosen] == [mill.public_id]


def test_collections_are_read_in_the_admin(client: Client, mill: Collection) -> None:
    listed = text(client, "/admin/research/collection/")
    assert "The mill" in listed and "uploaded" in listed
    address = f"/admin/research/collection/{mill.pk}/change/"
    assert "broken.pdf: the PDF is damaged" in text(client, address)
    assert client.post(address, {"name": "Changed"}).status_code == 403


def test_the_name_of_a_file_opens_its_text(client: Client, eve: User, mill: Collection) -> None:
    soup = BeautifulSoup(client.get(url(mill)).content, "html.parser")
    links = {each.get_text(): each["href"] for each in soup.select(".sources li a")}
    answer = client.get(links["lease.md"])
    page = BeautifulSoup(answer.content, "html.parser")
    assert [each.get_text() for each in page.select("h1, .stored h2")] == [
        "Lease of the mill",
        "Rent",
    ]
    assert "The rent of the mill" in page.select(".stored p")[0].get_text()
    assert page.select_one(f"article > p a[href='{url(mill)}']") is not None
    assert "lease.md · read" in said(answer.content)
    for name in ("../lease.md", "", "other.md"):
        assert client.get(url(mill, "file/"), {"name": name}).status_code == 404
    assert signed_in(eve).get(links["lease.md"]).status_code == 404


def test_a_file_without_a_text_says_why(client: Client, admin: User, mill: Collection) -> None:
    shown = client.get(url(mill, "file/"), {"name": "broken.pdf"})
    assert shown.status_code == 200
    assert "This file could not be read: the PDF is damaged" in said(shown.content)
    assert f'href="{url(mill)}"' in shown.content.decode()
    documents.add_files(admin, mill, [sent("new.md", GRANARY)])
    assert "has not been read yet" in said(
        client.get(url(mill, "file/"), {"name": "new.md"}).content
    )


def test_prose_that_was_wrapped_is_one_paragraph_and_tables_stay(
    client: Client, admin: User
) -> None:
    prose = "The granary was built in 1874 from the grey limestone\nof the hills above the river."
    code = "```\nmill --grind <rye>\n```"
    made = filled(admin, "Notes", a__md=f"# Notes\n\n{prose}\n\na\tb\n1\t2\n\n{code}")
    index_all()
    page = BeautifulSoup(client.get(url(made, "file/?name=a.md")).content, "html.parser")
    shown = [(each.name, each.get("class"), each.get_text()) for each in page.select(".stored > *")]
    assert shown[0] == ("p", None, prose.replace("\n", " "))
    assert shown[-1] == ("pre", None, "mill --grind <rye>")


# --- the documents of a folder -----------------------------------------------------------


def folder_of(admin: User, folder: Path, files: dict[str, str]) -> Collection:
    made = documents.create_from_folder(admin, "Papers", str(write(folder, files)))
    index_all()
    made.refresh_from_db()
    return made


def listed(client: Client, address: str) -> list[str]:
    soup = BeautifulSoup(client.get(address).content, "html.parser")
    return [each.get_text() for each in soup.select("#documents li a")]


def test_the_documents_of_a_folder_are_listed_and_opened(
    client: Client, admin: User, eve: User, tmp_path: Path
) -> None:
    files = {"a/the lease.md": LEASE, "granary.txt": GRANARY, "b.pdf": "no"}
    made = folder_of(admin, tmp_path / "papers", files)
    page = BeautifulSoup(client.get(url(made)).content, "html.parser")
    links = {each.get_text(): str(each["href"]) for each in page.select("#documents li a")}
    assert list(links) == ["Lease of the mill", "granary.txt"]
    assert "a/the lease.md" in page.select("#documents li")[0].get_text()
    assert page.select_one("#documents form") is None  # all of them are in sight
    assert "1,200 crowns" in client.get(links["Lease of the mill"]).content.decode()
    assert signed_in(eve).get(links["Lease of the mill"]).status_code == 404
    assert "could not be read" in client.get(url(made, "file/?name=b.pdf")).content.decode()
    for name in ("../papers/granary.txt", str(tmp_path / "papers" / "granary.txt")):
        assert client.get(url(made, "file/"), {"name": name}).status_code == 404


def test_a_large_folder_is_listed_in_pages_and_searched_by_name(
    client: Client, admin: User, tmp_path: Path
) -> None:
    files = {f"page-{number:02}.md": f"# Oak {number}\n\nAn oak." for number in range(60)}
    made = folder_of(admin, tmp_path / "papers", {**files, "50%_of.md": "# Half\n\nA half."})
    assert listed(client, url(made))[:3] == ["Half", "Oak 0", "Oak 1"]
    assert len(listed(client, url(made))) == 50
    assert listed(client, url(made, "?page=2")) == [f"Oak {number}" for number in range(49, 60)]
    assert "61 documents" in text(client, url(made)) and "Page 1 of 2" in text(client, url(made))
    assert listed(client, url(made, "?find=OAK+7")) == ["Oak 7"]
    assert listed(client, url(made, "?find=page-31")) == ["Oak 31"]
    assert listed(client, url(made, "?find=%25_")) == ["Half"]
    soup = BeautifulSoup(client.get(url(made, "?find=oak")).content, "html.parser")
    following = soup.select_one("nav.paging a[rel=next]")
    assert following is not None and following["href"] == "?find=oak&page=2"
    assert "No title or file name contains this" in text(client, url(made, "?find=zeppelin"))


def test_a_folder_that_is_not_read_yet_says_so(client: Client, admin: User, tmp_path: Path) -> None:
    papers = write(tmp_path / "papers", {"a.md": LEASE})
    made = documents.create_from_folder(admin, "Papers", str(papers))
    assert "will be listed here once they have been read" in text(client, url(made))


def test_a_passage_that_is_found_opens_its_document(
    client: Client, admin: User, mill: Collection, tmp_path: Path
) -> None:
    made = folder_of(admin, tmp_path / "papers", {"a b/lease?.md": LEASE})
    for each in (mill, made):
        page = BeautifulSoup(client.get(url(each, "?q=rent")).content, "html.parser")
        link = page.select_one(".passages h3 a")
        assert link is not None and link.get_text() == "Lease of the mill"
        assert "1,200 crowns" in client.get(str(link["href"])).content.decode()


# --- nothing that could be read ----------------------------------------------------------


def test_a_collection_without_a_readable_file_says_so_and_is_not_asked(
    client: Client, admin: User
) -> None:
    made = filled(admin, "Scans", scan__pdf=b"no")
    assert b"Ask about these" in client.get(url(made)).content
    index_all()
    page = BeautifulSoup(client.get(url(made)).content, "html.parser")
    shown = " ".join(page.get_text(" ").split())
    assert "No file could be read 1 file" in shown and "Ready" not in shown
    assert "None of its files could be read" in shown
    assert page.select_one(".state.tone-bad, .tone-bad") is not None
    assert page.select_one("details.unreadable[open]") is not None
    line = text(client, "/documents/")
    assert "No file could be read" in line
    for each in (shown, line):
        assert "Ask about these" not in each
    assert ticked(client) == ([], [])
    documents.add_files(admin, made, [sent("lease.md", LEASE)])
    assert ticked(client) == (["documents"], ["Scans"])
    index_all()
    assert "Ready, 1 unread 1 document" in text(client, "/documents/")
    assert b"Ask about these" in client.get(url(made)).content


def test_the_fragment_that_ends_the_wait_takes_the_offer_to_ask_away(
    client: Client, admin: User
) -> None:
    made = filled(admin, "Scans", scan__pdf=b"no")
    for query in ("state/", "state/?line"):
        assert b"hx-swap-oob" not in client.get(url(made, query)).content
    index_all()
    for query in ("state/", "state/?line"):
        soup = BeautifulSoup(client.get(url(made, query)).content, "html.parser")
        offer = soup.select_one(f"#collection-{made.public_id}-ask[hx-swap-oob]")
        assert offer is not None and not offer.get_text(strip=True)
