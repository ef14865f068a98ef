"""Formulas behind figures: what code computes again, and what it refuses."""

import pytest

from research.engine.evidence.claims.formulas import compute_formulas, split_formulas
from research.engine.evidence.claims.operands import ASKED, NotComputedError

QUESTION = "What should we change for a table of 400 million rows with 4 million updates a day?"
QUOTE = "Vacuuming starts when 20% of the rows are dead. A pass takes 90 minutes and 1,200 buffers."
SOURCES = [("E1", QUOTE), (ASKED, QUESTION)]


def formulas_of(text: str, *sources: tuple[str, str]) -> list[str]:
    _, formulas = split_formulas(text)
    return [made.formula for made in compute_formulas(formulas, sources or SOURCES)]


def test_the_text_stands_without_its_formulas() -> None:
    text, formulas = split_formulas("After 80 million {= 20% * 400 million} dead rows, it starts.")
    assert text == "After 80 million dead rows, it starts."
    assert [each.terms for each in formulas] == ["20% * 400 million"]


@pytest.mark.parametrize(
    "text, formula",
    [
        ("80 million {= 20% * 400 million} rows", "20% (E1) × 400 million = 80 million rows"),
        (
            "every 20 days {= 20% * 400 million / 4 million}",
            "20% (E1) × 400 million ÷ 4 million = 20 days",
        ),
        ("about 1.5 hours {= 90 / 60}", "90 (E1) ÷ 60 = 1.5 hours"),
        ("1% {= 4 million / 400 million} of it", "4 million ÷ 400 million = 1%"),
        (
            "320 million {= (1 - 20%) * 400 million} rows",
            "(1 − 20% (E1)) × 400 million = 320 million rows",
        ),
        ("more than 13 {= 1,200 / 90} a minute", "1,200 (E1) ÷ 90 (E1) = 13 a minute"),
    ],
)
def test_a_figure_that_follows_is_computed_again(text: str, formula: str) -> None:
    assert formulas_of(text) == [formula]


@pytest.mark.parametrize(
    "text, reason",
    [
        ("90 million {= 20% * 400 million} rows", "makes another figure"),
        ("80 million {= 25% * 320 million} rows", "'25%' in its formula is in no quote"),
        ("every 20 weeks {= 20% * 400 million / 4 million}", "in another unit"),
        ("1 hour {= 90 / 60}", "makes another figure"),
        ("exactly 13 {= 1,200 / 90} a minute", "makes another figure"),
        ("Rows {= 20% * 400 million}", "no figure stands in front"),
        ("60 {= 60} minutes", "needs two numbers"),
        ("24 {= 24 * 1} hours", "needs two numbers"),
        ("80 {= 20% * rows}", "'rows' in its formula is no number"),
        ("80 {= 20% * (400 million}", "can't be read"),
        ("0 {= 90 / (20% - 20%)}", "divides by zero"),
    ],
)
def test_a_figure_that_does_not_follow_is_refused(text: str, reason: str) -> None:
    with pytest.raises(NotComputedError, match=reason.replace("(", r"\(")):
        formulas_of(text)


STORE = "The server has 2 TB and must be back in 4 hours, to any point of the last 14 days."
RATE = "Its speed is at most 1024 megabytes per second; segments of 16 MB, one forced a minute."


@pytest.mark.parametrize(
    "text, formula",
    [
        ("139 MB/s {= 2 TB / 4 hours}", "2 TB ÷ 4 hours = 139 MB/s"),
        ("about 33 minutes {= 2 TB / 1024 MB/s}", "2 TB ÷ 1024 MB/s (E1) = 33 minutes"),
        ("20,160 segments {= 14 days / 1 minute}", "14 days ÷ 1 minute (E1) = 20,160 segments"),
        ("0.5 TB an hour {= 2 TB / 4 hours}", "2 TB ÷ 4 hours = 0.5 TB an hour"),
        ("323 GB {= 20,160 * 16 MB}", ""),
        ("20,160 {= 14 * 24 * 60} segments", "14 × 24 × 60 = 20,160 segments"),
    ],
)
def test_units_are_computed_too(text: str, formula: str) -> None:
    sources = [("E1", RATE), (ASKED, STORE)]
    if formula:
        assert formulas_of(text, *sources) == [formula]
    else:
        both = f"20,160 segments {{= 14 days / 1 minute}} of 16 MB make {text}"
        assert formulas_of(both, *sources)[1] == "20,160 × 16 MB (E1) = 323 GB"


