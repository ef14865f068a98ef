from hypothesis import given
from hypothesis import strategies as st

from research.retrieval.terms import MAX_TERMS, extra_terms, query_terms


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


def test_parts_are_words_that_stand_in_names_only():
    terms = query_terms("Does autovacuum_vacuum_threshold matter to a vacuum in read-only mode?")
    assert terms.identifiers == ("autovacuum vacuum threshold", "read only")
    assert terms.parts == {"autovacuum", "threshold"}
    assert query_terms("数据库").parts == frozenset()


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
