"""Evaluate expressions in a module, as code of a tree would, and record what Python prints of their results.

`library.py FILE` reads a JSON file with a module's text and expressions, `{"module": …, "results": [[expression, …], …]}`,
and prints the file with the results of this Python and its packages. `library.py dates SEED COUNT` makes expressions of
`dateutil` up.
"""

import json
import random
import sys


def recorded(path):
    given = json.load(open(path, encoding="utf-8"))
    names = {}
    exec(given["module"], names)
    results = []
    for expression in (entry[0] for entry in given["results"]):
        try:
            results.append([expression, names["evaluate"](expression)])
        except Exception as error:
            results.append([expression, f"raises {type(error).__name__}: {error}"])
    return {"module": given["module"], "results": results}


MONTHS = "January February March April May June July August September October November December".split()


def date(rng):
    year, month, day = rng.randrange(1970, 2040), rng.randrange(1, 13), rng.randrange(1, 29)
    hour, minute, second = rng.randrange(24), rng.randrange(60), rng.randrange(60)
    name = rng.choice((MONTHS[month - 1], MONTHS[month - 1][:3]))
    whole = rng.choice(
        (
            f"{year}-{month:02}-{day:02}",
            f"{year}/{month}/{day}",
            f"{year}{month:02}{day:02}",
            f"{month}/{day}/{year}",
            f"{day} {name} {year}",
            f"{day}-{name}-{year}",
            f"{name} {day}, {year}",
            f"{name} {day} {year}",
        )
    )
    zone = rng.choice(("", "", "Z", " UTC", " GMT", "+02:00", "-0530", " +0000"))
    if rng.random() < 0.2:
        return f"{name[:3]} {day:2} {hour:02}:{minute:02}:{second:02} {year}{rng.choice(('', ' GMT'))}"
    if rng.random() < 0.3:
        return whole
    if rng.random() < 0.2:
        return f"{whole} {hour % 12 + 1}:{minute:02} {rng.choice(('AM', 'pm'))}"
    fraction = rng.choice(("", "", f".{rng.randrange(10**rng.randrange(1, 7))}"))
    return f"{whole}{rng.choice(' T')}{hour:02}:{minute:02}:{second:02}{fraction}{zone}"


def delta(rng):
    units = ("years", "months", "weeks", "days", "hours", "minutes", "seconds", "microseconds")
    parts = [f"{unit}={rng.randrange(-40, 60)}" for unit in units if rng.random() < 0.3]
    parts += [f"{unit}={rng.randrange(1, 12)}" for unit in ("month", "day", "hour") if rng.random() < 0.15]
    return f"relativedelta({', '.join(parts)})"


def dates(seed, count):
    rng = random.Random(seed)
    for _ in range(count):
        kind = rng.random()
        if kind < 0.5:
            yield f"parse({date(rng)!r})"
        elif kind < 0.7:
            yield f"parse({date(rng)!r}, ignoretz=True) {rng.choice('+-')} {delta(rng)}"
        elif kind < 0.9:
            yield f"relativedelta(parse({date(rng)!r}, ignoretz=True), parse({date(rng)!r}, ignoretz=True))"
        else:
            yield f"{delta(rng)} {rng.choice('+-')} {delta(rng)}"


if __name__ == "__main__":
    if sys.argv[1] == "dates":
        print(json.dumps(list(dates(sys.argv[2], int(sys.argv[3])))))
    else:
        json.dump(recorded(sys.argv[1]), sys.stdout, indent=1)
        print()
