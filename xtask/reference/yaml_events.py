"""How long libyaml takes to parse texts, without making objects of what it finds.

usage: yaml_events.py FOLDER    with files NAME-NUMBER.yaml; prints the nanoseconds of the fastest turn of each name
"""
import json
import pathlib
import sys
import time

from yaml import CSafeLoader


def main():
    texts = {}
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.yaml")):
        texts.setdefault(path.stem.rpartition("-")[0], []).append(path.read_bytes())
    print(json.dumps({name: min(turn(texts[name]) for _ in range(40)) for name in texts}))


def turn(texts):
    start = time.perf_counter_ns()
    for text in texts:
        CSafeLoader(text).raw_parse()
    return time.perf_counter_ns() - start


if __name__ == "__main__":
    main()
