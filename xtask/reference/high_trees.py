"""Trees of sls, and the high and low data that Salt's state compiler makes of them.

    python high_trees.py SEED COUNT [tops|facts]

writes records with results, one a line. With `tops`, trees have top files of several saltenvs, with all kinds of targets and
options, and all kinds of requisites. With `facts`, sls change pillar, grains and options in place, and print them. Results that depend on the order of Python's sets are left out.
"""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile

import high_data
import salt_reference as reference
import state_run

SLS = ["a", "b", "c", "d", "d.e", "d.f", "d.g.h"]
PATHS = {"d": "d/init.sls", "d.e": "d/e.sls", "d.f": "d/f/init.sls", "d.g.h": "d/g/h.sls"}
IDS = ["x", "y", "z", "/etc/w", "v"]
FUNCTIONS = ["pkg.installed", "file.managed", "test.nop", "cmd.run", "service.running"]
ODD = ["5", "null", "text", "a.b.c", "[]", "[x]", "{}", "{a: 1}", "true", "'.'", "[{a: b}]"]
INCLUDES = [".e", ".f", "..b", "...c", ".", "..", "d.*", "*", "zz*", "nosuch", ".nosuch", "{dev: a}", "{base: b}", "{dev: d.e}", "{_xenv: c}", "{nosuch: a}", "{}", "5", "null", "{base: .e}", "{dev: nosuch}", "....a"]


# Targets with their matchers, of which some mean the minion.
TARGETS = [("*", None), ("m*", None), ("m", "glob"), ("x*", None), ("[mn]", None), ("os:Debian", "grain"), ("os:D*n", "grain"), ("os:Arch", "grain"),
           ("os:^(D|A)", "grain_pcre"), ("^m$", "pcre"), ("m,n", "list"), ("n", "list"), ("G@os:Debian and not x*", "compound"), ("E@^m or L@n", "compound"),
           ("not m", "compound"), ("( G@os:Arch )", "compound"), ("127.0.0.0/8", "ipcidr"), ("nosuch:*", "pillar")]
OPTIONS = {"top_file_merging_strategy": ["merge", "same", "merge_all", "merge", "merge_all"], "env_order": [["prod", "dev", "base"], ["dev"], ["nosuch", "base"]],
           "default_top": ["dev", "base", "prod", "nosuch"], "state_top_saltenv": ["dev", "base", "nosuch"]}


