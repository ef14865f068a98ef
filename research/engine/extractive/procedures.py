"""Steps: numbered items of a list of which at least half tell what to do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from research.engine.extractive.lines import Line
from research.engine.text import STOP_WORDS

LEAST_STEPS = 3
_NUMBERED = re.compile(r"(?:^|\n)\s*\d{1,3}[.)]\s+$")
_BEFORE = r"^(?:\w+ly,?\s|(?:first|then|now|next|finally),?\s)?"
_ORDER = re.compile(
    rf"{_BEFORE}(?:add|apply|bake|beat|boil"
    r"|bring|build|call|change|check|choose|click|close|combine|configure|connect|cook|copy|cover"
    r"|create|crack|cut|define|delete|disable|do|download|drain|drop|edit|enable|ensure|enter"
    r"|execute|export|fold|go|heat|import|initialize|install|keep|let|load|log|make|melt|mix|move"
    r"|open|pass|place|pour|press|provide|put|remove|rename|repeat|replace|restart|restore|return"
    r"|rinse|run|save|season|select|serve|set|shut|specify|start|stir|stop|take|test|turn|type"
    r"|update|upgrade|use|verify|wait|warm|whisk|write)\b",
    re.IGNORECASE,
)
_LIKE_AN_ORDER = re.compile(
    rf"{_BEFORE}(?P<verb>[^\W\d_]+)(?: (?:apart|away|back|down|in|off|on|out|over|through|together"
    r"|up))? (?:an?|the|your|its|their|each|every|all|both|any|it|them)\b",
    re.IGNORECASE,
)
_NO_VERB = re.compile(
    r"(?:\w+(?<!s)s|\w+ing|\w+(?<!e)ed|beneath|beside|besides|beyond|despite|except|half|minus|past"
    r"|per|plus|unless|unlike|twice)$",
    re.IGNORECASE,
)


def instructs(text: str) -> bool:
    """Whether a sentence opens by telling what to do: with a verb that often does, or with a word
    that is no other by its form, before an article or the like ("Unplug the pump")."""
    if _ORDER.search(text):
        return True
    found = _LIKE_AN_ORDER.search(text)
    return found is not None and not (
        found["verb"].lower() in STOP_WORDS or _NO_VERB.match(found["verb"])
    )


def is_numbered(text: str, start: int) -> bool:
    """Whether a sentence opens a numbered item of a list."""
    return _NUMBERED.search(text[max(0, start - 12) : start]) is not None


def steps(text: str, found: Sequence[Line]) -> frozenset[int]:
    """The blocks of a page that are steps: each is told whole, however short it is."""
    blocks: set[int] = set()
    for _, section in groupby(found, key=lambda line: line.sentence.section):
        told = [line.sentence for line in section if line.sentence.kind == "item"]
        heads = [each for each in told if is_numbered(text, each.start)]
        if len(heads) >= LEAST_STEPS and 2 * sum(instructs(s.text) for s in heads) >= len(heads):
            blocks.update(each.block for each in heads)
    return frozenset(blocks)
