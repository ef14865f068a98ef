from pathlib import Path

import pytest

from research.fulltext.index import DocumentIndex
from research.search.contents import MOST_GROUPS, MOST_TITLES, describe_contents
from tests.support.retrieval.folders import InProcess, write


def page(title: str) -> str:
    return f"<html lang=en><head><title>{title}</title></head><body><p>Text.</p></body></html>"


@pytest.mark.parametrize(
    ("files", "lines"),
    [
        ({"b.html": "Weirs", "a.html": "Mills"}, ["notes (2): Mills; Weirs"]),
        (
            {"html/weir/a.html": "Gates", "html/weir/index.html": "Weirs", "html/x.html": "Mills"},
            ["notes/html/weir (2): Weirs; Gates", "notes/html (1): Mills"],
        ),
        ({"one/two/a.html": "Mills"}, ["notes/one/two (1): Mills"]),
    ],
)
async def test_documents_are_told_by_folder_and_title(
    tmp_path: Path, files: dict[str, str], lines: list[str]
) -> None:
    index = DocumentIndex(tmp_path / "documents.sqlite3")
    pages = {path: page(title) for path, title in files.items()}
    await index.refresh(write(tmp_path / "notes", pages), InProcess())
    assert await describe_contents(index, ["notes", "no such"]) == lines
    index.close()


async def test_many_documents_and_folders_take_few_lines(tmp_path: Path) -> None:
    index = DocumentIndex(tmp_path / "documents.sqlite3")
    many = {f"{n:03}.html": page(f"Chapter {n} " + "on mills " * 40) for n in range(90)}
    folders = {f"{n:02}/a.html": page(f"Mill {n}") for n in range(MOST_GROUPS + 5)}
    await index.refresh(write(tmp_path / "many", many), InProcess())
    await index.refresh(write(tmp_path / "folders", folders), InProcess())
    [line] = await describe_contents(index, ["many"])
    titles = line.removeprefix("many (90): ").split("; ")
    assert len(titles) == MOST_TITLES * 3 // 4  # every third title
    assert max(map(len, titles)) <= 70
    lines = await describe_contents(index, ["folders"])
    assert len(lines) == MOST_GROUPS + 1
    assert lines[-1] == "folders, further folders: 12, 13, 14, 15, 16"
    index.close()
