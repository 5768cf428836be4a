"""High data of states, and what Salt's state compiler makes of it.

    python high_data.py SEED COUNT

writes records with results, one a line. Results that depend on the order of Python's sets are left out. With the Python of an
environment with Salt 3006 or 3007, records have the version, and those of a state run the order in which states run.
"""
import fnmatch
import json
import os
import random
import signal
import subprocess
import sys

MODULES = ["pkg", "file", "service", "cmd", "test", "user"]
FUNCTIONS = ["installed", "managed", "running", "run", "nop", "present"]
IDS = ["a", "b", "c", "d", "nginx", "/etc/x", "web", "x y", "ä"]
SLS = ["web", "web.conf", "db", "base.init"]
DIRECT = ["require", "watch", "onchanges", "onfail", "prereq", "require_any", "watch_any", "onchanges_any", "onfail_any", "onfail_all", "listen"]
MOVED = ["require_in", "watch_in", "onchanges_in", "onfail_in", "prereq_in", "use", "use_in", "listen_in", "require_any_in"]
ODD = ["5", "null", "text", "[]", "[1]", "{}", "{a: 1}", "true", "[[]]", "2.5", "''", "{1: 2}", "[a, b]", "[{a: b}, {}]", "{a: 1, b: 2}"]
ORDERS = ["first", "last", "1", "5", "10", "10000", "-1", "-5", "0", "2.5", "true", "null", "'7'", "10001", "last", "[]"]
WATCHES = ["service", "cmd", "test"]


def quoted(name):
    return json.dumps(name, ensure_ascii=False)


