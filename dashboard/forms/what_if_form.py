"""The thresholds under which a finished run is replayed."""

from __future__ import annotations

from django import forms

from dashboard.forms.knobs import as_text
from research.engine.config import ResearchConfig

LABELS = {
    "adaptive_quality_threshold": "Score to reach",
    "adaptive_max_depth": "Rounds at most",
    "min_improvement_threshold": "Least gain of the score in a round",
    "min_novelty_threshold": "Least share of new words in a round",
    "min_evidence_records": "Evidence records",
}


class WhatIfForm(forms.Form):
    """Fields of the thresholds, with the values of the recorded run as initial values."""

    def __init__(self, recorded: ResearchConfig, data: object = None) -> None:
        super().__init__(data)
        for name, label in LABELS.items():
            info = ResearchConfig.model_fields[name]
            self.fields[name] = forms.CharField(
                label=label,
                help_text=info.description,
                required=False,
                max_length=100,
                initial=as_text(getattr(recorded, name)),
                widget=forms.TextInput(attrs={"inputmode": "decimal"}),
            )

    def changes(self) -> dict[str, str]:
        """Return the values that differ from the run's, by name of the knob."""
        given = {name: self.cleaned_data[name].strip() for name in LABELS}
        return {
            name.upper(): value
            for name, value in given.items()
            if value and value != self.fields[name].initial
        }
