"""The survey instrument: a whole run through it, and how it reads a report."""

from dataclasses import dataclass

from bench.survey.__main__ import figures_of, research
from bench.survey.measure import rows
from bench.survey.oracle import parts_of
from bench.survey.reading import measure_form, read_report


@dataclass(frozen=True)
class Cited:
    marker: int
    url: str


REPORT = """# What?

**Short answer.** It is old. [1]

*1 of 1 answered*

## A part

It was built in 1889, says Dr. [1] It weighs 4.6 tonnes. [1][2] (⚠ Sources disagree)

- One thing. [2]
- Another \\*thing\\*. [1]

| Name | Year |
| --- | --- |
| Tower [1] | 1889 |

## Sources

- [1] x
"""
CITED = [Cited(1, "https://a.example/"), Cited(2, "https://b.example/")]


def test_a_report_is_read_as_sentences_with_addresses_and_tables() -> None:
    read = read_report(REPORT, CITED)
    said = {each["text"]: each["urls"] for each in read["sentences"]}
    assert said["It weighs 4.6 tonnes."] == ["https://a.example/", "https://b.example/"]
    assert said["Another *thing*."] == ["https://a.example/"]
    assert read["tables"] == [[["Name", "Year"], ["Tower", "1889"]]]


def test_repetitions_are_counted_behind_the_summary() -> None:
    twice = "The tower was built of iron in Paris. [1]"
    report = f"# What?\n\n{twice}\n\n*facts*\n\n## A\n\n{twice} {twice}\n\n## Sources\n"
    assert measure_form(report, CITED)["repeated"] == 1


def test_the_oracle_plans_by_the_words_of_the_question() -> None:
    asked = "Survey the Tower of Ys: why it was built, who paid, and what went wrong."
    assert [part.partition(": ")[2] for part in parts_of(asked)] == [
        "why it was built?", "who paid?", "what went wrong?",
    ]  # fmt: skip


async def test_a_quick_run_covers_a_quarter_of_a_survey_question() -> None:
    question = next(row for row in rows("questions.jsonl") if row["id"] == "s1")
    figures = figures_of(question, await research(question, "quick"))
    assert (figures["coverage"] or 0) >= 0.2 and (figures["words"] or 0) <= 450
    assert figures["summary"] == 1 and figures["citations_backed"] == 1
