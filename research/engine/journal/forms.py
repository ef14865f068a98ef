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
    GATHERED = 31
    """The oldest form that is continued and replayed."""
    NAMED = 32
    """The plan names the report and each sub-question in few words. Where changes are asked for,
    reports that are drafted at once are given earlier values, too, and the table of changes has
    those that were cut from the sections.
    """
    ORGANISED = 33
    """The draft assigns each statement to a section. The short answer has brief sentences of its
    own, and the sections of standard reports repeat their content. The comparison returns the rows
    of the table of changes. The verifier sees up to four quotes of a record. Sources dated after
    the report are marked.
    """
    ATTRIBUTED = 34
    """The comparison returns what kind of publisher each site is, which boxes of disputes tell. The
    sentences of the short answer are shorter. A long page that several searches name first is shown
    for all of their topics, and what wasn't shown of it may be read in a later round. A finding has
    the quotes of sentences that stand apart.
    """
    REPAIRED = 35
    """What the verifier or code refuses of a draft is repaired once and checked again before quotes
    stand in its place. An assessment is told what people wrote to the run.
    """
    COMPUTED = 36
    """A figure may have a formula of figures that its quotes and the question give. What the model
    infers that the asker should do opens the short answer, with commands that may be its own. What
    a report leaves open is looked for once more on the pages that were read. A good verifier is
    left to judge the wording of findings and statements. Timelines, sources and the method are told
    more plainly. A run that asks for no approval follows what it was told during planning.
    """
    EDITED = 37
    """A section is shown every dispute that it has a side of, with what it is about and who holds
    which view. A figure has the date of its clause. An author's section gets no quotation that
    the author was shown and left out. What happened once is never doubted.
    """


OLDEST, NEWEST = Form.GATHERED, max(Form)