class Maker:
    def __init__(self, r):
        self.r = r
        self.wild = r.choice([0, 0, 0, 0.03])
        self.strange = r.choice([0, 0.1, 0.4])

    def odd(self, made):
        return self.r.choice(ODD) if self.r.random() < self.wild else made

    def include(self):
        r = self.r
        return r.choice(INCLUDES) if r.random() < self.strange else r.choice(SLS)

    def argument(self, ids):
        r = self.r
        roll = r.random()
        if roll < 0.4:
            name = r.choice(["require", "watch", "onchanges", "require_in", "watch_in", "use", "prereq", "listen", "onfail_in"])
            what = r.choice([f"{{sls: {r.choice(SLS + ['d*'])}}}", f"{{{r.choice(FUNCTIONS).split('.')[0]}: {r.choice(ids)}}}", r.choice(ids)])
            return f"{{{name}: [{what}]}}"
        if roll < 0.5:
            return f"{{order: {r.choice(['first', 'last', '1', '-1', '10005'])}}}"
        return self.odd(f"{{{r.choice(['user', 'mode', 'name'])}: {r.choice(['root', 'n1', '5'])}}}")

    def state(self, ids, extends=False):
        r = self.r
        if r.random() < 0.15 and not extends:
            return self.odd(r.choice(FUNCTIONS + ["test.nop.more"]))
        parts = []
        for function in r.sample(FUNCTIONS, r.choice([1, 1, 1, 2])):
            args = [self.argument(ids) for _ in range(r.choice([0, 1, 2]))]
            if r.random() < 0.3:
                function, name = function.split(".")
                if not extends:
                    args.insert(r.randrange(len(args) + 1), name)
            elif extends and r.random() < 0.8:
                function = function.split(".")[0]
            if r.random() < 0.03:
                parts.append(f"{function.split('.')[0]}.nop: []")
            parts.append(f"{function}: {self.odd('[' + ', '.join(args) + ']')}")
        if r.random() < 0.03:
            parts.insert(0, f"{r.choice(['__sls__', '__env__', '__sls_included_from__'])}: {r.choice(['a', 'dev', '[b]'])}")
        return self.odd("{" + ", ".join(parts) + "}")

    def sls(self, name):
        r = self.r
        roll = r.random()
        if roll < 0.04:
            return r.choice(["", "{}\n", "[]\n", "[x]\n", "text\n", "a: b: c\n", "{{ nosuch() }}\n", "{% if %}\n", "#!jinja|yaml\n", "5\n", "a.b\n"])
        ids = [f"{name}-{id_}" for id_ in IDS[:3]] + (IDS if r.random() < 0.1 else [])
        others = ids + [f"{r.choice(SLS)}-{r.choice(IDS[:3])}"]
        lines = []
        if r.random() < 0.45:
            lines.append(f"include: {self.odd('[' + ', '.join(self.include() for _ in range(r.choice([1, 1, 2]))) + ']')}")
        if r.random() < 0.15:
            lines.append(f"extend: {self.odd('{' + r.choice(others) + ': ' + self.state(others, True) + '}')}")
        if r.random() < 0.12:
            lines.append("exclude: " + self.odd("[" + self.odd(r.choice(["b", "{sls: 'd*'}", f"{{id: {r.choice(others)}}}"])) + "]"))
        for id_ in r.sample(ids, r.choice([0, 1, 1, 2, 3])):
            shown = r.choice(["5", "null"]) if r.random() < self.wild else json.dumps(id_)
            lines.append(f"{shown}: {self.state(others)}")
        r.shuffle(lines)
        if r.random() < 0.1:
            lines.append(f"{{% for n in [1, 2] %}}\n{name}-loop-{{{{ n }}}}: {{test.nop: [{{name: '{{{{ sls }}}} {{{{ slspath }}}}'}}]}}\n{{% endfor %}}")
        return "\n".join(lines) + "\n"

    def tree(self):
        r = self.r
        envs = {}
        for env in ["base", "dev"][: r.choice([1, 1, 2])]:
            names = r.sample(SLS, r.choice([3, 5, 7]))
            envs[env] = {PATHS.get(name, f"{name}.sls"): self.sls(name) for name in sorted(names)}
            top = {env: {"*": r.sample(SLS + ["d*", "nosuch"] if r.random() < 0.3 else [n for n in names], r.choice([1, 2, 3]))}}
            if env == "base" and r.random() < 0.2:
                top["dev"] = {"m*": [r.choice(SLS)]}
            if r.random() < 0.8 or env == "base":
                envs[env]["top.sls"] = json.dumps(top) + "\n"
        return envs


class TopsMaker(Maker):
    """Trees with more top files, options and requisites."""

    def argument(self, ids):
        r = self.r
        roll = r.random()
        module = r.choice(FUNCTIONS).split(".")[0]
        if roll < 0.45:
            moved = r.random() < 0.4
            name = r.choice(high_data.MOVED + ["prereq_in"] if moved else high_data.DIRECT)
            # Mostly IDs of the same sls that are there, before this one.
            there = self.there[: self.at] if self.at and not moved else ids
            target = lambda: r.choice([f"{{sls: {r.choice(self.names)}}}"] + [json.dumps(r.choice(there)), f"{{id: {json.dumps(r.choice(there))}}}"] * 3 + [f"{{{module}: '*'}}"])
            if not self.at and not moved and r.random() < 0.9:
                return "{mode: 1}"
            return f"{{{name}: [{', '.join(target() for _ in range(r.choice([1, 1, 2])))}]}}"
        if roll < 0.6:
            return f"{{order: {r.choice(high_data.ORDERS)}}}"
        if roll < 0.7:
            return self.odd(f"{{names: [n1, {r.choice(['n2', '{n2: [{mode: 5}]}', json.dumps(r.choice(ids))])}]}}")
        return self.odd(f"{{{r.choice(['user', 'mode', 'name'])}: {r.choice(['root', 'n1', '5'])}}}")

    def sls(self, name):
        r = self.r
        if r.random() < 0.08:
            return super().sls(name)
        # A name in two saltenvs is a conflict.
        prefix = name if r.random() < 0.05 else f"{self.env}-{name}"
        self.there = [f"{prefix}-{id_}" for id_ in IDS[: r.choice([1, 2, 3])]]
        lines = []
        for self.at, id_ in enumerate(self.there):
            lines.append(f"{json.dumps(id_)}: {self.state(self.there)}")
        later = self.names[self.names.index(name) + 1:]
        if later and r.random() < 0.5:
            other = r.choice(later)
            lines.insert(0, f"include: [{other if r.random() < 0.9 else self.include()}]")
            if r.random() < 0.3:
                extended = self.state([f"{self.env}-{other}-x"], True)
                lines.append(f"extend: {{{self.env}-{other}-x: {extended}}}")
        if r.random() < 0.08:
            lines.append(f"exclude: [{r.choice([r.choice(self.names), {'id': self.there[0]}, {'sls': 'd*'}])}]")
        return "\n".join(lines) + "\n"

    def target(self, names):
        r = self.r
        text, match = r.choice(TARGETS) if r.random() < 0.7 else ("*", None)
        entries = [r.choice(names + (["d*", "nosuch"] if r.random() < 0.04 else [])) for _ in range(r.choice([1, 1, 2, 3]))]
        if match:
            entries.insert(r.choice([0, len(entries)]), {"match": match})
        if r.random() < 0.1:
            entries.append({"order": r.choice([1, 5, -1])})
        if r.random() < 0.05:
            entries.append({"ignore_missing": True})
        if r.random() < 0.01:
            entries.append({"match": "nosuch"})
        return text, entries if r.random() > 0.02 else r.choice([names[0], {}, None])

    def top(self, env, envs, names):
        r = self.r
        about = [env] if r.random() < 0.5 else r.sample(envs, r.choice([1, len(envs)]))
        return {one: dict(self.target(names) for _ in range(r.choice([1, 2, 3]))) for one in about}

    def tree(self):
        r = self.r
        # Faults hide what comes behind them.
        self.names = names = r.sample(SLS, r.choice([2, 3, 5]))
        self.there, self.at = names, 0
        envs = ["base", "dev", "prod"][: r.choice([1, 2, 2, 3])]
        r.shuffle(envs)
        made = {}
        for env in envs:
            own = names if r.random() < 0.85 else r.sample(names, r.choice([1, 2]))
            self.env = env
            made[env] = {PATHS.get(name, f"{name}.sls"): self.sls(name) for name in sorted(own)}
            if r.random() < 0.75:
                made[env]["top.sls"] = json.dumps(self.top(env, envs, names)) + "\n"
        return made

    def include(self):
        return self.r.choice(SLS) if self.r.random() < 0.9 else super().include()


