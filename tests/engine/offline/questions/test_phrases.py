from research.engine.config import ResearchConfig
from research.engine.limits import limits_for
from research.engine.offline.judging import judge_ledger
from research.engine.offline.leads import find_leads
from research.engine.offline.questions.phrases import find_phrases, is_thing
from research.engine.records import Complexity
from tests.engine.offline.test_leads import found

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
