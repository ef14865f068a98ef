"""Files that are attached to a question become a private collection that the run searches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import Settings

from dashboard import addresses, words
from dashboard.serving.body_limits import MULTIPART, Head, takes_files
from research.models import Collection, Run
from research.search.providers import ProviderSettings
from research.services import documents
from tests.research.collections import filled, forget_index, index_all

QUESTION = "What is the rent of the mill?"


pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.subprocess]


@pytest.fixture(autouse=True)
def state(settings: Settings, tmp_path: Path, transactional_db: None) -> Iterator[None]:
    settings.STATE_DIR, settings.DOCUMENTS = tmp_path, []
    settings.SEARCH_PROVIDER, settings.PROVIDERS = "", ProviderSettings()
    settings.NETWORK_PROBE = "none"
    addresses._is_attached.cache_clear()
    yield
    forget_index()


def sent(name: str = "lease.md", text: bytes = b"The rent is 1,200 crowns.") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text)


def ask(client: Client, *files: SimpleUploadedFile, **more: str) -> object:
    return client.post("/", {"question": QUESTION, "key": "k1", "files": files, **more})


def test_attached_files_become_a_collection_of_the_thread(client: Client, admin: User) -> None:
    ask(client, sent(), sent("granary.md", b"900 sacks"))
    run, made = Run.objects.get(), Collection.objects.get()
    assert (made.owner, made.name, made.is_shared) == (admin, QUESTION, False)
    assert made.thread == run.thread and made.files.count() == 2
    attached = {"id": made.public_id, "name": QUESTION}
    assert run.sources == {"search": ["documents"], "documents": [], "collections": [attached]}


def test_the_web_is_searched_beside_them_unless_they_alone_are_wanted(
    client: Client, admin: User, settings: Settings
) -> None:
    settings.SEARCH_PROVIDER = "wikipedia"
    ask(client, sent())
    ask(client, sent(), key="k2", only_files="on")
    beside, alone = Run.objects.order_by("pk")
    assert beside.sources["search"] == ["documents", "wikipedia"]
    assert alone.sources["search"] == ["documents"]


def test_chosen_collections_are_searched_too(client: Client, admin: User) -> None:
    client.post("/documents/", {"name": "Old", "files": [sent("old.md", b"old")]})
    old = Collection.objects.get()
    ask(client, sent(), sources="documents", collections=old.public_id)
    names = [each["name"] for each in Run.objects.get().sources["collections"]]
    assert names == ["Old", QUESTION]
    ask(client, sent(), sources="documents", key="k2")
    assert len(Run.objects.latest("pk").sources["collections"]) == 1


def test_a_form_sent_twice_stores_its_files_once(client: Client) -> None:
    for _ in range(2):
        ask(client, sent())
    assert Run.objects.count() == Collection.objects.count() == 1
    assert Collection.objects.get().files.count() == 1


def test_a_second_question_of_the_same_words_gets_its_own_files(client: Client) -> None:
    ask(client, sent())
    ask(client, sent("other.md", b"other"), key="k2")
    names = Collection.objects.order_by("pk").values_list("name", flat=True)
    assert list(names) == [QUESTION, f"{QUESTION} 2"]


def test_a_file_that_cannot_be_read_is_named_and_the_others_are_used(client: Client) -> None:
    answer = client.post(
        "/",
        {"question": QUESTION, "key": "k1", "files": [sent(), sent("film.mp4")]},
        follow=True,
    )
    assert "film.mp4 was left out" in answer.content.decode()
    assert [file.name for file in Collection.objects.get().files.all()] == ["lease.md"]


def test_a_broken_file_is_named_with_the_reason_and_the_others_are_used(client: Client) -> None:
    files = [sent(), sent("broken.pdf", b"no")]
    answer = client.post("/", {"question": QUESTION, "key": "k1", "files": files}, follow=True)
    assert "broken.pdf was left out: the PDF is damaged" in answer.content.decode()
    assert [file.name for file in Collection.objects.get().files.all()] == ["lease.md"]


def test_a_broken_file_alone_starts_nothing(client: Client) -> None:
    answer = client.post(
        "/", {"question": QUESTION, "key": "k1", "files": [sent("broken.pdf", b"no")]}
    )
    assert answer.status_code == 422 and not Run.objects.exists()
    assert "broken.pdf: the PDF is damaged" in answer.content.decode()


def test_a_large_file_that_cannot_be_read_is_named_on_both_tabs_of_the_run(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "READ_AT_ONCE", 1)
    ask(client, sent(), sent("broken.pdf", b"no"))
    index_all()
    run = Run.objects.get()
    for page in ("", "research/"):
        shown = client.get(f"/runs/{run.public_id}/{page}").content.decode()
        assert "broken.pdf could not be read: the PDF is damaged" in shown


# --- they belong to their question -------------------------------------------------------


def ticked(client: Client, address: str = "/") -> list[str]:
    page = BeautifulSoup(client.get(address).content, "html.parser")
    boxes = page.select("input[name=collections]")
    return [str(box["value"]) for box in boxes if box.has_attr("checked")]


def test_attached_files_are_never_the_remembered_choice(client: Client, admin: User) -> None:
    one, two = filled(admin, "One", a__md=b"one"), filled(admin, "Two", b__md=b"two")
    client.post(
        "/", {"question": "What is it?", "key": "k0", "sources": "documents",
              "collections": [two.public_id]},
    )  # fmt: skip
    ask(client, sent(), only_files="on")
    assert ticked(client) == [two.public_id]
    attached = Collection.objects.exclude(thread=None).get()
    assert f'value="{attached.public_id}"' not in client.get("/").content.decode()
    assert ticked(client, f"/?collection={attached.public_id}") == [attached.public_id]
    again = {"question": "Anything else?", "key": "k3", "sources": "documents"}
    client.post("/", {**again, "collections": [attached.public_id]})
    asked = Run.objects.latest("pk")
    assert [each["id"] for each in asked.sources["collections"]] == [attached.public_id]
    assert ticked(client) == [one.public_id, two.public_id]


def test_they_stand_below_the_collections_with_a_link_to_their_run(
    client: Client, admin: User
) -> None:
    filled(admin, "Zebras", a__md=b"one")
    ask(client, sent())
    page = BeautifulSoup(client.get("/documents/").content, "html.parser")
    titles = [each.get_text() for each in page.select("main h2.small-title, .run-question")]
    assert titles == ["Zebras", "Attached to questions", QUESTION]
    run = Run.objects.get()
    assert page.select_one(f".run-list a[href='/runs/{run.public_id}/']") is not None


def test_an_attached_file_is_called_so(client: Client, admin: User) -> None:
    filled(admin, "Zebras", a__md=b"one")
    ask(client, sent())
    index_all()
    names = dict(Collection.objects.values_list("name", "index_name"))
    url = f"file:///{names[QUESTION].replace(' ', '%20').replace('?', '%3F')}/lease.md"
    assert words.readable_url(url) == words.short_place(url) == "lease.md (attached)"
    assert words.readable_url(f"{url}?part=2") == "lease.md, part 2 (attached)"
    assert words.readable_url(f"file:///{names['Zebras']}/a.md") == "Zebras/a.md"


def test_only_these_files_takes_a_file(client: Client) -> None:
    answer = client.post("/", {"question": QUESTION, "key": "k1", "only_files": "on"})
    assert answer.status_code == 422 and not Run.objects.exists()
    assert "Choose the files first" in answer.content.decode()


def test_nothing_starts_if_no_file_can_be_read(client: Client) -> None:
    answer = ask(client, sent("film.mp4"))
    assert answer.status_code == 422 and b"None of the files can be used" in answer.content  # type: ignore[attr-defined]
    assert not Run.objects.exists() and not Collection.objects.exists()


def test_files_of_a_refused_question_have_to_be_chosen_again(client: Client) -> None:
    answer = client.post("/", {"question": "", "key": "k1", "files": [sent()]})
    assert "Choose the files again" in answer.content.decode()
    assert not Collection.objects.exists()


def test_the_question_form_may_be_as_large_as_an_upload() -> None:
    assert takes_files(Head("POST", "/", f"{MULTIPART}; boundary=x"))
    assert not takes_files(Head("POST", "/", "application/x-www-form-urlencoded"))
    assert not takes_files(Head("POST", "/settings/", f"{MULTIPART}; boundary=x"))
