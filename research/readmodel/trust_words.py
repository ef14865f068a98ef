"""The words for how far a question is answered: on pages, in lists and in mails."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from research.engine.assessment.answer_status import Trust

LIKELY = _("Likely answered")
"""Where code judged in a model's place, only the probability of an answer is known."""
WORDS = {
    Trust.ANSWERED: _("Answered"),
    Trust.DISPUTED: _("Answered, sources disagree"),
    Trust.PARTLY: _("Partly answered"),
    Trust.RELATED: _("Related passages found"),
    Trust.NOT_ANSWERED: _("Not answered"),
    Trust.NOTHING_FOUND: _("Nothing found"),
}


def trust_words(trust: Trust, *, judged_by_model: bool) -> Promise:
    return LIKELY if trust is Trust.ANSWERED and not judged_by_model else WORDS[trust]