class Maker:
    """Makes the text of one high data. `wild` is the share of what has a wrong form."""

    def __init__(self, r):
        self.r = r
        self.wild = r.choice([0, 0, 0, 0.01, 0.04])
        # Few IDs meet often.
        self.ids = r.sample(IDS, r.choice([3, 4, 6]))
        self.modules = r.sample(MODULES, r.choice([2, 3, 4]))
        self.requires = r.choice([0.1, 0.3, 0.3, 0.6])
        self.plan = {id_: r.sample(self.modules, r.choice([1, 1, 1, 2])) for id_ in self.ids}
        # Without cycles a state requires those before it.
        self.acyclic = r.random() < 0.75
        self.at = 0
        self.misses = r.choice([0, 0, 0.02, 0.1])
        self.anchors = []
        self.aliases = r.random() < 0.15

    def odd(self, made):
        return self.r.choice(ODD) if self.r.random() < self.wild else made

    def id(self):
        return self.r.choice(self.ids if self.r.random() > 0.04 else IDS)

    def shared(self, text):
        """A container, which may be one that is there already."""
        if not self.aliases:
            return text
        if self.anchors and self.r.random() < 0.25:
            return f"*{self.r.choice(self.anchors)} "
        if self.r.random() < 0.4:
            anchor = f"n{len(self.anchors)}"
            self.anchors.append(anchor)
            return f"&{anchor} {text}"
        return text

    def there(self, moved):
        """A state module and an ID, mostly of a state that is there."""
        r = self.r
        if r.random() < self.misses:
            return r.choice(self.modules), r.choice(IDS)
        ids = self.ids
        if self.acyclic:
            ids = ids[self.at + 1:] if moved else ids[:self.at]
        id_ = r.choice(ids or self.ids)
        return r.choice(self.plan[id_]), id_

    def pattern(self):
        return self.r.choice(["*", "a*", "n*", "?", "[ab]", "/etc/*", "web*", "zz*"])

    def requisite(self, moved=False):
        r = self.r
        roll = r.random()
        module, name = self.there(moved)
        if roll < 0.08:
            return self.odd(quoted(name))
        if roll < 0.13:
            name = r.choice(SLS) if r.random() < 0.8 else self.pattern()
            return self.odd(f"{{sls: {self.odd(quoted(name))}}}")
        if roll < 0.18:
            return self.odd(f"{{id: {self.odd(quoted(name))}}}")
        if roll > 0.97 and not moved:
            name = self.pattern()
        if r.random() < self.wild:
            module += ".installed"
        return self.odd(f"{{{module}: {self.odd(quoted(name))}}}")

    def requisites(self, moved):
        r = self.r
        if moved and r.random() < 0.15:
            module, name = self.there(True)
            return f"{{{module}: {quoted(name)}}}"
        return self.shared("[" + ", ".join(self.requisite(moved) for _ in range(r.choice([1, 1, 1, 2, 3]))) + "]")

    def names(self):
        r = self.r
        made = []
        for _ in range(r.choice([1, 2, 3])):
            name = self.odd(quoted(r.choice(["n1", "n2", self.id()])))
            if r.random() < 0.3:
                name = f"{{{name}: {self.odd('[' + ', '.join(self.argument(False) for _ in range(r.choice([0, 1, 2]))) + ']')}}}"
            made.append(name)
        return "[" + ", ".join(made) + "]"

    def argument(self, names=True):
        r = self.r
        roll = r.random()
        if roll < self.requires:
            moved = r.random() < 0.35
            name = r.choice(MOVED if moved else DIRECT if r.random() < 0.5 else DIRECT[:5])
            text = f"{{{name}: {self.odd(self.requisites(moved))}}}"
        elif roll < 0.7:
            text = f"{{order: {r.choice(ORDERS)}}}" if r.random() < 0.4 else f"{{{r.choice(['user', 'mode', 'name_order', 'retry', 'failhard']) if r.random() < 0.9 else r.choice(['__id__', '__sls__', 'fun', 'state', '__prereq__'])}: {self.odd(r.choice(['root', '0', '[1]', '{a: b}', 'true', '[]']))}}}"
        elif roll < 0.8 and names:
            text = f"{{names: {self.odd(self.names())}}}"
        elif roll < 0.9:
            text = f"{{name: {self.odd(quoted(r.choice(['n1', 'n2', self.id()])))}}}"
        else:
            text = "{makedirs: true, mode: 1}" if r.random() < 0.2 else "{makedirs: true}"
        return self.odd(self.shared(text))

    def arguments(self, function=True):
        r = self.r
        args = [self.argument() for _ in range(r.choice([0, 1, 1, 2, 3]))]
        if function and r.random() > self.wild:
            args.insert(0 if r.random() < 0.7 else len(args), self.odd(r.choice(FUNCTIONS)))
        if r.random() < self.wild:
            args.append(r.choice(["nop", "a b", "5"]))
        return self.odd(self.shared("[" + ", ".join(args) + "]"))

    def body(self, sls, modules, extends=False):
        r = self.r
        parts = []
        for module in modules:
            if r.random() < self.wild:
                module += ".installed"
            elif r.random() < self.wild / 2:
                module = r.choice(["5", "__x", "sls", "null"])
            parts.append(f"{module}: {self.arguments(not extends or r.random() < 0.1)}")
        if r.random() > self.wild / 2:
            parts += [f"__sls__: {sls}", "__env__: base"]
            if r.random() < 0.2:
                parts.append(f"__sls_included_from__: [{', '.join(r.sample(SLS, r.choice([1, 2])))}]")
            if extends and r.random() < 0.5:
                parts = parts[-2:] + parts[:-2]
        return self.odd("{" + ", ".join(parts) + "}")

    def extension(self):
        r = self.r
        self.at = r.randrange(len(self.ids))
        name = self.ids[self.at]
        modules = [r.choice(self.plan[name])] if r.random() < 0.8 else self.plan[name]
        if r.random() < self.misses * 2:
            name, modules = r.choice(IDS + ["n1", "n2"]), [r.choice(self.modules)]
        return f"{quoted(name)}: {self.body(r.choice(SLS), modules, True)}"

    def text(self):
        r = self.r
        lines = []
        for self.at, id_ in enumerate(self.ids):
            shown = quoted(id_) if r.random() > self.wild else r.choice(["5", "null", "__x", "2.5"])
            lines.append(f"{shown}: {self.body(r.choice(SLS), self.plan[id_])}")
        if r.random() < 0.35:
            made = ["{" + ", ".join(self.extension() for _ in range(r.choice([1, 1, 2]))) + "}" for _ in range(r.choice([1, 1, 2]))]
            lines.insert(r.choice([0, len(lines)]) if not self.aliases else len(lines), f"__extend__: [{', '.join(made)}]")
        if r.random() < 0.2:
            made = [self.odd(r.choice(["web", "db", "'web*'", "{sls: db}", f"{{id: {quoted(self.id())}}}", "{sls: 'web*'}", "{id: a, sls: b}"])) for _ in range(r.choice([1, 2]))]
            lines.insert(r.choice([0, len(lines)]), f"__exclude__: [{', '.join(made)}]")
        return "\n".join(lines) + "\n"


def one(r):
    """A question without an answer."""
    made = {"high": Maker(r).text(), "form": r.choice(["low", "low", "lowstate", "low_sls"])}
    if r.random() < 0.1:
        made["disabled_requisites"] = r.sample(DIRECT + MOVED, 2)
    if r.random() < 0.05:
        made["state_runs_disabled"] = r.choice([["pkg.*"], ["*.run", "cmd.*"]])
    return made


class Modules(dict):
    """Which state modules are loaded: those that do something about what they watch."""

    def __contains__(self, name):
        return name in {f"{module}.mod_watch" for module in WATCHES}


