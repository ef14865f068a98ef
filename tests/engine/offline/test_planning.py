from research.engine.offline.planning import query_of


def test_a_query_holds_the_words_that_matter() -> None:
    assert query_of("When was the lighthouse lit?") == "lighthouse lit"


def test_a_question_written_without_spaces_is_searched_as_it_is_written() -> None:
    assert query_of("青嶺天文台はいつ開館しましたか？") == "青嶺天文台はいつ開館しましたか"
    assert query_of("云桥水库是什么时候建成的？") == "云桥水库是什么时候建成的"
