import pytest

from research.retrieval.extract import extract
from research.retrieval.extracted import EmptyPage

FILE = "file:///notes/about%20tides.md"


def markdown(text: str, url: str = FILE):
    return extract(text.encode(), "text/markdown", url)


def test_plain_text_keeps_its_lines():
    extracted = extract(b"One line\r\nand  another \r\n\r\n\r\n\r\nend\f", "text/plain", FILE)
    assert extracted.text == "One line\nand  another\n\nend"
    assert extracted.title == "One line"
    assert extracted.kind == "document"


def test_markdown_keeps_headings_and_code():
    source = "# Tides\ntext\n\nWinds\n-----\n\n```sh\n# not a heading\n<!-- kept -->\n```\n* item\n"
    extracted = markdown(source)
    assert extracted.title == "Tides"
    assert extracted.text == (
        "# Tides\n\ntext\n\n## Winds\n\n```sh\n# not a heading\n<!-- kept -->\n```\n* item"
    )


def test_markdown_comments_are_hidden_text():
    assert markdown("a <!-- hidden\n\nwords --> b").text == "a  b"


def test_a_dashed_line_is_not_always_a_heading():
    source = "a\nb\n---\n\n- item\n---\n\n| a |\n---"
    assert markdown(source).text == source


def test_front_matter_gives_title_and_date():
    extracted = markdown('---\ntitle: "The tides"\ndate: 2024-05-01\nlang: en\n---\nWords.')
    assert (extracted.title, extracted.text) == ("The tides", "Words.")
    assert (extracted.published, extracted.language) == ("2024-05-01", "en")


def test_a_file_without_title_is_called_by_its_name():
    assert markdown("word " * 50).title == "about tides.md"


def test_an_open_fence_ends_with_the_file():
    assert markdown("```\n# code").text == "```\n# code"


@pytest.mark.parametrize("content", [b"", b" \n\t\n"])
def test_nothing_is_empty(content):
    with pytest.raises(EmptyPage):
        extract(content, "text/plain", FILE)
