"""The tables: what the engine recorded and what people said.

Engine rows are upserted by their natural key (`projection.py`, `journal_store.py`);
`Command` and `Verdict` belong to people and are only appended to.
"""

from research.models import lookups  # noqa: F401 - registered by being imported
from research.models.documents import Collection, Document
from research.models.findings import (
    Aspect,
    Evidence,
    EvidenceSource,
    Gap,
    RefusedQuote,
    Source,
)
from research.models.installation import InstallationSetting
from research.models.journal import CachedPage, JournalEntry, PageText, RunPage
from research.models.people import Command, NeverSite, Verdict
from research.models.reports import Report
from research.models.rounds import GateResult, Problem, Round, Unit
from research.models.runs import Run, Thread
from research.models.snapshots import Snapshot

__all__ = [
    "Aspect",
    "CachedPage",
    "Collection",
    "Command",
    "Document",
    "Evidence",
    "EvidenceSource",
    "Gap",
    "GateResult",
    "InstallationSetting",
    "JournalEntry",
    "NeverSite",
    "PageText",
    "Problem",
    "RefusedQuote",
    "Report",
    "Round",
    "Run",
    "RunPage",
    "Snapshot",
    "Source",
    "Thread",
    "Unit",
    "Verdict",
]
