from hypothesis import given
from hypothesis import strategies as st

from research.fulltext.query_terms import (
    MAX_TERMS,
    exact_name,
    extra_terms,
    named_sides,
    query_terms,
)


def test_drops_stop_words_and_contractions():
    assert query_terms("How does the planner choose, and why doesn't it wait?").words == (
        "planner",
        "choose",
        "wait",
    )


def test_keeps_stop_words_when_there_is_nothing_else():
    assert query_terms("to be or not to be").words == ("to", "be", "or", "not")


def test_finds_identifiers_whole_and_by_their_parts():
    terms = query_terms("Is autovacuum_vacuum_threshold read by os.path.join?")
    assert terms.identifiers == ("autovacuum vacuum threshold", "os path join")
    assert {"autovacuum", "threshold", "join", "read"} <= set(terms.words)


def test_names_are_searched_exactly_with_their_signs():
    for name in ("--force-with-lease", "-v", "__init__", "std::vector", "3.11", "C++", "a/b.conf"):
        assert query_terms(f"Why {name}?").names == (exact_name(name),)
        assert exact_name(name) in extra_terms(f"Pass ({name}), please.").split()
    assert query_terms("Is it a plain word?").names == ()


def test_exact_names_differ_where_their_stems_do_not():
    names = ("Task.cancel", "Task.cancelled", "task_cancel", "task-cancel", "--cancel", "-cancel")
    assert len({exact_name(name) for name in names}) == len(names)
    assert exact_name("TASK.cancel") == exact_name("Task.cancel")


def test_a_possessive_leaves_its_word_whole():
    assert query_terms("Python's buffer and the lock's owner").words[0] == "python"
    assert "locks" not in query_terms("Who is the lock’s owner?").words


def test_camel_case_is_searched_whole_and_by_its_parts():
    words = query_terms("When does a ThreadPoolExecutor start?").words
    assert {"threadpoolexecutor", "thread", "pool", "executor"} <= set(words)


def test_a_short_query_is_a_phrase_with_its_function_words():
    assert "total cost of ownership" in query_terms("Total Cost of Ownership").identifiers
    long = "Which setting limits the number of workers that clean up tables?"
    assert query_terms(long).identifiers == ()


def test_a_query_of_two_names_has_two_sides():
    assert named_sides("Is work_mem or maintenance_work_mem larger?") == [
        "work_mem",
        "maintenance_work_mem",
    ]
    for query in ("What are cats and dogs?", "What does work_mem do?", "How and why?"):
        assert named_sides(query) == []


def test_the_version_that_is_asked_for_is_not_what_the_page_is_about():
    assert query_terms("Since which version can pools be nested?").words == ("pools", "nested")
    assert query_terms("Which release introduced pools?").words == ("introduced", "pools")
    assert query_terms("Which version?").words == ("version",)
    assert "version" in query_terms("How is the version printed?").words


def test_a_verb_and_its_particle_are_searched_for_as_a_noun_too():
    assert query_terms("How can I back up a database?").words == ("back", "database", "backup")
    assert query_terms("set up").words == ("set", "setup")


def test_splits_chinese_into_bigrams():
    assert query_terms("数据库").words == ("数据", "据库")
    assert extra_terms("关于数据库的书") == "关于 于数 数据 据库 库的 的书"


def test_splits_camel_case_for_the_index():
    assert extra_terms("A ThreadPoolExecutor and an HTTPServer.") == (
        "Thread Pool Executor HTTP Server"
    )


@given(st.text())
def test_gives_a_bounded_number_of_terms_for_any_query(query: str):
    terms = query_terms(query)
    assert len(terms.words) + len(terms.identifiers) <= MAX_TERMS
