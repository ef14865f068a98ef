from hypothesis import given
from hypothesis import strategies as st

from research.fulltext.passages import LEAD_WORDS, MAX_WORDS, lead_text, outline_text

PAGE = """# Vacuuming

Intro of the page.

## Basics

First paragraph.

```
# no heading

print(1)
```

### Details

- one
- two

## Other

Last words."""


def test_passages_carry_their_path_of_headings():
    assert [passage.heading for passage in outline_text(PAGE).passages] == [
        "Vacuuming",
        "Vacuuming > Basics",
        "Vacuuming > Basics > Details",
        "Vacuuming > Other",
    ]


def test_a_fence_is_kept_whole_and_its_comments_are_no_headings():
    made_of = outline_text(PAGE)
    assert made_of.headings == ("Vacuuming", "Basics", "Details", "Other")
    basics = made_of.passages[1]
    assert PAGE[basics.start : basics.end].endswith("print(1)\n```")


def test_long_paragraphs_are_cut_at_sentences():
    text = " ".join(f"This is sentence number {number} of many." for number in range(200))
    passages = outline_text(text).passages
    assert len(passages) > 5
    for passage in passages:
        assert len(text[passage.start : passage.end].split()) <= MAX_WORDS
        assert text[passage.start :].startswith("This is sentence")


def test_a_list_of_links_has_little_prose():
    links = "\n".join(f"- entry {number}" for number in range(50))
    prose = "A sentence that is long enough to say something about the subject at hand."
    assert outline_text(links).prose_share < 0.1
    assert outline_text(prose).prose_share == 1.0


def test_a_lead_is_the_first_words_under_the_title():
    text = "# CALL\n\n    CALL name;\n\nCALL — invoke a procedure\n\n## Notes\n\nMore of it."
    assert lead_text(text) == "CALL — invoke a procedure"
    assert lead_text("# Quay\n\n" + "Boats land here. " * 30).split()[-1] == "Boats"
    assert len(lead_text("# Quay\n\n" + "Boats land here. " * 30).split()) == LEAD_WORDS
    assert lead_text("# Only a title") == ""


@given(st.text(alphabet="ab.# \n`-"))
def test_passages_are_in_order_and_lose_no_word_but_headings(text: str):
    passages = outline_text(text, max_words=5).passages
    ends = [0, *(passage.end for passage in passages)]
    for end, passage in zip(ends, passages, strict=False):
        assert end <= passage.start < passage.end <= len(text)
