"""Build questions.jsonl, facts.jsonl and pages.jsonl from the hand-written sources.

The output depends only on the files under sources/ and on SEED.
"""

import calendar
import json
import random
import re
from collections import Counter
from datetime import date, timedelta
from pathlib import Path

from bench.survey.measure import ONES, TENS, Fact, normalise, stems

HERE = Path(__file__).parent
SOURCES = HERE / "sources"
SEED = 20260901
MONTHS = list(calendar.month_name)[1:]
PRIMARY = {"official", "paper", "statistics table"}
KEEP = {
    "Relay",
    "Larch",
    "Petrel",
    "Silent",
    "Port",
    "Coast",
    "Island",
    "Architects'",
    "Thorn",
    "Heron",
    "Skerry",
}
COMMON = set()


def words_of(number):
    if number < 20:
        return ONES[number]
    tens, ones = divmod(number, 10)
    return TENS[tens - 2] + ("-" + ONES[ones] if ones else "")


def cap(text):
    return text[:1].upper() + text[1:]


def low(text):
    first = text.split(" ", 1)[0]
    common = first not in KEEP and first.lower().strip(",.'") in COMMON
    return text[:1].lower() + text[1:] if common else text


def sections(path):
    found, name = {}, None
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            name = line[1:-1]
            found[name] = []
        elif line.strip():
            found[name].append(line)
    return found


def read_source(path):
    """Return one question as a dictionary: heading fields, aspects, raw facts."""
    head = {"host": [], "filler": []}
    aspects, facts, prop, taking = [], [], None, False
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.strip():
            continue
        if line.startswith("A "):
            name, question, topic = [part.strip() for part in line[2:].split(" | ")]
            aspects.append({"name": name, "question": question, "topic": topic, "filler": []})
            prop, taking = None, False
        elif line.startswith("- "):
            (aspects[-1]["filler"] if aspects else head["filler"]).append(line[2:].strip())
        elif line.startswith("P "):
            name, phrase, *patterns = [part.strip() for part in line[2:].split(" | ")]
            prop = {"name": name, "phrase": phrase, "patterns": patterns}
        elif not aspects:
            key, _, value = line.partition(":")
            value = value.strip()
            if key == "host":
                head["host"].append([part.strip() for part in value.split(" | ")])
            elif key == "filler":
                taking = True
            elif key in {"src", "actors", "places", "things", "acts", "worries", "docs"}:
                head[key] = [part.strip() for part in value.split(";")]
            else:
                head[key] = value
        else:
            facts.append(read_fact(line, len(aspects) - 1, prop))
    if taking is None:
        raise ValueError(path)
    return head, aspects, facts


def read_fact(line, aspect, prop):
    parts = [part.strip() for part in re.split(r" \|(?: |$)", line)]
    marks, rest = parts[0].split(), parts[1:]
    fact = {"aspect": aspect, "kind": "quality", "tag": None, "old": None, "dispute": None}
    fact["only"] = None
    if marks[0] == "n":
        fact["kind"] = marks[1]
        marks = marks[2:]
    elif marks[0] == "e":
        fact["kind"] = "event"
        marks = marks[1:]
    elif marks[0] == "c":
        fact["kind"] = "cell"
        marks = marks[1:]
    fact["weight"], fact["as_of"] = int(marks[0]), marks[1]
    for mark in marks[2:]:
        if mark[0] == "#":
            fact["tag"] = mark[1:]
        elif mark[0] == ">":
            fact["old"] = mark[1:].replace("_", " ")
        elif mark[0] == "~":
            fact["dispute"] = mark[1:]
        elif mark in {"p", "s"}:
            fact["only"] = mark
        elif fact["kind"] == "cell":
            fact["entity"] = mark.replace("_", " ")
        else:
            raise ValueError(line)
    if fact["kind"] == "quality":
        fact["values"] = [v.strip() for v in rest[0].split(";") if v.strip()]
        fact["statement"] = rest[1]
        fact["wordings"] = [text for text in rest[2:] if text]
        if not fact["wordings"]:
            raise ValueError(line)
    elif fact["kind"] == "event":
        fact["what"] = rest[0]
    elif fact["kind"] == "cell":
        fact["value"], fact["prop"] = rest[0], prop
        fact["alternatives"] = rest[1].split("; ") if rest[1:] else []
        first, *more = fact["value"].split("; ")
        fact["value"] = first
        fact["alternatives"] += more
        if not fact["old"]:
            fact["tag"] = fact["tag"] or f"{fact['entity']}/{prop['name']}"
    else:
        fact["what"], fact["value"] = rest[0], rest[1]
        fact["alternatives"] = rest[2].split("; ") if rest[2:] else []
    return fact


