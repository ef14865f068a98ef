import pytest

from research.engine.evidence.ledger import Ledger
from research.engine.evidence.store import Finding
from research.engine.offline.leads import find_leads, is_name
from research.engine.records import Complexity
from tests.engine.scripted import ledger, page, quoted

QUESTION = "Who trained the designer of the Harrow Point lighthouse?"


def found(question: str, complexity: Complexity, *texts: str, title: str = "") -> Ledger:
    made, _ = ledger(question, complexity=complexity)
    for number, text in enumerate(texts):
        source = page(f"https://s{number}.example/", text, title=title)
        made.pages[source.url] = source
        made.book.add(Finding(text, "A1", quoted(source, text), 0.9), 1)
    made.refresh_aspects()
    return made


def leads(*texts: str, title: str = "Harrow Point") -> dict[str, str]:
    """The names that pages lead to, in order, with their queries."""
    made = found(QUESTION, Complexity.ORDINARY, *texts, title=title)
    return {lead.text: lead.query for lead in find_leads(made)}


@pytest.mark.requirement("C7")
def test_a_name_that_the_question_lacks_leads_on_with_what_is_left_open() -> None:
    told = leads("The Harrow Point lighthouse was designed by Edda Marlow.")
    assert told["Edda Marlow"] == "Edda Marlow trained"


def test_a_name_leads_wherever_it_stands_and_best_where_most_of_the_question_does() -> None:
    told = leads(
        "The tide at Cold Hope is strong. The lighthouse was designed by Edda Marlow.",
    )
    assert list(told).index("Edda Marlow") < list(told).index("Cold Hope")


def test_what_a_page_is_about_leads_on_to_pages_that_name_it() -> None:
    told = leads("It was designed by nobody known.", title="Harrow Point lighthouse")
    assert told == {"Harrow Point lighthouse": "Harrow Point lighthouse trained"}


def test_a_name_of_the_question_that_no_page_holds_is_looked_up_by_itself() -> None:
    assert leads("A lighthouse stands there.", title="Lamps")["Harrow Point"] == "Harrow Point"


def test_names_of_the_question_and_dates_lead_nowhere() -> None:
    text = "The Harrow Point lighthouse was lit on 14 March 1887; a designer trained it."
    assert leads(text) == {}


def test_what_was_looked_up_is_no_lead_again() -> None:
    text = "The Harrow Point lighthouse was designed by Edda Marlow and Ivo Brand."
    made = found(QUESTION, Complexity.ORDINARY, text, title="Ivo Brand")
    made.followed.append("Edda Marlow")
    assert [lead.text for lead in find_leads(made)] == ["Ivo Brand"]
    made.queries["Ivo Brand trained"] = 1
    assert find_leads(made) == []


def test_a_title_is_looked_up_with_its_function_words() -> None:
    told = leads("The designer of the Harrow Point lighthouse wrote A Light of Their Own in May.")
    assert "A Light of Their Own" in told
    assert told["A Light of Their Own"].startswith("A Light of Their Own ")


def test_numbers_dates_and_abbreviations_are_no_names() -> None:
    for text in ("First", "Two Hundred", "14 March 1887", "1920s", "U.S.", "Dr", "3rd"):
        assert not is_name(text), text
    for text in ("Edda Marlow", "NASA", "World War II", "First National Bank", "May Day"):
        assert is_name(text), text
