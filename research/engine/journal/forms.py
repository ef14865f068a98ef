"""Forms of research: a run is continued and replayed in the form in which it began.

Each change that would make an old journal decide differently adds a form. The number is journaled
when the run begins; code compares `run.form` with the form that introduced its behaviour. When the
oldest form goes, so do its branches: runs of it are neither continued nor replayed any more.
"""

from __future__ import annotations

from enum import IntEnum


class Form(IntEnum):
    """What a run does, by the version that began it; each form includes the earlier ones."""

    BY_CODE = 0
    """What `Run.form` is without a model."""
    MERGED = 27
    """The oldest form that is continued and replayed."""
    UNCUT = 28
    """Headings and labels of sub-questions are never cut within a clause and omit names that most
    sub-questions share. The prompt of the assessment lists the findings that it omitted before, by
    their first words.
    """
    CARRIED = 29
    """A claim that is only suspected stays one until it is verified; the date of a page may date
    what it says; a verifier that missed hardly anything is believed on details. Disputes by words
    alone end where a comparison finds none, and a claim that it calls outdated is doubted though
    the newer one has other words. Summaries are written from statements that can be read alone and
    whole disputes, sections are given earlier values where changes are asked for, and the
    assessment sees findings once and rewords its gaps.
    """
    TOLD = 30
    """Where a sub-question asks for the course of events, the timeline stands in its section and
    has the dated findings that the draft left out; they answer it in the short answer.
    """
    GATHERED = 31
    """A sentence of the short answer that failed gives way to the statements that it rested on. The
    course of events is told by its landmarks, its table has each event once and opens its section,
    and one that nobody asked for needs more events. All statements on one dispute stand together,
    whatever pairs of their records are known. A section of few statements says that no more was
    found, and the comparison names what was so before where that is no amount. What pages dictate
    stands behind the names of their sites.
    """
    NAMED = 32
    """The plan names the report and each sub-question in few words. Where changes are asked for,
    reports that are drafted at once are given earlier values, too, and the table of changes has
    those that were cut from the sections.
    """


OLDEST, NEWEST = Form.GATHERED, max(Form)