@pytest.mark.parametrize(
    "text",
    ["139 MB/s {= 2 TB / 14 days}", "13 minutes {= 2 TB / 1024 MB/s}", "39 GB {= 2 TB / 4 hours}"],
)
def test_a_result_in_another_unit_is_refused(text: str) -> None:
    with pytest.raises(NotComputedError, match="makes"):
        formulas_of(text, ("E1", RATE), (ASKED, STORE))


@pytest.mark.parametrize(
    "text, formula",
    [
        ("100 {= 400 / 4} days", "400 million ÷ 4 million = 100 days"),
        ("20 days {= 0.2 * 400 / 4}", "0.2 (E1) × 400 million ÷ 4 million = 20 days"),
        ("80 million {= 20% * 400} rows", "20% (E1) × 400 million = 80 million rows"),
        ("36 million {= 40 - 4} rows", "40 million (E2) − 4 million = 36 million rows"),
    ],
)
def test_a_scale_may_be_left_out_of_all_numbers(text: str, formula: str) -> None:
    sources = [*SOURCES, ("E2", "It warns forty million rows before the end.")]
    assert formulas_of(text, *sources) == [formula]
    with pytest.raises(NotComputedError):
        formulas_of("80 {= 20% * 400} rows", *sources)
    with pytest.raises(NotComputedError):
        formulas_of("200 days {= 0.2 * 400 / 4}", *sources)


def test_a_formula_may_go_on_from_the_one_before() -> None:
    text = "80 million {= 20% * 400 million} rows, 20 days {= 80 million / 4 million} of updates"
    assert formulas_of(text)[1] == "80 million ÷ 4 million = 20 days"


def test_numbers_are_read_as_their_language_writes_them() -> None:
    quote = "Bei Zahlung binnen 10 Tagen werden 2,5 Prozent Skonto auf 86.000 Euro gewährt."
    text = "Das bringt 2.150 Euro {= 2,5% * 86.000}."
    assert formulas_of(text, ("E1", quote)) == ["2,5% (E1) × 86.000 (E1) = 2.150 Euro"]


@pytest.mark.parametrize(
    "quote, text",
    [
        ("Vierzig Prozent der 250 Zimmer sind belegt.", "100 {= 40% * 250} Zimmer"),
        ("Es sind zweihundertfünfzig Zimmer zu 2 Betten.", "500 {= 250 * 2} Betten"),
        ("Je Halle dreitausendzweihundert Karten, 2 Hallen.", "6400 {= 3200 * 2} Karten"),
        ("Das Werk hat einundzwanzig Öfen mit je 3 Türen.", "63 {= 21 * 3} Türen"),
        ("Eine Million Zeilen auf 4 Rechnern.", "250.000 {= 1.000.000 / 4} Zeilen"),
        ("Zweieinhalb Stunden je Kilogramm bei 4 Kilogramm.", "10 {= 2,5 * 4} Stunden"),
        ("Anderthalb Stunden je Kilogramm bei 4 Kilogramm.", "6 {= 1,5 * 4} Stunden"),
        ("Compressing takes 7600k and unpacking 3700k.", "2.05 {= 7600k / 3700k} times"),
    ],
)
def test_german_words_and_scales_behind_digits_are_numbers(quote: str, text: str) -> None:
    assert len(formulas_of(text, ("E1", quote))) == 1


@pytest.mark.parametrize("word", ["ein", "achten", "Tausende", "hundertste", "Elfe"])
def test_a_word_that_only_looks_like_a_number_is_none(word: str) -> None:
    with pytest.raises(NotComputedError, match="in no quote"):
        formulas_of("16 {= 8 * 2} Türen", ("E1", f"Die {word} mit 2 Türen."))


