"""Manual pages as text: sections, terms, paragraphs and examples."""

from __future__ import annotations

import pytest

from research.engine.text.sentences import split_sentences
from research.extract.extract import extract_text
from research.extract.manualpage import manual_markdown

PAGE = """\
TIDED(8)                    System Manager's Manual                   TIDED(8)

NAME
       tided - tell the tides

DESCRIPTION
       The  daemon  reads  the  height of the sea from a gauge.  It is kept up‐
       dated as long as the gauge answers.  Of the gauges that are known it
       takes the nearest.

       o      A gauge that is wet comes first.

       For example:

           tided /dev/gauge0
           tided -g 2 on /dev/gauge1

   Files
       -g gauge
              Which of the gauges is read. The default is 0.

       -l     Use the longest wave that there is.

       -v     Write to the log what is read, from which of all the gauges, and
              what is done with it.

       -f FORM
              The form is made of these:
              %h  the height
              %t  the time
              Without one only heights are written.

       It is started by the harbour.

Harbour                          June 2024                            TIDED(8)
"""
SHOWN = """\
## NAME

    tided - tell the tides

## DESCRIPTION

The daemon reads the height of the sea from a gauge. It is kept updated as long as the gauge \
answers. Of the gauges that are known it takes the nearest.

- A gauge that is wet comes first.

For example:

    tided /dev/gauge0
    tided -g 2 on /dev/gauge1

### Files

###### -g gauge

Which of the gauges is read. The default is 0.

***

-l Use the longest wave that there is.

-v Write to the log what is read, from which of all the gauges, and what is done with it.

###### -f FORM

The form is made of these:

%h the height

%t the time

Without one only heights are written.

***

It is started by the harbour."""


def test_a_manual_page_is_read_as_sections_terms_paragraphs_and_examples() -> None:
    found = extract_text(PAGE.encode(), "text/plain", "file:///docs/tided.8.txt")
    assert found.title == "tided(8) – tell the tides"
    assert found.text == SHOWN
    told = {each.text: each for each in split_sentences(found.text)}
    assert told["The default is 0."].section == "Files › -g gauge"
    assert told["Without one only heights are written."].section == "Files › -f FORM"
    assert told["It is started by the harbour."].section == "Files"
    assert told["tided /dev/gauge0 tided -g 2 on /dev/gauge1"].kind == "code"


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("Every command takes options.  They may stand before or behind the names of its", "prose"),
        ("host name [option]...", "code"),
        ("listen on 127.0.0.1 or on ::1", "code"),
        ("It is read at the start.", "prose"),
    ],
)
def test_a_line_is_prose_where_it_is_wide_or_ended_and_has_words_of_sentences(
    line: str, shown: str
) -> None:
    lines = ["X(1)  Commands  X(1)", "", f"       {line}", "", "end  2024  X(1)"]
    [told] = [each for each in manual_markdown(lines) if each]
    assert told.startswith("    ") is (shown == "code")


def test_other_texts_stay_as_they_are() -> None:
    text = "The tides\n\n    high = 7\n\nThey rise."
    assert extract_text(text.encode(), "text/plain", "file:///a.txt").text == text
