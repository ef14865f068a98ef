"""Subprocess: ask the questions of standard input as several people, whose tokens are printed.

The answer is a JSON object of the runs' ids, each with a token of its owner.
"""

from __future__ import annotations

import json
import sys

from bench.scale.parts import prepare_django

prepare_django()

from django.contrib.auth import get_user_model  # noqa: E402 - after the setup

from research.services import runs  # noqa: E402
from research.services.api_tokens import create_token  # noqa: E402

PEOPLE = 5


def main() -> None:
    users = get_user_model()._default_manager
    people = [users.create_user(f"person {number}") for number in range(PEOPLE)]
    tokens = [create_token(person, "bench")[1] for person in people]
    asked = {}
    for number, question in enumerate(json.load(sys.stdin)):
        run = runs.ask_question(people[number % PEOPLE], question, agreed=True)
        asked[run.public_id] = tokens[number % PEOPLE]
    print(json.dumps(asked))


if __name__ == "__main__":
    main()
