"""Forms of research: a run is continued and replayed in the form in which it began.

Each change that would make an old journal decide differently adds a form. The number is journaled
when the run begins; code compares `run.form` with the form that introduced its behaviour.
"""

from __future__ import annotations

from enum import IntEnum


class Form(IntEnum):
    """What a run does, by the version that began it; each form includes the earlier ones."""

    FIRST = 0
    VERIFIED = 1
    """Pages are fenced under a secret of the run, and statements go to the verifier."""
    BROAD = 2
    """Limits follow the number of sub-questions."""
    NEARBY = 3
    """Relevant pages are cut to the surroundings of wanted terms, and the claims of the ledger are
    verified beside the draft."""
    COMPARED = 4
    """Findings are compared with each other before the draft."""
    DETAILED = 5
    """Broad runs read pages whole; reports keep to a length, show superseded values with their
    dates and, if thorough, name the source of each statement.
    """
    LOOKED_TWICE = 6
    """The verifier looks at each statement twice, the second time for faults."""
    PROVEN = 7
    """Code refuses a statement only by a proven difference, and the quote is shown in the place of
    one that nearly has its words.
    """
    QUOTED = 8
    """What dictates the words of others is evidence only as a quotation, and leads nowhere."""
    FIRST_SEEN = 9
    """A value is as old as its first appearance; a value that only a newer one's quote recalls is
    no current one. Prompts repeat less.
    """
    DENSE = 11
    """A report that is too long says everything once and keeps the statements that take fewest
    words; a sentence with an earlier figure beside the current one says which it is.
    """
    READABLE = 12
    """Each sentence of the short answer can be read alone. Without a model a passage that holds the
    size, date or name that is asked for comes first, and the answer opens with its sentence.
    """
    HELD = 13
    """A score that is held below the threshold doesn't reach it for the stop rule either, and marks
    that code gave in a model's place are held whichever way it came to give them.
    """
    COUNTED = 14
    """Reports and messages count queries as queries; searches are what the meter counts."""
    DATED = 15
    """Quotations are compared with the other findings, a figure that none of them shows to be
    current stands with its date, and the question names the rows and columns of a comparison.
    """
    FITTED = 16
    """Sentences that the fitted model classifies as instructions or dictation are only quoted;
    instructions by the rules as well are removed. Code refuses only claims worded like their quote.
    """
    ENTRIES = 17
    """Without a model, a passage contains an entry's name together with its default or version, and
    passages that are unlikely to answer are not shown.
    """
    SURROUNDED = 18
    """What surrounds a sentence tells, too, whether it may only be quoted: its block, and how
    little it shares with its page and the question. Prompts are shorter.
    """
    DIRECT = 19
    """The short answer has the main finding on each sub-question, in the order of the plan."""
    PARTED = 20
    """Without a model, each of two questions in one sentence is searched by itself, the first round
    follows no more names than it may read pages, and unlikely passages are shown folded.
    """
    ORDERED = 21
    """Of the figures that a quotation gives, the one that appeared last is none that it recalls,
    and one is called an earlier figure only if claims or years show that it is. Old values of a
    comparison are dated outside its table as well, and a section quotes the same words once.
    """
    WHOLE_ENTRIES = 22
    """Without a model, the sections below an entry's heading belong to the entry, the line with its
    default is no byline, and a version answers when it was added.
    """
    REWORDED = 23
    """All unfaithful canaries are made of reworded sentences, so that they share fewer words with
    their quotes, as statements do.
    """
    CONCISE = 24
    """A quick report that is too long lists key figures, and of its statements and the claims that
    its draft left out it keeps those that take fewest words. A quick run on many sub-questions
    keeps more claims of a page. The signs of a table are no words.
    """
    LED = 25
    """Reports tell dates in words and earlier values within the sentence of the current one,
    name sources beside statements only in reviews, and have both sides of a dispute in one box.
    Their headings are short, and name what each item of the short answer is on; a verdict and how
    far the question is answered stand around the items.
    """
    EMBEDDED = 26
    """Embedded clauses and quotations, such as reported speech, are compared with the page apart
    from the sentence around them; titles and headings lose a last part that is foreign to the page,
    and the host is shown instead of a site name that is no name. Questions about what people say
    are questions about wording.
    """
    MERGED = 27
    """A sentence that several sections share verbatim is kept once, citing the evidence of all. A
    broad question keeps as many claims of a long page as the prompt asks for, and the quote of a
    refused claim is kept as evidence if it has most of the claim's words. Quotations are inline,
    those that repeat a statement are dropped, and sections count their confirmed statements.
    """
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


NEWEST = max(Form)
