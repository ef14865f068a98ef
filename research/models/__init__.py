"""Database tables: the engine's records, and users' input.

Engine rows are upserted by natural key (`projection.py`, `journal_store.py`); `Command` and
`Verdict` come from users and are append-only.
"""

from research.models import lookups  # noqa: F401 - registered by being imported
from research.models.api_tokens import ApiToken
from research.models.documents import Collection, Document
from research.models.findings import (
    Aspect,
    Evidence,
    EvidenceSource,
    Gap,
    RefusedQuote,
    Source,
)
from research.models.installation import InstallationSetting, VerifierQualification
from research.models.journal import CachedPage, JournalEntry, PageText, RunPage
from research.models.notifications import Delivery, EmailChoice, Event, Webhook
from research.models.people import Command, NeverSite, Verdict
from research.models.processes import SharedLimit, WorkerProcess
from research.models.reports import Report
from research.models.rounds import GateResult, Problem, Round, Unit
from research.models.runs import Run, Thread
from research.models.schedules import Cadence, Occurrence, Schedule
from research.models.snapshots import Snapshot
from research.models.what_if import WhatIf

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
