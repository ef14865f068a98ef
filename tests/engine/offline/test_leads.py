import pytest

from research.engine.config import ResearchConfig
from research.engine.evidence.ledger import Ledger
from research.engine.evidence.store import Finding
from research.engine.limits import limits_for
from research.engine.offline.judging import judge_ledger
from research.engine.offline.leads import find_leads, find_phrases, is_name, is_thing
from research.engine.records import Complexity
from tests.engine.scripted import ledger, page, quoted

QUESTION = "Who trained the designer of the Harrow Point lighthouse?"
OPEN = "Impact of storms on lighthouse keeping"
WITNESSES = (
    "Storms make lighthouse keeping depend on mercury float bearings in the lamp.",
    "Lighthouse keeping in heavy storms was changed by mercury float bearings.",
)


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


def test_an_open_question_is_led_on_by_phrases_of_two_sources() -> None:
    assert find_leads(found(OPEN, Complexity.COMPLEX, WITNESSES[0])) == []
    leads = [lead.text for lead in find_leads(found(OPEN, Complexity.COMPLEX, *WITNESSES))]
    assert leads[0] == "mercury float bearings"
    assert "mercury float" not in leads


def test_leads_of_an_open_question_become_sub_questions_of_their_own() -> None:
    made = found(OPEN, Complexity.COMPLEX, *WITNESSES)
    judged = judge_ledger(made, limits_for(ResearchConfig(), Complexity.COMPLEX))
    raised = [gap for gap in judged.gaps if gap.aspect_id is None]
    assert [gap.text for gap in raised] == ["mercury float bearings"]
    assert raised[0].raised_by == "https://s0.example/"
    assert not judged.ready and not judged.by_model


def test_phrases_are_runs_of_content_words() -> None:
    assert find_phrases("The mercury float bearings, and 3 hash-based signatures") == [
        "mercury float bearings",
        "mercury float",
        "float bearings",
        "hash-based signatures",
    ]


def test_a_phrase_is_a_thing_where_a_sentence_writes_it_as_a_noun() -> None:
    for phrase, sentence in (
        ("mercury floats", "Keepers died of mercury floats."),
        ("lamp room", "They painted the lamp room in spring."),
        ("Fresnel lenses", "Fresnel lenses are heavy."),
        ("rotating lamps", "A keeper winds the rotating lamps."),
    ):
        assert is_thing(phrase, sentence)


def test_a_verb_and_its_noun_are_no_thing() -> None:
    for phrase, sentence in (
        ("house receives oil", "Each house receives oil in autumn."),
        ("offer shelter", "Harbours that offer shelter have two lamps."),
        ("keeper winds", "At dusk the keeper winds the clock."),
        ("causing fires", "They cleaned it without causing fires."),
        ("lamps rotated", "At night the lamps rotated slowly."),
        ("lamp isn’t", "Where the lamp isn’t lit, ships founder."),
    ):
        assert not is_thing(phrase, sentence)


def test_verb_phrases_become_no_leads() -> None:
    told = (
        "Storms that damage lamp glass with beach gravel make lighthouse keeping hard.",
        "Lighthouse keeping in storms that damage lamp glass with beach gravel is hard.",
    )
    leads = [lead.text for lead in find_leads(found(OPEN, Complexity.COMPLEX, *told))]
    assert leads == ["beach gravel"]