def with_tops(r):
    """A question about top files, mostly."""
    made = {"envs": TopsMaker(r).tree(), "form": r.choice(["highstate", "lowstate", "lowstate", "top", "low_sls"])}
    made["opts"] = {name: r.choice(values) for name, values in OPTIONS.items() if r.random() < 0.25}
    if made["form"] == "low_sls":
        made["sls"] = r.sample(SLS, r.choice([1, 2, 3]))
        made["saltenv"] = r.choice(list(made["envs"]))
    return made


CHANGES = ["{% do pillar.update({'k': N}) %}", "{% do pillar.setdefault('l', []).append(N) %}", "{% do pillar.d.update({'N': sls}) %}",
           "{% do salt['pillar.get']('l', []).append(N) %}", "{% do grains.update({'g': N}) %}", "{% do grains.setdefault('h', []).append(N) %}",
           "{% do salt['grains.get']('h', []).append(N) %}", "{% do opts.update({'o': N}) %}", "{% set p = pillar %}{% do p.pop('k', none) %}"]
READS = ["pillar.get('k')", "pillar.get('l')", "pillar.d", "salt['pillar.get']('k', 'none')", "salt['pillar.get']('d')", "grains.get('g')", "grains.get('h')",
         "salt['grains.get']('g', 'none')", "salt['grains.get']('h')", "opts.get('o')", "salt['config.get']('k', 'none')"]


class FactsMaker(Maker):
    """Trees of plain sls that change facts."""

    env = "base"

    def sls(self, name):
        r = self.r
        later = SLS[SLS.index(name) + 1:]
        lines = [r.choice(CHANGES).replace("N", str(r.randrange(9))) for _ in range(r.choice([0, 0, 1, 2]))]
        if later and r.random() < 0.5:
            lines.append(f"include: [{r.choice(later)}]")
        if r.random() < 0.05:
            lines.append("{{ nosuch() }}")
        shown = " ".join("{{ " + r.choice(READS) + " }}" for _ in range(r.choice([1, 2, 3])))
        lines.append(f'{self.env}-{name}-x: {{test.nop: [{{name: "{shown}"}}]}}')
        return "\n".join(lines) + "\n"


def with_facts(r):
    """A question about sls of which some change the facts."""
    maker, envs = FactsMaker(r), {}
    for maker.env in ["base", "dev"][: r.choice([1, 2])]:
        envs[maker.env] = {PATHS.get(name, f"{name}.sls"): maker.sls(name) for name in SLS}
    for env, files in envs.items():
        files["top.sls"] = json.dumps({env: {"*": r.sample(SLS, 3)}}) + "\n"
    return {"envs": envs, "form": "highstate", "pillar": {"k": 0, "l": [0], "d": {"a": 1}}}


