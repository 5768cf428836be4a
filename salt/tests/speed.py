#!/usr/bin/env python3
"""Measure the extension beside saltext-formula and Salt, on a minion of a live master on loopback.

usage: speed.py [--calls N] [--profile FILE]

Calls of `map.data` are measured with the modules of a state run, with those of a minion outside one, and as the first
call of a process, in turns by either implementation, of the formula `users` of the examples and without Salt's memory of
results. So are the external pillars `stack` and `mapstack_stack` over 150 files. At the end, the extension answers N
calls (default: 10,000) in one state run, and the growth of memory is printed.
"""

import argparse
import cProfile
import logging
import multiprocessing
import pathlib
import resource
import statistics
import tempfile
import time

import master
import salt.config
import salt.fileclient
import salt.loader
import salt.minion
import salt.pillar
import salt.state

ROUNDS = 5


def minion(root, disabled):
    """The options of a minion of the running master, with grains and pillar, and without some modules."""
    opts = salt.config.minion_config(str(root / "web1" / "etc" / "minion"))
    opts.update(salt.minion.resolve_dns(opts))
    opts["disable_modules"] = disabled
    pathlib.Path(opts["pki_dir"]).mkdir(parents=True, exist_ok=True)
    opts["grains"] = salt.loader.grains(opts)
    opts["pillar"] = salt.pillar.get_pillar(opts, opts["grains"], opts["id"]).compile_pillar()
    return opts


def in_state_run(opts, measured):
    """Work with the function `map.data` of a state run."""
    with salt.fileclient.get_file_client(opts) as client:
        state = salt.state.State(opts, initial_pillar=opts["pillar"], file_client=client)
        return measured(state.functions["map.data"])


def outside(opts, measured):
    """Work with the function `map.data` of a minion."""
    modules = salt.loader.minion_mods(opts, utils=salt.loader.utils(opts))
    return measured(modules["map.data"])


def first(opts, measured):
    """Work with the function `map.data` of a process that a minion forks for a job, before anything has called it."""
    modules = salt.loader.minion_mods(opts, utils=salt.loader.utils(opts))
    fork = multiprocessing.get_context("fork")
    received, sent = fork.Pipe(duplex=False)
    job = fork.Process(target=lambda: sent.send(measured(modules["map.data"])))
    job.start()
    times = received.recv()
    job.join()
    return times


def stacked(root):
    """The external pillars, as functions of a minion's id, over files that take something from others and from grains."""
    files = {
        f"stack/{number}.yml": f"key{number}: {{a: {number}, os: {{{{ __grains__['os'] }}}}}}\n"
        f"list: [{number}]\nlast: {{{{ stack.get('key{number - 1}', {{}}).get('a') }}}}\n"
        for number in range(150)
    }
    config = "".join(f"{number}.yml\n" for number in range(150))
    master.written(root, {**files, "stack/many.cfg": config})
    opts = salt.config.master_config(str(root / "master" / "etc" / "master"))
    opts["grains"] = {"id": "web1", "os": "Debian"}
    pillars = salt.loader.pillars(opts, salt.loader.minion_mods(opts))
    return [
        lambda calls, name=name: taking(calls)(lambda *_, **__: pillars[name]("web1", {}, str(root / "stack/many.cfg")))
        for name in ("mapstack_stack", "stack")
    ]


def printed(what, times):
    """Print the medians of the times of the extension and of what is beside it."""
    mine, salts = ([statistics.median(column) for column in zip(*each)] for each in zip(*times))
    ratio = statistics.median(salt[0] / own[0] for own, salt in times)
    print(
        f"{what}: {mine[0]:.2f} ms ({mine[1]:.2f} on the processor), Salt {salts[0]:.1f} ms ({salts[1]:.1f}), {ratio:.0f} times",
        flush=True,
    )


def taking(calls, after=1):
    """A measurement: the milliseconds of each of some calls, and those on the processor, after some that do not count."""

    def measured(data):
        for _ in range(after):
            data("users", cache=False)
        start, busy = time.perf_counter(), time.process_time()
        for _ in range(calls):
            data("users", cache=False)
        return [(end - begun) / calls * 1000 for end, begun in ((time.perf_counter(), start), (time.process_time(), busy))]

    return measured


def growth(calls):
    """A measurement: the kibibytes that memory grows by in some calls, after a tenth of them."""

    def resident():
        with open("/proc/self/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * resource.getpagesize() // 1024

    def measured(data):
        for _ in range(calls // 10):
            data("users", cache=False)
        before = resident()
        for _ in range(calls):
            data("users", cache=False)
        return resident() - before

    return measured


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=10000)
    parser.add_argument("--profile", type=pathlib.Path, help="write Python's profile of 1,000 calls in a state run")
    args = parser.parse_args()
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        master.configured(root, [], master.RUNS["mapstack"])
        with master.started(root, [("salt-master", "master")]):
            ours, theirs = minion(root, ["map"]), minion(root, [])
            for name, place, calls in (("in a state run", in_state_run, 100), ("outside one", outside, 10)):
                times = [(place(ours, taking(calls)), place(theirs, taking(calls // 10))) for _ in range(ROUNDS)]
                printed(f"map.data {name}", times)
            once = taking(1, after=0)
            printed("map.data as the first call of a process", [(first(ours, once), first(theirs, once)) for _ in range(ROUNDS)])
            ours_of, theirs_of = stacked(root)
            printed("ext_pillar of 150 files", [(ours_of(5), theirs_of(1)) for _ in range(3)])
            if args.profile:
                profile = cProfile.Profile()
                in_state_run(ours, lambda data: profile.runcall(taking(1000), data))
                profile.dump_stats(args.profile)
            print(f"{args.calls} calls: memory grows by {in_state_run(ours, growth(args.calls))} KiB")


if __name__ == "__main__":
    main()
