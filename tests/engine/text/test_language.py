"""Rule F11: the report's language follows the question, and what that costs is said."""

from __future__ import annotations

import pytest

from research.engine.offline.planning import from_wording
from research.engine.records import StopReason
from research.engine.report.report_i18n import labels_for, translated_languages
from research.engine.text.language import language_limits, language_of
from tests.engine.questions_by_language import CHECKED_WITH, UNDECIDED, WORKED_WITH
from tests.engine.scripted import SIMPLE, Web, World, harbour, page


@pytest.mark.requirement("F11")
@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("When was the Eiffel Tower finished?", "en"),
        ("Wann wurde der Eiffelturm fertig?", "de"),
        ("Quand la tour Eiffel a-t-elle été achevée ?", "fr"),
        ("¿Cuándo se terminó la Torre Eiffel?", "es"),
        ("Quando è stata finita la Torre Eiffel?", "it"),
        ("Quando foi concluída a Torre Eiffel e por quem?", "pt"),
        ("Wanneer was de Eiffeltoren klaar en wie heeft het gebouwd?", "nl"),
        ("埃菲尔铁塔什么时候建成？", "zh"),
        ("エッフェル塔はいつ完成しましたか", "ja"),
        ("Когда была построена Эйфелева башня?", "ru"),
        ("에펠탑은 언제 완공되었나요?", "ko"),
        ("What does the Chinese word 道 mean in English?", "en"),
        ("Wer war Goethe?", "de"),
        ("Vorteile von Wärmepumpen im Altbau", "de"),
        ("Los Angeles water supply", "en"),
        ("Le Mans 24 hours winners", "en"),
        ("El Niño and La Niña compared", "en"),
        ("UN peacekeeping missions", "en"),
        ("Best pour over coffee", "en"),
        ("Who designed Le Corbusier's house in Los Angeles?", "en"),
        ("autovacuum_vacuum_scale_factor", "en"),
        ("", "en"),
    ],
)
def test_a_question_tells_its_language(question: str, language: str) -> None:
    assert language_of(question) == language
    assert from_wording(question, (), "").language == language


@pytest.mark.requirement("F11")
@pytest.mark.parametrize(
    ("language", "question"),
    [(language, question) for language, asked in WORKED_WITH.items() for question in asked],
)
def test_a_short_question_tells_its_language(language: str, question: str) -> None:
    assert language_of(question) == language


@pytest.mark.requirement("F11")
def test_short_questions_that_nothing_was_fitted_to_tell_theirs_but_for_one_in_twenty() -> None:
    asked = [(language, question) for language, each in CHECKED_WITH.items() for question in each]
    missed = [(language, each) for language, each in asked if language_of(each) != language]
    assert len(missed) <= len(asked) / 20, missed


@pytest.mark.requirement("F11")
@pytest.mark.parametrize("question", [each for asked in UNDECIDED.values() for each in asked])
def test_where_no_word_tells_it_is_the_asker_s_usual_language(question: str) -> None:
    assert language_of(question) == "en"
    assert language_of(question, "de-AT") == "de-AT"


@pytest.mark.requirement("F11")
@pytest.mark.parametrize(
    ("question", "usual", "language"),
    [
        ("Population of Peru", "de", "en"),
        ("Wann war die Mondlandung?", "en", "de"),
        ("Reddito medio in Spagna", "it", "it"),
        ("Que animais vivem no mar?", "pt", "pt"),
        ("Kosten 2024", "ja", "ja"),
    ],
)
def test_the_usual_language_decides_only_where_the_words_do_not(
    question: str, usual: str, language: str
) -> None:
    assert language_of(question, usual) == language


@pytest.mark.requirement("F11")
async def test_a_question_that_tells_no_language_is_in_the_setting_s() -> None:
    ran = await harbour().ask("Harrow Point", search_language="de")
    assert ran.state.language == "de"
    told = await harbour().ask(SIMPLE.question, search_language="de")
    assert told.state.language == "en"


@pytest.mark.requirement("F11")
@pytest.mark.parametrize(
    ("written", "language"),
    [
        ("de-AT", "de-AT"),
        ("pt_BR ", "pt-BR"),
        ("English", "en"),
        ("English, which is the language of the question as it is worded", "en"),
        ("", "en"),
    ],
)
async def test_a_model_s_language_is_a_code_or_the_words_tell_it(
    written: str, language: str
) -> None:
    world = harbour(SIMPLE)
    assert world.model is not None
    world.model.twists["intake"] = lambda answer: {**answer, "language": written}
    assert (await world.ask(SIMPLE.question)).state.language == language


@pytest.mark.requirement("F11")
def test_what_a_language_does_not_get_is_said_in_the_plan() -> None:
    assert language_limits("en") == ""
    assert "German" in from_wording("Wann wurde der Turm gebaut?", (), "").evidence_strategy
    assert "pairs of characters" in from_wording("塔什么时候建成？", (), "").evidence_strategy


@pytest.mark.requirement("F11")
def test_every_translation_has_every_label() -> None:
    english = labels_for("en").words
    for code in translated_languages() - {"en"}:
        words = labels_for(code).words
        own = {key for key in words if not key.startswith("ended_")}
        assert own == english.keys(), code
        assert len(words) - len(own) == 6, code
        for key, value in english.items():
            assert isinstance(words[key], type(value)), (code, key)
            assert _holes(words[key]) == _holes(value), (code, key)


def _holes(value: str | list[str]) -> set[str]:
    texts = [value] if isinstance(value, str) else value
    names = ("n", "all", "quotes", "where", "date", "queries")
    return {name for name in names for text in texts if "{" + name + "}" in text}


@pytest.mark.requirement("F11")
def test_a_language_without_labels_gets_english_ones() -> None:
    assert labels_for("fi").language == "en"
    assert labels_for("de-AT").language == "de"


@pytest.mark.requirement("E13", "F11")
@pytest.mark.parametrize("reason", list(StopReason))
def test_every_reason_to_end_has_words_in_every_language(reason: StopReason) -> None:
    for code in translated_languages() - {"en"}:
        assert labels_for(code).ended(reason, "Stopped: why.") != "Stopped: why"
    assert labels_for("en").ended(reason, "Stopped: why.") == "Stopped: why"


@pytest.mark.requirement("F11")
async def test_the_words_around_the_quotes_follow_the_question() -> None:
    """Without a model too, where code finds a German passage for a German question."""
    text = (
        "Der Leuchtturm von Kampen wurde im Jahr 1856 fertig gebaut und danach mehrmals erneuert."
        "\n\nSein Licht ist seit 1856 in jeder Nacht über zwanzig Seemeilen weit zu sehen."
    )
    question = "Wann wurde der Leuchtturm von Kampen fertig?"
    ran = await World(Web([page("https://kampen.example/turm", text)])).ask(question)
    answer, facts = ran.report.markdown.split("\n\n")[1:3]
    openings = [labels_for("de")[key] for key in ("unjudged", "nothing_here")]
    assert answer.startswith(("**Kurze Antwort.**", *(f"**{text}**" for text in openings)))
    assert "1856 fertig gebaut" in ran.report.markdown.replace("**", "")
    assert "beendet" in facts
    assert "## Quellen\n\n### Zitiert" in ran.report.markdown
    for english in ("Sources", "Stopped", "answered", "Short answer", "Preliminary"):
        assert english not in ran.report.markdown
