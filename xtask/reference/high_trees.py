"""Trees of sls, and the high and low data that Salt's state compiler makes of them.

    python high_trees.py SEED COUNT

writes records with results, one a line.
"""
import json
import os
import random
import shutil
import signal
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
        import salt.state

        self.state = salt.state.State(self.minion.opts, initial_pillar={})
        self.state.states = high_data.Modules()

    def answer(self, record):
        import copy

        import salt.fileclient
        import salt.loader
        import salt.state

        self.count += 1
        here = os.path.join(self.home, str(self.count))
        opts = copy.copy(self.minion.opts)
        roots = {env: os.path.join(here, env) for env in record["envs"]}
        for env, files in record["envs"].items():
            os.makedirs(roots[env])
            reference.write_files(roots[env], files)
        opts["file_roots"] = {env: [root] for env, root in roots.items()}
        opts["cachedir"] = os.path.join(here, "cache")
        client = salt.fileclient.get_file_client(opts)
        matchers = self.matchers = getattr(self, "matchers", None) or salt.loader.matchers(opts)

        class Tree(salt.state.BaseHighState):
            def __init__(tree):
                tree.client = client
                super().__init__(opts)
                tree.state = self.state
                tree.matchers = matchers

        self.state._processed_sls_files = set()
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
    high, errors = tree.render_highstate({record.get("saltenv", "base"): record["sls"]})
    errors += tree.state.verify_high(high)
    if errors or record["form"] == "sls":
        return errors or high
    low, errors = tree.state.compile_high_data(high)
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
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    r = random.Random(seed)
    for _ in range(count):
        record = one(r)
        print(json.dumps({**record, **compiled(record)}, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
