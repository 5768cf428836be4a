"""The states of a fleet: a warm Salt in process beside `mapstack fleet highstate`, by processor time.

    python fleet_states.py MAPSTACK ROOT MINIONS [COUNT]

ROOT has the states and a top file, MINIONS a file for each minion. Salt compiles the low data of COUNT of them, mapstack that of
all. The start of Salt is not counted, that of mapstack is.
"""
import copy
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import high_data
import state_run

import salt.fileclient
import salt.loader
import salt.state
import salt.utils.yaml


def low_data(opts, minion):
    state = salt.state.State(opts, initial_pillar=copy.deepcopy(minion.get("pillar", {})))
    client = salt.fileclient.get_file_client(opts)

    class Tree(salt.state.BaseHighState):
        def __init__(tree):
            tree.client = client
            super().__init__(opts)
            tree.state = state
            tree.matchers = salt.loader.matchers(opts)

    return Tree().compile_low_chunks()


def salts(root, files):
    """The processor time of a minion, and its number of states."""
    high_data.logging_off()
    home = tempfile.mkdtemp(prefix="mapstack-fleet-")
    caller = state_run.masterless(home, {"files": {}, "grains": {"os": "Debian"}})
    caller.cmd("test.ping")
    states, start = 0, time.process_time()
    for file in files:
        minion = salt.utils.yaml.safe_load(file.read_text())
        opts = copy.copy(caller.opts)
        opts.update(id=minion["id"], grains={**minion["grains"], "id": minion["id"]}, file_roots={"base": [root]}, cachedir=os.path.join(home, "fleet"))
        low = low_data(opts, minion)
        if not low or isinstance(low[0], str):
            sys.exit(f"Salt refuses {minion['id']}: {low[:2]}")
        states += len(low)
    return (time.process_time() - start) / len(files), states / len(files)


def main():
    mapstack, root, minions, *count = sys.argv[1:]
    files = sorted(pathlib.Path(minions).iterdir())
    salt_each, states = salts(root, files[: int(count[0]) if count else 10])
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    done = subprocess.run([mapstack, "fleet", "highstate", "--root", root, "--minions", minions], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(done.stdout[-500:] + done.stderr[-500:])
    own = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    each = own / len(files)
    print(json.dumps({"minions": len(files), "states of one": states, "salt, ms of one": round(salt_each * 1000, 1), "mapstack, ms of one": round(each * 1000, 3),
                      "times": round(salt_each / each), "mapstack, s of all": round(own, 2), "by the clock": round(time.time() - start, 2), "MiB": after.ru_maxrss // 1024}))


if __name__ == "__main__":
    main()
