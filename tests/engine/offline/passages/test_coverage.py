import pytest

from research.engine.evidence.ledger import Ledger
from research.engine.offline.passages.coverage import Coverage, measure_coverage, plain_title
from tests.engine.scripted import ledger, page

QUESTION = "Which river flows past the birthplace of Edda Marlow?"
PERSON = "Edda Marlow had her birthplace in Cold Hope."
TOWN = "Past it flows the river Senn."


def read(*pages: tuple[str, str], question: str = QUESTION) -> Ledger:
    made, _ = ledger(question)
    for number, (title, text) in enumerate(pages):
        made.pages[f"https://s{number}.example/"] = page(
            f"https://s{number}.example/", text, title=title
        )
    return made


def test_pages_count_together_where_one_names_the_other() -> None:
    coverage = measure_coverage(read(("Edda Marlow", PERSON), ("Cold Hope (town)", TOWN)))
    assert coverage.linked == 1 and coverage.alone < coverage.linked
    assert coverage.is_enough and coverage.is_chain and coverage.apart == ()


def test_pages_that_do_not_know_of_each_other_prove_nothing_together() -> None:
    coverage = measure_coverage(read(("Edda Marlow", PERSON), ("Warm Hope", TOWN)))
    assert coverage.linked == coverage.alone < 1 and not coverage.is_enough
    assert coverage.apart == ("river", "flows", "past")


def test_pages_that_the_question_names_are_linked_by_it() -> None:
    question = "Is Cold Hope or Warm Hope older?"
    told = measure_coverage(
        read(("Cold Hope", "It is older."), ("Warm Hope", "It is new."), question=question)
    )
    assert told.linked == pytest.approx(1)


def test_one_page_that_holds_all_needs_no_other() -> None:
    coverage = measure_coverage(read(("Edda Marlow", f"{PERSON} {TOWN}")))
    assert coverage == Coverage(1, 1, ()) and coverage.is_enough and not coverage.is_chain


def test_nothing_read_covers_nothing() -> None:
    coverage = measure_coverage(read())
    assert not coverage.is_enough
    assert coverage.apart == ("river", "flows", "past", "birthplace", "Edda", "Marlow")


def test_names_weigh_double() -> None:
    names = measure_coverage(read(("Edda Marlow", "She lived.")))
    words = measure_coverage(read(("River", "Its birthplace is high.")))
    assert names.alone > words.alone


def test_a_title_is_called_without_its_remark() -> None:
    assert plain_title("Cold Hope (town)") == "Cold Hope"
