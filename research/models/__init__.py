"""Database tables: the engine's records, and users' input.

Engine rows are upserted by natural key (`projection.py`, `journal_store.py`); `Command` and
`Verdict` come from users and are append-only.
"""

from research.models import lookups  # noqa: F401 - registered by being imported
from research.models.documents import Collection, Document
from research.models.findings import (
    Aspect,
    Evidence,
    EvidenceSource,
    Gap,
    RefusedQuote,
    Report,
    Source,
)
from research.models.installation import (
    InstallationSetting,
    SharedLimit,
    VerifierQualification,
    WorkerProcess,
)
from research.models.journal import CachedPage, JournalEntry, PageText, RunPage
from research.models.notifications import Delivery, EmailChoice, Event, Webhook
from research.models.people import ApiToken, Command, NeverSite, ShareLink, Verdict
from research.models.rounds import GateResult, Problem, Round, Unit, WhatIf
from research.models.runs import Run, Snapshot, Thread
from research.models.schedules import Cadence, Occurrence, Schedule

__all__ = [
    "ApiToken",
    "Aspect",
    "CachedPage",
    "Cadence",
    "Collection",
    "Command",
    "Delivery",
    "Document",
    "EmailChoice",
    "Event",
    "Evidence",
    "EvidenceSource",
    "Gap",
    "GateResult",
    "InstallationSetting",
    "JournalEntry",
    "NeverSite",
    "Occurrence",
    "PageText",
    "Problem",
    "RefusedQuote",
    "Report",
    "Round",
    "Run",
    "RunPage",
    "Schedule",
    "ShareLink",
    "SharedLimit",
    "Snapshot",
    "Source",
    "Thread",
    "Unit",
    "Verdict",
    "VerifierQualification",
    "Webhook",
    "WhatIf",
    "WorkerProcess",
]
