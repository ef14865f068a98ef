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
    """The summary of a report in sections names statements of which only one can be right; these
    are put right by the quotes of both, or told as a dispute. It writes the table of the course of
    events. How many findings are asked for follows how much of a page is shown and for how many
    topics, and twice as many are kept. What a report leaves open is searched for once more. The
    last look sees what the report says on its points, and words what is left of one. The short
    answer has a line on each sub-question before the steps. Only short quotations that can be read
    alone stand among statements, and are cut before them. A word that is code once is code
    everywhere. What people told a run in words is shown to comparison and repair, and to who checks
    next steps; it holds for follow-ups. A figure of the question is its asker's, also where a page
    has it. Assessments and the summary are told where there is more that may only be quoted. A
    report that a person wants at once isn't reopened. Each quote has the heading of its own place.
    The verifier sees title and site of a quote, and of each record the quotes with the figures,
    names and rare words of a statement. A repair is told which word, figure or name is nobody's,
    and may mend a first sentence. An uncited sentence stands where it only leads over to a cited
    one, and is left out elsewhere. Canaries have no list that is cut short and no name with another
    word. All that only wording tells of a finding is left to a good verifier. A quote that refers
    back begins with the sentence before it. Parts of a sub-question that nothing tells are open
    points, and the finding that answers it most directly is its key claim. The history of something
    is a course of events. A section is shown every dispute that it has a side of, with what it is
    about and who holds which view. A figure has the date of its clause. An author's section gets no
    quotation that the author was shown and left out. What happened once is never doubted. The
    comparison is shown the disputes that code suspects, of which those that it leaves out end; two
    named holders disagree on one site, too. A view that its holder's side has is not told again.
    Of many sentences behind a finding the quotes kept tell most of its claim. Authors are told what
    the tables hold. Canaries name their sources like statements. Commands may have names of the
    asker's tables and columns. A late statement never parts one from another that refers back.
    What is open on a sub-question stands in its section. A verifier that is still to be tested
    counts as a good one when pages are read; of a refused claim every quote is a finding.
    A quote may have several items of a list. Cells of a table may rest on several findings
    together, and rows have one value or more. The planner of a run over documents alone is told
    their titles. A verdict, and a sentence of each section, may conclude what no quote says; all
    cells but figures are verified; and readers are shown headings. Why research ended is told by
    the answers that there are once the report is checked. A model is tested as verifier before its
    first report is checked. Documents are searched for each thing that is compared. What a report
    rests on is told in a line of its own, by name. A sub-question that the last assessment left
    open is answered where its section has several statements and leaves only details open.
    A command comes along with the sentence that leads to it when pages are read.
    """


OLDEST, NEWEST = Form.REPAIRED, max(Form)
