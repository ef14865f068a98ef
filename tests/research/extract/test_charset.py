import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from research.extract.charset import decode_page

WORDS = "Größe, façade, naïve — señor “quoted”"
RUSSIAN = "Привет, мир! Это проверка кодировки страницы."


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (WORDS.encode(), None),
        (WORDS.encode(), "text/html; charset=utf-8"),
        (WORDS.encode(), "text/html; charset=iso-8859-1"),
        (WORDS.encode("cp1252"), "text/html; charset=ISO-8859-1"),
        (WORDS.encode("cp1252"), 'text/html; charset="windows-1252"'),
        (WORDS.encode("cp1252"), "text/html; charset=utf-8"),
        (WORDS.encode("cp1252"), "text/html; charset=nonsense"),
        (WORDS.encode("cp1252"), "text/html; charset=base64"),
        (WORDS.encode("cp1252"), None),
        (codecs.BOM_UTF8 + WORDS.encode(), "text/html; charset=latin-1"),
        (codecs.BOM_UTF16_LE + WORDS.encode("utf-16-le"), "text/html"),
        (codecs.BOM_UTF16_BE + WORDS.encode("utf-16-be"), None),
        (WORDS.encode("utf-16-le"), "text/plain; charset=utf-16le"),
    ],
)
def test_reads_western_words_whatever_they_are_called(body, content_type):
    assert decode_page(body, content_type) == WORDS


@pytest.mark.parametrize("encoding", ["windows-1251", "koi8-r", "iso-8859-5"])
@pytest.mark.parametrize(
    "declaration", ['<meta charset="{0}">', "<meta http-equiv=x content='text/html; charset={0}'>",
                    '<?xml version="1.0" encoding="{0}"?>'],
)  # fmt: skip
def test_reads_what_the_page_declares(encoding, declaration):
    page = declaration.format(encoding) + RUSSIAN
    assert decode_page(page.encode(encoding), "text/html") == page


def test_the_header_goes_before_the_page():
    page = f"<meta charset=koi8-r>{RUSSIAN}"
    assert decode_page(page.encode("cp1251"), "text/html; charset=windows-1251") == page


def test_a_page_that_calls_itself_utf_16_in_ascii_is_not():
    assert decode_page(b"<meta charset=utf-16>" + WORDS.encode(), None).endswith(WORDS)


@pytest.mark.parametrize(
    ("label", "words"),
    [("shift_jis", "これは日本語です①"), ("gb2312", "这是中文測試"), ("euc-kr", "한국어 시험")],
)
def test_labels_mean_what_the_web_means_by_them(label, words):
    wide = {"shift_jis": "cp932", "gb2312": "gb18030", "euc-kr": "cp949"}[label]
    assert decode_page(words.encode(wide), f"text/html; charset={label}") == words


def test_guesses_where_nothing_is_declared():
    assert decode_page((RUSSIAN * 3).encode("cp1251"), None) == RUSSIAN * 3


def test_a_few_bad_bytes_do_not_change_the_encoding():
    body = (WORDS * 10).encode() + b"\xff"
    assert decode_page(body, "text/html; charset=utf-8") == WORDS * 10 + "\N{REPLACEMENT CHARACTER}"


@settings(deadline=None)
@given(st.binary(max_size=300), st.none() | st.text(max_size=20).map("text/html;charset={}".format))
@pytest.mark.slow
def test_any_bytes_are_read_somehow(body, content_type):
    assert isinstance(decode_page(body, content_type), str)


@settings(deadline=None)
@given(st.text())
def test_utf_8_is_read_back(words):
    assert decode_page(words.encode("utf-8", "ignore"), "text/html; charset=utf-8").lstrip(
        "\ufeff"
    ) == words.encode("utf-8", "ignore").decode().lstrip("\ufeff")
