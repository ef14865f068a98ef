import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from research.engine.report.rendering.markdown_escape import (
    escape_markdown,
    escape_sentence,
    escape_with_code,
    unlinked,
)
from research.engine.text.tokens import normalise_space

PARSER = MarkdownIt("commonmark").enable("table")


def shown(markdown: str) -> str:
    """What a reader sees of a paragraph; every mark that was taken for one is told by its name."""
    said = []
    for token in PARSER.parse(markdown):
        if token.type == "inline":
            said += [c.content if c.type.startswith("text") else f"({c.type})"
                     for c in token.children or ()]  # fmt: skip
        elif not token.type.startswith("paragraph"):
            said.append(f"({token.type})")
    return "".join(said)


@pytest.mark.parametrize(
    "text",
    [
        "Call __init__ with *args and **kwargs, as in a*b or 2 * 3 * 4.",
        "See [this page](https://bad.example/) and ![it](https://bad.example/p.png) [1][2].",
        "A List<T> <img src=x onerror=alert(1)> &lt;b&gt; <https://bad.example/>",
        r"Match \d+ or \* with `grep` in C:\_x_ and ~~not~~ os_path_x.",
        "# No heading",
        "- no list",
        "1. no list",
        "> no quotation",
    ],
)
def test_a_page_s_words_are_shown_as_they_are_written(text: str) -> None:
    assert shown(escape_markdown(text)) == text
    assert shown(f"**Name:** “{escape_markdown(text)}” [1]").endswith(f"“{text}” [1]")


@given(st.text(st.sampled_from("ab1 *_`[]()<>!\\#-+.&;~:/|"), max_size=40))
def test_nothing_in_a_page_s_words_is_a_mark(text: str) -> None:
    text = normalise_space(text)
    assert shown(f"“{escape_markdown(text)}”") == f"“{text}”"


def test_a_model_keeps_its_code_and_has_no_links() -> None:
    assert escape_sentence("Use `a_[b](c)` for __it__.") == "Use `a_[b](c)` for \\_\\_it\\_\\_."
    named = "Set pg_class.oid_max (or pg_stat_reset()) of `my_table`, not a."
    assert (
        escape_sentence(named)
        == "Set `pg_class.oid_max` (or `pg_stat_reset()`) of `my_table`, not a."
    )
    for plain in ("me_you@x.org", "of /var/my_file", "a.b.c"):
        assert "`" not in escape_sentence(plain)
    assert "link" not in shown(escape_sentence("See [here](https://bad.example/)."))
    assert "image" not in shown(escape_sentence("See ![here](https://bad.example/p.png)."))
    assert shown(escape_sentence("## Sources")) == "## Sources"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Run ALTER TABLE … SET (…) first.", None),
        (
            "ALTER TABLE distributors ADD CONSTRAINT distfk FOREIGN KEY (address) REFERENCES a;",
            None,
        ),
        ("CREATE INDEX takes SHARE, and VACUUM FULL and CLUSTER lock more.", None),
        ("Rely on INSERT ... ON CONFLICT there.", None),
        ("SET (autovacuum_enabled = off)", "SET (`autovacuum_enabled` = off)"),
        ("Set work_mem = 64MB.", "Set `work_mem` = 64MB."),
        ("Set work_mem=64MB.", "Set `work_mem=64MB`."),
        ("Set log_line_prefix='%m' there.", "Set `log_line_prefix='%m'` there."),
        ("pg_dump takes --jobs=4, too.", "`pg_dump` takes `--jobs=4`, too."),
        (
            "Find rows where age(backend_xid) is large.",
            "Find rows where `age(backend_xid)` is large.",
        ),
        ("It takes a SHARE UPDATE EXCLUSIVE lock.", None),
        ("UPDATE and DELETE leave dead rows.", None),
        ("The UNESCO SET up a table (see below).", None),
        ("A SELECT (see the manual) may wait.", None),
        ("NASA AND ESA agree -- at last.", None),
    ],
)
def test_options_settings_and_identifiers_are_code_but_no_runs_of_words(
    text: str, told: str | None
) -> None:
    assert escape_with_code(text) == (told or text)
    assert escape_sentence(text, has_options=True) == (told or text)
    assert escape_sentence(f"`a b` {text}", has_options=True) == f"`a b` {told or text}"


WORDS = st.sampled_from(
    ["ALTER TABLE", "SET", "(", ")", "=", "work_mem", "--jobs=4", "*", "_", "`", "[", "]", "<b>",
     "64MB", "…", "\\", "#", "-", "1.", " ", " ", "'", "|", "~", "&lt;"]
)  # fmt: skip


@given(st.lists(WORDS, max_size=14))
def test_a_reader_sees_a_page_s_words_whatever_of_them_is_code(words: list[str]) -> None:
    text = normalise_space("".join(words))
    [token] = [t for t in PARSER.parse(f"“{escape_with_code(text)}”") if t.type == "inline"]
    children = token.children or []
    assert {c.type for c in children} <= {"text", "text_special", "code_inline"}
    assert "".join(c.content for c in children) == f"“{text}”"


def test_no_program_makes_a_link_of_a_quote() -> None:
    shown = unlinked("see https://a.example/b, www.a.example or desk@a.example")
    assert shown == "see https\\://a.example/b, www\\.a.example or `desk@a.example`"
