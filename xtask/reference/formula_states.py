"""The low data of public formulas: `state.show_low_sls` beside `mapstack highstate --low`.

    python formula_states.py MAPSTACK FORMULA… [--platform NAME …] [--show]

Each formula is a checkout, which is the root of the file server; its `pillar.example` is the pillar. Every sls is asked for by
itself on every platform. One process asks Salt about all sls of a formula. Functions that look at a machine have the answers
of `corpus_stubs.yaml` and `formula_stubs.yaml` on both sides, or none.
"""
import argparse
import collections
import copy
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile

import corpus
import high_data
import salt_reference as reference

import salt.exceptions
import salt.fileclient
import salt.loader
import salt.state
import salt.utils.yaml

HERE = pathlib.Path(__file__).resolve().parent
STUBS = [HERE / "corpus_stubs.yaml", HERE / "formula_stubs.yaml"]
TABLE = HERE.parents[1] / "crates/states/src/functions.txt"
PLATFORMS = ["debian-12", "ubuntu-22.04", "ubuntu-18.04", "rockylinux-9", "centos-7", "fedora-42", "opensuse-leap-15.6", "arch", "gentoo-openrc", "alpine-3.22", "freebsd-14", "windows-2022"]
OTHERS = {"test", "tests", "files", "templates", "_modules", "pillar", "docs"}


class Watching(dict):
    """Every state module counts as loaded."""

    names = {section.split("]")[0].split()[0] for section in TABLE.read_text().split("[")[1:] if "\nmod_watch " in section}

    def __contains__(self, name):
        module, _, function = name.partition(".")
        return function == "mod_watch" and module in self.names


def sls_of(formula):
    names = []
    for path in sorted(formula.rglob("*.sls")):
        parts = path.relative_to(formula).with_suffix("").parts
        if not OTHERS.intersection(parts) and not any("." in part for part in parts) and parts[-1] != "top":
            names.append(".".join(parts[:-1] if parts[-1] == "init" and len(parts) > 1 else parts))
    return names


def pillar_of(formula):
    for path in sorted(formula.glob("*pillar*example*")):
        try:
            made = salt.utils.yaml.safe_load(path.read_text())
        except Exception:
            continue
        if isinstance(made, dict):
            return json.loads(json.dumps(made, default=str))
    return {}


class Minion:
    """The state compiler of one minion."""

    def __init__(self, home, formula, minion):
        self.own = reference.Reference([str(formula)], as_in_state_run=True, grains=minion["grains"], pillar=minion["pillar"], opts={})
        opts = copy.copy(self.own.opts)
        opts.update(id=minion["id"], cachedir=home, grains=copy.deepcopy(minion["grains"]), pillar={})
        self.state = salt.state.State(opts, initial_pillar=copy.deepcopy(minion["pillar"]))
        self.state.states = Watching()
        client = salt.fileclient.get_file_client(opts)
        state = self.state

        class Tree(salt.state.BaseHighState):
            def __init__(tree):
                tree.client = client
                super().__init__(opts)
                tree.state = state

        self.tree = Tree
        self.context = set(self.state.state_con)

    def is_changed(self, pillar):
        """True if a template changed the pillar in place, which the next one must not see."""
        return self.state.opts["pillar"] != pillar

    def low(self, sls):
        # Each sls is asked for by itself: results that functions keep for a run are those of another one.
        for key in set(self.state.state_con) - self.context:
            del self.state.state_con[key]
        self.state._processed_sls_files = set()
        high, errors = self.tree().render_highstate({"base": [sls]})
        errors += self.state.verify_high(high)
        if not errors:
            low, errors = self.state.compile_high_data(high)
        return {"errors": [str(error) for error in errors]} if errors else {"ok": low}


def salts_answers(formula, minions, names, out):
    for stubs in STUBS:
        corpus.STUBS.update({name: entry["return"] for name, entry in salt.utils.yaml.safe_load(stubs.read_text()).items()})
    corpus.only_pure_functions()
    high_data.logging_off()
    signal.signal(signal.SIGALRM, high_data.too_long)
    answers = {}
    with tempfile.TemporaryDirectory(prefix="mapstack-low-") as home:
        for minion in minions:
            asked = None
            for sls in names:
                if asked and asked.is_changed(minion["pillar"]):
                    asked = asked.own.close()
                if asked is None:
                    asked = Minion(os.path.join(home, minion["id"]), formula, minion)
                corpus.blocked.clear()
                signal.alarm(60)
                try:
                    answer = asked.low(sls)
                except Exception as error:
                    answer = {"errors": [f"{type(error).__name__}: {error}"]}
                finally:
                    signal.alarm(0)
                if corpus.blocked:
                    answer["blocked"] = corpus.blocked[-1]
                answers[f"{minion['id']} {sls}"] = answer
            if asked:
                asked.own.close()
    out.write_text(json.dumps(answers, default=repr))


