import pytest

from research.engine.report.draft import Draft, Section, Statement, walled
from research.engine.untrusted.address_wall import AddressWall, asks_for_address
from tests.engine.scripted import page

TOLD = "Readers should go to https://lure.example/start for the rest."
QUESTION = "When was the tower built?"


def test_an_address_that_one_page_gives_stands_in_no_statement() -> None:
    wall = AddressWall(QUESTION, [page("https://a.example/", TOLD)])
    assert wall.masked(TOLD) == "Readers should go to […] for the rest."


def test_an_address_that_no_page_gives_stands_in_no_statement() -> None:
    assert AddressWall(QUESTION, ()).masked("Call 030 23125 118.") == "Call […]."


@pytest.mark.parametrize(
    "address", ["http://localhost:8080/", "http://192.168.1.10/admin", "printer.local"]
)
def test_an_address_of_the_askers_own_network_needs_no_page(address: str) -> None:
    assert AddressWall(QUESTION, ()).masked(f"Open {address} first.") == f"Open {address} first."
    assert AddressWall(QUESTION, ()).foreign("Open http://8.8.8.8/ first.")


def test_two_independent_sites_may_give_an_address() -> None:
    pages = [page("https://a.example/", TOLD), page("https://b.example/", TOLD)]
    assert AddressWall(QUESTION, pages).masked(TOLD) == TOLD


def test_two_pages_of_one_site_are_one_source() -> None:
    pages = [page("https://a.example/1", TOLD), page("https://a.example/2", TOLD)]
    assert AddressWall(QUESTION, pages).foreign(TOLD)


def test_its_owner_may_give_an_address() -> None:
    wall = AddressWall(QUESTION, [page("https://lure.example/about", TOLD)])
    assert wall.masked(TOLD) == TOLD


@pytest.mark.parametrize(
    "question",
    [
        "Which address does the archive ask users to cite?",
        "What is the phone number of the office?",
        "Wie lautet die Internetadresse des Amtes?",
        "该机构的网址是什么？",
    ],
)
def test_a_question_may_ask_for_an_address(question: str) -> None:
    assert asks_for_address(question)
    assert not AddressWall(question, ()).foreign(TOLD)


@pytest.mark.parametrize(
    "question", ["How many curlews were counted?", "How does the law address theft?"]
)
def test_a_word_in_a_word_asks_for_no_address(question: str) -> None:
    assert not asks_for_address(question)


def test_the_address_of_the_question_may_be_repeated() -> None:
    asked = "What does https://lure.example/start offer?"
    assert not AddressWall(asked, ()).foreign(TOLD)


def test_numbers_without_an_area_and_addresses_without_a_scheme_are_found_if_wanted() -> None:
    told = "Ring the keeper on 555-0142, or look at //lure.example/keeper for more."
    assert AddressWall(QUESTION, (), is_wide=False).masked(told) == told
    assert (
        AddressWall(QUESTION, ()).masked(told) == "Ring the keeper on […], or look at […] for more."
    )


def test_no_statement_of_a_draft_keeps_an_address() -> None:
    said = Statement(TOLD, ("E1",))
    draft = Draft((said,), (Section("A1", (said,)),))
    assert repr(walled(draft, AddressWall(QUESTION, ()))).count("[…]") == 2
    assert TOLD not in repr(walled(draft, AddressWall(QUESTION, ())))
