"""Record what another version of Salt makes of the recorded pillars, where that is something else.

usage: PYTHON versions.py PROJECT    where PYTHON is that of an environment with the other version

docs/pillar.md says what the differences come to.
"""
import json
import os
import pathlib
import sys

import salt.pillar
import salt.version

import whole_pillar

DATA = "crates/pillar/tests/data"
# The records by the file with what other versions make of them; names are told apart within these only.
RECORDS = {
    "other_versions.json": ("whole_pillars.json", "version_pillars.json", "external_pillars.json"),
    "other_saltclass_versions.json": ("saltclass_pillars.json",),
}


def main():
    data = pathlib.Path(sys.argv[1]) / DATA
    # These versions have their own.
    os.environ["MAPSTACK_SALTCLASS"] = os.path.join(os.path.dirname(salt.pillar.__file__), "saltclass.py")
    for others, names in RECORDS.items():
        record_others(data / others, [record for name in names for record in json.loads((data / name).read_text(encoding="utf-8"))])


def record_others(file, records):
    others = json.loads(file.read_text(encoding="utf-8"))
    made = {record["name"]: whole_pillar.compiled(record) for record in records}
    differs = lambda record: answer(made[record["name"]]) != answer(record)
    others[salt.version.__version__] = {record["name"]: made[record["name"]] for record in records if differs(record)}
    text = json.dumps(dict(sorted(others.items())), indent=1, ensure_ascii=False)
    file.write_text(text + "\n", encoding="utf-8")
    print(f"{file.name}: Salt {salt.version.__version__}: {len(records)} recorded pillars, {len(others[salt.version.__version__])} differ")


def answer(record):
    """The pillar; all refusals are equal."""
    return record.get("result")


if __name__ == "__main__":
    main()
