import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from research.documents import folder as folders
from research.documents import indexing_log
from research.documents.folder import DocumentError
from research.extract.pool import TextPool
from research.fulltext import index_rows
from research.fulltext.index import DocumentIndex
from research.fulltext.index_postgres import SCHEMA, PostgresStore
from research.fulltext.ranking import Weights
from research.search.documents import DocumentFetch
from tests.support.retrieval.folders import InProcess, write
from tests.support.retrieval.places import Place

ROOT = Path(__file__).parents[3]
POSTGRESQL = Path("/usr/share/doc/postgresql-doc-15/html")
PYTHON = Path("/usr/share/doc/python3.11/html")

needs_documentation = pytest.mark.skipif(
    not (POSTGRESQL.is_dir() and PYTHON.is_dir()),
    reason="the Debian packages postgresql-doc-15 and python3.11-doc are not installed",
)


@pytest.fixture
def index(place: Place) -> Iterator[DocumentIndex]:
    index = DocumentIndex(place())
    yield index
    index.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(
        tmp_path / "notes",
        {
            "cats.txt": "Cats sleep for most of the day.\n\nThey hunt at dusk.",
            "deep/dogs.md": "# Dogs\n\nDogs bark at strangers who pass by the garden.",
            "page.html": "<html><head><title>Birds</title></head><body><h1>Birds</h1>"
            "<p>Birds migrate to the south when the winter is near and food is scarce.</p>"
            "</body></html>",
        },
    )


async def urls(index: DocumentIndex, query: str, *collections: str) -> list[str]:
    return [hit.url for hit in await index.search(query, collections or ("notes",), 8)]


async def test_indexes_a_folder_and_finds_its_documents(index: DocumentIndex, folder: Path):
    seen: list[tuple[int, int]] = []
    report = await index.refresh(folder, InProcess(), lambda *done: seen.append(done))
    assert (report.collection, report.documents, report.changed) == ("notes", 3, 3)
    assert seen[0] == (0, 3) and seen[-1] == (3, 3)
    [hit] = await index.search("Why do birds migrate?", ["notes"], 8)
    assert hit.url == "file:///notes/page.html"
    assert hit.title == "Birds"
    assert "Birds migrate to the south" in hit.snippet


async def test_stems_and_ignores_accents_and_case(index: DocumentIndex, tmp_path: Path):
    folder = write(tmp_path / "notes", {"a.txt": "The CAFÉ was vacuumed, it runs on tables."})
    await index.refresh(folder, InProcess())
    for query in ("cafe", "vacuuming", "RUNNING", "table"):
        assert await urls(index, query) == ["file:///notes/a.txt"]


async def test_a_second_refresh_reads_nothing(index: DocumentIndex, folder: Path):
    await index.refresh(folder, InProcess())
    workers = InProcess()
    report = await index.refresh(folder, workers)
    assert workers.read == []
    assert (report.documents, report.changed, report.removed) == (3, 0, 0)


async def test_a_touched_file_is_compared_by_its_bytes(index: DocumentIndex, folder: Path):
    await index.refresh(folder, InProcess())
    os.utime(folder / "cats.txt", ns=(1, 1))
    workers = InProcess()
    assert (await index.refresh(folder, workers)).changed == 0
    assert workers.read == ["cats.txt"]
    await index.refresh(folder, workers)
    assert workers.read == ["cats.txt"]


async def test_changed_and_deleted_files_are_noticed(index: DocumentIndex, folder: Path):
    await index.refresh(folder, InProcess())
    write(folder, {"cats.txt": "Whales sing in the deep sea."})
    (folder / "page.html").unlink()
    report = await index.refresh(folder, InProcess())
    assert (report.documents, report.changed, report.removed) == (2, 1, 1)
    assert await urls(index, "whales") == ["file:///notes/cats.txt"]
    assert await urls(index, "hunt at dusk") == []
    assert await urls(index, "birds migrate") == []


