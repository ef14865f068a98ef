"""Small data files whose chains, doubles and misses are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Lines = list[dict[str, Any]]

PAINTER = {
    "title": "Orla Venn",
    "sentences": [
        "Orla Venn is a painter of harbours and fog.",
        "The painter Orla Venn was born in Tarnholt in 1931.",
    ],
}
TOWN = {
    "title": "Tarnholt",
    "sentences": [
        "Tarnholt is a market town in the north.",
        "A river called the Skelva flows through Tarnholt.",
    ],
}
FILLING = [
    {"title": "Glass", "sentences": [f"Glass number {n} is blown in a kiln.", "It cools slowly."]}
    for n in range(6)
]
CHAIN: dict[str, Any] = {
    "id": "chain",
    "question": "Where was the painter Orla Venn born, and which river flows there?",
    "answers": ["the Skelva"],
    "hops": 2,
    "gold": [
        {"title": "Orla Venn", "sentences": [PAINTER["sentences"][1]]},
        {"title": "Tarnholt", "paragraph": " ".join(TOWN["sentences"])},
    ],
    "pages": [PAINTER, TOWN, *FILLING],
}
PLAIN: dict[str, Any] = {
    "id": "plain",
    "question": "Is the Ember Lighthouse older than the Gannet Lighthouse?",
    "answers": ["yes"],
    "hops": 1,
    "gold": [{"title": "Lighthouses", "sentences": ["The Ember Lighthouse was lit in 1820."]}],
    "pages": [
        {
            "title": "Lighthouses",
            "sentences": [
                "The Ember Lighthouse was lit in 1820.",
                "The Gannet Lighthouse was lit in 1870.",
            ],
        },
        {"title": "Lighthouses", "sentences": ["A lighthouse warns ships of rocks."]},
        PAINTER,
    ],
}


def write(path: Path, lines: Lines) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path