def core_of(fact):
    """Return the stems common to every wording of a fact, without its values."""
    if fact["kind"] == "quality":
        texts = [fact["statement"], *fact["wordings"]]
    elif fact["kind"] == "cell":
        texts = [fact["entity"] + " " + fact["prop"]["name"]]
    else:
        texts = [fact["what"]]
    rest = [normalise(text) for text in texts[1:]]
    return [stem for stem in stems(texts[0]) if all(stem in text for text in rest)]


def variants(value):
    """Return forms of a value, without its unit if the number alone is distinctive."""
    match = re.match(r"([\d,.]*\d)( million| billion)?(?: (.+))?$", value)
    if not match:
        return [value]
    number, scale, unit = match.groups()
    found = [value]
    plain = number.replace(",", "")
    if scale:
        found.append(number + scale)
    elif float(plain) >= 2200 or ("." in plain and float(plain) >= 10):
        found.append(number)
    if unit and unit.endswith("s") and not scale and " " not in unit:
        found.append(f"{number} {unit[:-1]}")
    return found


def apart(fact):
    """Return a pattern for number and unit in the same sentence with other words between."""
    match = re.match(r"([\d,.]*\d) (.+)$", fact["value"])
    if not match or fact["kind"] == "share":
        return []
    units = match.group(2).split()
    unit = units[-1] if fact["kind"] == "quantity" and len(units) < 3 else units[0]
    unit = unit[:-1] if unit.endswith("s") else unit
    return [f"{match.group(1)}+{unit}"] if unit not in {"million", "billion", "percent"} else []


def first_day(text, asked):
    """Return the earliest day on which a page can know a fact dated `text`."""
    if len(text) == 4:
        day = date(int(text), 12, 20)
        return max(date(int(text), 1, 3), min(day, asked - timedelta(days=150)))
    if len(text) == 7:
        return date(int(text[:4]), int(text[5:]), 25)
    return date.fromisoformat(text)


