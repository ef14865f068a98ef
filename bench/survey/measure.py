"""Measure a survey report against the planted facts (the rubric of README.md).

A report is a dictionary:
    sentences  list of {"text": str, "urls": [str]} in reading order; table cells left out
    tables     list of tables, each a list of rows, each a list of cell texts; row 0 is the header
Run as a script:  python measure.py s1 report.json
"""

import json
import re
import sys
import unicodedata
from pathlib import Path

HERE = Path(__file__).parent
ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
NUMBER = {word: value for value, word in enumerate(ONES)}
NUMBER |= {word: 20 + 10 * place for place, word in enumerate(TENS)}
UNITS = {
    "kilometres": "km",
    "kilometers": "km",
    "metres": "m",
    "kilograms": "kg",
    "milligrams": "mg",
    "megawatts": "mw",
    "gigawatt hours": "gwh",
    "hectares": "ha",
    "milliseconds": "ms",
    "megapascals": "mpa",
    "kilowatt hour": "kwh",
}
NOTHING = {
    "", "-", "n/a", "na", "unknown", "none found", "not found", "not stated", "no data", "?",
    "not available", "no figure", "not reported", "not known", "no information", "none",
    "not given", "missing", "no source", "not found anywhere", "not published",
}  # fmt: skip
DULL = {
    "that",
    "this",
    "with",
    "from",
    "have",
    "which",
    "were",
    "been",
    "their",
    "they",
    "them",
    "only",
    "because",
    "since",
    "after",
    "before",
    "when",
    "where",
    "while",
    "whose",
    "than",
    "then",
    "into",
    "over",
    "under",
    "about",
    "would",
    "could",
    "does",
    "not",
    "until",
    "unless",
    "each",
    "other",
    "most",
    "more",
    "many",
    "some",
    "such",
    "also",
    "very",
    "what",
    "there",
    "these",
    "those",
    "every",
    "without",
    "within",
    "number",
    "made",
    "make",
    "makes",
    "had",
    "has",
    "was",
    "are",
    "its",
    "his",
    "her",
}
FORMER = re.compile(
    r"\b(formerly|previous(ly)?|earlier|older|outdated|superseded|had been|used to|"
    r"until|in the past|in former|before the reform|"
    r"up from|down from|original(ly)?|initial(ly)?|at first|no longer|since then|since been|"
    r"replaced|revised|corrected|rather than|instead of|once|was still|then|ago|"
    r"before (?:may|june|july|(?:janu|febru)ary|march|april|august|(?:septem|octo|novem|decem)ber|"
    r"(?:19|20)\d\d)\b.*\bnow|"
    r"having stood|than before|reduction to|shortened .+ from|the old \w+ of|"
    r"had (?:stood|peaked|numbered|come|reached)|remembers?|(?:the|those) (?:early|first))\b"
)


def normalise(text):
    """Return a text in lower case with one spelling of numbers, units, dashes and spaces."""
    text = unicodedata.normalize("NFKC", text).casefold()
    text = re.sub(r"\[\d+(?:\s*,\s*\d+)*\]", " ", text)
    text = re.sub(r"[*_`\u200b\u00ad]", "", text)
    text = text.replace("’", "'").replace("‘", "'").replace("%", " percent ")
    text = re.sub(r"[\u2010-\u2015\u2212-]", " ", text)
    text = re.sub(r"\bper cent\b", "percent", text)
    text = re.sub(r"(?<=\d) ?(?:bn|mrd)\b", " billion", text)
    text = re.sub(r"(?<=\d) ?(?:mn|mio)\b", " million", text)
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"(?<![\d.])(\d{1,3}) (?=\d{3}(?!\d))", r"\1", text)
    words = []
    for word in text.split(" "):
        core = word.rstrip(".,;:!?)")
        if core in NUMBER:
            value = NUMBER[core]
            last = words[-1] if words else ""
            if value < 10 and value and last in {str(20 + 10 * n) for n in range(8)}:
                words[-1] = str(int(last) + value) + word[len(core) :]
                continue
            word = str(value) + word[len(core) :]
        words.append(word)
    text = " ".join(words)
    for long, short in UNITS.items():
        text = re.sub(rf"(?<=\d ){long}\b|(?<=per ){long}\b", short, text)
    return re.sub(r"(\d) ?(km|kg|mg|mw|gwh|ha|ms|mpa|kwh)\b", r"\1 \2", text)


