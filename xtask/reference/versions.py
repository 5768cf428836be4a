"""What another version of Salt makes of the recorded pillars.

usage: PYTHON versions.py PROJECT    where PYTHON is that of an environment with the other version

Prints each recorded pillar that differs, with both answers. docs/pillar.md says what the differences come to.
"""
import json
import pathlib
import sys

import salt.version

import whole_pillar


def main():
    records = json.loads((pathlib.Path(sys.argv[1]) / "crates/pillar/tests/data/whole_pillars.json").read_text(encoding="utf-8"))
    differ = 0
    for record in records:
        here = whole_pillar.compiled(record)
        both_fail = "error" in record and "error" in here
        if both_fail or here.get("result") == record.get("result"):
            continue
        differ += 1
        print(f"{record['name']}\n   recorded {shown(record)}\n   here     {shown(here)}")
    print(f"Salt {salt.version.__version__}: {len(records)} recorded pillars, {differ} differ")


def shown(answer):
    return answer.get("result") or f"{answer['error']}: {answer['message']}"


if __name__ == "__main__":
    main()
