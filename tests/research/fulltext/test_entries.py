from research.fulltext.entries import Entry, Kind, asked_keys, entries, entry_scores, matched_keys
from research.fulltext.passages import Term

WEIGHTS = {"title": 8.0, "heading": 6.0, "term": 8.0, "part": 0.5}


def keys(title: str = "", headings: tuple[str, ...] = (), terms: tuple[str, ...] = ()) -> set[str]:
    told = [Term(line, 5) for line in terms]
    return {entry.key for entry in entries(title, "", headings, told)}


def entry(kind: Kind, words: int = 0) -> Entry:
    return Entry("", kind, words)


def test_a_title_is_kept_with_its_function_words_and_without_number_and_remark():
    assert "a league of their own" in keys("A League of Their Own (1992 film)")
    assert "automatic vacuuming" in keys("20.10. Automatic Vacuuming")
    assert {"contextlib", "contextlib utilities for with-statement contexts"} <= keys(
        "contextlib \u2014 Utilities for with-statement contexts"
    )


def test_a_term_is_kept_by_the_names_that_it_introduces():
    for line, name in (
        ("autovacuum_max_workers (integer)", "autovacuum_max_workers"),
        ("-f, --force-with-lease=<ref>", "--force-with-lease"),
        (": y = asecd (x)", "asecd"),
        (
            "coroutine loop.shutdown_default_executor(timeout=None)",
            "loop.shutdown_default_executor",
        ),
        ("class asyncio.Task(coro, *, name=None)", "task"),
        ("SQLSTATE 42P01", "sqlstate 42p01"),
    ):
        assert name in keys(terms=(line,)), line


def test_only_the_longest_of_the_keys_that_a_query_says_counts():
    asked = asked_keys("Who directed A League of Their Own?")
    matched = matched_keys(asked, {"league", "a league of their own", "directed"})
    assert {each.key for each in matched} == {"a league of their own", "directed"}


def test_an_identifier_counts_in_any_question_a_word_only_where_it_is_most_of_it():
    found = {"work_mem": {1: entry("term", 9)}, "tables": {2: entry("heading")}}
    asked = asked_keys("How does work_mem matter when large tables are sorted on disk?")
    scores = entry_scores(asked, found, WEIGHTS, 2.5)
    assert scores[1] > 20 * scores[2]


def test_a_key_that_many_documents_share_adds_little():
    asked = asked_keys("work_mem")
    shared = {"work_mem": dict.fromkeys(range(100), entry("term", 9))}
    alone = entry_scores(asked, {"work_mem": {1: entry("term", 9)}}, WEIGHTS, 2.5)
    assert entry_scores(asked, shared, WEIGHTS, 2.5)[1] == alone[1] / 10


def test_the_fullest_explanation_of_a_term_counts_most():
    found = {"work_mem": {1: entry("term", 10), 2: entry("term", 80), 3: entry("title")}}
    scores = entry_scores(asked_keys("work_mem"), found, WEIGHTS, 2.5)
    assert scores[1] < 0.5 * scores[2] < scores[3]
    alone = entry_scores(asked_keys("work_mem"), {"work_mem": {1: entry("term", 10)}}, WEIGHTS, 2.5)
    full = entry_scores(asked_keys("work_mem"), {"work_mem": {1: entry("term", 80)}}, WEIGHTS, 2.5)
    assert alone == full


def test_of_several_explanations_of_a_term_a_document_keeps_the_longest():
    terms = [Term("work_mem (integer)", 8), Term("work_mem", 30), Term("work_mem", 2)]
    assert Entry("work_mem", "term", 30) in entries("", "", (), terms)
