"""The reference's answers about checkouts of public formulas: JSON lines in, JSON lines out.

| `op` | asks for | fields | answer |
|---|---|---|---|
| `parse` | whether Jinja parses a file | `source` | `ok`, or `error` and `line` |
| `subjects` | the map.jinja files of a checkout and the variable its states import | `formula` | `ok`: a list |
| `map` | that variable as a state file gets it, as JSON | `roots`, `directory`, `variable`, … | `ok`, `error` or `blocked` |
| `mapdata` | the recorded results that a checkout ships, and the minion of each | `formula`, `minions` | `ok`: a list |
"""
import contextlib
import copy
import functools
import json
import os
import pathlib
import shutil
import sys
import tempfile

import jinja2
import salt_reference as reference
from jinja2 import TemplateSyntaxError, nodes
from jinja_tree import environment, parse

import salt.exceptions
import salt.loader
import salt.loader.lazy
import salt.pillar
import salt.utils.yaml
from salt.utils.decorators.jinja import JinjaFilter

# What answers from the minion's facts, the file roots and the arguments alone. Anything else could read or change
# this machine, so templates that call it are not compared.
PURE_MODULES = {"config", "cp", "defaults", "grains", "jinja", "log", "map", "match", "pillar", "slsutil"}
PURE_FUNCTIONS = {
    "file.basename", "file.dirname", "file.join", "hashutil.base64_b64decode", "hashutil.base64_b64encode",
    "hashutil.digest", "hashutil.md5_digest", "hashutil.sha256_digest", "hashutil.sha512_digest", "network.calc_net",
    "network.ip_in_subnet", "test.echo", "test.ping",
}
IMPURE_FUNCTIONS = {
    "cp.push", "cp.push_dir", "cp.recv", "cp.recv_chunked", "grains.append", "grains.delkey", "grains.delval",
    "grains.set", "grains.setval", "grains.setvals", "grains.remove",
}
# The names of systems in formulas' tests, where they are not the grain `os` in small letters.
SYSTEMS = {"Amazon": "amazonlinux", "CentOS Stream": "centos", "MacOS": "mac_os_x", "OEL": "oraclelinux",
           "Rocky": "rockylinux", "SUSE": "opensuse"}
# What kitchen.yml calls a platform, where it is not what the file is called.
IN_KITCHEN = {"centos-8": "centos-stream8", "centos-9": "centos-stream9", "gentoo-2-sysd": "gentoo",
              "gentoo-2-sysv": "gentoo", "opensuse-15": "opensuse-leap-15", "opensuse-tumbleweed": "opensuse-tmbl"}
# Filters that read this machine or the network, or that throw dice.
IMPURE_FILTERS = {
    "dns_check", "file_hashsum", "gen_mac", "http_query", "is_bin_file", "is_empty", "is_text_file", "list_files",
    "rand_str", "random", "random_hash", "random_sample", "random_shuffle", "which",
}


# What both sides answer in place of calls that look at the machine, by function or filter.
STUBS = {
    name: entry["return"]
    for name, entry in salt.utils.yaml.safe_load(pathlib.Path(__file__).with_name("corpus_stubs.yaml").read_text()).items()
}


class Blocked(salt.exceptions.CommandExecutionError):
    """A call that a comparison does not make."""


blocked = []


def only_pure_functions():
    """Put stubs in place of every execution function and filter that could touch this machine, or refuse it."""
    original = salt.loader.lazy.LoadedFunc.__call__

    def call(self, *args, **kwargs):
        module = self.name.partition(".")[0]
        pure = (module in PURE_MODULES and self.name not in IMPURE_FUNCTIONS) or self.name in PURE_FUNCTIONS
        if self.loader.tag == "module" and not pure:
            return stubbed(self.name)
        return original(self, *args, **kwargs)

    salt.loader.lazy.LoadedFunc.__call__ = call
    for filters in (jinja2.defaults.DEFAULT_FILTERS, JinjaFilter.salt_jinja_filters):
        for name in IMPURE_FILTERS & filters.keys():
            filters[name] = functools.partial(stubbed_filter, name)


def stubbed_filter(name, *args, **kwargs):
    return stubbed(name, f"the filter {name}")