class Question:
    """One survey question, converted from its source to the three files."""

    def __init__(self, path, patterns, filler, offtopic):
        self.head, self.aspects, self.facts = read_source(path)
        self.id = self.head["id"]
        self.random = random.Random(f"{SEED}-{self.id}")
        self.patterns, self.pool, self.offtopic = patterns, filler, offtopic
        self.asked = date.fromisoformat(self.head["asked"])
        self.used_filler = Counter()
        self.used_titles = set()
        self.recent = {}
        self.pages = []

    # facts

    def number_facts(self):
        tags = {}
        self.nulls = [f for f in self.facts if f["kind"] == "cell" and f["value"] == "-"]
        self.facts = [f for f in self.facts if f not in self.nulls]
        for place, fact in enumerate(self.facts, 1):
            fact["id"] = f"{self.id}-f{place:03d}"
            if fact["tag"]:
                if fact["tag"] in tags:
                    raise ValueError(f"{self.id}: tag {fact['tag']} twice")
                tags[fact["tag"]] = fact
        for fact in self.facts:
            fact["newer"] = tags[fact["old"]] if fact["old"] else None
            fact["against"] = None
        for fact in self.facts:
            if fact["dispute"]:
                other = tags[fact["dispute"]]
                fact["against"], other["against"] = other, fact
        for fact in self.facts:
            self.phrase(fact)

    def phrase(self, fact):
        if fact["kind"] == "quality":
            exact = {value for value in fact["values"] if value.startswith("=")}
            fact["values"] = [value.removeprefix("=") for value in fact["values"]]
            for value in list(fact["values"]):
                loose = "+" not in value and not re.search(r"\d", normalise(value))
                loose = loose and not re.search(r"\b(no|not|without|cannot|than|may)\b", value)
                words = stems(value) if loose and "=" + value not in exact else []
                if len(words) > 1 and "+".join(words) not in fact["values"]:
                    fact["values"].append("+".join(words))
        elif fact["kind"] == "event":
            day = date.fromisoformat(fact["as_of"])
            month = MONTHS[day.month - 1]
            fact["statement"] = cap(f"{fact['what']} took place in {month} {day.year}.")
            fact["values"] = [
                f"{month} {day.year}", f"{month} {day.day}, {day.year}",
                f"{month[:3]} {day.year}", f"{day.year}-{day.month:02d}", day.isoformat(),
                f"{day.month:02d}/{day.year}",
            ]  # fmt: skip
        elif fact["kind"] == "cell":
            fact["values"] = variants(fact["value"]) + fact["alternatives"]
            fact["statement"] = self.fill_cell(fact["prop"]["patterns"][0], fact)
        else:
            year = fact["as_of"][:4]
            fact["statement"] = cap(f"{fact['what']} was {fact['value']} in {year}.")
            fact["values"] = variants(fact["value"]) + fact["alternatives"]
            fact["values"] += apart(fact)

    def fill_cell(self, text, fact):
        text = text.replace("{e}", fact["entity"]).replace("{v}", self.spoken(fact["value"]))
        text = text.replace("{prop}", fact["prop"]["phrase"])
        return cap(text.replace("{SRC}", self.random.choice(self.head["src"])))

    def spoken(self, value):
        """Return the value as a page may word it: sometimes in words, sometimes with "about"."""
        match = re.match(r"(\d{1,2}) (?![\d%])(?!million|billion)", value)
        if match and self.random.random() < 0.35:
            value = words_of(int(match.group(1))) + value[match.end() - 1 :]
        return value

    def wordings(self, fact, count):
        """Return `count` different sentences with the fact."""
        chance = self.random
        if fact["kind"] == "quality":
            texts = list(fact["wordings"])
            spare = [fact["statement"], *fact["wordings"]]
            while len(texts) < count:
                lead = self.next_pattern("lead")
                text = lead.replace("{SRC}", chance.choice(self.head["src"]))
                texts.append(cap(text.replace("{S}", low(spare[len(texts) % len(spare)]))))
            return texts[:count]
        if fact["kind"] == "cell":
            own = [self.fill_cell(text, fact) for text in fact["prop"]["patterns"]]
            chance.shuffle(own)
            pooled = [self.fill_cell(self.next_pattern("cell"), fact) for _ in range(count)]
            texts = []
            for place in range(count):
                texts.append(own[place] if own[place:] and chance.random() < 0.6 else pooled[place])
            return texts
        texts = []
        while len(texts) < count:
            text = self.next_pattern(fact["kind"])
            if fact["kind"] == "event":
                day = date.fromisoformat(fact["as_of"])
                when = f"{day.day} {MONTHS[day.month - 1]} {day.year}"
                text = text.replace("{E}", fact["what"]).replace("{D}", when)
            else:
                value = self.spoken(fact["value"])
                plain = value[0].isdigit() and len(value) > 4 and "{V}" not in text[:6]
                if plain and chance.random() < 0.12:
                    value = "about " + value
                text = text.replace("{M}", fact["what"]).replace("{V}", value)
                text = text.replace("{D}", fact["as_of"][:4])
            text = cap(text.replace("{SRC}", chance.choice(self.head["src"])))
            if text not in texts:
                texts.append(text)
        return texts

    def next_pattern(self, kind):
        """Return the next pattern of a kind. All are used equally often, in shuffled order."""
        deck = self.recent.get(kind)
        if not deck:
            deck = list(self.patterns[kind])
            self.random.shuffle(deck)
            self.recent[kind] = deck
        return deck.pop()

    # filler

    def filler(self, vocabulary, own, dealt, year):
        """Return a sentence without planted values that this question has not used yet."""
        for _ in range(2000):
            form = self.random.choice(own if own and self.random.random() < 0.75 else self.pool)
            if form in dealt:
                continue
            actors = self.random.sample(vocabulary["actors"], 2)
            acts = self.random.sample(vocabulary["acts"], 2)
            text = form
            for name, value in (
                ("actor", actors[0]), ("actor2", actors[1]), ("act", acts[0]),
                ("act2", acts[1]), ("place", self.random.choice(vocabulary["places"])),
                ("thing", self.random.choice(vocabulary["things"])),
                ("worry", self.random.choice(vocabulary["worries"])),
                ("doc", self.random.choice(vocabulary["docs"])),
                ("topic", vocabulary["topic"]), ("n", str(self.random.randrange(3, 29))),
                ("y", str(year - self.random.randrange(1, 9))),
            ):  # fmt: skip
                text = text.replace("{" + name + "}", value)
            text = cap(re.sub(r"\ba (?=[aeio])", "an ", text))
            if self.used_filler[text] >= (3 if text == form else 1):
                continue
            normal = normalise(text)
            if any(m.shown(normal) for m in self.matchers):
                continue
            self.used_filler[text] += 1
            dealt.add(form)
            if len(dealt) > len(self.pool) - 15:
                dealt.clear()
            return text
        raise ValueError(f"{self.id}: no filler left")

    # pages

    def title(self, kind, topic):
        choices = [t.split(": ", 1)[1] for t in self.patterns["title"] if t.startswith(kind + ":")]
        for _ in range(40):
            text = cap(self.random.choice(choices).replace("{T}", topic))
            if text not in self.used_titles:
                break
        self.used_titles.add(text)
        return text

    def new_page(self, host, topic, **more):
        page = {
            "host": host[1], "kind": host[0], "site": host[2], "topic": topic, "facts": [],
            "copy_of": None, "outdated": False, "off_topic": False, "long": False, "day": None,
            "aspects": [], "title": None, "vocabulary": self.head, "paragraphs": None,
        }  # fmt: skip
        page.update(more)
        self.pages.append(page)
        return page

    def fits(self, page, fact):
        ids = [f["id"] for f, _ in page["facts"]]
        if fact["id"] in ids or (fact["against"] and fact["against"]["id"] in ids):
            return False
        if fact["only"] == "p" and page["kind"] not in PRIMARY:
            return False
        if fact["only"] == "s" and page["kind"] in PRIMARY:
            return False
        return page["host"] not in fact["hosts"]

    def put(self, page, fact, text):
        page["facts"].append((fact, text))
        fact["hosts"].add(page["host"])
        fact["placed"] += 1

    def place_facts(self):
        chance = self.random
        hosts = self.head["host"]
        primary = [h for h in hosts if h[0] in PRIMARY]
        secondary = [h for h in hosts if h[0] not in PRIMARY]
        longs = []
        overview = self.head.get("title")
        for kinds in (("official",), ("encyclopedia",), ("paper",), ("news", "blog")):
            host = chance.choice([h for h in hosts if h[0] in kinds])
            longs.append(self.new_page(host, overview, long=True))
        for fact in self.facts:
            fact["hosts"], fact["placed"] = set(), 0
        for place, aspect in enumerate(self.aspects):
            mine = [f for f in self.facts if f["aspect"] == place and not f["newer"]]
            jobs = []
            for fact in mine:
                roll = chance.random()
                if fact["kind"] == "quality":
                    count = len(fact["wordings"])
                    if fact["against"]:
                        roll = 1
                    if count >= 2 and roll < 0.15:
                        count = 3
                    elif count == 1 and roll < 0.22:
                        count = 2
                else:
                    count = 1 if roll < 0.45 else 2 if roll < 0.9 else 3
                texts = self.wordings(fact, min(count, 3))
                order = [True, False] if chance.random() < 0.5 else [False, True]
                for n, text in enumerate(texts):
                    jobs.append((fact, text, order[n % 2] if len(texts) > 1 else None))
            chance.shuffle(jobs)
            rest = []
            for fact, text, side in jobs:
                page = min(longs, key=lambda p: (len(p["facts"]), p["host"]))
                if chance.random() < 0.22 and self.fits(page, fact):
                    self.put(page, fact, text)
                else:
                    rest.append((fact, text, side))
            count = max(4, round(len(rest) / 2.4))
            half = count // 2
            mix = chance.sample(primary, min(half, len(primary)))
            mix += chance.sample(secondary, min(count - half, len(secondary)))
            sheets = [self.new_page(h, aspect["topic"], aspects=[place]) for h in mix]
            for fact, text, side in rest:
                able = [p for p in sheets if self.fits(p, fact)]
                if not able:
                    able = [p for p in longs if self.fits(p, fact)]
                if not able:
                    free = [h for h in hosts if h[1] not in fact["hosts"]]
                    if fact["only"]:
                        free = [h for h in free if (h[0] in PRIMARY) == (fact["only"] == "p")]
                    sheet = self.new_page(chance.choice(free), aspect["topic"], aspects=[place])
                    sheets.append(sheet)
                    able = [sheet]
                wanted = [p for p in able if side is None or (p["kind"] in PRIMARY) == side]
                page = min(wanted or able, key=lambda p: (len(p["facts"]), p["host"]))
                self.put(page, fact, text)
        for page in longs:
            page["aspects"] = sorted({f["aspect"] for f, _ in page["facts"]})
        for page in [p for p in self.pages if not p["facts"]]:
            self.pages.remove(page)
        self.place_outdated(hosts)

    def place_outdated(self, hosts):
        chance = self.random
        olds = [f for f in self.facts if f["newer"]]
        stale_hosts = [h for h in hosts if h[0] in {"forum", "blog", "encyclopedia", "news"}]
        stale = None
        for place, fact in enumerate(olds):
            texts = self.wordings(fact, 2)
            aspect = self.aspects[fact["aspect"]]
            end = first_day(fact["newer"]["as_of"], self.asked)
            start = first_day(fact["as_of"], self.asked) + timedelta(days=3)
            if len(fact["newer"]["as_of"]) == 4:
                end = date(int(fact["newer"]["as_of"]), 1, 1)
            if start >= end:
                raise ValueError(f"{fact['id']}: no time for the outdated page")
            day = start + timedelta(days=chance.randrange(min(150, (end - start).days)))
            page = self.new_page(
                chance.choice(hosts), aspect["topic"], aspects=[fact["aspect"]], outdated=True,
                day=day,
            )  # fmt: skip
            self.put(page, fact, texts[0])
            extra = [
                f for f in self.facts
                if f["kind"] == "quality" and not f["newer"] and not f["only"]
                and first_day(f["as_of"], self.asked) <= day and f["placed"] < 2
                and self.fits(page, f)
            ]  # fmt: skip
            extra.sort(key=lambda f: (f["aspect"] != fact["aspect"], f["id"]))
            if extra:
                more = extra[0]
                lead = self.next_pattern("lead").replace("{SRC}", chance.choice(self.head["src"]))
                self.put(page, more, cap(lead.replace("{S}", low(more["statement"]))))
                page["aspects"] = sorted({fact["aspect"], more["aspect"]})
            if place < 4:
                if stale is None or place % 2 == 0:
                    free = [h for h in stale_hosts if h[1] not in fact["hosts"]]
                    stale = self.new_page(
                        chance.choice(free), aspect["topic"], aspects=[fact["aspect"]],
                        outdated=True, stale=True,
                    )  # fmt: skip
                if self.fits(stale, fact):
                    self.put(stale, fact, texts[1])
                    stale["aspects"] = sorted(set(stale["aspects"]) | {fact["aspect"]})

    def add_empty(self):
        chance = self.random
        soft = [h for h in self.head["host"] if h[0] in {"news", "blog", "forum"}]
        for vocabulary in chance.sample(self.offtopic, 5):
            self.new_page(
                chance.choice(soft), vocabulary["topic"], off_topic=True,
                vocabulary=vocabulary, title=vocabulary["title"],
            )  # fmt: skip
        topic, places = self.head["topic"], chance.sample(self.head["places"], 3)
        titles = [
            f"Letters to the editor on {topic}",
            f"A day in {places[0]}",
            f"Open evening on {topic} in {places[1]}",
            f"Portrait of {places[2]}",
        ]
        for text in titles:
            self.new_page(chance.choice(soft), topic, title=text)

    def write_pages(self):
        chance = self.random
        limit = self.asked - timedelta(days=2)
        for page in self.pages:
            if page["day"] is None:
                days = [first_day(f["as_of"], self.asked) for f, _ in page["facts"]]
                if page.get("stale"):
                    days = [first_day(f["newer"]["as_of"], self.asked) for f, _ in page["facts"]]
                start = max(days) if days else limit - timedelta(days=chance.randrange(30, 1500))
                page["day"] = min(limit, start + timedelta(days=chance.randrange(2, 160)))
            page["title"] = page["title"] or self.title(page["kind"], page["topic"])
            self.write_text(page)
        self.add_copies()

    def write_text(self, page):
        chance = self.random
        opener = chance.choice(self.patterns["open-" + page["kind"]])
        topic = page["topic"]
        first = [cap(opener.replace("{T}", topic))]
        lines = [line for a in page["aspects"] for line in self.aspects[a]["filler"]]
        own = [] if page["off_topic"] else self.head["filler"]
        if page["long"]:
            target = chance.randrange(1260, 1700)
            lines = chance.sample(lines, len(lines) // 2)
        else:
            target = chance.randrange(135, 400)
            lines = chance.sample(lines, min(len(lines), 1))
        facts = list(page["facts"])
        facts.sort(key=lambda pair: pair[0]["aspect"])
        size = sum(len(text.split()) for _, text in facts)
        size += sum(len(text.split()) for text in first + lines)
        fill, dealt = [], set()
        while size < target or len(fill) < 2 + len(facts) // 2:
            text = self.filler(page["vocabulary"], own, dealt, page["day"].year)
            fill.append(text)
            size += len(text.split())
            if size > 425 and not page["long"]:
                break
        body = [text for _, text in facts]
        gaps = sorted(chance.choices(range(len(body) + 1), k=len(fill) + len(lines)))
        mixed, soft = [], lines + fill
        head_soft, tail = soft[:], []
        chance.shuffle(head_soft)
        for place in range(len(body) + 1):
            for _ in range(gaps.count(place)):
                mixed.append(head_soft.pop())
            if place < len(body):
                mixed.append(body[place])
        sentences = first + mixed + tail
        paragraphs = []
        while sentences:
            take = chance.randrange(3, 6)
            if len(sentences) - take < 2:
                take = len(sentences)
            paragraphs.append(" ".join(sentences[:take]))
            sentences = sentences[take:]
        page["paragraphs"] = paragraphs
        page["table"] = self.table(page)

    def table(self, page):
        numbers = [f for f, _ in page["facts"] if f["kind"] in {"quantity", "cost", "share"}]
        cells = [f for f, _ in page["facts"] if f["kind"] == "cell"]
        if page["kind"] not in {"statistics table", "official", "paper", "encyclopedia"}:
            return None
        if cells:
            rows = [["Entry", "Property", "Value"]]
            return rows + [[f["entity"], f["prop"]["name"], f["value"]] for f in cells]
        if numbers:
            rows = [["Item", "Year", "Value"]]
            lines = [[cap(f["what"]), f["as_of"][:4], f["value"]] for f in numbers]
            for thing in self.random.sample(self.head["things"], self.random.randrange(2, 6)):
                state = self.random.choice(["in stock", "replaced", "on order", "inspected"])
                year, count = page["day"].year - 1, self.random.randrange(3, 97)
                lines.append([cap(f"{thing} {state}"), str(year), str(count)])
            self.random.shuffle(lines)
            return rows + lines
        return None

    def add_copies(self):
        chance = self.random
        soft = [h for h in self.head["host"] if h[0] in {"news", "blog"}]
        able = [
            p for p in self.pages
            if p["kind"] in {"news", "official", "blog"} and p["facts"] and not p["long"]
            and not p["outdated"] and not any(f["only"] == "p" for f, _ in p["facts"])
        ]  # fmt: skip
        chance.shuffle(able)
        made = 0
        for source in able:
            if made == 4:
                break
            if any(f["placed"] > 2 for f, _ in source["facts"]):
                continue
            free = [h for h in soft if all(h[1] not in f["hosts"] for f, _ in source["facts"])]
            if not free:
                continue
            host = chance.choice(free)
            day = min(self.asked - timedelta(days=1), source["day"] + timedelta(days=1))
            note = f"This text first appeared at {source['site']} and is reprinted with permission."
            page = self.new_page(
                host, source["topic"], aspects=source["aspects"], day=day, title=source["title"],
            )  # fmt: skip
            page["source"] = source
            for fact, text in source["facts"]:
                self.put(page, fact, text)
            page["paragraphs"] = [note, *source["paragraphs"]]
            page["table"] = source["table"]
            made += 1

    # output

    def build(self):
        self.number_facts()
        self.matchers = [Fact(self.fact_row(f)) for f in self.facts]
        self.place_facts()
        self.add_empty()
        self.write_pages()
        self.random.shuffle(self.pages)
        for place, page in enumerate(self.pages, 1):
            page["id"] = f"{self.id}-p{place:03d}"
        seen = set()
        for page in self.pages:
            slug = re.sub(r"[^a-z0-9]+", "-", page["title"].lower()).strip("-")[:60].strip("-")
            url = f"https://{page['host']}/{page['day'].year}/{slug}"
            if url in seen:
                url += f"-{page['id'][-3:]}"
            seen.add(url)
            page["url"] = url

    def fact_row(self, fact):
        row = {
            "id": fact["id"],
            "question": self.id,
            "aspect": f"{self.id}-a{fact['aspect'] + 1:02d}",
            "kind": fact["kind"],
            "weight": fact["weight"],
            "statement": fact["statement"],
            "values": [v for v in fact["values"] if "+" not in v],
            "values_all": [v.split("+") for v in fact["values"] if "+" in v],
            "as_of": fact["as_of"],
            "superseded_by": fact["newer"]["id"] if fact["newer"] else None,
            "disputed_with": fact["against"]["id"] if fact["against"] else None,
        }
        return row

    def fact_rows(self):
        for fact in self.facts:
            row = self.fact_row(fact)
            row["core"] = core_of(fact)
            row["primary"] = any(
                page["kind"] in PRIMARY and any(f is fact for f, _ in page["facts"])
                for page in self.pages
            )
            yield row

    def page_rows(self):
        for page in self.pages:
            yield {
                "id": page["id"],
                "question": self.id,
                "url": page["url"],
                "host": page["host"],
                "site": page["site"],
                "kind": page["kind"],
                "primary": page["kind"] in PRIMARY,
                "published": page["day"].isoformat(),
                "title": page["title"],
                "paragraphs": page["paragraphs"],
                "table": page["table"],
                "facts": [{"id": f["id"], "sentence": text} for f, text in page["facts"]],
                "copy_of": page["source"]["id"] if page.get("source") else None,
                "outdated": page["outdated"],
                "off_topic": page["off_topic"],
            }

    def question_row(self):
        cells, order = {}, []
        for fact in self.facts + self.nulls:
            if fact["kind"] != "cell" or fact.get("newer"):
                continue
            name = fact["prop"]["name"]
            if name not in order:
                order.append(name)
            value = None
            if fact["value"] != "-":
                value = {"value": fact["value"], "values": fact["values"], "fact": fact["id"]}
            cells.setdefault(fact["entity"], {})[name] = value
        events = sorted((f for f in self.facts if f["kind"] == "event"), key=lambda f: f["as_of"])
        timeline = [
            {
                "fact": f["id"],
                "date": f["as_of"],
                "event": f["what"],
                "values": f["values"],
                "words": event_words(f["what"]),
            }
            for f in events
        ]
        return {
            "id": self.id,
            "part": self.head["part"],
            "question": self.head["question"],
            "form": self.head["form"],
            "asked": self.head["asked"],
            "aspects": [
                {"id": f"{self.id}-a{n:02d}", "name": a["name"], "question": a["question"]}
                for n, a in enumerate(self.aspects, 1)
            ],
            "entities": list(cells),
            "properties": order,
            "cells": cells,
            "timeline": timeline if self.head["form"] == "timeline" or len(timeline) > 3 else [],
        }


def event_words(text):
    dull = {"first", "second", "opening", "start", "their", "after", "which", "other", "under"}
    found = [w for w in re.findall(r"[A-Za-z]+", text) if len(w) > 4 and w.lower() not in dull]
    return found or re.findall(r"[A-Za-z]+", text)


def read_vocabularies(path):
    sets = []
    for block in path.read_text(encoding="utf-8").strip().split("\n\n"):
        entry = {}
        for line in block.splitlines():
            key, _, value = line.partition(": ")
            parts = [part.strip() for part in value.split(";")]
            entry[key] = value.strip() if key in {"title", "topic"} else parts
        sets.append(entry)
    return sets


def main():
    patterns = sections(SOURCES / "patterns.txt")
    filler = (SOURCES / "filler.txt").read_text(encoding="utf-8").splitlines()
    offtopic = read_vocabularies(SOURCES / "offtopic.txt")
    for path in SOURCES.glob("s*.txt"):
        COMMON.update(re.findall(r"\b[a-z][a-z-]*", path.read_text(encoding="utf-8")))
    out = {"questions": [], "facts": [], "pages": []}
    for path in sorted(SOURCES.glob("s*.txt")):
        question = Question(path, patterns, filler, offtopic)
        question.build()
        out["questions"].append(question.question_row())
        out["facts"].extend(question.fact_rows())
        out["pages"].extend(question.page_rows())
    for name, entries in out.items():
        with open(HERE / f"{name}.jsonl", "w", encoding="utf-8") as file:
            for entry in entries:
                file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        print(name, len(entries))


if __name__ == "__main__":
    main()