def state(record):
    import salt.state

    made = object.__new__(salt.state.State)
    made.opts = {"disabled_requisites": record.get("disabled_requisites", []), "grains": {}, "state_aggregate": False}
    if "state_runs_disabled" in record:
        made.opts["grains"]["state_runs_disabled"] = record["state_runs_disabled"]
    made.states = Modules()
    made._trusted_functions = {"config.option": lambda name: False}
    made.state_con = {}
    made._processed_sls_files = set()
    made.disabled = {}
    if not is_older():
        made.dependency_dag = salt.state.DependencyGraph()
    made._State__run_num = 0
    return made


def is_older():
    """True for Salt before 3008."""
    import salt.state

    return not hasattr(salt.state, "DependencyGraph")


def with_version(record):
    import salt.version

    return {**record, "version": salt.version.__version__.split(".")[0]} if is_older() else record


def low_data(state, high):
    """Low data and errors."""
    made = state.compile_high_data(high)
    return (made, []) if isinstance(made, list) else made


class Log(dict):
    """The results of states, and what was wrong."""

    def __init__(self, faults):
        self.faults = faults

    def __setitem__(self, tag, result):
        super().__setitem__(tag, result)
        for words in ("requisites were not found", "Recursive requisite"):
            if tag != "__FAILHARD__" and words in result.get("comment", ""):
                self.faults.append(f"{words}: {tag}")


def ran(state, chunks):
    """The order in which an older version runs states, of which each counts as run with success and changes; and the faults."""
    import salt.state

    order, faults = [], []

    def call(low, *_):
        is_test = bool(low.get("__prereq__"))
        order.append([salt.state._gen_tag(low), is_test])
        if is_test:
            low["__prereq__"] = False
        return {"result": None if is_test else "yes", "changes": {"a": 1}, "comment": ""}

    state.call, state.event = call, lambda *_, **__: None
    state._mod_init, state._mod_aggregate = lambda low: None, lambda low, *_: low
    state.reconcile_procs, state.check_pause, state.active = lambda *_: True, lambda low: None, set()
    state.opts.update(failhard=False, test=False)
    state.pre = Log(faults)
    running = Log(faults)
    disabled = state.opts["grains"].get("state_runs_disabled", [])
    chunks = [low for low in chunks if not any(fnmatch.fnmatch(f"{low['state']}.{low['fun']}", pattern) for pattern in disabled)]
    for low in chunks:
        if salt.state._gen_tag(low) not in running:
            running = state.call_chunk(low, running, chunks)
        state.active = set()
    return {"faults": faults} if faults else {"ran": order}


def forms(state, high, form):
    """The steps that a state run, `state.show_lowstate` and `state.show_low_sls` take."""
    errors = []
    if form != "low_sls":
        high, found = state.reconcile_extend(high)
        errors += found
    errors += state.verify_high(high)
    if errors and form != "lowstate":
        return None, errors
    if form != "low_sls":
        high, found = state.requisite_in(high)
        errors += found
        high = state.apply_exclude(high)
    if errors:
        return None, errors
    return low_data(state, high)


def read(text):
    import collections

    import salt.utils.yamlloader as loader

    return loader.load(text, Loader=lambda stream: loader.SaltYamlSafeLoader(stream, dictclass=collections.OrderedDict))


def too_long(*_):
    raise TimeoutError("no end")


def compiled(record):
    signal.signal(signal.SIGALRM, too_long)
    # An argument that extends its own list has no end.
    signal.alarm(2)
    try:
        compiler = state(record)
        chunks, errors = forms(compiler, read(record["high"]), record["form"])
        made = {"errors": errors} if errors else {"result": [repr(chunk) for chunk in chunks]}
        if is_older() and record["form"] == "low" and not errors:
            made = ran(compiler, chunks)
        return made
    except Exception as error:
        return {"error": type(error).__name__, "message": str(error)[:200]}
    finally:
        signal.alarm(0)


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    if len(sys.argv) > 3:
        logging_off()
        r = random.Random(seed)
        for _ in range(count):
            record = one(r)
            try:
                read(record["high"])
            except Exception:
                # An alias may stand before its anchor.
                continue
            print(json.dumps({**with_version(record), **compiled(record)}, ensure_ascii=False))
        return
    runs = []
    for hashes in ("1", "2", "3"):
        run = subprocess.Popen([sys.executable, __file__, str(seed), str(count), "raw"], stdout=subprocess.PIPE, env={**os.environ, "PYTHONHASHSEED": hashes}, text=True)
        runs.append(run)
    for lines in zip(*(run.stdout for run in runs)):
        if len(set(lines)) == 1:
            print(lines[0], end="")


def logging_off():
    import logging

    logging.disable(logging.CRITICAL)


if __name__ == "__main__":
    main()