@pytest.mark.parametrize(
    "quote, text, formula",
    [
        (
            "It took nine hours on a table of 400 million rows.",
            "80 million {= 20% * 400 million} rows",
            "20% (E1) × 400 million rows (Q) = 80 million rows",
        ),
        (
            "It took nine hours on a table of 400 million rows.",
            "80 million {= 20% * 400} rows",
            "20% (E1) × 400 million rows (Q) = 80 million rows",
        ),
        (  # another thing of the same number
            "The visitors of the park, 400 million in all, pay a ticket.",
            "80 million {= 20% * 400 million} visitors of the park",
            "20% (E1) × 400 million (E2) = 80 million visitors",
        ),
        (  # another measure
            "A page has 400 million bytes.",
            "80 million {= 20% * 400 million} bytes",
            "20% (E1) × 400 million (E2) = 80 million bytes",
        ),
    ],
    ids=["same", "without scale", "another thing", "another measure"],
)
def test_a_figure_of_the_question_is_its_asker_s_though_a_quote_has_it(
    quote: str, text: str, formula: str
) -> None:
    _, formulas = split_formulas(text)
    sources = [("E1", QUOTE), ("E2", quote), (ASKED, QUESTION)]
    [made] = compute_formulas(formulas, sources, marks_asked=True)
    assert made.formula == formula
    [before] = compute_formulas(formulas, sources)
    assert "(Q)" not in before.formula and "400 million (E2)" in before.formula


TAPES = "I have some 60 VHS tapes and an old PC."


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        (
            "An hour of film has 90,000 {= 60 * 60 * 25} frames.",
            "60 × 60 × 25 (E1) = 90,000 frames",
        ),
        (
            "The VHS tapes have 1,500 {= 60 * 25} frames.",
            "60 VHS (Q) × 25 (E1) = 1,500 frames",
        ),
    ],
)
def test_what_converts_units_is_the_askers_only_with_what_it_counts(
    text: str, formula: str
) -> None:
    _, formulas = split_formulas(text)
    sources = [("E1", "There are 25 frames per second."), (ASKED, TAPES)]
    [made] = compute_formulas(formulas, sources, marks_asked=True)
    assert made.formula == formula


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        (
            "An hour takes 90,000 {= 60 * 60 * 25} frames.",
            "60 × 60 × 25 (E1) = 90,000 frames",
        ),
        (
            "They have 5.4 million {= 60 * 3600 * 25} frames.",
            "60 hours (Q) × 3600 × 25 (E1) = 5.4 million frames",
        ),
    ],
)
def test_sixty_is_the_askers_hours_where_seconds_are_made_of_them(text: str, formula: str) -> None:
    _, formulas = split_formulas(text)
    asked = "I have 60 hours of film; how many frames has an hour, and how many have all hours?"
    sources = [("E1", "There are 25 frames per second."), (ASKED, asked)]
    [made] = compute_formulas(formulas, sources, marks_asked=True)
    assert made.formula == formula


def test_a_size_gives_both_of_its_numbers() -> None:
    text = "An hour takes 75 GB {= 720 * 576 * 2 * 25 * 3600 / 1000000000} at two bytes a dot."
    _, formulas = split_formulas(text)
    quote = "Record with -s 720x576 at 25 frames per second, two bytes each."
    [made] = compute_formulas(formulas, [("E1", quote), (ASKED, TAPES)], marks_asked=True)
    assert made.formula.startswith("720 (E1) × 576 (E1) × 2 (E1) × 25 (E1) × 3600 ÷ 1000000000")


SERVER = "One Debian 12 server, Borg (or wait for 2.0?), 1.8 TB; 30 Mbit/s; we keep two years."


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("43.2 TB {= 2 * 12 * 1.8}", "two years (Q) × 12 × 1.8 TB (Q) = 43.2 TB"),
        (
            "5.6 days {= 1.8 * 8 * 1000000 / 30 / 86400}",
            "1.8 TB (Q) × 8 × 1000000 ÷ 30 Mbit/s (Q) ÷ 86400 = 5.6 days",
        ),
    ],
)
def test_a_version_in_the_question_is_no_figure_of_its_asker_s(text: str, formula: str) -> None:
    _, formulas = split_formulas(f"It takes {text} in all.")
    [made] = compute_formulas(formulas, [("E1", QUOTE), (ASKED, SERVER)], marks_asked=True)
    assert made.formula == formula
