from research.fulltext.index_queries import MAX_CHARACTERS, snippet
from research.fulltext.query_terms import query_terms


def test_shows_the_sentences_that_say_most():
    filler = "Nothing to see in this sentence at all, it only fills the page. " * 10
    passage = f"{filler}The threshold decides when a table is vacuumed. {filler}"
    shown = snippet(passage, query_terms("vacuum threshold of tables"))
    assert "threshold decides" in shown
    assert len(shown) <= MAX_CHARACTERS


def test_leaves_markup_out():
    assert snippet("## Heading\n\n- first\n- second", query_terms("first")) == (
        "Heading first second"
    )


def test_cuts_a_sentence_without_end():
    assert len(snippet("word " * 500, query_terms("word"))) <= MAX_CHARACTERS
