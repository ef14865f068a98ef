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
    REPAIRED = 35
    """The oldest form that is continued and replayed."""
    COMPUTED = 36
    """A figure may have a formula of figures that its quotes and the question give. What the model
    infers that the asker should do opens the short answer, with commands that may be its own. What
    a report leaves open is looked for once more on the pages that were read. A good verifier is
    left to judge the wording of findings and statements. Timelines, sources and the method are told
    more plainly. A run that asks for no approval follows what it was told during planning.
    """
    EDITED = 37
    """All that only wording tells of a finding is left to a good verifier. A quote that refers back
    begins with the sentence before it. Parts of a sub-question that nothing tells are open points,
    and the finding that answers it most directly is its key claim. The history of something is a
    course of events.
    """


OLDEST, NEWEST = Form.REPAIRED, max(Form)
