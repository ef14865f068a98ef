from __future__ import annotations

from pathlib import Path

import pytest

from bench.evaluation.cases import Case, DataError, read_cases, read_pages
from tests.bench.evaluation.planted import CHAIN, PLAIN, write


def test_the_limit_takes_from_the_files_in_turn(tmp_path: Path) -> None:
    one = write(tmp_path / "one.jsonl", [CHAIN, {**CHAIN, "id": "second"}])
    two = write(tmp_path / "two.jsonl", [PLAIN])
    assert [(case.file, case.id) for case in read_cases([one, two], 2)] == [
        ("one", "chain"),
        ("two", "plain"),
    ]
    assert len(read_cases([one, two])) == 3


def test_a_pool_file_needs_nothing_but_pages(tmp_path: Path) -> None:
    pages = write(tmp_path / "pages.jsonl", [{"pages": CHAIN["pages"]}])
    assert [page.title for page in read_pages([pages])][:2] == ["Orla Venn", "Tarnholt"]


def test_a_fault_names_file_and_line(tmp_path: Path) -> None:
    broken = write(tmp_path / "broken.jsonl", [CHAIN, {**CHAIN, "gold": [{"title": "Nothing"}]}])
    with pytest.raises(DataError, match=r"broken\.jsonl, line 2: gold\.0"):
        read_cases([broken])
    with pytest.raises(DataError, match="no text file"):
        read_cases([tmp_path / "missing.jsonl"])


def test_yes_and_no_are_no_texts_to_look_for() -> None:
    assert Case.model_validate(CHAIN).has_answer_text
    assert not Case.model_validate(PLAIN).has_answer_text
