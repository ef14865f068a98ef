"""Forms of the pages Notifications and Schedules."""

from __future__ import annotations

from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.utils.translation import gettext_lazy as _

from dashboard.api.asking import build_config
from dashboard.forms import sources
from dashboard.forms.knobs import tell_problem
from dashboard.queries import queries
from research.engine.knobs import ConfigError
from research.models import Cadence, Schedule
from research.notifications.subscriptions import SUBSCRIBABLE, URL_LENGTH
from research.runtime.installation import current_installation
from research.schedules.manage import Plan
from research.services.runs import QUESTION_LENGTH

EVENTS = {
    "run.finished": _("A run finished"),
    "run.failed": _("A run failed"),
    "run.asks": _("A run needs a decision"),
    "schedule.result": _("A schedule has a result"),
}
WEEKDAYS = [
    (0, _("Monday")),
    (1, _("Tuesday")),
    (2, _("Wednesday")),
    (3, _("Thursday")),
    (4, _("Friday")),
    (5, _("Saturday")),
    (6, _("Sunday")),
]
CADENCES = [
    (Cadence.DAILY.value, _("Every day")),
    (Cadence.WEEKLY.value, _("Every week")),
    (Cadence.MONTHLY.value, _("Every month")),
]
UNCHANGED = "unchanged"
"""The choice of the sources that a schedule has, while they are none of those on offer."""
DEPTHS = [("quick", _("Quick")), ("standard", _("Standard")), ("thorough", _("Thorough"))]


class EventsField(forms.MultipleChoiceField):
    def __init__(self) -> None:
        super().__init__(
            label=_("When"),
            choices=[(event.value, EVENTS[event.value]) for event in SUBSCRIBABLE],
            initial=[event.value for event in SUBSCRIBABLE],
            widget=forms.CheckboxSelectMultiple,
            error_messages={"required": _("Choose at least one event.")},
        )


class WebhookForm(forms.Form):
    url = forms.CharField(
        label=_("Address"),
        max_length=URL_LENGTH,
        widget=forms.URLInput(
            attrs={"placeholder": "https://example.org/hooks", "autocomplete": "off"}
        ),
        error_messages={"required": _("Enter the address that receives notifications.")},
    )
    events = EventsField()

    use_required_attribute = False


class EmailForm(forms.Form):
    address = forms.EmailField(
        label=_("Address"),
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
        error_messages={"required": _("Enter your e-mail address.")},
    )
    events = EventsField()

    use_required_attribute = False


class ScheduleForm(forms.Form):
    """A question and when it is asked; `initial` are the values of an existing schedule."""

    question = forms.CharField(
        label=_("Question"),
        max_length=QUESTION_LENGTH,
        widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={"required": _("Enter a question.")},
    )
    cadence = forms.ChoiceField(label=_("How often"), choices=CADENCES)
    weekday = forms.TypedChoiceField(
        label=_("Day of the week"),
        choices=WEEKDAYS,
        coerce=int,
    )
    day = forms.IntegerField(
        label=_("Day of the month"),
        min_value=1,
        max_value=31,
        initial=1,
        help_text=_("In shorter months it is the last day."),
    )
    at = forms.TimeField(
        label=_("Time"),
        initial="08:00",
        widget=forms.TimeInput(format="%H:%M", attrs={"type": "time"}),
        error_messages={"required": _("Enter a time, such as 08:00.")},
    )
    time_zone = forms.ChoiceField(label=_("Time zone"))
    research_depth = forms.ChoiceField(label=_("Depth"), choices=DEPTHS)
    max_cost_usd = forms.FloatField(
        label=_("Budget per run, in dollars"),
        required=False,
        help_text=_("Leave empty for the server's limit."),
        widget=forms.TextInput(attrs={"inputmode": "decimal"}),
    )
    only_new = forms.BooleanField(
        label=_("Report only what is new since last time"), required=False
    )

    use_required_attribute = False

    def __init__(
        self,
        asker: AbstractUser,
        data: Any = None,
        *,
        schedule: Schedule | None = None,
        **initial: Any,
    ) -> None:
        now = current_installation()
        values = {
            "time_zone": settings.TIME_ZONE,
            "research_depth": now.defaults.research_depth,
            "max_cost_usd": now.defaults.max_cost_usd,
            **initial,
        }
        if schedule is not None:
            names = ("question", "cadence", "weekday", "day", "at", "time_zone", "only_new")
            values |= {name: getattr(schedule, name) for name in names}
            values |= {
                name: schedule.config.get(name) for name in ("research_depth", "max_cost_usd")
            }
        super().__init__(data, initial=values, auto_id="change_%s" if schedule else "id_%s")
        self.asker = asker
        self.schedule = schedule
        if schedule is None and "time_zone" not in initial:
            self.fields["time_zone"].widget.attrs["data-guess"] = ""
        self.fields["time_zone"].choices = [(name, name) for name in sorted(available_timezones())]
        self.collections = queries.collections_to_ask(asker)
        self.offered = sources.available_sources(now, self.collections)
        choices = [(name, sources.LABELS[name]) for name in self.offered]
        chosen = sources.default_source(self.offered, now)
        if schedule is not None:
            searched = schedule.sources.get("search")
            same = [name for name, each in self.offered.items() if each["search"] == searched]
            chosen = same[0] if same else UNCHANGED
            choices += [] if same else [(UNCHANGED, _("As before"))]
        if len(choices) > 1:
            self.fields["sources"] = forms.ChoiceField(
                label=_("Sources"), required=False, choices=choices, initial=chosen
            )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        knobs = {name: cleaned.get(name) for name in ("research_depth", "max_cost_usd")}
        try:
            base = self.schedule.config if self.schedule else {}
            self.config = build_config({**base, **knobs}).model_dump(mode="json")
        except ConfigError as error:
            for name, text in error.problems.items():
                self.add_error(name if name in self.fields else None, tell_problem(text))
        return cleaned

    def changes(self) -> dict[str, Any]:
        """Return the fields of a `Plan` that the form has."""
        names = ("question", "cadence", "weekday", "day", "at", "time_zone", "only_new")
        found = {name: self.cleaned_data[name] for name in names} | {"config": self.config}
        is_new_choice = self.cleaned_data.get("sources") in self.offered
        if self.schedule is None or (is_new_choice and "sources" in self.changed_data):
            found["sources"] = self._chosen_sources()
        return found

    def plan(self) -> Plan:
        return Plan(**self.changes())

    def _chosen_sources(self) -> dict[str, Any]:
        """Return the chosen sources, as they are searched today."""
        chosen = self.offered.get(self.cleaned_data.get("sources", ""))
        everything = [row.public_id for row in self.collections]
        return sources.resolve_choice(self.asker, chosen, everything) or {}
