"""What was found in texts is remembered by their length."""

import threading
from collections.abc import Callable

from research.engine.text.remembered import remember_texts
from research.engine.text.sentences import split_sentences


def counted(most: int) -> tuple[list[str], Callable[[str], str]]:
    asked: list[str] = []

    @remember_texts(most, len)
    def shout(text: str) -> str:
        asked.append(text)
        return text.upper()

    return asked, shout


def test_a_text_is_gone_through_once_as_long_as_it_is_remembered() -> None:
    asked, shout = counted(10)
    assert [shout("one"), shout("two"), shout("one")] == ["ONE", "TWO", "ONE"]
    assert asked == ["one", "two"]


def test_what_was_asked_for_least_recently_is_forgotten_first() -> None:
    asked, shout = counted(10)
    for text in ("one", "two", "six", "one", "four", "one", "two"):
        shout(text)
    assert asked == ["one", "two", "six", "four", "two"]


def test_a_text_that_is_too_long_displaces_no_other() -> None:
    asked, shout = counted(10)
    for text in ("one", "a very long text", "one", "a very long text"):
        shout(text)
    assert asked == ["one", "a very long text", "a very long text"]


def test_what_is_remembered_can_be_forgotten() -> None:
    asked, shout = counted(10)
    shout("one")
    shout.cache_clear()  # type: ignore[attr-defined]
    shout("one")
    assert asked == ["one", "one"]


def test_threads_may_ask_at_once() -> None:
    _, shout = counted(1_000)
    found: list[str] = []
    texts = [str(number) for number in range(200)]

    def ask() -> None:
        found.extend(shout(text) for text in texts)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(texts * 4)


def test_pages_of_many_runs_are_taken_apart_once() -> None:
    pages = [f"Page {number} has a sentence. " * 60 for number in range(600)]
    first = [split_sentences(page) for page in pages]
    assert all(split_sentences(page) is known for page, known in zip(pages, first, strict=True))
