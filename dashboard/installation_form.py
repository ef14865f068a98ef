"""What an admin sends on the setup page."""

from __future__ import annotations

from typing import Any

from django import forms

from research.installation import SECRET, SERVER, Installation


class InstallationForm(forms.Form):
    """The settings that an admin may change here; what the environment sets is only shown.

    The key is written and never shown: an empty field keeps it.
    """

    OPENAI_BASE_URL = forms.CharField(
        label="Address of the model's server",
        required=False,
        max_length=500,
        help_text="It speaks OpenAI's chat completions and usually ends in /v1. "
        "Empty: OpenAI's own.",
    )
    OPENAI_API_KEY = forms.CharField(
        label="Key",
        required=False,
        max_length=500,
        strip=True,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}, render_value=False),
    )
    RESEARCH_MODEL = forms.CharField(
        label="Model",
        required=False,
        max_length=200,
        help_text="It plans, reads and writes. Empty: passages are quoted.",
    )
    READER_MODEL = forms.CharField(
        label="Model that reads pages",
        required=False,
        max_length=200,
        help_text="Most calls are its: a cheaper one may do. Empty: the same.",
    )
    EVALUATOR_MODEL = forms.CharField(
        label="Model that judges each round",
        required=False,
        max_length=200,
        help_text="A cheaper one will do. Empty: the same.",
    )
    MODEL_PROFILE = forms.ChoiceField(
        label="Profile",
        required=False,
        choices=[("standard", "standard"), ("small", "small: short prompts, one thing at a time")],
    )
    SEARCH_PROVIDER = forms.CharField(
        label="Search",
        required=False,
        max_length=200,
        help_text="Searches by name, preferred first, with commas between. Empty: what is set up.",
    )
    SEARXNG_URL = forms.CharField(label="Address of SearXNG", required=False, max_length=500)
    forget_key = forms.BooleanField(label="Forget the key", required=False)

    use_required_attribute = False

    def __init__(self, now: Installation, data: Any = None) -> None:
        super().__init__(data)
        self.has_key = bool(now[SECRET])
        self.server_is_given = any(now.values[name].origin == "environment" for name in SERVER)
        for name, held in now.values.items():
            field = self.fields[name]
            if held.origin == "environment" or (name in SERVER and self.server_is_given):
                field.disabled = True
                field.help_text = "Set by the environment, which wins."
            elif name == SECRET:
                kept = "One is kept; it is never shown. Write another to replace it."
                field.help_text = kept if self.has_key else "None is kept."
            if name != SECRET:
                field.initial = held.value
        if self.server_is_given or not self.has_key:
            del self.fields["forget_key"]

    def changes(self) -> dict[str, str]:
        """What was sent and may be changed, by name."""
        wanted = {
            name: value
            for name, value in self.cleaned_data.items()
            if name in self.fields and not self.fields[name].disabled and name != "forget_key"
        }
        if not wanted.get(SECRET) and not self.cleaned_data.get("forget_key"):
            wanted.pop(SECRET, None)
        return {
            name: value for name, value in wanted.items() if name in self.data or name == SECRET
        }
