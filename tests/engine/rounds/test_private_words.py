from types import SimpleNamespace
from typing import Any

from research.engine.untrusted.search_words import private_words
from tests.engine.scripted import ledger, page

QUESTION = "When does the harbour plan start?"
SECRET = page("file:///plans/a.txt", "Project Zephyrine starts at the harbour in May.")


def run_with(*pages: Any, agreed: bool = False) -> Any:
    known, _ = ledger(QUESTION)
    for each in pages:
        known.pages[each.url] = each
    if agreed:
        object.__setattr__(known.plan, "searches_private_words", True)
    return SimpleNamespace(ledger=known, question=SimpleNamespace(text=QUESTION))


def test_a_word_of_documents_alone_is_private() -> None:
    assert private_words(run_with(SECRET), "Zephyrine harbour start") == ("Zephyrine",)


def test_a_word_that_the_web_holds_too_is_public() -> None:
    seen = page("https://news.example/", "Zephyrine was announced.")
    assert private_words(run_with(SECRET, seen), "Zephyrine harbour") == ()


def test_a_word_of_an_instruction_is_public() -> None:
    run = run_with(SECRET)
    run.ledger.instructed = ("Leave out Zephyrine",)
    assert private_words(run, "Zephyrine harbour") == ()


def test_a_person_may_allow_private_words() -> None:
    assert private_words(run_with(SECRET, agreed=True), "Zephyrine harbour") == ()


def test_without_documents_no_word_is_private() -> None:
    assert private_words(run_with(), "Zephyrine harbour") == ()