async def test_nothing_of_a_document_stays_behind(tmp_path: Path, folder: Path):
    path = tmp_path / "documents.sqlite3"
    index = DocumentIndex(path)
    await index.refresh(folder, InProcess())
    await index.forget("notes")
    assert await index.collections() == []
    index.close()
    with sqlite3.connect(path) as connection:
        for table in ("documents", "texts", "passages", "entries"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
        for table in ("title_terms", "lead_terms", "document_terms", "passage_terms"):
            found = connection.execute(
                f"SELECT count(*) FROM {table} WHERE {table} MATCH 'cat OR dog OR bird OR hunt'"
            )
            assert found.fetchone() == (0,)
    connection.close()


@pytest.mark.services("postgresql")
async def test_nothing_of_a_document_stays_behind_in_postgresql(
    empty_postgresql: str, folder: Path
):
    index = DocumentIndex(PostgresStore(empty_postgresql))
    await index.refresh(folder, InProcess())
    await index.forget("notes")
    assert await index.collections() == []
    index.close()
    with psycopg.connect(empty_postgresql, options=f"-c search_path={SCHEMA}") as connection:
        for table in ("documents", "texts", "titles", "pages", "passages", "entries"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


async def test_a_new_extractor_reads_everything_again(
    index: DocumentIndex, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    await index.refresh(folder, InProcess())
    monkeypatch.setattr(index_rows, "_EXTRACTOR", "another")
    workers = InProcess()
    assert (await index.refresh(folder, workers)).changed == 3
    assert len(workers.read) == 3
    assert await urls(index, "birds") == ["file:///notes/page.html"]


async def test_broken_files_are_listed_with_their_reason(
    index: DocumentIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(folders, "MAX_FILE_BYTES", 1000)
    monkeypatch.setattr("research.documents.parse_document.MAX_FILE_BYTES", 1000)
    folder = write(
        tmp_path / "notes",
        {"empty.txt": "", "large.txt": "x" * 1001, "binary.txt": b"\0" * 50, "good.txt": "Fine."},
    )
    report = await index.refresh(folder, InProcess())
    assert report.documents == 1
    reasons = {file.path: file.reason for file in report.broken}
    assert reasons.keys() == {"empty.txt", "large.txt", "binary.txt"}
    assert reasons["large.txt"] == "the file is too large"
    assert all(reasons.values())
    again = InProcess()
    assert (await index.refresh(folder, again)).broken == report.broken
    assert again.read == []


async def test_the_operator_hears_of_progress_and_of_broken_files(
    index: DocumentIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog
):
    monkeypatch.setattr(indexing_log, "EVERY_SECONDS", 0.0)
    monkeypatch.setattr(indexing_log, "MOST_NAMED", 1)
    folder = write(tmp_path / "notes", {"a.txt": "Fine.", "b.txt": "", "c.txt": b"\0" * 50})
    with caplog.at_level("INFO"):
        await indexing_log.refresh_and_log(index, folder, InProcess())
    assert [record.getMessage() for record in caplog.records] == [
        "notes: 0 of 3 documents read.",
        "notes: 3 of 3 documents read.",
        "notes: 1 documents, 3 read again, 0 removed.",
        "notes: b.txt left out: the page contains no readable text.",
        "notes: 1 more files left out.",
    ]
    caplog.clear()
    monkeypatch.setattr(indexing_log, "EVERY_SECONDS", 60.0)
    with caplog.at_level("INFO"):
        await indexing_log.refresh_and_log(index, folder, InProcess())
    assert caplog.records == []


async def test_files_of_other_kinds_are_counted_and_told_once(
    index: DocumentIndex, folder: Path, caplog
):
    write(folder, {"a.rtf": "", "in/b.ODT": "", "c.odt": "", "Makefile": "", ".hidden.xml": ""})
    with caplog.at_level("INFO"):
        await indexing_log.refresh_and_log(index, folder, InProcess())
        await indexing_log.refresh_and_log(index, folder, InProcess())
    assert [record.getMessage() for record in caplog.records] == [
        "notes: 3 documents, 3 read again, 0 removed.",
        "notes: 4 files of other kinds left out: .odt, .rtf, no ending.",
    ]


async def test_a_folder_of_other_kinds_only_says_which(index: DocumentIndex, tmp_path: Path):
    folder = write(tmp_path / "notes", {"a.rtf": ""})
    with pytest.raises(
        DocumentError, match=r"can be read\. 1 file of another kind left out: \.rtf\."
    ):
        await index.refresh(folder, InProcess())


async def test_a_file_whose_worker_was_lost_is_tried_again(index: DocumentIndex, folder: Path):
    report = await index.refresh(folder, InProcess(lost="cats.txt"))
    assert [file.path for file in report.broken] == ["cats.txt"]
    report = await index.refresh(folder, InProcess())
    assert (report.broken, report.documents) == ((), 3)


async def test_hidden_files_and_links_out_of_the_folder_are_left_alone(
    index: DocumentIndex, folder: Path, tmp_path: Path
):
    outside = write(tmp_path / "outside", {"secret.txt": "secret"})
    write(folder, {".hidden.txt": "secret", ".git/a.txt": "secret", "_sources/a.txt": "secret"})
    (folder / "link.txt").symlink_to(outside / "secret.txt")
    (folder / "linked").symlink_to(outside)
    (folder / "dangling.txt").symlink_to(folder / "nowhere.txt")
    (folder / "inside.txt").symlink_to(folder / "cats.txt")
    report = await index.refresh(folder, InProcess())
    assert await urls(index, "secret") == []
    assert report.documents == 4
    assert [file.path for file in report.broken] == ["dangling.txt"]


async def test_a_name_that_is_not_utf8_is_listed_as_broken(index: DocumentIndex, folder: Path):
    (folder / os.fsdecode(b"caf\xe9.txt")).write_text("Coffee.")
    report = await index.refresh(folder, InProcess())
    assert [(file.path, file.reason) for file in report.broken] == [
        ("caf?.txt", "the file's name is not in UTF-8")
    ]


async def test_copies_of_a_text_are_found_once(index: DocumentIndex, folder: Path):
    write(folder, {"zz/cats-copy.txt": (folder / "cats.txt").read_text()})
    await index.refresh(folder, InProcess())
    assert await urls(index, "cats sleep") == ["file:///notes/cats.txt"]


async def test_folders_of_one_name_stay_apart(index: DocumentIndex, tmp_path: Path):
    for place in ("a", "b"):
        folder = write(tmp_path / place / "my notes", {"x.txt": f"Text of {place} zebra."})
        await index.refresh(folder, InProcess())
    assert await index.collections() == ["my notes", "my notes-2"]
    assert await urls(index, "zebra", "my notes-2") == ["file:///my%20notes-2/x.txt"]
    assert len(await urls(index, "zebra", "my notes", "my notes-2")) == 2
    assert await urls(index, "zebra", "elsewhere") == []


async def test_a_moved_folder_keeps_its_name_and_is_not_read_again(
    index: DocumentIndex, folder: Path, tmp_path: Path
):
    await index.refresh(folder, InProcess())
    moved = tmp_path / "elsewhere" / "notes"
    moved.parent.mkdir()
    folder.rename(moved)
    report = await index.refresh(moved, InProcess())
    assert (report.collection, report.documents, report.changed) == ("notes", 3, 0)
    assert await index.collections() == ["notes"]


async def test_unusable_folders_are_refused_in_a_sentence(index: DocumentIndex, tmp_path: Path):
    file = write(tmp_path, {"file.txt": "x"}) / "file.txt"
    empty = write(tmp_path / "empty", {"picture.png": b"x"})
    for path, words in (
        (tmp_path / "missing", "does not exist"),
        (file, "is not a folder"),
        (empty, "holds no documents"),
    ):
        with pytest.raises(DocumentError, match=words):
            await index.refresh(path, InProcess())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
async def test_an_unreadable_folder_is_refused(index: DocumentIndex, folder: Path):
    folder.chmod(0)
    try:
        with pytest.raises(DocumentError, match="cannot be read"):
            await index.refresh(folder, InProcess())
    finally:
        folder.chmod(0o700)


async def test_a_file_that_is_no_index_is_refused(tmp_path: Path, folder: Path):
    path = write(tmp_path, {"junk.sqlite3": b"no database" * 100}) / "junk.sqlite3"
    index = DocumentIndex(path)
    with pytest.raises(DocumentError, match="cannot be opened"):
        await index.refresh(folder, InProcess())
    index.close()


async def test_identifiers_are_found_whole_before_their_parts(index: DocumentIndex, tmp_path: Path):
    folder = write(
        tmp_path / "notes",
        {
            "parts.txt": "The vacuum has a threshold, and autovacuum has a threshold. " * 3,
            "whole.txt": "Set autovacuum_vacuum_threshold to fifty rows of the table at least.",
            "path.txt": "Call os.path.join for that; a path is joined by the os.",
            "camel.txt": "Use a ThreadPoolExecutor here.",
        },
    )
    await index.refresh(folder, InProcess())
    assert (await urls(index, "autovacuum_vacuum_threshold"))[0] == "file:///notes/whole.txt"
    assert (await urls(index, "os.path.join"))[0] == "file:///notes/path.txt"
    assert await urls(index, "thread pool executor") == ["file:///notes/camel.txt"]


async def test_a_name_is_found_exactly_and_the_words_around_it_do_not_win(
    index: DocumentIndex, tmp_path: Path
):
    frame = "In which Python version was a thing added to Python? That version added things. "
    folder = write(
        tmp_path / "notes",
        {
            "frame.txt": frame * 5,
            "cancel.md": "# Tasks\n\n###### Task.cancel()\n\nRequest an end of the task.",
            "cancelled.md": "# Asking\n\n###### Task.cancelled()\n\nReturn whether it ended.",
            "force.txt": "Push with --force-with-lease where others push too.",
            "lease.txt": "The force with a lease moved, and the lease was a force. " * 3,
        },
    )
    await index.refresh(folder, InProcess())
    first = {
        "In which Python version was Task.cancel added?": "cancel.md",
        "In which Python version was Task.cancelled added?": "cancelled.md",
        "What is --force-with-lease for?": "force.txt",
    }
    assert {query: (await urls(index, query))[0] for query in first} == {
        query: f"file:///notes/{name}" for query, name in first.items()
    }


async def test_a_title_is_found_by_its_function_words(index: DocumentIndex, tmp_path: Path):
    log = "Nothing of note was seen from the quay today. " * 5
    pages = {f"{number}.md": f"# Log of their league\n\n{log}" for number in range(4)}
    pages["film.md"] = f"# A League of Their Own\n\n{log}"
    pages["what.md"] = f"# What Will You Do?\n\n{log}"
    await index.refresh(write(tmp_path / "notes", pages), InProcess())
    assert (await urls(index, "A League of Their Own director"))[0] == "file:///notes/film.md"
    assert (await urls(index, "quay of What Will You Do"))[0] == "file:///notes/what.md"


async def test_each_of_two_names_has_its_page_among_the_first_five(
    index: DocumentIndex, tmp_path: Path
):
    both = "Set first_limit before you change second_limit and any first_limit. " * 4
    pages = {f"both{number}.md": f"# Notes\n\n{both}{number}" for number in range(6)}
    for name in ("first_limit", "second_limit"):
        pages[f"{name}.md"] = f"# Settings\n\n###### {name}\n\nLimits how much is read at once."
    await index.refresh(write(tmp_path / "notes", pages), InProcess())
    found = await urls(index, "What is the difference between first_limit and second_limit?")
    assert {"file:///notes/first_limit.md", "file:///notes/second_limit.md"} <= set(found[:5])


async def test_each_of_two_questions_has_its_page_among_the_first_five(
    index: DocumentIndex, tmp_path: Path
):
    lamp = "Each lamp of the lamp room burns oil, and the lamp is tested. " * 4
    pages = {f"lamp{number}.md": f"# Lamp\n\n{lamp}{number}" for number in range(8)}
    pages |= {f"goat{number}.md": f"# Goat\n\nIts horn is long. {number}" for number in range(8)}
    pages["tests.md"] = "# Signals\n\nAt dawn the horn is tested. " + "Then he rests. " * 20
    await index.refresh(write(tmp_path / "notes", pages), InProcess())
    found = await urls(index, "Which lamp burns oil in the lamp room, and when is the horn tested?")
    assert found[0].startswith("file:///notes/lamp") and "file:///notes/tests.md" in found[:4]


async def test_the_page_that_says_it_in_other_words_or_together_comes_first(
    index: DocumentIndex, tmp_path: Path
):
    rest = "Nobody knows. " * 9
    pages = {
        "apart.md": f"# Notes\n\nThe harbour lamp is old. {rest}A keeper of bees left.",
        "together.md": f"# Notes\n\nThe lamp keeper is old. {rest}A harbour of bees fell.",
        "ended.md": f"# Trips\n\nA journey to the isle may be aborted. {rest}",
        "blue.md": f"# Trips\n\nA journey to the isle may be blue. {rest}",
    }
    await index.refresh(write(tmp_path / "notes", pages), InProcess())
    assert (await urls(index, "Who is the lamp keeper?"))[0] == "file:///notes/together.md"
    found = await urls(index, "How is a journey to the isle terminated?")
    assert found[0] == "file:///notes/ended.md"


async def test_of_pages_that_explain_a_name_the_fullest_comes_first(
    index: DocumentIndex, tmp_path: Path
):
    brief = "###### --show-lamps\n\nShow lamps.\n\n"
    full = "###### --show-lamps\n\n" + "It lists them, each with its colour and its place. " * 9
    more = "## Order\n\n" + "Say --show-lamps after all other options that the program has. " * 3
    pages = {"all.md": f"# Lamps\n\n{brief}{more}\n", "signals.md": f"# Signals\n\n{full}\n"}
    await index.refresh(write(tmp_path / "notes", pages), InProcess())
    assert (await urls(index, "--show-lamps"))[0] == "file:///notes/signals.md"


async def test_a_page_called_by_the_whole_query_comes_before_pages_that_mention_it(
    index: DocumentIndex, tmp_path: Path
):
    pages = {f"call{n}.md": f"# call_{n}\n\n###### const_name\n\n{'const_name of a call. ' * 9}"
             for n in range(9)}  # fmt: skip
    pages["const.md"] = "# const_name\n\nA name that nobody may change once it was made."
    pages["last.md"] = "# Rows\n\n###### Last Seen\n\nWhen a ship was observed from the coast."
    pages |= {
        f"log{n}.md": f"# Log\n\nThe ship seen last was the last seen one, {n}. "
        + "Last. Seen. " * 9
        for n in range(5)
    }
    await index.refresh(write(tmp_path / "notes", pages), InProcess())
    assert (await urls(index, "const_name"))[0] == "file:///notes/const.md"
    assert (await urls(index, "Last Seen"))[0] == "file:///notes/last.md"


async def test_chinese_and_japanese_are_findable(index: DocumentIndex, tmp_path: Path):
    folder = write(
        tmp_path / "notes",
        {
            "zh.txt": "这本书讨论数据库的索引。",
            "ja.txt": "猫は一日の大半を眠って過ごします。",
            "mixed.txt": "使用Python编程很容易。",
        },
    )
    await index.refresh(folder, InProcess())
    assert await urls(index, "数据库") == ["file:///notes/zh.txt"]
    assert await urls(index, "眠って") == ["file:///notes/ja.txt"]
    for query in ("python", "编程", "Python编程"):
        assert await urls(index, query) == ["file:///notes/mixed.txt"]


async def test_characters_that_no_database_keeps_are_replaced(index: DocumentIndex, tmp_path: Path):
    folder = write(tmp_path / "notes", {"a.txt": "Buoys. " * 900 + "The \0 quay is granite."})
    assert (await index.refresh(folder, InProcess())).documents == 1
    assert await urls(index, "granite") == ["file:///notes/a.txt"]


async def test_a_long_query_is_asked_by_its_rarest_terms(place: Place, tmp_path: Path):
    pages = {f"{number}.txt": "The harbour is open." for number in range(9)}
    folder = write(tmp_path / "notes", {**pages, "x.txt": "Granite is quarried at the harbour."})
    for matches, found in ((10, 1), (11, 2)):
        index = DocumentIndex(place(), weights=Weights(matches=matches, passage_matches=matches))
        await index.refresh(folder, InProcess())
        query = "harbour granite"
        assert (await urls(index, query))[0] == "file:///notes/x.txt"
        assert len(await urls(index, query)) == found
        index.close()


async def test_pages_of_links_do_not_win(index: DocumentIndex, tmp_path: Path):
    links = "\n".join(f"- [Vacuuming {word}](x.html)" for word in ("tables", "often", "costs"))
    prose = (
        "Vacuuming removes dead rows from tables, so that their space can be used again, and"
        " it costs little when it is done often enough to keep up with the changes."
    )
    folder = write(tmp_path / "notes", {"contents.md": links * 3, "vacuuming.md": prose})
    await index.refresh(folder, InProcess())
    assert (await urls(index, "vacuuming tables costs"))[0] == "file:///notes/vacuuming.md"


async def test_what_a_text_begins_with_counts_more(index: DocumentIndex, tmp_path: Path):
    told, rest = "Lanterns are lit at dusk.", "The harbour is open to every boat. " * 8
    pages = {f"{number}.md": "# Log\n\nGranite is quarried inland." for number in range(5)}
    pages |= {"a.md": f"# Log\n\n{rest}\n\n{told}", "b.md": f"# Log\n\n{told}\n\n{rest}"}
    await index.refresh(write(tmp_path / "notes", pages), InProcess())
    found = ["file:///notes/b.md", "file:///notes/a.md"]
    assert await urls(index, "When are lanterns lit?") == found


async def test_two_refreshes_at_once_do_not_disturb_each_other(index: DocumentIndex, folder: Path):
    reports = await asyncio.gather(*(index.refresh(folder, InProcess()) for _ in range(3)))
    assert [report.documents for report in reports] == [3, 3, 3]
    assert sum(report.changed for report in reports) == 3


async def test_two_indexes_may_share_one_database(place: Place, index: DocumentIndex, folder: Path):
    other = DocumentIndex(place())
    await asyncio.gather(index.refresh(folder, InProcess()), other.refresh(folder, InProcess()))
    assert await urls(other, "birds") == await urls(index, "birds") == ["file:///notes/page.html"]
    other.close()


INDEXING = """
import asyncio, sys
from pathlib import Path
from research.fulltext.index import DocumentIndex
from research.fulltext.index_postgres import SCHEMA, PostgresStore
from research.fulltext.index_postgres import PostgresStore
from research.extract.pool import TextPool

async def main(place, folder):
    index = DocumentIndex(PostgresStore(place) if "dbname=" in place else place)
    with TextPool(1) as pool:
        await index.refresh(folder, pool, lambda done, total: print(done, flush=True))
    index.close()

asyncio.run(main(*sys.argv[1:]))
"""


def indexing(where: str, folder: Path) -> subprocess.Popen[str]:
    """A process of its own that indexes a folder and prints how far it is."""
    command = [sys.executable, "-c", INDEXING, where, str(folder)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def many(folder: Path, files: int) -> Path:
    return write(
        folder, {f"{at:03}.txt": f"Buoy {at} lies at the mole.\n\n" * 20 for at in range(files)}
    )


@pytest.mark.subprocess
async def test_two_processes_may_index_at_once(place: Place, where: str, tmp_path: Path):
    folder = many(tmp_path / "notes", 120)
    processes = [indexing(where, folder) for _ in range(2)]
    for process in processes:
        with process:
            process.communicate(timeout=60)
        assert process.returncode == 0
    index, workers = DocumentIndex(place()), InProcess()
    report = await index.refresh(folder, workers)
    assert (report.documents, report.changed, workers.read) == (120, 0, [])
    assert (await urls(index, "buoy 77"))[0] == "file:///notes/077.txt"
    index.close()


@pytest.mark.subprocess
async def test_a_killed_process_leaves_an_index_that_goes_on(
    place: Place, where: str, tmp_path: Path
):
    folder = many(tmp_path / "notes", 200)
    with indexing(where, folder) as process:
        assert process.stdout is not None
        while int(process.stdout.readline()) == 0:
            pass
        process.kill()
    index, workers = DocumentIndex(place()), InProcess()
    report = await index.refresh(folder, workers)
    assert report.documents == 200
    assert 0 < len(workers.read) < 200
    assert (await urls(index, "buoy 177"))[0] == "file:///notes/177.txt"
    index.close()


@pytest.mark.services("postgresql")
async def test_a_database_that_was_started_anew_is_found_again(empty_postgresql: str, folder: Path):
    index = DocumentIndex(PostgresStore(empty_postgresql))
    await index.refresh(folder, InProcess())
    assert await urls(index, "birds")
    with psycopg.connect(empty_postgresql, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    assert await urls(index, "birds") == ["file:///notes/page.html"]
    assert (await index.refresh(folder, InProcess())).changed == 0
    index.close()


@pytest.mark.services("postgresql")
async def test_an_index_of_another_version_is_made_anew(empty_postgresql: str, folder: Path):
    index = DocumentIndex(PostgresStore(empty_postgresql))
    await index.refresh(folder, InProcess())
    index.close()
    with psycopg.connect(empty_postgresql) as connection:
        connection.execute(f"UPDATE {SCHEMA}.version SET version = 0")
    index = DocumentIndex(PostgresStore(empty_postgresql))
    assert await index.collections() == []
    assert (await index.refresh(folder, InProcess())).changed == 3
    index.close()


@pytest.mark.services("postgresql")
async def test_a_database_that_does_not_answer_is_told_in_a_sentence(folder: Path):
    index = DocumentIndex(PostgresStore("host=127.0.0.1 port=1 dbname=none"))
    with pytest.raises(DocumentError, match="cannot be opened"):
        await index.refresh(folder, InProcess())
    index.close()


async def test_a_long_text_is_found_and_fetched_in_parts(index: DocumentIndex, tmp_path: Path):
    words = "\n\n".join(f"{at:x}word {at:x}other" for at in range(30_000))
    folder = tmp_path / "notes"
    write(folder, {"large.md": f"# Harbour\n\n{words}\n\n# Coast\n\nThe quay is granite."})
    report = await index.refresh(folder, InProcess())
    assert (report.documents, report.broken) == (1, ())
    (hit,) = await index.search("granite quay", [report.collection], 5)
    assert hit.url == "file:///notes/large.md?part=7"
    page = await DocumentFetch(index, [report.collection]).fetch(hit.url)
    assert (page.title, page.text) == ("Harbour: Coast", "# Coast\n\nThe quay is granite.")
    assert len(await urls(index, "ea5word")) == 1
    write(folder, {"large.md": "Nothing but sand."})
    await index.refresh(folder, InProcess())
    assert await urls(index, "granite quay") == []


async def test_the_parts_of_a_book_leave_places_to_other_files(
    index: DocumentIndex, tmp_path: Path
):
    words = " ".join(f"word{at}" for at in range(300))
    chapter = f"The granite quay.\n\n{words}\n\n"
    book = "\n\n".join(f"# Granite quay {at}\n\n{chapter * 20}" for at in range(9))
    folder = tmp_path / "notes"
    note = f"A quay may be of granite. {words}"
    write(folder, {"book.md": book, "one.md": f"{note} One.", "two.md": f"{note} Two."})
    report = await index.refresh(folder, InProcess())
    found = await index.search("granite quay", [report.collection], 8)
    files = [hit.url.rpartition("/")[2].partition("?")[0] for hit in found]
    assert files[:3] == ["book.md"] * 3 and sorted(files[3:5]) == ["one.md", "two.md"]
    assert files[5:] == ["book.md"] * len(files[5:]) and len(files) > 5, "nothing else matches"


@pytest.mark.subprocess
async def test_runs_in_worker_processes(index: DocumentIndex, folder: Path):
    with TextPool(1) as pool:
        report = await index.refresh(folder, pool)
    assert report.documents == 3


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    query=st.text()
    | st.sampled_from(
        ['"', "NEAR(a b)", "title:x", "a AND", "^x*", "-a", "\0", "a & b", "x:*", "'a' <-> b", "\\"]
    )
)
def test_a_query_is_never_query_syntax(query: str, place: Place, tmp_path: Path):
    async def ask() -> None:
        index = DocumentIndex(place())
        try:
            folder = write(tmp_path / "syntax", {"a.txt": "A title near x."})
            await index.refresh(folder, InProcess())
            await index.search(query, ["syntax"], 8)
        finally:
            index.close()

    asyncio.run(ask())


QUESTIONS = (
    ("How are deadlocks resolved?", "explicit-locking.html"),
    ("How do I create a partial index?", "indexes-partial.html"),
    ("How is a table split into partitions by range?", "ddl-partitioning.html"),
    ("When should I use a GIN index rather than GiST for text search?", "textsearch-indexes.html"),
    ("How does a recursive common table expression terminate?", "queries-with.html"),
    ("How does asynchronous commit risk losing transactions?", "wal-async-commit.html"),
    ("Which isolation level detects serialization anomalies?", "transaction-iso.html"),
    ("How do I write a custom JSON encoder for my classes?", "json.html"),
    ("How can I read a TOML file?", "tomllib.html"),
    ("What does functools.lru_cache do when the cache is full?", "functools.html"),
    ("How is decimal rounding controlled?", "decimal.html"),
    ("What is a descriptor and how does a property use it?", "descriptor.html"),
    ("How to sort a list by several keys?", "sorting.html"),
    ("How do I rotate log files when they grow too big?", "logging.handlers.html"),
    ("How do heaps implement a priority queue?", "heapq.html"),
)


class NoPool(InProcess):
    """For an index that has nothing to read."""

    async def map(self, function: Any, items: Any, *, timeout_seconds: float) -> Any:
        for item in items:
            raise AssertionError(f"{item.path} is read again")
            yield


def write_a_third_of_the_manuals(folder: Path) -> Path:
    """Copy every third page, and those that answer."""
    wanted = {page for _, page in QUESTIONS}
    for root in (POSTGRESQL, PYTHON / "library", PYTHON / "howto"):
        (folder / root.name).mkdir(parents=True)
        for number, page in enumerate(sorted(root.glob("*.html"))):
            if number % 3 == 0 or page.name in wanted:
                shutil.copy(page, folder / root.name)
    return folder


@needs_documentation
@pytest.mark.subprocess
async def test_finds_the_right_page_of_real_documentation(index: DocumentIndex, tmp_path: Path):
    manual = write_a_third_of_the_manuals(tmp_path / "manuals")
    with TextPool() as pool:
        name = (await index.refresh(manual, pool)).collection
        report = await index.refresh(manual, NoPool())
    assert report.changed == 0 and report.documents > 500
    places = []
    for question, page in QUESTIONS:
        found = [hit.url for hit in await index.search(question, [name], 8)]
        places.append(next((at for at, url in enumerate(found) if url.endswith(f"/{page}")), 99))
    assert sum(place == 0 for place in places) >= 12
    assert sum(place < 5 for place in places) >= 14
