import pytest

from research.engine.evidence.origin import work_of


@pytest.mark.parametrize(
    ("url", "work"),
    [
        ("file:///manuals/guide/html/a.html", "file:///manuals/guide"),
        ("file:///manuals/a.html", "file:///manuals"),
        ("https://a.example/guide/a.html", "https://a.example/guide/a.html"),
        ("a.example", "a.example"),
    ],
)
def test_a_document_is_part_of_its_first_folder_or_its_collection(url: str, work: str) -> None:
    assert work_of(url) == work