def one(r):
    maker = Maker(r)
    made = {"envs": maker.tree(), "form": r.choice(["highstate", "highstate", "lowstate", "sls", "low_sls"])}
    if made["form"].endswith("sls"):
        made["sls"] = r.sample(SLS, r.choice([1, 2])) + (["d.*"] if r.random() < 0.1 else [])
        if "dev" in made["envs"] and r.random() < 0.3:
            made["saltenv"] = "dev"
    return made


class Masterless:
    """One state compiler for many trees; each has its own folder."""

    def __init__(self, home):
        self.home = home
        self.count = 0
        self.minion = state_run.masterless(os.path.join(home, "own"), {"files": {}, "grains": {"os": "Debian"}})
        self.minion.cmd("test.ping")
        self.state = self.with_pillar({})

    def with_pillar(self, pillar):
        import copy

        import salt.state

        state = salt.state.State(copy.deepcopy(self.minion.opts), initial_pillar=copy.deepcopy(pillar))
        state.states = high_data.Modules()
        return state

    def answer(self, record):
        import copy

        import salt.fileclient
        import salt.loader
        import salt.state

        self.count += 1
        # Sls change the facts of their compiler.
        state = self.with_pillar(record["pillar"]) if "pillar" in record else self.state
        here = os.path.join(self.home, str(self.count))
        opts = copy.copy(self.minion.opts)
        roots = {env: os.path.join(here, env) for env in record["envs"]}
        for env, files in record["envs"].items():
            os.makedirs(roots[env])
            reference.write_files(roots[env], files)
        opts["file_roots"] = {env: [root] for env, root in roots.items()}
        opts.update(record.get("opts", {}))
        opts["cachedir"] = os.path.join(here, "cache")
        client = salt.fileclient.get_file_client(opts)
        matchers = self.matchers = getattr(self, "matchers", None) or salt.loader.matchers(opts)

        class Tree(salt.state.BaseHighState):
            def __init__(tree):
                tree.client = client
                super().__init__(opts)
                tree.state = state
                tree.matchers = matchers

        state._processed_sls_files = set()
        signal.alarm(20)
        try:
            made = shown(Tree(), record)
        except Exception as error:
            return {"error": type(error).__name__, "message": str(error).replace(here, "<DIR>")[:200]}
        finally:
            signal.alarm(0)
            shutil.rmtree(here)
        if isinstance(made, list) and (not made or isinstance(made[0], str)) and made:
            return {"errors": [text.replace(here, "<DIR>").partition("\nTraceback")[0] for text in made]}
        return {"result": json.dumps(made)}


def shown(tree, record):
    """What `state.show_highstate` and its kin return."""
    if record["form"] == "highstate":
        return tree.compile_highstate()
    if record["form"] == "lowstate":
        return tree.compile_low_chunks()
    if record["form"] == "top":
        top = tree.get_top()
        return tree.verify_tops(top) or tree.top_matches(top)
    high, errors = tree.render_highstate({record.get("saltenv", "base"): record["sls"]})
    errors += tree.state.verify_high(high)
    if errors or record["form"] == "sls":
        return errors or high
    low, errors = high_data.low_data(tree.state, high)
    return errors or low


MASTERLESS = []


def compiled(record):
    if not MASTERLESS:
        import atexit

        high_data.logging_off()
        signal.signal(signal.SIGALRM, high_data.too_long)
        home = tempfile.mkdtemp(prefix="mapstack-high-")
        atexit.register(shutil.rmtree, home, ignore_errors=True)
        MASTERLESS.append(Masterless(home))
    return MASTERLESS[0].answer(record)


def main():
    seed, count, *rest = sys.argv[1:]
    make = with_tops if "tops" in rest else with_facts if "facts" in rest else one
    if "raw" in rest:
        r = random.Random(int(seed))
        for _ in range(int(count)):
            record = make(r)
            print(json.dumps({**high_data.with_version(record), **compiled(record)}, ensure_ascii=False), flush=True)
        return
    command = [sys.executable, __file__, seed, count, *rest, "raw"]
    runs = [subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONHASHSEED": hashes}, text=True) for hashes in ("1", "2")]
    for lines in zip(*(run.stdout for run in runs)):
        if len(set(lines)) == 1:
            print(lines[0], end="")


if __name__ == "__main__":
    main()
