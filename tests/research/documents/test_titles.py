"""A title that tells nothing alone is told with the folder of its document."""

import pytest

from research.documents.parse_document import telling_title


@pytest.mark.parametrize(
    ("title", "path", "told"),
    [
        ("README", "flac/README", "flac: README"),
        (
            "Frequently Asked Questions",
            "mp3splt/doc/faq.html",
            "mp3splt: Frequently Asked Questions",
        ),
        ("User's Guide", "share/doc/sox/html/index.html", "sox: User's Guide"),
        ("README", "README", "README"),
        ("How Opus is tuned", "opus/quality.html", "How Opus is tuned"),
        ("1.4", "opus/notes.txt", "opus: 1.4"),
    ],
)
def test_a_title_that_tells_nothing_names_its_folder(title: str, path: str, told: str) -> None:
    assert telling_title(title, path) == told
