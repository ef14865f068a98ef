from research.engine.config import ResearchConfig, limits
from research.engine.evidence import Finding
from research.engine.extractive.judging import judge
from research.engine.extractive.leads import find_leads, phrases
from research.engine.ledger import Ledger
from research.engine.records import Complexity
from tests.engine.scripted import ledger, page, quoted

QUESTION = "Who trained the designer of the Harrow Point lighthouse?"


def found(question: str, complexity: Complexity, *texts: str) -> Ledger:
    made, _ = ledger(question, complexity=complexity)
    for number, text in enumerate(texts):
        source = page(f"https://s{number}.example/", text)
        made.pages[source.url] = source
        made.book.add(Finding(text, "A1", quoted(source, text), 0.9), 1)
    made.refresh_aspects()
    return made


def test_a_name_that_the_question_lacks_leads_on_with_what_is_left_open() -> None:
    made = found(
        QUESTION, Complexity.ORDINARY, "The Harrow Point lighthouse was designed by Edda Marlow."
    )
    [lead] = find_leads(made)
    assert lead.text == "Edda Marlow"
    assert lead.query == "Edda Marlow trained"
    assert lead.url == "https://s0.example/"


def test_names_of_the_question_and_dates_lead_nowhere() -> None:
    made = found(
        QUESTION, Complexity.ORDINARY, "The Harrow Point lighthouse was lit on 14 March 1887."
    )
    assert find_leads(made) == []


def test_what_a_page_dwells_on_is_a_weaker_lead_than_what_it_names_in_passing() -> None:
    once = "The Harrow Point lighthouse was designed by Edda Marlow."
    often = page("https://s0.example/", once + " Edda Marlow built it. Edda Marlow left." * 3)
    made, _ = ledger(QUESTION)
    made.pages[often.url] = often
    made.book.add(Finding(once, "A1", quoted(often, once), 0.9), 1)
    made.refresh_aspects()
    passing = found(QUESTION, Complexity.ORDINARY, once)
    assert find_leads(made)[0].strength < find_leads(passing)[0].strength


OPEN = "Impact of storms on lighthouse keeping"
WITNESSES = (
    "Storms make lighthouse keeping depend on mercury float bearings in the lamp.",
    "Lighthouse keeping in heavy storms was changed by mercury float bearings.",
)


def test_an_open_question_is_led_on_by_phrases_of_two_sources() -> None:
    assert find_leads(found(OPEN, Complexity.COMPLEX, WITNESSES[0])) == []
    leads = [lead.text for lead in find_leads(found(OPEN, Complexity.COMPLEX, *WITNESSES))]
    assert leads[0] == "mercury float bearings"
    assert "mercury float" not in leads


def test_leads_of_an_open_question_become_sub_questions_of_their_own() -> None:
    made = found(OPEN, Complexity.COMPLEX, *WITNESSES)
    judged = judge(made, limits(ResearchConfig(), Complexity.COMPLEX))
    raised = [gap for gap in judged.gaps if gap.aspect_id is None]
    assert [gap.text for gap in raised] == ["mercury float bearings"]
    assert raised[0].raised_by == "https://s0.example/"
    assert not judged.ready and not judged.by_model


def test_phrases_are_runs_of_content_words() -> None:
    assert phrases("The mercury float bearings, and 3 hash-based signatures") == [
        "mercury float bearings",
        "mercury float",
        "float bearings",
        "hash-based signatures",
    ]
