"""The analyst of a run: understands the question, reads pages, assesses the ledger and drafts.

`Analyst` is the interface, with three implementations: `OfflineAnalyst` works by rules,
`ModelAnalyst` asks a model, `SmallModelAnalyst` asks a small model one small thing at a time. A
task that a model fails on is done by rules and counted with its cause, so every run completes.
"""

from research.engine.analyst.interface import Analyst
from research.engine.analyst.model import ModelAnalyst
from research.engine.analyst.offline import OfflineAnalyst
from research.engine.analyst.small_model import SmallModelAnalyst
from research.engine.run import Run

__all__ = ["Analyst", "ModelAnalyst", "OfflineAnalyst", "SmallModelAnalyst", "analyst_of"]


def analyst_of(run: Run) -> Analyst:
    """Return the analyst that the run's model and its profile call for."""
    if not run.has_model:
        return OfflineAnalyst(run)
    if run.config.model_profile == "small":
        return SmallModelAnalyst(run)
    return ModelAnalyst(run)
