"""The thresholds under which a finished run is replayed."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from dashboard.forms.knobs import as_text
from dashboard.stored_texts import lazy_worded
from research.engine.config import ResearchConfig

LABELS = {
    "adaptive_quality_threshold": _("Target score"),
    "adaptive_max_depth": _("Maximum rounds"),
    "min_improvement_threshold": _("Smallest useful gain"),
    "min_novelty_threshold": _("Smallest share of new words"),
    "min_evidence_records": _("Minimum evidence"),
}


class WhatIfForm(forms.Form):
    """Fields of the thresholds, with the values of the recorded run as initial values."""

    def __init__(self, recorded: ResearchConfig, data: object = None) -> None:
        super().__init__(data)
        for name, label in LABELS.items():
            info = ResearchConfig.model_fields[name]
            self.fields[name] = forms.CharField(
                label=label,
                help_text=lazy_worded(info.description or ""),
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
