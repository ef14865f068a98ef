from __future__ import annotations

from pathlib import Path

import pytest

from bench.evaluation import pool
from bench.evaluation.cases import Case, PageText
from research.fulltext.index import DocumentIndex
from research.search.documents import DocumentFetch
from tests.bench.evaluation.planted import CHAIN, PLAIN


def pages(*cases: dict[str, object]) -> list[PageText]:
    return [page for case in cases for page in Case.model_validate(case).pages]


def test_a_page_that_repeats_is_one_and_a_title_that_repeats_is_two(tmp_path: Path) -> None:
    library = pool.build(pages(CHAIN, PLAIN), tmp_path)
    assert library.pages == len(list(library.pages_folder.rglob("*.html"))) == 10


def test_the_same_pages_are_the_same_library_in_any_order(tmp_path: Path) -> None:
    first = pool.build(pages(CHAIN, PLAIN), tmp_path)
    assert pool.build(pages(PLAIN, CHAIN, PLAIN), tmp_path) == first
    assert pool.build(pages(PLAIN), tmp_path) != first


@pytest.mark.subprocess
async def test_an_indexed_page_has_the_address_and_the_text_of_its_file(tmp_path: Path) -> None:
    page = PageText(title="Salt & <Pepper>", sentences=("Salt costs less than 5 & more.", "Fine."))
    library = pool.build([page], tmp_path)
    await pool.index(library)
    index = DocumentIndex(library.index_path)
    try:
        found = await DocumentFetch(index, [pool.COLLECTION]).fetch(pool.page_url(page))
    finally:
        index.close()
    assert found.title == page.title
    assert page.text in found.text
    assert page.text in pool.body_text(library.file_of(found.url).read_text("utf-8"))
