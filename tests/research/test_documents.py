"""Collections of documents: what is taken, what is refused and why, and whose they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import AbstractUser
from django.core.exceptions import PermissionDenied
from pytest_django import Settings

from research.documents.folder import FileAddressing
from research.models import Collection, Document
from research.services import ServiceError, documents
from tests.research.collections import LEASE, filled, kept, sent

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def state(settings: Settings, tmp_path: Path) -> Path:
    settings.STATE_DIR = tmp_path / "state"
    settings.STATE_DIR.mkdir()
    return settings.STATE_DIR


@pytest.fixture
def mill(ada: AbstractUser) -> Collection:
    return documents.create_collection(ada, "  The   mill ")


def reasons(done: documents.Upload) -> dict[str, str]:
    return {file.name: file.reason for file in done.refused}


# --- files -------------------------------------------------------------------------------


def test_files_are_kept_as_they_were_sent(ada: AbstractUser, mill: Collection, state: Path) -> None:
    done = documents.add_files(ada, mill, [sent("a.md", LEASE), sent("b.txt", "B" * 70_000)])
    assert done == documents.Upload(added=("a.md", "b.txt"))
    assert kept(state, mill) == ["a.md", "b.txt"]
    folder = state / "documents" / mill.public_id
    assert (folder / "a.md").read_text() == LEASE
    assert (folder / "a.md").stat().st_mode & 0o077 == 0 == folder.stat().st_mode & 0o077
    assert list(mill.files.values_list("name", "size")) == [
        ("a.md", len(LEASE)),
        ("b.txt", 70_000),
    ]
    assert mill.name == "The mill"


def test_each_refused_file_is_named_with_its_reason_and_the_rest_is_kept(
    ada: AbstractUser, mill: Collection, state: Path
) -> None:
    done = documents.add_files(
        ada,
        mill,
        [
            sent("good.md", LEASE),
            sent("copy.md", LEASE),
            sent("budget.xlsx"),
            sent("all.zip"),
            sent("old.doc"),
            sent("empty.txt", ""),
            sent("big.txt", b"x" * (10 * 1024 * 1024 + 1)),
            sent(f"{'n' * 230}.txt"),
        ],
    )
    told = reasons(done)
    assert done.added == ("good.md",) and kept(state, mill) == ["good.md"]
    assert told["copy.md"] == "its content is here already, as good.md"
    assert "only HTML, Markdown, text, PDF and Word" in told["budget.xlsx"]
    assert "archive is not unpacked" in told["all.zip"]
    assert "save it as docx" in told["old.doc"]
    assert told["empty.txt"] == "the file is empty"
    assert told["big.txt"] == "the file has 10 MB; the maximum is 10 MB"
    assert len(told) == 7 and "the name is too long" in told.values()


@pytest.mark.parametrize(
    ("name", "kept_as"),
    [
        ("../../etc/passwd.txt", "passwd.txt"),
        ("C:\\papers\\lease.PDF", "lease.PDF"),
        (".hidden.md", "hidden.md"),
        ("tab\tand\u202eturn.md", "tabandturn.md"),
        ("Geba\u0308ude.txt", "Gebäude.txt"),
    ],
)
def test_a_name_is_made_safe(
    ada: AbstractUser, mill: Collection, state: Path, name: str, kept_as: str
) -> None:
    file = sent("x.txt")
    file._name = name  # as a client that Django has not cleaned after would send it
    assert documents.add_files(ada, mill, [file]).added == (kept_as,)
    assert kept(state, mill) == [kept_as]


def test_a_name_that_is_only_an_ending_is_refused(ada: AbstractUser, mill: Collection) -> None:
    assert len(documents.add_files(ada, mill, [sent(".md")]).refused) == 1


def test_a_name_that_grows_without_regard_to_case_is_still_bounded(
    ada: AbstractUser, mill: Collection
) -> None:
    grows = "\u0390"  # one sign, which is three where case doesn't count
    assert len(grows.casefold()) == 3
    done = documents.add_files(ada, mill, [sent(f"{grows * 90}.txt")])
    assert list(reasons(done).values()) == ["the name is too long"]


def test_a_file_takes_the_place_of_one_of_its_name(
    ada: AbstractUser, mill: Collection, state: Path
) -> None:
    documents.add_files(ada, mill, [sent("Lease.md", "Old words.")])
    done = documents.add_files(ada, mill, [sent("lease.md", "New words.")])
    assert done == documents.Upload(replaced=("lease.md",))
    assert kept(state, mill) == ["lease.md"]
    assert (state / "documents" / mill.public_id / "lease.md").read_text() == "New words."
    assert [row.name for row in mill.files.all()] == ["lease.md"]


def test_a_persons_uploads_are_bounded(
    ada: AbstractUser, bob: AbstractUser, mill: Collection, settings: Settings
) -> None:
    settings.UPLOADS_MAX_MB = 1
    half = b"x" * 600_000
    assert documents.add_files(ada, mill, [sent("a.txt", half)]).added
    other = documents.create_collection(ada, "Other")
    refused = documents.add_files(ada, other, [sent("b.txt", half + b"b")])
    assert reasons(refused) == {"b.txt": "your uploads are limited to 1 MB"}
    documents.delete_collection(ada, mill)
    assert documents.add_files(ada, other, [sent("b.txt", half)]).added
    assert documents.add_files(
        bob, documents.create_collection(bob, "B"), [sent("b.txt", half)]
    ).added


def test_what_a_file_replaces_makes_room_for_it(
    ada: AbstractUser, mill: Collection, settings: Settings
) -> None:
    settings.UPLOADS_MAX_MB = 1
    assert documents.add_files(ada, mill, [sent("a.txt", b"x" * 600_000)]).added
    assert documents.add_files(ada, mill, [sent("a.txt", b"y" * 700_000)]).replaced


def test_the_files_of_a_collection_are_bounded(ada: AbstractUser, mill: Collection) -> None:
    Document.objects.bulk_create(
        Document(collection=mill, name=f"{n}.md", name_key=f"{n}.md", size=1, sha256=str(n))
        for n in range(documents.MOST_FILES)
    )
    done = documents.add_files(ada, mill, [sent("more.md"), sent("7.md", "Other words.")])
    assert reasons(done) == {"more.md": "a collection is limited to 2,000 files"}
    assert done.replaced == ("7.md",)


def test_a_disk_that_takes_nothing_is_told(
    ada: AbstractUser, mill: Collection, state: Path
) -> None:
    (state / "documents").write_text("no folder")
    told = reasons(documents.add_files(ada, mill, [sent("a.md", LEASE)]))
    assert told == {"a.md": "the server could not store it; its log says why"}
    assert not mill.files.exists()


def test_a_removed_file_is_gone_from_the_disk(
    ada: AbstractUser, mill: Collection, state: Path
) -> None:
    documents.add_files(ada, mill, [sent("a.md", LEASE)])
    documents.remove_file(ada, mill, "a.md")
    assert kept(state, mill) == [] and not mill.files.exists()
    with pytest.raises(ServiceError, match="no longer in this collection"):
        documents.remove_file(ada, mill, "../../plumbline.sqlite3")


# --- collections -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", "   ", "n" * 81, "The mill"])
def test_a_name_is_needed_and_stands_once_for_a_person(
    ada: AbstractUser, mill: Collection, name: str
) -> None:
    with pytest.raises(ServiceError):
        documents.create_collection(ada, name)
    with pytest.raises(ServiceError):
        documents.change_collection(
            ada, documents.create_collection(ada, "Other"), name, shared=False
        )


def test_signs_that_cannot_be_shown_are_left_out_of_a_name(ada: AbstractUser) -> None:
    assert documents.create_collection(ada, "The\x00 mi\u202ell").name == "The mill"
    with pytest.raises(ServiceError, match="Give the collection a name"):
        documents.create_collection(ada, "\x00 \u200b")


def test_two_people_may_use_one_name(mill: Collection, bob: AbstractUser) -> None:
    assert documents.create_collection(bob, mill.name).name == mill.name


def test_a_deleted_collection_is_gone_with_its_files_and_frees_its_name(
    ada: AbstractUser, state: Path
) -> None:
    mill = filled(ada, "The mill", a__md=LEASE)
    documents.delete_collection(ada, mill)
    assert not documents.visible_to(ada).exists() and kept(state, mill) == []
    assert documents.create_collection(ada, "The mill")


def test_people_see_their_own_and_shared_ones_and_change_their_own(
    ada: AbstractUser, bob: AbstractUser, staff: AbstractUser, mill: Collection
) -> None:
    assert not documents.visible_to(bob).exists() and not documents.visible_to(staff).exists()
    for change in (
        lambda who: documents.add_files(who, mill, [sent("a.md")]),
        lambda who: documents.remove_file(who, mill, "a.md"),
        lambda who: documents.change_collection(who, mill, "Mine", shared=True),
        lambda who: documents.look_again(who, mill),
        lambda who: documents.delete_collection(who, mill),
    ):
        for who in (bob, staff):
            with pytest.raises(PermissionDenied):
                change(who)
    documents.change_collection(ada, mill, "The mill", shared=True)
    assert documents.visible_to(bob).get() == documents.visible_to(staff).get() == mill
    mill.refresh_from_db()
    with pytest.raises(PermissionDenied):
        documents.delete_collection(bob, mill)
    documents.delete_collection(staff, mill)


def test_a_question_gets_only_collections_that_its_asker_sees(
    ada: AbstractUser, bob: AbstractUser, mill: Collection
) -> None:
    own = documents.create_collection(bob, "Own")
    asked = [mill.public_id, own.public_id, "nothing"]
    assert documents.chosen_collections(bob, asked) == [{"id": own.public_id, "name": "Own"}]


# --- folders of the server ---------------------------------------------------------------


def test_only_staff_may_use_a_folder(ada: AbstractUser, tmp_path: Path) -> None:
    with pytest.raises(PermissionDenied):
        documents.create_from_folder(ada, "Papers", str(tmp_path))


def test_a_folder_is_taken_by_its_whole_path_and_once(staff: AbstractUser, tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    assert documents.create_from_folder(staff, "", str(papers)).name == "papers"
    for path, told in (
        (f"{papers}/.", "collection of that folder already"),
        ("papers", "whole path"),
        ("", "whole path"),
        (str(tmp_path / "none"), "not a folder of this server"),
        (str(tmp_path), "Plumbline's own state"),
        (str(tmp_path / "state"), "Plumbline's own state"),
    ):
        with pytest.raises(ServiceError, match=told):
            documents.create_from_folder(staff, "Other", path)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("postgresql-doc-15/html", "postgresql-doc-15"),
        ("Trees/docs/HTML", "Trees"),
        ("html/Trees", "Trees"),
    ],
)
def test_a_folder_whose_name_tells_nothing_is_named_by_the_one_around_it(
    staff: AbstractUser, tmp_path: Path, path: str, name: str
) -> None:
    folder = tmp_path / path
    folder.mkdir(parents=True)
    assert FileAddressing().name(folder) == name
    assert documents.create_from_folder(staff, "", str(folder)).name == name
    documents.delete_collection(staff, Collection.objects.get())
    documents.take_in([str(folder)])
    assert Collection.objects.get(deleted_at=None).name == name


def test_a_folder_of_generic_names_only_keeps_its_own() -> None:
    assert FileAddressing().name(Path("/usr/share/doc/html")) == "html"
    assert FileAddressing().name(Path("/")) == "documents"


def test_files_are_not_put_into_a_folder_of_the_server(staff: AbstractUser, tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    made = documents.create_from_folder(staff, "", str(papers))
    with pytest.raises(ServiceError):
        documents.add_files(staff, made, [sent("a.md")])
    assert not any(papers.iterdir())


def test_the_folders_of_the_settings_are_shared_collections(
    ada: AbstractUser, tmp_path: Path
) -> None:
    folders = [str(tmp_path / name / "papers") for name in ("a", "b")]
    for _ in range(2):
        documents.take_in(folders)
    assert [row.name for row in documents.visible_to(ada)] == ["papers", "papers 2"]
    documents.take_in(folders[1:])
    assert [row.folder for row in documents.visible_to(ada)] == folders[1:]
    documents.take_in([])
    assert not documents.visible_to(ada).exists()
