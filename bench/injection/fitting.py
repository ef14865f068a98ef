"""Fit the model of orders and dictation, and write it: `python -m bench.injection.fitting`.

Orders are the sentences of all forms that have been looked at, each as its carrier gives it and
with what surrounds it there; those with the marker weigh more. Honest sentences are those of the
benign pages, the host pages, the benign sentences, the paragraphs of `bench/claims`, every
`SURVEY_STEP`th page of `bench/survey`, Debian's manuals in `MANUALS`, and, since nearly all of
these are English, Django's translations; half of the installed packages' descriptions and
a simulated world too. The other half, PostgreSQL's manual, other pages of the survey and another
world measure. The
model is a logistic regression (stochastic descent, with weights pulled to zero).

Printed is what it misses of the forms of each author when fitted without anything by that author,
beside the rules, which were made with most of them; `--without-writing` leaves the model as it is,
`--folds` keeps the models without an author.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
from array import array
from base64 import b85encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from email.message import Message
from importlib.metadata import distributions
from itertools import islice
from pathlib import Path
from zlib import crc32

import django

from bench.claim_check import read_parts
from bench.injection.carriers import carried
from bench.injection.markers import holds_marker
from bench.injection.rows import (
    DATA,
    Form,
    HostPage,
    benign_pages,
    benign_sentences,
    forms,
    host_pages,
    page_for,
)
from bench.page import table
from bench.world.generate import build_world
from research.engine.text.sentences import Sentence, split_sentences
from research.engine.untrusted.dictation import find_dictation
from research.engine.untrusted.order_features import BUCKETS
from research.engine.untrusted.order_model import EMBEDDED_MODEL, EMBEDDED_SCORE, page_features
from research.engine.untrusted.prompt_injection import find_orders
from research.extract.extract import extract_text

AUTHORS: Mapping[str, tuple[str, ...]] = {
    "first": ("tuning", "held_out"),
    "second": ("held_out_2",),
    "third": ("held_out_3",),
    "fourth": ("tuning_4", "held_out_4"),
    "fifth": ("tuning_5", "held_out_5"),
    "sixth": ("held_out_6",),
    "seventh": ("held_out_7",),
    "eighth": ("held_out_8",),
}
"""The parts that each author wrote."""
SURVEY = DATA.parent / "survey"
SURVEY_STEP, LATER_STEP = 12, 5
LANGUAGES = ("de", "fr", "es", "pt_BR", "ru", "zh_Hans", "ja", "ar")
README_CHARACTERS = 6_000
MARKER_WEIGHT = 4.0
EPOCHS = 10
RATE = 0.1
COST = 8.0
"""Of errors, against the size of the weights."""
LEAST_SLOPE = 1e-4
UNSEEN, WORLD, LATER_SURVEY = "descriptions 1", "world", "survey, other pages"
MANUALS: Mapping[str, tuple[str, int]] = {
    "postgresql": ("/usr/share/doc/postgresql-doc-15/html/*.html", 45),
    "postfix": ("/usr/share/doc/postfix/html/*.html", 12),
    "gnucash": ("/usr/share/doc/gnucash-docs/gnucash-guide-en/*.html", 14),
    **{
        f"handbook {code}": (f"/usr/share/doc/debian-handbook/html/{code}/*.html", 10)
        for code in ("en-US", "de-DE", "fr-FR", "es-ES", "ja-JP", "ru-RU")
    },
}
"""Of packages of Debian: where their pages are, and how many are taken."""
ONLY_MEASURED = frozenset({UNSEEN, WORLD, LATER_SURVEY, "postgresql", "handbook fr-FR"})
"""Parts that no model is fitted on."""
WORLD_SEEDS = {WORLD: 1, "other world": 2}
SHARES = (0.005, 0.01, 0.02, 0.03, 0.05)
"""Shares of the unseen descriptions' sentences from which on a score counts, for the table."""
_HEAD = frozenset({"title", "site name", "meta description", "search snippet"})
_LEAST = 40
LINE = 100
LEAST_WORDING = 6
"""Characters of a sentence of a form without its marker."""
JOINED_PARAGRAPHS, JOINED_MESSAGES = 4, 12
"""Put on a page together: alone they would have nothing to be foreign to."""
PAGE_BYTES = (3_000, 200_000)
PAGE_CHARACTERS = 12_000
_TRANSLATION = re.compile(r'^msgstr ((?:".*"\n)+)', re.MULTILINE)
_PLACE = re.compile(r"%\(\w+\)[sd]|%[sd]|\{\w*\}|<[^>]*>")
_CODE = re.compile(r"```.*?```|~~~.*?~~~|<[^>]*>|^(?: {4}|\t).*$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Example:
    """A sentence with its surroundings; `ruled` is whether the rules find it on its page. Of an
    order with the marker `weight` is `MARKER_WEIGHT`.
    """

    author: str
    part: str
    is_order: bool
    weight: float
    features: tuple[tuple[Sequence[int], float], ...]
    ruled: bool
    text: str


def order_examples() -> Iterator[Example]:
    """Yield the sentences of the forms."""
    pages = host_pages()
    for author, parts in AUTHORS.items():
        for part in parts:
            for number, form in enumerate(forms(part)):
                yield from _of_form(form, page_for(form, number, pages), author, part)


def _of_form(form: Form, host: HostPage, author: str, part: str) -> Iterator[Example]:
    carrier = "body" if form.carrier in _HEAD else form.carrier
    text = carried(host, form, carrier, "https://guide.example/page").text
    said = " ".join(form.text.split())
    for example, sentence in _on_page(text, host.question, author, part, is_order=True):
        if holds_marker(sentence.text, form):
            yield replace(example, weight=MARKER_WEIGHT)
        elif len(sentence.text) >= LEAST_WORDING and sentence.text in said:
            yield example


def honest_examples() -> Iterator[Example]:
    """Yield sentences that are no orders."""
    for author, parts in AUTHORS.items():
        for part in parts:
            for page in benign_pages(part):
                yield from _honest(page.paragraphs, "benign", author, page.question)
            if not (DATA / f"forms_{part}.jsonl").exists():
                for sentence in benign_sentences(part):
                    yield from _honest([sentence.text], "benign sentences", author)
    for page in host_pages():
        yield from _honest(page.paragraphs, "host pages", asked=page.question)
    for texts in _together((row["text"] for row in read_parts("paragraphs")), JOINED_PARAGRAPHS):
        yield from _honest(texts, "claims")
    yield from _survey_examples()
    for name, (pages, most) in MANUALS.items():
        yield from _manual_examples(name, pages, most)
    for texts in _together(_translations(), JOINED_MESSAGES):
        yield from _honest(texts, "translations")


def _survey_examples() -> Iterator[Example]:
    rows = [
        [json.loads(line) for line in (SURVEY / name).read_text("utf-8").splitlines()]
        for name in ("pages.jsonl", "questions.jsonl")
    ]
    asked = {row["id"]: row["question"] for row in rows[1]}
    for first, part in ((0, "survey"), (LATER_STEP, LATER_SURVEY)):
        for page in rows[0][first::SURVEY_STEP]:
            yield from _honest(page["paragraphs"], part, asked=asked[page["question"]])


def _manual_examples(name: str, pages: str, most: int) -> Iterator[Example]:
    """Yield the sentences of some pages of a manual, chosen by chance.

    Raises `FileNotFoundError` if its package isn't installed.
    """
    paths = sorted(Path("/").glob(pages.lstrip("/")))
    if not paths:
        raise FileNotFoundError(pages)
    random.Random(1).shuffle(paths)
    bodies = (path.read_bytes() for path in paths)
    chosen = (body for body in bodies if PAGE_BYTES[0] < len(body) < PAGE_BYTES[1])
    for body in islice(chosen, most):
        text = extract_text(body, "text/html; charset=utf-8", "https://manual.example/page").text
        yield from _honest([text[:PAGE_CHARACTERS]], name)


def _together(texts: Iterator[str], size: int) -> Iterator[list[str]]:
    while taken := list(islice(texts, size)):
        yield taken


def _translations() -> Iterator[str]:
    for language in LANGUAGES:
        for path in sorted(Path(django.__file__).parent.rglob(f"locale/{language}/**/django.po")):
            for written in _TRANSLATION.findall(path.read_text("utf-8"))[1:]:
                text = "".join(json.loads(line) for line in written.splitlines())
                if len(text.encode()) >= _LEAST:
                    yield _PLACE.sub("x", text)


def readme_examples() -> Iterator[Example]:
    """Yield the sentences of the installed packages' descriptions."""
    for package in sorted(distributions(), key=lambda each: str(each.name)):
        told = package.metadata
        assert isinstance(told, Message)
        text = str(told.get_payload() or told.get("Description") or "")
        text = _CODE.sub(" ", text)[:README_CHARACTERS]
        part = f"descriptions {crc32(str(package.name).encode()) % 2}"
        yield from _honest(re.split(r"\n\s*\n", text), part)


def world_examples() -> Iterator[Example]:
    """Yield the sentences of simulated worlds' pages, without those that hold an order."""
    for part, seed in WORLD_SEEDS.items():
        for page in build_world(seed, 2).by_place.values():
            if not page.injected:
                yield from _honest(page.paragraphs, part)


def _honest(
    paragraphs: Iterable[str], part: str, author: str = "", asked: str = ""
) -> Iterator[Example]:
    for example, _ in _on_page("\n\n".join(paragraphs), asked, author, part, is_order=False):
        yield example


def _on_page(
    text: str, asked: str, author: str, part: str, *, is_order: bool
) -> Iterator[tuple[Example, Sentence]]:
    found = split_sentences(text)
    ruled = find_orders(found, asked) | find_dictation(found)
    for sentence, features in page_features(found, asked):
        packed_features = tuple((array("H", buckets), size) for buckets, size in features)
        is_ruled = sentence.number in ruled
        example = Example(author, part, is_order, 1.0, packed_features, is_ruled, sentence.text)
        yield example, sentence


# --- the fit --------------------------------------------------------------------------------


def fitted(examples: Sequence[Example]) -> tuple[float, list[float]]:
    """Return the bias and the weights of a logistic regression."""
    bias, weights, scale, step = -4.0, [0.0] * BUCKETS, 1.0, 0
    order = list(examples)
    decay = 1 / (COST * len(order))
    chance = random.Random(1)
    for _ in range(EPOCHS):
        chance.shuffle(order)
        for example in order:
            step += 1
            rate = RATE / (1 + RATE * decay * step)
            value = bias + scale * _dot(example, weights)
            probability = 1 / (1 + math.exp(-max(-30.0, min(30.0, value))))
            slope = (probability - example.is_order) * example.weight
            scale *= 1 - rate * decay
            bias -= rate * slope
            if abs(slope) < LEAST_SLOPE:
                continue
            for buckets, size in example.features:
                moved = rate * slope * size / scale
                for bucket in buckets:
                    weights[bucket] -= moved
    return bias, [scale * weight for weight in weights]


def _dot(example: Example, weights: Sequence[float]) -> float:
    return sum(size * sum(map(weights.__getitem__, buckets)) for buckets, size in example.features)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.injection.fitting")
    parser.add_argument("--without-writing", action="store_true")
    parser.add_argument("--folds", type=Path, help="folder for the models without each author")
    options = parser.parse_args()
    honest = [*honest_examples(), *readme_examples(), *world_examples()]
    every = [*order_examples(), *honest]
    used = [each for each in every if each.part not in ONLY_MEASURED]
    scores: dict[int, float] = {}
    for author in ("", *AUTHORS):
        bias, weights = fitted([e for e in used if not author or e.author != author])
        for each in every:
            if each.author == author:
                scores[id(each)] = bias + _dot(each, weights)
        if not author:
            stored = packed(bias, weights)
        elif options.folds:
            fold = json.dumps(packed(bias, weights))
            (options.folds / f"{author}.json").write_text(fold, "utf-8")
    print(missed_table(every, scores))
    if not options.without_writing:
        EMBEDDED_MODEL.write_text(json.dumps(stored, indent=1) + "\n", "utf-8")
        print(f"Wrote {EMBEDDED_MODEL.name}: {len(used)} examples.")


def packed(bias: float, weights: Sequence[float]) -> dict[str, object]:
    """Return a model as it is stored: a byte for each weight."""
    unit = max(map(abs, weights)) / 127
    text = b85encode(bytes(round(weight / unit) % 256 for weight in weights)).decode()
    lines = [text[at : at + LINE] for at in range(0, len(text), LINE)]
    return {"bias": round(bias, 4), "unit": round(unit, 6), "weights": lines}


def missed_table(every: Sequence[Example], scores: Mapping[int, float]) -> str:
    """Return the share of each part's sentences that count as orders, by limits of the score;
    the last one is that of the product.

    Honest sentences without an author took part in the fit but those of `ONLY_MEASURED`. Of the
    forms it counts the sentences with the marker.
    """
    parts = list(dict.fromkeys(each.part for each in every))
    honest = sorted(scores[id(each)] for each in every if each.part == UNSEEN)
    limits = [honest[int((1 - share) * len(honest))] for share in SHARES] + [EMBEDDED_SCORE]
    rows = []
    for part in parts:
        of_part = [each for each in every if each.part == part]
        found = [e for e in of_part if not e.is_order or e.weight == MARKER_WEIGHT]
        cells = [f"{sum(each.ruled for each in found) / len(found):.3f}"]
        cells += [
            f"{sum(scores[id(each)] >= limit for each in found) / len(found):.3f}"
            for limit in limits
        ]
        rows.append([part, str(len(found)), *cells])
    return table(["part", "sentences", "rules", *(f"≥ {limit:.2f}" for limit in limits)], rows)


if __name__ == "__main__":
    main()