def pattern(value):
    core = normalise(value)
    right = r"(?!\w)(?![.,]\d)" if re.search(r"\d", core) else ""
    return re.compile(r"(?<!\w)(?<!\d[.,])" + re.escape(core) + right)


def stems(text):
    """Return the stems of the content words of a text."""
    found = []
    for word in re.findall(r"[a-z0-9]+", normalise(text)):
        if len(word) < 4 or word in DULL:
            continue
        stem = re.sub(r"(ations?|ings?|ies|ed|es|s|ly|y|e)$", "", word)
        stem = stem if len(stem) > 3 else word
        stem = stem[:-1] if len(stem) > 4 and stem[-1] == stem[-2] else stem
        if stem not in found:
            found.append(stem)
    return found


def recalls(normal):
    """Return whether a normalised sentence itself says that a value in it held before."""
    return bool(FORMER.search(normal))


class Fact:
    """A planted fact with its values prepared for matching."""

    def __init__(self, row):
        self.row = row
        self.any = [pattern(value) for value in row["values"]]
        self.all = [[pattern(part) for part in parts] for parts in row.get("values_all", [])]

    def depth(self, normal):
        """Return the share of the fact's core words that occur in the text."""
        core = self.row.get("core") or []
        words = normal.split()
        held = [stem for stem in core if any(stem in word for word in words)]
        return len(held) / len(core) if core else 1.0

    def shown(self, normal):
        return any(one.search(normal) for one in self.any) or any(
            all(part.search(normal) for part in parts) for parts in self.all
        )


def same_number(cell, value):
    """Return whether two numbers agree; a cell may leave the unit to its column's header."""
    number = re.match(r"[\d.]*\d", normalise(value))
    return bool(number) and re.sub(r"[^\d.]", "", cell) == number.group()


