"""Titles: questions and headings in few words, and without what all of them begin with."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from research.engine.report.parts.headings import short_headings
from research.engine.text.tokens import capitalize_heading, is_stop_word, question_joints
from research.models import Run

SHARED_BY = 3
"""Least number of texts that share what they begin with."""
CLAUSE_END = re.compile(r"[.:;?!](?=\s)| (?=\()")  # not the one of "v1.5"
OPEN_END = " ,;:(–—"
"""Signs that a title doesn't end with."""
LONGEST_TITLE = 120
"""Characters of a question that is its own title; those of a longer one are fewer."""
ASKING = re.compile(r"(?<=[.!]) [^.!?]{40,}\?|(?<=[。！])[^。！？]{10,}？")
"""A sentence that can name a question whose first one only tells a story."""
MOST_LEADING = 3
"""Words in a row that only lead to the next, such as "and in the"."""


def title_of(run: Run) -> str:
    """Return the title of a run, as plain text: its question, or of a long one the plan's title or
    what it says is asked, or else the sentence that asks. A list has to load `plan_title` and
    `plan_brief`, as it leaves out the plan.
    """
    return in_plain_words(_title(run))


def in_plain_words(text: str) -> str:
    """Return a text in one line without the backticks of its code, for what shows no code."""
    return " ".join(text.replace("`", "").split())


def _title(run: Run) -> str:
    question = " ".join(run.question.split())
    if len(question) <= LONGEST_TITLE:
        return question
    is_listed = "plan" in run.get_deferred_fields()
    plan = run.plan or {} if not is_listed else {}
    if title := getattr(run, "plan_title", "") if is_listed else plan.get("title"):
        return str(title)
    brief = getattr(run, "plan_brief", "") if is_listed else plan.get("brief")
    named = " ".join((brief or "").split()).rstrip(".")
    if named and len(named) < len(question):
        return short_title(named, LONGEST_TITLE)
    return short_title(asking_part(question), LONGEST_TITLE)


def planned_headings(plan: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the headings that a plan gives its sub-questions, by their texts."""
    parts = (plan or {}).get("aspects", ())
    return {part["text"]: part["heading"] for part in parts if part.get("heading")}


def name_parts(texts: Sequence[str], plan: Mapping[str, Any] | None) -> dict[str, str]:
    """Return what a report's contents call sub-questions, by their texts: the plan's headings, and
    the words of the others in short.
    """
    short = zip(texts, short_headings(texts), strict=True)
    return dict(short) | planned_headings(plan)


def asking_part(question: str) -> str:
    """Return a question from its first asking sentence on, if it begins by telling something."""
    found = ASKING.search(question)
    if found is None or not {"?", "？"}.isdisjoint(question[: found.start()]):
        return question
    return question[found.start() :].strip()


def short_title(question: str, most: int) -> str:
    """Return a question as a title: as many of its first clauses as fit, without an ellipsis where
    a new sentence or the details begin.
    """
    text = " ".join(question.split())
    if len(text) <= most:
        return text
    ends = [found.start() for found in CLAUSE_END.finditer(text[: most + 1])]
    if ends and ends[-1] > most // 3:
        return text[: ends[-1] + (text[ends[-1]] in "?!")]
    joints = [place for place in question_joints(text) if most // 3 < place <= most]
    comma = text.rfind(", ", most // 2, most)
    end = max(*joints, comma) if joints else comma
    return f"{text[:end]}…" if end > 0 else shorten(text, most)


def shorten(text: str, most: int) -> str:
    """Return a text of at most so many characters and an ellipsis, cut after a word where its
    script has spaces; not after one that only leads to the next, such as "of" or "the".
    """
    text = " ".join(text.split())
    if len(text) <= most:
        return text
    kept = text[:most] if text[most] == " " else text[:most].rsplit(" ", 1)[0]
    words = kept.rstrip(OPEN_END).split(" ")
    least = max(1, len(words) - MOST_LEADING)
    ends = range(len(words), least - 1, -1)
    end = next((n for n in ends if not is_stop_word(words[n - 1].rstrip(OPEN_END))), len(words))
    return f"{' '.join(words[:end]).rstrip(OPEN_END)}…"


def shared_lead(texts: Sequence[str]) -> str:
    """Return the words before a colon with which most of several texts begin: "Oaks" of "Oaks: how
    old?", "Oaks: how tall?" and "Oaks: where?"; '' if there are none.
    """
    leads = Counter(lead for lead, colon, _ in (text.partition(": ") for text in texts) if colon)
    lead, number = max(leads.items(), key=lambda item: item[1], default=("", 0))
    return lead if number >= SHARED_BY and 2 * number > len(texts) else ""


def without_lead(text: str, lead: str) -> str:
    """Return a text without the words that others begin with as well: "How old?"."""
    start = f"{lead}: "
    if not lead or text[: len(start)].casefold() != start.casefold() or not text[len(start) :]:
        return text
    return capitalize_heading(text[len(start) :])


def without_lead_within(text: str, lead: str) -> str:
    """Return a text that names a sub-question without that beginning: "More on: how old?"."""
    return text.replace(f"{lead}: ", "", 1) if lead else text
