"""Check the survey files: ids, counts, verbatim sentences, dates, and that no value leaks."""

import re
import sys
from collections import Counter, defaultdict

from bench.survey.measure import Fact, measure, normalise, recalls, rows

PARTS = {
    "tuning": {3}, "held_out": {5}, "held_out_2": {3}, "held_out_3": {3}, "tuning_4": {1},
    "held_out_4": {0, 2}, "held_out_5": {0, 2}, "held_out_6": {0, 2},
    "held_out_7": {0, 2}, "held_out_8": {0, 2}, "held_out_9": {0, 2}, "held_out_10": {0, 2},
    "held_out_11": {0, 2}, "held_out_12": {0, 2}, "held_out_13": {0, 2},
}  # fmt: skip
"""How many questions each part may have; the newest ones are added only to be measured."""
PRIMARY = {"official", "paper", "statistics table"}
SMALL = "held_out_2"
"""The part with smaller questions, to which separate limits apply."""
KINDS = PRIMARY | {"news", "blog", "encyclopedia", "forum"}
problems = []


def want(condition, text):
    if not condition:
        problems.append(text)


def sentences_of(page):
    for paragraph in page["paragraphs"]:
        yield from re.split(r"(?<=[.!?;:])\s+", paragraph)


def earliest(text):
    return text if len(text) == 10 else text + ("-01" if len(text) == 7 else "-01-01")


def check_question(question, facts, pages):
    name, small = question["id"], question["part"] == SMALL
    want((6 if small else 10) <= len(question["aspects"]) <= 14, f"{name}: number of aspects")
    want((30 if small else 80) <= len(facts) <= 120, f"{name}: {len(facts)} facts")
    want((45 if small else 60) <= len(pages) <= 120, f"{name}: {len(pages)} pages")
    by_aspect = Counter(fact["aspect"] for fact in facts.values())
    for aspect in question["aspects"]:
        count = by_aspect[aspect["id"]]
        want((4 if small else 6) <= count <= 12, f"{name}: {count} facts on {aspect['name']}")
    quality = sum(1 for fact in facts.values() if qualitative(fact))
    least = 0.4 if small else 0.5
    want(quality >= least * len(facts), f"{name}: {quality} of {len(facts)} are qualitative")
    old = [fact for fact in facts.values() if fact["superseded_by"]]
    want(len(old) >= (3 if small else 6), f"{name}: {len(old)} outdated facts")
    disputed = [fact for fact in facts.values() if fact["disputed_with"]]
    want(len(disputed) >= (4 if small else 6), f"{name}: {len(disputed)} disputed facts")
    for fact in old:
        newer = facts.get(fact["superseded_by"])
        want(newer and newer["as_of"] > fact["as_of"], f"{fact['id']}: newer fact")
    for fact in disputed:
        other = facts.get(fact["disputed_with"])
        want(other and other["disputed_with"] == fact["id"], f"{fact['id']}: dispute")
        want(not fact["superseded_by"], f"{fact['id']}: disputed and outdated")
    long = [page for page in pages if words(page) >= 1200]
    want(len(long) >= 3, f"{name}: {len(long)} long pages")
    if question["form"] == "comparison":
        want(question["cells"], f"{name}: no cells")
        nulls = sum(1 for line in question["cells"].values() for cell in line.values() if not cell)
        want(nulls >= (2 if small else 3), f"{name}: {nulls} empty cells")
        for entity, line in question["cells"].items():
            want(list(line) == question["properties"] or set(line) == set(question["properties"]),
                 f"{name}: cells of {entity}")  # fmt: skip
    if question["form"] == "timeline":
        want(len(question["timeline"]) >= 12, f"{name}: {len(question['timeline'])} events")


def qualitative(fact):
    """Return whether a fact is hand-written or has a cell without a number."""
    number = any(re.search(r"\d", value) for value in fact["values"])
    return fact["kind"] == "quality" or (fact["kind"] == "cell" and not number)


def words(page):
    return sum(len(paragraph.split()) for paragraph in page["paragraphs"])