def rows(name):
    with open(HERE / name, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def share(part, whole):
    return round(part / whole, 4) if whole else None


def measure_table(question, tables):
    """Return right, wrong and absent cells of the wanted comparison."""
    cells = question["cells"]
    verdict = {}
    for table in tables:
        for turned in (False, True):
            grid = [list(row) for row in zip(*table, strict=False)] if turned else table
            if not grid:
                continue
            head = [normalise(cell) for cell in grid[0]]
            for row in grid[1:]:
                first = normalise(row[0]) if row else ""
                for entity in cells:
                    if normalise(entity) not in first:
                        continue
                    for prop in cells[entity]:
                        place = [n for n, name in enumerate(head) if n and normalise(prop) in name]
                        if not place or place[0] >= len(row):
                            continue
                        got = normalise(row[place[0]])
                        want = cells[entity][prop]
                        empty = got.strip(" .") in {normalise(word) for word in NOTHING}
                        if want is None:
                            result = "right" if empty else "wrong"
                        elif empty:
                            result = "absent"
                        else:
                            hit = any(pattern(value).search(got) for value in want["values"])
                            hit = hit or same_number(got, want["value"])
                            result = "right" if hit else "wrong"
                        verdict.setdefault((entity, prop), result)
    total = sum(len(line) for line in cells.values())
    right = sum(1 for result in verdict.values() if result == "right")
    wrong = sum(1 for result in verdict.values() if result == "wrong")
    return {
        "cells": total,
        "right": share(right, total),
        "wrong": share(wrong, total),
        "right_of_filled": share(right, right + wrong),
    }


def measure_timeline(question, sentences):
    """Return events found with their month, and pairs of events in the right order."""
    found = []
    for event in question["timeline"]:
        dates = [pattern(value) for value in event["values"]]
        words = [pattern(word) for word in event["words"]]
        for place, normal in enumerate(sentences):
            if any(d.search(normal) for d in dates) and any(w.search(normal) for w in words):
                found.append((event["date"], place))
                break
    pairs = [(a, b) for n, a in enumerate(found) for b in found[n + 1 :] if a[0] != b[0]]
    ordered = sum(1 for a, b in pairs if (a[0] < b[0]) == (a[1] <= b[1]))
    return {
        "events": len(question["timeline"]),
        "found": share(len(found), len(question["timeline"])),
        "ordered": share(ordered, len(pairs)),
    }


def measure(question, facts, pages, report):
    """Return all figures for one report on one question."""
    known = {fact["id"]: Fact(fact) for fact in facts if fact["question"] == question["id"]}
    carried = {}
    page_of = {page["url"]: page for page in pages if page["question"] == question["id"]}
    for page in page_of.values():
        for entry in page["facts"]:
            carried.setdefault(entry["id"], []).append(page)
    sentences = [normalise(sentence["text"]) for sentence in report.get("sentences", [])]
    urls = [sentence.get("urls", []) for sentence in report.get("sentences", [])]
    cells = [normalise(" ".join(row)) for table in report.get("tables", []) for row in table]
    places = {
        name: [n for n, normal in enumerate(sentences) if fact.shown(normal)]
        for name, fact in known.items()
    }
    in_table = {name for name, fact in known.items() if any(fact.shown(row) for row in cells)}
    shown = {name for name in known if places[name]} | in_table
    depth = {}
    current = [f for f in known if not known[f].row["superseded_by"]]
    weight = {name: known[name].row["weight"] for name in known}
    whole = set()
    for name, fact in known.items():
        near = [" ".join(sentences[max(0, n - 1) : n + 2]) for n in places[name]]
        near += [row for row in cells if fact.shown(row)]
        depth[name] = max((fact.depth(text) for text in near), default=0.0)
        if name in shown and depth[name] >= 0.5:
            whole.add(name)
    per_aspect = {}
    for aspect in question["aspects"]:
        mine = [f for f in current if known[f].row["aspect"] == aspect["id"]]
        per_aspect[aspect["id"]] = share(
            sum(weight[f] for f in mine if f in shown), sum(weight[f] for f in mine)
        )
    cited = sorted({url for found in urls for url in found})
    mine = [page_of[url] for url in cited if url in page_of]
    backed = cited_facts = primary = chance = 0
    for name in shown:
        found = {url for place in places[name] for url in urls[place]}
        if not found:
            continue
        cited_facts += 1
        good = [page for page in carried.get(name, []) if page["url"] in found]
        backed += bool(good)
        kinds = {page["primary"] for page in carried.get(name, [])}
        if good and kinds == {True, False}:
            chance += 1
            primary += any(page["primary"] for page in good)
    newest = wins = repeated = 0
    for old in known:
        new = known[old].row["superseded_by"]
        if not new or not (old in shown or new in shown):
            continue
        newest += 1
        unmarked = False
        for place in places[old]:
            unmarked = unmarked or not recalls(sentences[place])
        repeated += unmarked
        wins += new in shown and not unmarked
    disputes = marked = one_sided = 0
    for one in known:
        other = known[one].row["disputed_with"]
        if not other or one > other:
            continue
        disputes += 1
        marked += any(abs(a - b) <= 1 for a in places[one] for b in places[other])
        one_sided += (one in shown) != (other in shown)
    result = {
        "coverage": share(
            sum(weight[f] for f in current if f in shown), sum(weight[f] for f in current)
        ),
        "coverage_strict": share(
            sum(weight[f] for f in current if f in whole), sum(weight[f] for f in current)
        ),
        "depth": share(
            sum(depth[f] for f in current if f in shown), sum(1 for f in current if f in shown)
        ),
        "aspects_touched": share(sum(1 for v in per_aspect.values() if v >= 0.3), len(per_aspect)),
        "per_aspect": per_aspect,
        "pages_cited": len(mine),
        "hosts_cited": len({page["host"] for page in mine}),
        "copies_cited": sum(1 for page in mine if page["copy_of"]),
        "useless_cited": sum(1 for page in mine if not page["facts"]),
        "foreign_cited": len(cited) - len(mine),
        "facts_cited": share(cited_facts, len(shown)),
        "citations_backed": share(backed, cited_facts),
        "newest_wins": share(wins, newest),
        "outdated_repeated": share(repeated, newest),
        "disputes_marked": share(marked, disputes),
        "disputes_one_sided": share(one_sided, disputes),
        "primary_preferred": share(primary, chance),
    }
    if question["cells"]:
        result["table"] = measure_table(question, report.get("tables", []))
    if question["timeline"]:
        lines = [normalise(" ".join(row)) for table in report.get("tables", []) for row in table]
        result["timeline"] = measure_timeline(question, sentences + lines)
    return result


def main():
    wanted, path = sys.argv[1:3]
    question = next(row for row in rows("questions.jsonl") if row["id"] == wanted)
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    figures = measure(question, rows("facts.jsonl"), rows("pages.jsonl"), report)
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