def ours(mapstack, formula, minions, sls):
    command = [mapstack, "highstate", sls, "--root", str(formula), "--minions", str(minions), "--low", "-o", "json", "-q"]
    command += [word for stubs in STUBS for word in ("--stub", str(stubs))]
    made = subprocess.run(command, capture_output=True, text=True, cwd="/")
    try:
        return json.loads(made.stdout)
    except ValueError:
        return made.stderr


def judged(salt_, own):
    """The kind of a pair of answers, and what differs."""
    own_errors = own.get("_errors") if isinstance(own, dict) else None if isinstance(own, list) else [str(own)]
    if "errors" in salt_ and own_errors is not None:
        named = {name for text in salt_["errors"] for name in re.findall(r"SLS '?(?:base:)?([\w.\-]+?)'? failed", text)}
        missing = sorted(name for name in named if name not in "\n".join(own_errors))
        return ("both refuse", "") if not missing else ("other reasons", f"{missing}: {own_errors[0]} / {salt_['errors'][0][-300:]}")
    if "errors" in salt_:
        why = salt_.get("blocked")
        return (f"blocked: {why}", "") if why else ("only Salt refuses", salt_["errors"][0][-600:])
    if own_errors is not None:
        return "only mapstack refuses", own_errors[0]
    if json.dumps(salt_["ok"]) == json.dumps(own):
        return "equal", ""
    if salt_["ok"] == own:
        return "other order of arguments", ""
    pairs = [(a, b) for a, b in zip(salt_["ok"], own) if a != b]
    a, b = pairs[0] if pairs else ({}, {})
    keys = [key for key in {**a, **b} if a.get(key, "-") != b.get(key, "-")]
    shown = [f"{key}: {str(a.get(key, '-'))[:200]} / {str(b.get(key, '-'))[:200]}" for key in keys]
    return "different", f"{len(salt_['ok'])} / {len(own)} states, {a.get('__id__')}: {'; '.join(shown)}"


def compare(mapstack, formula, platforms, show):
    names = sls_of(formula)
    count = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="mapstack-forms-") as home:
        folder = pathlib.Path(home, "minions")
        folder.mkdir()
        minions = []
        for name in platforms:
            text = subprocess.run([mapstack, "platforms", name], capture_output=True, text=True, check=True).stdout
            minion = {**salt.utils.yaml.safe_load(text), "id": name, "pillar": pillar_of(formula)}
            minion["grains"]["id"] = name
            minions.append(minion)
            (folder / f"{name}.json").write_text(json.dumps(minion))
        out = pathlib.Path(home, "answers.json")
        pid = os.fork()
        if not pid:
            try:
                salts_answers(formula, minions, names, out)
            finally:
                os._exit(0)
        made = {sls: ours(mapstack, formula, folder, sls) for sls in names}
        os.waitpid(pid, 0)
        answers = json.loads(out.read_text()) if out.exists() else {}
    for key, answer in answers.items():
        minion, _, sls = key.partition(" ")
        own = made[sls]
        own = own.get(minion, own) if isinstance(own, dict) else own
        kind, what = judged(answer, own)
        count[kind.partition(":")[0]] += 1
        if what and show:
            print(f"   {sls} on {minion}: {kind}: {what}"[:1200].replace("\n", " "), flush=True)
    print(f"{formula.name}: {len(names)} sls, " + (", ".join(f"{n} {kind}" for kind, n in count.most_common()) or "no answer"), flush=True)
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mapstack")
    parser.add_argument("formulas", nargs="+", type=pathlib.Path)
    parser.add_argument("--platform", nargs="*", default=PLATFORMS)
    parser.add_argument("--show", action="store_true", help="print what differs")
    args = parser.parse_args()
    total = collections.Counter()
    for formula in args.formulas:
        total += compare(os.path.abspath(args.mapstack), formula.resolve(), args.platform, args.show)
    print(f"{sum(total.values())} answers: " + ", ".join(f"{n} {kind}" for kind, n in total.most_common()))


if __name__ == "__main__":
    main()