def check_pages(question, facts, pages):
    carried = defaultdict(list)
    urls = {page["url"] for page in pages}
    want(len(urls) == len(pages), f"{question['id']}: an address occurs twice")
    for page in pages:
        name = page["id"]
        want(page["host"].endswith(".example"), f"{name}: host")
        want(page["url"].startswith(f"https://{page['host']}/"), f"{name}: address")
        want(page["kind"] in KINDS, f"{name}: kind")
        want(page["primary"] == (page["kind"] in PRIMARY), f"{name}: primary")
        want(page["published"] <= question["asked"], f"{name}: published later than asked")
        count = words(page)
        want(120 <= count <= 450 or count >= 1200, f"{name}: {count} words")
        want(not re.search(r"<[a-z/]|[{}]", " ".join(page["paragraphs"])), f"{name}: markup")
        for entry in page["facts"]:
            fact = facts.get(entry["id"])
            want(fact, f"{name}: unknown fact {entry['id']}")
            inside = any(entry["sentence"] in paragraph for paragraph in page["paragraphs"])
            want(inside, f"{name}: sentence of {entry['id']} is not in the text")
            shown = Fact(fact).shown(normalise(entry["sentence"]))
            want(shown, f"{name}: {entry['id']} not shown by: {entry['sentence']} {fact['values']}")
            want(page["published"] >= earliest(fact["as_of"]), f"{name}: older than {entry['id']}")
            if fact["superseded_by"]:
                want(page["outdated"], f"{name}: not marked as outdated")
            carried[entry["id"]].append((page, entry["sentence"]))
            against = fact["disputed_with"]
            ids = {other["id"] for other in page["facts"]}
            want(against not in ids, f"{name}: both sides of a dispute")
        if page["copy_of"]:
            source = next(p for p in pages if p["id"] == page["copy_of"])
            want(source["facts"] == page["facts"], f"{name}: copy differs")
        if page["off_topic"]:
            want(not page["facts"], f"{name}: off topic with facts")
    double = 0
    for name, fact in facts.items():
        places = carried[name]
        want(1 <= len(places) <= 3, f"{name}: on {len(places)} pages")
        own = [(page, text) for page, text in places if not page["copy_of"]]
        texts = {text for _, text in own}
        want(len(texts) == len(own), f"{name}: same wording on two pages")
        want(len({page["host"] for page, _ in own}) == len(own), f"{name}: one host twice")
        double += len(own) >= 2
        primary = any(page["primary"] for page, _ in places)
        want(primary == fact["primary"], f"{name}: primary")
    part = double / len(facts)
    want(0.4 <= part <= 0.85, f"{question['id']}: {part:.2f} of the facts on two pages")
    return double


def check_leaks(facts, pages):
    """Check that no value of a fact occurs in a page without the fact, or in another fact."""
    ready = {name: Fact(fact) for name, fact in facts.items()}
    for name, fact in ready.items():
        want(fact.shown(normalise(fact.row["statement"])), f"{name}: not shown by its statement")
        for other, row in facts.items():
            if other != name and fact.shown(normalise(row["statement"])):
                problems.append(
                    f"{name} {fact.row['values']} in statement {other}: {row['statement']}"
                )
    for page in pages:
        listed = {entry["id"] for entry in page["facts"]}
        own = defaultdict(list)
        for entry in page["facts"]:
            own[entry["sentence"]].append(entry["id"])
        parts = [normalise(text) for text in sentences_of(page)] + [normalise(page["title"])]
        for line in page["table"] or []:
            parts.append(normalise(" ".join(line)))
        for name, fact in ready.items():
            if name in listed:
                for text, ids in own.items():
                    if name not in ids and fact.shown(normalise(text)):
                        problems.append(f"{name} {fact.row['values']} in sentence of {ids}: {text}")
                continue
            new = fact.row["superseded_by"]
            newer = ready[new] if new in listed else None
            for part in parts:
                if fact.shown(part) and not (newer and (recalls(part) or newer.shown(part))):
                    problems.append(f"{name} {fact.row['values']} leaks into {page['id']}: {part}")


def check_repeats(pages):
    seen = Counter()
    for page in pages:
        if page["copy_of"]:
            continue
        for paragraph in page["paragraphs"]:
            seen.update(re.split(r"(?<=[.!?])\s+(?=[A-Z])", paragraph))
    return sum(1 for text, count in seen.items() if count > 1), len(seen)


