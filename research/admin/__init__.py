"""Review in Django's admin: engine records are read-only, evidence can be judged."""

from research.admin.collections import CollectionAdmin
from research.admin.evidence import EvidenceAdmin
from research.admin.runs import (
    GateResultAdmin,
    JournalEntryAdmin,
    ReportAdmin,
    RoundAdmin,
    RunAdmin,
    ShareLinkAdmin,
)

__all__ = [
    "CollectionAdmin",
    "EvidenceAdmin",
    "GateResultAdmin",
    "JournalEntryAdmin",
    "ReportAdmin",
    "RoundAdmin",
    "RunAdmin",
    "ShareLinkAdmin",
]
