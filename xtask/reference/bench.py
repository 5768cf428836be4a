"""How long the reference takes within one process, as in a state run but without the cache of `map.data`.

    python bench.py data FORMULA MINION ROOT…      salt['map.data'](FORMULA)
    python bench.py map FORMULA MINION ROOT…       import what FORMULA/init.sls imports from map.jinja
    python bench.py pillar stack|makostack CONFIG  the external pillar, for one minion after another
    python bench.py whole CONFIG MINIONS           the whole pillar of 40 minions that have a document in a folder

Prints one JSON object: median nanoseconds, and for pillars the most bytes the process had in memory.
"""
import json
import os
import resource
import statistics
import sys
import time

import salt_reference as reference
import salt.loader
import salt.template
import salt.utils.yaml


def importing(salt_minion, formula):
    """An sls that does nothing but import the formula's map, as Salt compiles it."""
    sls = os.path.join(salt_minion.home, formula, "init.sls")
    os.makedirs(os.path.dirname(sls))
    with open(sls, "w", encoding="utf-8") as out:
        out.write("{%%- from tpldir ~ '/map.jinja' import %s with context %%}" % formula)
    renderers = salt.loader.render(salt_minion.opts, salt_minion.functions)
    return lambda: salt.template.compile_template(sls, renderers, "jinja", [], [], saltenv="base", sls=formula)


def median(run):
    times = []
    for _ in range(13):
        start = time.perf_counter_ns()
        run()
        times.append(time.perf_counter_ns() - start)
    return int(statistics.median(times[3:]))


def pillar(kind, config):
    """The external pillar with the functions that a master's modules give it."""
    import itertools

    import record

    if kind == "stack":
        import salt.pillar.stack as module
    else:
        module = record.makostack_module()
    opts = {"pillarenv": None, "saltenv": "base"}
    module.__opts__, module.__grains__, module.__salt__ = opts, {}, {}
    numbers = itertools.count()
    warm = median(lambda: module.ext_pillar(f"web{next(numbers)}", {}, config))
    print(json.dumps({"warm": warm, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))


def whole(config, minions):
    """The whole pillar, as a master compiles it: for each minion again, with the modules and files that it keeps."""
    import tempfile

    import salt.config
    import salt.pillar

    opts = salt.config.master_config(config)
    home = tempfile.mkdtemp(prefix="mapstack-bench-")
    opts.update({name: os.path.join(home, name) for name in ("cachedir", "pki_dir", "sock_dir", "extension_modules")})
    opts.update(root_dir=home, id="master")
    documents = []
    for name in sorted(os.listdir(minions))[:40]:
        with open(os.path.join(minions, name), encoding="utf-8") as file:
            documents.append(salt.utils.yaml.safe_load(file))
    times = []
    for minion in documents:
        start = time.process_time_ns()
        made = salt.pillar.Pillar(opts, minion["grains"], minion["id"], None)
        made.compile_pillar()
        made.destroy()
        times.append(time.process_time_ns() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"warm": int(statistics.median(times[3:])), "peak": peak}))


def main():
    if sys.argv[1] == "pillar":
        return pillar(*sys.argv[2:])
    if sys.argv[1] == "whole":
        return whole(*sys.argv[2:])
    verb, formula, minion_file, *roots = sys.argv[1:]
    with open(minion_file, encoding="utf-8") as file:
        minion = salt.utils.yaml.safe_load(file)
    facts = {name: minion.get(name) for name in ("grains", "pillar", "opts")}
    facts["grains"] = {"id": minion["id"], **(facts["grains"] or {})}
    salt_minion = reference.Reference(roots, **facts, as_in_state_run=True)
    run = {
        "data": lambda: salt_minion.call("map.data", formula, cache=False),
        "map": importing(salt_minion, formula),
    }[verb]
    warm = median(run)
    salt_minion.close()
    print(json.dumps({"warm": warm}))


if __name__ == "__main__":
    main()