def stubbed(name, shown=None):
    if name in STUBS:
        return copy.deepcopy(STUBS[name])
    blocked.append(shown or name)
    raise Blocked(f"{name} is not called in a comparison: it could touch this machine")


def parses(question):
    answer = parse(question["source"], {})
    return {"ok": True} if "tree" in answer else {"error": answer["message"], "line": answer["line"]}


def subjects(question):
    root = pathlib.Path(question["formula"])
    return {"ok": [{"directory": str(d), **variable(root, d)} for d in map_directories(root)]}


def map_directories(root):
    """The folders of map.jinja files that are nearest to the top."""
    found = [path.parent.relative_to(root) for path in root.rglob("map.jinja")]
    found = [d for d in found if not any(part.startswith(".") or part in ("test", "docs") for part in d.parts)]
    depth = min((len(d.parts) for d in found), default=0)
    return sorted(d for d in found if len(d.parts) == depth and depth)


def variable(root, directory):
    """The first variable that one of the formula's files imports from its map.jinja, and whether with context."""
    folder = root / directory
    files = sorted(folder.rglob("*.sls"), key=lambda path: (path != folder / "init.sls", path))
    for path in [*files, *sorted(folder.rglob("*.jinja"))]:
        found = imported(path, directory, macros(folder / "map.jinja"))
        if found:
            return found
    return {}


def imported(path, directory, not_these=()):
    tree = syntax(path)
    for n in tree.find_all(nodes.FromImport) if tree else ():
        if ends_in_map(n.template, directory):
            names = [name if isinstance(name, str) else name[0] for name in n.names]
            names = [name for name in names if name not in not_these]
            if names:
                return {"variable": names[0], "with_context": n.with_context}
    return {}


def ends_in_map(template, directory):
    if isinstance(template, nodes.Const):
        return template.value == f"{directory}/map.jinja" or template.value in ("map.jinja", "./map.jinja")
    last = getattr(template, "nodes", [getattr(template, "right", None)])[-1]
    return isinstance(last, nodes.Const) and last.value == "/map.jinja"


def macros(path):
    tree = syntax(path)
    return {n.name for n in tree.find_all(nodes.Macro)} if tree else set()


def syntax(path):
    try:
        return environment({}).parse(path.read_text())
    except (TemplateSyntaxError, OSError, UnicodeDecodeError):
        return None


def load_minion(minion):
    if isinstance(minion, str):
        minion = salt.utils.yaml.safe_load(pathlib.Path(minion).read_text())
    return {name: minion.get(name) or {} for name in ("grains", "pillar", "opts")}


def map_variable(question):
    """The variable, rendered as the formula's `init.sls` would be in a state run."""
    root, directory, name = question["roots"][0], question["directory"], question["variable"]
    context = "with" if question["with_context"] else "without"
    template = f'{{% from "{directory}/map.jinja" import {name} {context} context %}}'
    template += f"{{{{ {name} | json(sort_keys=False) }}}}"
    minion = reference.Reference(question["roots"], as_in_state_run=True, **load_minion(question["minion"]))
    blocked.clear()
    try:
        render = salt.loader.render(minion.opts, minion.functions)["jinja"]
        sls = directory.replace("/", ".")
        path = os.path.join(root, directory, "init.sls")
        return {"ok": render(template, saltenv="base", sls=sls, tmplpath=path, argline="-s").read()}
    except Exception as error:
        if blocked:
            return {"blocked": blocked[-1]}
        return {"error": first_line(error)}
    finally:
        minion.close()


def first_line(error):
    return f"{type(error).__name__}: {error}".partition("\n")[0]


def mapdata(question):
    """What the formula's own test compares: each file, the pillar of its suite, the minion of its platform."""
    root = pathlib.Path(question["formula"])
    minions = [load_minion(minion) for minion in question["minions"]]
    files = sorted(root.glob("test/integration/*/files/_mapdata/*.yaml"))
    return {"ok": [{"file": str(path.relative_to(root)), **case(root, path, minions)} for path in files]}


