"""Records what timelib reads in texts: `dates.py OUT [COUNT [SEED]]`.

Each record is a text, the time that counts as the present, and the moment that it means, or null if it is refused.
The names of zones that it knows are in `crates/salt-jinja/data/zones.txt`.
"""

import json
import random
import sys

import timelib

NOWS = [1700000000, 951782400 + 3661, 1719759599, 86399]
MONTHS = "jan feb mar apr may jun jul aug sep sept oct nov dec january February MARCH april june July december I IV xii VIII".split()
DAYS = "mon tue wed thu fri sat sun monday Tuesday wednesday thursday friday saturday SUNDAY weekday weekdays".split()
UNITS = "sec secs second seconds min mins minute minutes hour hours day days week weeks fortnight forthnight month months year years".split()
NUMBERS = "first next second third fourth fifth sixth seventh eight eighth ninth tenth eleventh twelfth last previous this".split()
WORDS = "now today midnight noon tomorrow yesterday ago".split() + ["", " ", "nil", "x", "_", "é"]
ZONES = "UTC utc Z GMT CET cest EST (PST) Europe/Berlin America/New_York Nowhere/Land foo +1 +01 +0100 +01:00 -5 -0530 -05:30 +25 +2:5 (UTC)".split()


class Texts:
    """Makes texts."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.one = self.random.choice

    def number(self, digits, largest=None):
        largest = 10**digits - 1 if largest is None else largest
        number = self.random.randint(0, largest)
        return str(number) if self.random.random() < 0.4 else str(number).zfill(digits)

    def digits(self):
        count = self.random.choice([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17])
        if count >= 8 and self.random.random() < 0.5:
            parts = [self.one("12") + self.number(3).zfill(3)] + [f"{self.random.randint(0, m):02}" for m in (13, 32, 24, 60, 61)]
            return "".join(parts)[:count]
        return "".join(self.one("0123456789") for _ in range(count))

    def year(self):
        return self.one([self.one(["19", "20"]) + f"{self.random.randint(0, 99):02}", self.number(2), self.number(4), self.number(3)])

    def day(self):
        return self.number(2, 32) + self.one(["", "", "", "st", "nd", "rd", "th"])

    def clock(self):
        separator = self.one("::::.")
        parts = [self.number(2, 25), self.number(2, 61), self.number(2, 61)][: self.random.choice([2, 2, 3, 3, 3])]
        text = separator.join(parts)
        if len(parts) == 3 and self.random.random() < 0.3:
            text += "." + "".join(self.one("0123456789") for _ in range(self.random.randint(1, 10)))
        if self.random.random() < 0.2:
            text = self.one([self.number(2, 13), text]) + self.one(["", " "]) + self.one(["am", "PM", "a.m.", "p.m", "AM."])
        if self.random.random() < 0.3:
            text += self.one(["", " "]) + self.one(ZONES)
        return self.one(["", "", "", "", "t", "T"]) + text

    def date(self):
        month, name, day, year = self.number(2, 13), self.one(MONTHS), self.day(), self.year()
        plain, dash, gap = self.number(2, 32), self.one("-/.: "), self.one(["", " ", "-", ".", ", ", "\t"])
        return self.one(
            [
                dash.join([year, month, plain]),
                dash.join([plain, month, year]),
                dash.join([month, plain]),
                dash.join([year, month]),
                gap.join([day, name, year]),
                gap.join([name, day, year]),
                gap.join([year, name, plain]),
                gap.join([name, year]),
                gap.join([year, name]),
                gap.join([name, day]),
                gap.join([day, name]),
                name,
                year,
                f"{self.number(4)}-W{self.number(2, 54)}",
                f"{self.number(4)}W{self.number(2, 54)}{self.one(['', '-'])}{self.number(1, 8)}",
                f"{self.number(4)}.{self.number(3, 370)}",
                f"{plain}/{self.one(MONTHS[:13])}/{self.number(4)}:{self.number(2, 24)}:{self.number(2, 60)}:{self.number(2, 60)} {self.one(ZONES)}",
                self.one("+-") + dash.join([self.number(4), month, plain]),
            ]
        )

    def relative(self):
        amount = self.one(["", "+", "-", "--", "+ ", "- "]) + self.number(self.random.randint(1, 4))
        unit = self.one(UNITS + DAYS)
        return self.one([amount + self.one(["", " ", "  "]) + unit, f"{self.one(NUMBERS)} {unit}", self.one(DAYS), f"{amount} {unit} ago"])

    def stamp(self):
        return "@" + self.one(["", "-", "+", "--"]) + self.number(self.random.randint(1, 13))

    def joined(self):
        return self.date() + self.one(["T", "t", " ", "  ", ", ", "", "\t", "\n", ":"]) + self.clock()

    def phrase(self):
        """At most one piece of each kind, in any order."""
        makers = self.random.sample([self.date, self.clock, self.relative, self.relative, lambda: self.one(WORDS), lambda: self.one(ZONES)], 2)
        return self.one([" ", " ", " ", "", ", ", "\t"]).join(make() for make in makers)

    def any(self):
        makers = [self.digits, self.date, self.clock, self.relative, self.stamp, self.joined]
        kind = self.random.random()
        if kind < 0.35:
            text = self.one(makers)()
        elif kind < 0.75:
            text = self.phrase()
        elif kind < 0.85:
            text = " ".join(self.one(makers)() for _ in range(self.random.randint(2, 3)))
        elif kind < 0.92:
            text = "".join(self.one("0123456789+-.:/ TtZWam@e_,jn") for _ in range(self.random.randint(1, 12)))
        else:
            text = list(self.joined())
            for _ in range(self.random.randint(1, 2)):
                at = self.random.randrange(len(text))
                text[at : at + 1] = self.one([[], [self.one("0123456789 -:/.TZ")], [text[at]] * 2])
            text = "".join(text)
        return self.one(["", "", "", "", "", "", "", " ", "+", "-"]) + text + self.one(["", "", "", "", "", " ", "\n"])


def meant(text, now):
    try:
        return timelib.strtodatetime(text.encode(), now).isoformat()
    except ValueError:
        return None


def main(out, count="3500", seed="1"):
    texts, random_texts = {}, Texts(int(seed))
    while len(texts) < int(count):
        text = random_texts.any()
        now = NOWS[len(texts) % len(NOWS)]
        texts.setdefault(text, [text, now, meant(text, now)])
    with open(out, "w") as file:
        lines = (json.dumps(record) for record in texts.values())
        file.write("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
