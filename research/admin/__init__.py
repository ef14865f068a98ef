"""Review in Django's admin: what the engine recorded is read, evidence is judged."""

from research.admin.calls import JournalEntryAdmin
from research.admin.collections import CollectionAdmin
from research.admin.evidence import EvidenceAdmin
from research.admin.runs import GateResultAdmin, ReportAdmin, RoundAdmin, RunAdmin

__all__ = [
    "CollectionAdmin",
    "EvidenceAdmin",
    "GateResultAdmin",
    "JournalEntryAdmin",
    "ReportAdmin",
    "RoundAdmin",
    "RunAdmin",
]