def case(root, path, minions):
    platform = path.stem
    minion = next((copy.deepcopy(m) for m in minions if platform in platforms(m["grains"])), None)
    if minion is None:
        return {"reason": f"no minion for {platform}"}
    states = [d for d in map_directories(root) if (root / d / "_mapdata/init.sls").is_file()]
    if len(states) != 1:
        return {"reason": "no state _mapdata beside one map.jinja"}
    found = imported(root / states[0] / "_mapdata/init.sls", states[0])
    if not found:
        return {"reason": "the state _mapdata imports nothing from map.jinja"}
    try:
        provisioner, name_of_host = suite(root, path)
        named = dict.fromkeys(("id", "fqdn", "host", "localhost", "nodename"), name_of_host) if name_of_host else {}
        minion["grains"].update({**named, **(provisioner.get("grains") or {})})
        minion["pillar"] = pillar(root, provisioner, minion)
        expected = salt.utils.yaml.safe_load(path.read_text())["values"]
    except (LookupError, OSError, TypeError, ValueError, salt.utils.yaml.YAMLError) as error:
        return {"reason": first_line(error)}
    expected = json.dumps(expected, default=str)
    return {"directory": str(states[0]), **found, "minion": minion, "expected": expected}


def platforms(grains):
    """The names that formulas' tests have for such a machine."""
    system, major = grains.get("os", ""), grains.get("osmajorrelease")
    if system == "Arch":
        return ["arch-base-latest"]
    if system == "Gentoo":
        return [f"gentoo-2-{'sysd' if grains.get('init') == 'systemd' else 'sysv'}"]
    if system == "Windows":
        return [f"windows-{grains.get('osrelease', '').replace('Server', '-server')}"]
    if system == "SUSE" and "Tumbleweed" in grains.get("osfullname", ""):
        return ["opensuse-tumbleweed"]
    return [f"{SYSTEMS.get(system, system.lower())}-{major}"]


def suite(root, path):
    """The settings of the test suite that checks this file, and its machine's name if it sets one."""
    kitchen = salt.utils.yaml.safe_load((root / "kitchen.yml").read_text())
    folder = path.relative_to(root).parts[2]
    for candidate in kitchen["suites"]:
        tests = [test["path"] for test in candidate.get("verifier", {}).get("inspec_tests", []) if "path" in test]
        platform = IN_KITCHEN.get(path.stem, path.stem)
        includes, excludes = candidate.get("includes"), candidate.get("excludes", [])
        runs = includes is None or any(name.startswith(platform) for name in includes)
        if f"test/integration/{folder}" in tests and runs and not any(name.startswith(platform) for name in excludes):
            provisioner = {**kitchen.get("provisioner", {}), **candidate.get("provisioner", {})}
            return provisioner, candidate.get("driver", {}).get("hostname")
    raise LookupError(f"kitchen.yml has no suite that checks {path.stem}")


def pillar(root, provisioner, minion):
    """The pillar of a test suite, compiled by Salt from the files that kitchen.yml names."""
    with tempfile.TemporaryDirectory(prefix="mapstack-pillar-") as home:
        for directory in provisioner.get("pillars_from_directories") or []:
            shutil.copytree(root / directory, home, dirs_exist_ok=True)
        for name, text in (provisioner.get("pillars") or {}).items():
            pathlib.Path(home, name).write_text(salt.utils.yaml.safe_dump(text))
        for name, source in (provisioner.get("pillars_from_files") or {}).items():
            pathlib.Path(home, name).write_bytes((root / source).read_bytes())
        with contextlib.closing(reference.Reference(home, **minion)) as salt_minion:
            opts = {**salt_minion.opts, "pillar_roots": {"base": [home]}, "pillar": {}}
            compiled = salt.pillar.Pillar(opts, minion["grains"], opts["id"], "base").compile_pillar()
    if "_errors" in compiled:
        raise ValueError(f"the pillar: {compiled['_errors'][0]}".partition("\n")[0])
    return json.loads(json.dumps(compiled, default=str))


def main():
    answers = {"parse": parses, "subjects": subjects, "map": map_variable, "mapdata": mapdata}
    only_pure_functions()
    out, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        question = json.loads(line)
        print(json.dumps(answers[question["op"]](question)), file=out, flush=True)


if __name__ == "__main__":
    main()
