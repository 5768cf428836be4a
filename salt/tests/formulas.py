#!/usr/bin/env python3
"""Compare the renderer `mapstack` with Salt's `jinja` on formulas, in a masterless minion of the Salt at hand.

usage: formulas.py [--apply] [--sls NAME] [--grains FILE] FORMULA...

FORMULA is a checkout, such as openssh-formula. Each of its sls is rendered by `state.show_sls` with either renderer; a
`pillar.example` that is YAML is the pillar. With --apply, `state.apply` runs in test mode as well, and templates of
managed files are rendered by the one that renders the sls. Returns have to be equal, errors included. Times are those on
the processor in the renderers, in all of the runs, and apart from them those in functions of Salt that templates call,
and in looking for them: Salt loads all of its modules to find one that it does not have.
"""

import argparse
import contextlib
import copy
import logging
import pathlib
import re
import sys
import tempfile
import time

import salt.config
import salt.loader
import salt.utils.templates
import salt.utils.yaml
from saltext.mapstack import templates

SALT = {
    "jinja": salt.utils.templates.TEMPLATE_REGISTRY["jinja"],
    "mapstack": templates.render,
}
renders = dict.fromkeys(SALT, 0)


class Clock:
    """The time in some functions, without what they call of themselves."""

    def __init__(self):
        self.spent = 0.0
        self._depth = 0

    def timed(self, function, when=lambda: True):
        def run(*args, **kwargs):
            if self._depth or not when():
                return function(*args, **kwargs)
            self._depth = 1
            start = time.process_time()
            try:
                return function(*args, **kwargs)
            finally:
                self._depth = 0
                self.spent += time.process_time() - start

        return run

    @property
    def is_running(self):
        return bool(self._depth)


clocks = {name: Clock() for name in SALT}
in_functions = {name: Clock() for name in SALT}


@contextlib.contextmanager
def rendered_by(name):
    """Let one renderer render whatever names `jinja`."""
    clock, apart, loader = clocks[name], in_functions[name], salt.loader.LazyLoader
    timed = clock.timed(SALT[name])

    def render(*args, **kwargs):
        renders[name] += not clock.is_running
        return timed(*args, **kwargs)

    entries = {entry: getattr(loader, entry) for entry in ("__getattr__", "__getitem__", "__contains__", "run")}
    registry, own = salt.utils.templates.TEMPLATE_REGISTRY, salt.utils.templates.JINJA
    registry["jinja"] = salt.utils.templates.JINJA = render
    for entry, function in entries.items():
        setattr(loader, entry, apart.timed(function, lambda: clock.is_running))
    try:
        yield
    finally:
        registry["jinja"] = salt.utils.templates.JINJA = own
        for entry, function in entries.items():
            setattr(loader, entry, function)


def options(formula, root, grains):
    """The options of a masterless minion that serves a formula."""
    opts = salt.config.DEFAULT_MINION_OPTS.copy()
    pillar = {}
    with contextlib.suppress(Exception):
        pillar = salt.utils.yaml.safe_load((formula / "pillar.example").read_text()) or {}
    opts.update(
        id="web1",
        root_dir=str(root),
        cachedir=str(root / "cache"),
        extension_modules=str(root / "extmods"),
        sock_dir=str(root / "sock"),
        conf_file=str(root / "minion"),
        file_client="local",
        file_roots={"base": [str(formula)]},
        pillar_roots={"base": [str(root / "pillar")]},
        state_events=False,
        __role="minion",
    )
    opts["grains"] = copy.deepcopy(grains)
    opts["pillar"] = pillar
    return opts


def names(formula):
    """The sls of a formula."""
    for file in sorted(formula.glob("*/**/*.sls")):
        path = file.relative_to(formula)
        if path.parts[0] in ("test", "docs", "tests", "_states", ".git", "bin", "_pillar"):
            continue
        name = ".".join(path.with_suffix("").parts)
        yield name[: -len(".init")] if name.endswith(".init") else name


#: What differs between any two runs.
_TIMES = ("duration", "start_time", "__run_num__")


def comparable(value):
    """A return without times; errors without Python's tracebacks, and without the class of Salt 3008's dicts."""
    if isinstance(value, dict):
        return {key: comparable(item) for key, item in value.items() if key not in _TIMES}
    if isinstance(value, (list, tuple)):
        return [comparable(item) for item in value]
    if isinstance(value, str):
        value = re.sub(r"Traceback \(.*\n(?=[\w.]+(Error|Exception): )", "", value, flags=re.S)
        value = re.sub(r"(Jinja error: .*?)(\nTraceback|; line \d).*", r"\1", value, flags=re.S)
        value = re.sub(r"salt\.utils\.optsdict\.\w+ object", "dict object", value)
        return re.sub(r"0x[0-9a-f]{6,}", "0x", value)
    return value


def outcome(opts, function, sls, **kwargs):
    """What a function returns, or raises."""
    modules = salt.loader.minion_mods(opts, utils=salt.loader.utils(opts))
    try:
        return comparable(modules[function](sls, pillar=opts["pillar"], **kwargs))
    except Exception as err:  # pylint: disable=broad-except
        return comparable(f"{type(err).__name__}: {err}")


def compare(formula, only, apply, grains):
    """The number of sls that were compared, of those that fail, and the differences."""
    compared, failing, different = 0, 0, []
    calls = [("state.show_sls", {})]
    if apply:
        calls.append(("state.apply", {"test": True}))
    for sls in names(formula):
        if only and sls != only:
            continue
        for function, kwargs in calls:
            results = {}
            # Whatever comes second finds more in the caches of the machine.
            for name in sorted(SALT, reverse=bool(compared % 2)):
                with tempfile.TemporaryDirectory() as root, rendered_by(name):
                    opts = options(formula, pathlib.Path(root), grains)
                    result = outcome(opts, function, sls, **kwargs)
                    # The engine names the files themselves, where Salt names its copies of them.
                    text = repr(result).replace(f"{root}/cache/files/base", str(formula))
                    results[name] = text.replace(root, "ROOT")
            compared += 1
            failing += results["jinja"].startswith("[")
            if results["jinja"] != results["mapstack"]:
                different.append((function, sls, results))
    return compared, failing, different


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("formulas", nargs="+", type=pathlib.Path)
    parser.add_argument("--apply", action="store_true")
    parser.add_argument("--sls")
    parser.add_argument("--grains", type=pathlib.Path, help="a YAML file; default: this machine's")
    parser.add_argument("--show", action="store_true", help="print returns that differ")
    args = parser.parse_args()
    logging.disable(logging.CRITICAL)
    if args.grains:
        grains = salt.utils.yaml.safe_load(args.grains.read_text())
    else:
        grains = salt.loader.grains(salt.config.DEFAULT_MINION_OPTS.copy())
    total = 0
    for formula in args.formulas:
        compared, failing, different = compare(formula.resolve(), args.sls, args.apply, grains)
        total += len(different)
        print(f"{formula.name}: {compared} returns, {failing} errors, {len(different)} different", flush=True)
        for function, sls, results in different:
            print(f"  {function} {sls}")
            if args.show:
                for name, result in results.items():
                    print(f"    {name}: {result}")
    for name in SALT:
        apart = in_functions[name].spent
        each = (clocks[name].spent - apart) / max(renders[name], 1) * 1000
        print(f"{name}: {renders[name]} templates, {each:.2f} ms each, and {apart:.3f} s in functions of Salt")
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
