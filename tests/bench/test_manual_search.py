from pathlib import Path

import pytest

from bench import manual_search
from bench.manual_search import Manual, Placed, by_kind, measure, questions_of
from bench.plain_bm25 import PlainPages, plain_words


def test_a_kind_is_behind_where_plain_bm25_finds_more() -> None:
    ahead = [Placed("why", (0,), (1,)), Placed("why", (4,), (4,))]
    behind = [Placed("how-to", (1,), (0,)), Placed("how-to", (0,), (0,))]
    how_to, why = by_kind([*ahead, *behind])
    assert (how_to.kind, how_to.first, how_to.plain_first, how_to.is_behind) == (
        *("how-to", 0.5, 1.0),
        True,
    )
    assert (why.first, why.five, why.is_behind) == (0.5, 1.0, False)


def test_a_question_on_two_pages_counts_in_five_once_both_are_there() -> None:
    (kind,) = by_kind([Placed("two", (0, None), (0, 4))])
    assert (kind.first, kind.five, kind.plain_five, kind.is_behind) == (1.0, 0.0, 1.0, True)


async def test_a_manual_that_is_not_installed_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    absent = [Manual("exim", "exim4-doc-html", tmp_path / "none")]
    monkeypatch.setattr(manual_search, "manuals_of", lambda part: absent)
    measured = await measure("held_out")
    assert measured.missing == ("exim4-doc-html",)
    assert measured.kinds == ()


def test_links_and_excluded_files_are_no_pages(tmp_path: Path) -> None:
    for name in ("a.html", "a-all.html", "b.txt"):
        (tmp_path / name).write_text("text")
    (tmp_path / "link.html").symlink_to("a.html")
    manual = Manual("m", "m-doc", tmp_path, "*.html", "*-all.html")
    assert manual.files == [tmp_path / "a.html"]


def test_questions_that_no_page_answers_are_left_out() -> None:
    assert all(None not in row["pages"] for row in questions_of("tuning"))
    assert {row["set"] for row in questions_of("older")} == {"postgresql", "python"}


def test_the_yardstick_stems_and_drops_function_words() -> None:
    assert plain_words("What is the max_workers for?") == ["max", "workers"]
    assert plain_words("to be or not") == ["to", "be", "or", "not"]
    pages = PlainPages([("a", "Vacuuming tables"), ("b", "The owner of a lock")])
    assert pages.search("How do I vacuum a table?", 5) == ["a"]
    pages.close()