def table_of(question):
    head = ["Name", *question["properties"]]
    lines = []
    for entity, line in question["cells"].items():
        cells = [line[prop]["value"] if line[prop] else "not found" for prop in head[1:]]
        lines.append([entity, *cells])
    return [head, *lines]


def check_rubric(question, facts, pages):
    """Check that the best and the worst report get the best and the worst figures."""
    carrying = defaultdict(list)
    for page in sorted(pages, key=lambda page: not page["primary"]):
        for entry in page["facts"]:
            carrying[entry["id"]].append(page["url"])
    order, done = [], set()
    dated = sorted(facts.values(), key=lambda fact: (fact["kind"] != "event", fact["as_of"]))
    for fact in dated:
        if fact["id"] in done or fact["superseded_by"]:
            continue
        order.append(fact)
        done.add(fact["id"])
        if fact["disputed_with"]:
            order.append(facts[fact["disputed_with"]])
            done.add(fact["disputed_with"])
    best = {
        "sentences": [{"text": f["statement"], "urls": carrying[f["id"]][:1]} for f in order],
        "tables": [table_of(question)] if question["cells"] else [],
    }
    figures = measure(question, list(facts.values()), pages, best)
    for key in (
        "coverage",
        "citations_backed",
        "newest_wins",
        "disputes_marked",
        "primary_preferred",
    ):
        want(figures[key] == 1, f"{question['id']}: best report has {key} {figures[key]}")
    want(figures["outdated_repeated"] == 0, f"{question['id']}: best report repeats old values")
    if question["cells"]:
        want(figures["table"]["right"] == 1, f"{question['id']}: table {figures['table']}")
    if question["timeline"]:
        line = figures["timeline"]
        want(line["found"] == 1 and line["ordered"] == 1, f"{question['id']}: timeline {line}")
    olds = [fact for fact in facts.values() if fact["superseded_by"]]
    worst = {"sentences": [{"text": fact["statement"], "urls": []} for fact in olds]}
    figures = measure(question, list(facts.values()), pages, worst)
    want(figures["coverage"] == 0, f"{question['id']}: old values count as coverage")
    want(figures["newest_wins"] == 0, f"{question['id']}: old values win")
    empty = " ".join(p for page in pages if not page["facts"] for p in page["paragraphs"])
    noise = {"sentences": [{"text": text, "urls": []} for text in re.split(r"(?<=\.)\s", empty)]}
    figures = measure(question, list(facts.values()), pages, noise)
    want(figures["coverage"] == 0, f"{question['id']}: filler counts as coverage")


def main():
    questions, facts, pages = rows("questions.jsonl"), rows("facts.jsonl"), rows("pages.jsonl")
    for entries, name in ((questions, "questions"), (facts, "facts"), (pages, "pages")):
        ids = [row["id"] for row in entries]
        want(len(ids) == len(set(ids)), f"{name}: an id occurs twice")
    parts = Counter(question["part"] for question in questions)
    known = all(parts[part] in counts for part, counts in PARTS.items())
    want(known and parts.keys() <= PARTS.keys(), f"parts: {dict(parts)}")
    print("question part form aspects facts qualitative old disputed two-pages pages words repeats")
    for question in questions:
        mine = {fact["id"]: fact for fact in facts if fact["question"] == question["id"]}
        here = [page for page in pages if page["question"] == question["id"]]
        check_question(question, mine, here)
        double = check_pages(question, mine, here)
        check_leaks(mine, here)
        check_rubric(question, mine, here)
        repeats, different = check_repeats(here)
        print(
            question["id"], question["part"], question["form"], len(question["aspects"]), len(mine),
            sum(1 for f in mine.values() if qualitative(f)),
            sum(1 for f in mine.values() if f["superseded_by"]),
            sum(1 for f in mine.values() if f["disputed_with"]),
            double, len(here), sum(words(page) for page in here), f"{repeats}/{different}",
        )  # fmt: skip
    for text in problems:
        print("PROBLEM", text)
    print(len(problems), "problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
