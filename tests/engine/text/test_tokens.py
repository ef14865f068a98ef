import pytest

from research.engine.text.tokens import (
    capitalize_heading,
    joined_verbs,
    phrasal_verbs,
    split_clauses,
    split_terms,
    split_tokens,
    stem,
    term_set,
    unique_texts,
    words_in,
)


def test_identifiers_give_themselves_and_their_parts() -> None:
    assert split_terms("autovacuum_vacuum_threshold") == [
        "autovacuum_vacuum_threshold",
        "autovacuum",
        "vacuum",
        "threshold",
    ]
    assert "os.path" in split_terms("Use os.path here")
    assert split_tokens("C++ and C#") == ["C++", "and", "C#"]


def test_stop_words_and_contractions_are_dropped() -> None:
    assert split_terms("It doesn't use the pages") == ["page"]


@pytest.mark.parametrize("one, other", [("stopping", "stops"), ("pages", "page")])
def test_forms_of_a_word_share_a_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@pytest.mark.parametrize("word", ["utf8", "straße", "bus"])
def test_words_that_are_not_plain_english_stay_as_they_are(word: str) -> None:
    assert stem(word) == word


def test_cjk_runs_are_compared_by_pairs() -> None:
    assert split_tokens("東京都") == ["東京", "京都"]
    assert term_set("東京都") & term_set("東京") == {"東京"}


def test_pairs_that_carry_grammar_only_are_no_terms() -> None:
    assert term_set("青嶺天文台はいつですか") == {"青嶺", "嶺天", "天文", "文台", "台は"}
    assert term_set("水库是什么时候建成的") == {"水库", "时候", "候建", "建成"}


def test_characters_without_spaces_count_as_half_a_word() -> None:
    assert words_in("天文台は1978年4月に開館した。") >= 6
    assert words_in("Ça va très bien") == 4


def test_words_are_counted_and_duplicates_folded() -> None:
    assert words_in("Two words, os.path too") == 4
    assert unique_texts(["A  b", "a B", "c"]) == ["A  b", "c"]


@pytest.mark.parametrize(
    "written, shown",
    [
        ("lattice-based signatures", "Lattice-based signatures"),
        ("what's new?", "What's new?"),
        ("über den Wolken", "Über den Wolken"),
        ("pg_dump and its options", "pg_dump and its options"),
        ("iPhone sales", "iPhone sales"),
        ("utf8 text", "utf8 text"),
        ("os.path joins", "os.path joins"),
        ("-Wall", "-Wall"),
        ("索引とは何か", "索引とは何か"),
        ("", ""),
    ],
)
def test_a_heading_opens_with_a_capital_where_a_plain_word_does(written: str, shown: str) -> None:
    assert capitalize_heading(written) == shown


@pytest.mark.parametrize(
    "text, nouns",
    [
        ("How can I back up a large database?", ["backup"]),
        ("Why is it timing out while logging in?", ["timeout", "login"]),
        ("Which was rolled back, which is in use and up to date?", ["rollback"]),
    ],
)
def test_a_verb_and_its_particle_make_a_noun(text: str, nouns: list[str]) -> None:
    assert joined_verbs(text) == nouns


def test_a_verb_keeps_its_particle_where_it_does_not_say_where() -> None:
    assert phrasal_verbs("Why is it rolled back, not stored in a file?") == {"rolled", "back"}


@pytest.mark.parametrize(
    ("question", "clauses"),
    [
        (
            "How is a copy made, and where is it kept on disk?",
            ["How is a copy made", "where is it kept on disk?"],
        ),
        (
            "Who hands out memory, and can an array grow afterwards?",
            ["Who hands out memory", "can an array grow afterwards?"],
        ),
        (
            "What is the store called, and into which folder does it go?",
            ["What is the store called", "into which folder does it go?"],
        ),
        ("What are cats and dogs?", []),
        ("How and why?", []),
        ("What took its place, and since which release?", []),
        ("I know which file it is. How do I open it?", []),
        ("Which page, which nobody reads, may go?", []),
    ],
)
def test_a_sentence_may_ask_two_questions(question: str, clauses: list[str]) -> None:
    assert split_clauses(question) == clauses
