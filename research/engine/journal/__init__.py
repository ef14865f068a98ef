"""The journal: every outside call and every decision of a run, keyed by its place.

The engine reaches the outside only through a `Journal`. A call whose place is already
settled is answered from the record; so a resume and a replay are the same thing as a
run, only cheaper. A place is a path such as `round/2/unit/1/read`, never a content or a
database id; a retry is a new attempt at the same place.

Order of writing: a pending entry before a model call is made, the settled entry before
its answer is used. What was settled is never paid for again.
"""

from research.engine.journal.calls import Journal
from research.engine.journal.recording import (
    EARLIER_FORM,
    EarlierFormError,
    EmptyInbox,
    Entry,
    EntryKind,
    EntryStatus,
    Inbox,
    JournalEndsError,
    MemoryStore,
    ParkedError,
    Store,
    digest_of,
    make_storable,
)

__all__ = [
    "EARLIER_FORM",
    "EarlierFormError",
    "EmptyInbox",
    "Entry",
    "EntryKind",
    "EntryStatus",
    "Inbox",
    "Journal",
    "JournalEndsError",
    "MemoryStore",
    "ParkedError",
    "Store",
    "digest_of",
    "make_storable",
]
