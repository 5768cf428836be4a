"""Record what another version of Salt makes of the recorded pillars, where that is something else.

usage: PYTHON versions.py PROJECT    where PYTHON is that of an environment with the other version

docs/pillar.md says what the differences come to.
"""
import json
import pathlib
import sys

import salt.version

import whole_pillar

DATA = "crates/pillar/tests/data"
RECORDS = ("whole_pillars.json", "version_pillars.json", "external_pillars.json")
OTHERS = "other_versions.json"


def main():
    data = pathlib.Path(sys.argv[1]) / DATA
    records = [record for name in RECORDS for record in json.loads((data / name).read_text(encoding="utf-8"))]
    others = json.loads((data / OTHERS).read_text(encoding="utf-8"))
    made = {record["name"]: whole_pillar.compiled(record) for record in records}
    differs = lambda record: answer(made[record["name"]]) != answer(record)
    others[salt.version.__version__] = {record["name"]: made[record["name"]] for record in records if differs(record)}
    text = json.dumps(dict(sorted(others.items())), indent=1, ensure_ascii=False)
    (data / OTHERS).write_text(text + "\n", encoding="utf-8")
    print(f"Salt {salt.version.__version__}: {len(records)} recorded pillars, {len(others[salt.version.__version__])} differ")


def answer(record):
    """The pillar; all refusals are equal."""
    return record.get("result")


if __name__ == "__main__":
    main()
