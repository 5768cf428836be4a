"""How long the reference's `map.data` takes within one process, as in a state run but without its cache.

    python bench.py FORMULA MINION ROOT…

Prints one JSON object of median nanoseconds.
"""
import json
import statistics
import sys
import time

import salt_reference as reference
import salt.utils.yaml


def main():
    formula, minion_file, *roots = sys.argv[1:]
    with open(minion_file, encoding="utf-8") as file:
        minion = salt.utils.yaml.safe_load(file)
    facts = {name: minion.get(name) for name in ("grains", "pillar", "opts")}
    facts["grains"] = {"id": minion["id"], **(facts["grains"] or {})}
    salt_minion = reference.Reference(roots, **facts, as_in_state_run=True)
    times = []
    for _ in range(13):
        start = time.perf_counter_ns()
        salt_minion.call("map.data", formula, cache=False)
        times.append(time.perf_counter_ns() - start)
    salt_minion.close()
    print(json.dumps({"warm": int(statistics.median(times[3:]))}))


if __name__ == "__main__":
    main()
