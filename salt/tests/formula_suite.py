#!/usr/bin/env python3
"""Run the tests of saltext-formula on the `map` of the extension, beside those on its own, in the Salt at hand.

usage: formula_suite.py DIRECTORY

DIRECTORY is what `pip download --no-deps --no-binary :all: saltext.formula` fetches, unpacked. The tests need
`pytest-salt-factories`. Those that pass with saltext-formula's own module have to pass with the extension's, apart from
those that look into Python objects which the extension does not have.
"""

import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent

#: The test that replaces `stack` within the module, and looks at how `data` calls it.
INSIDE = re.compile(r"^test_data_configuration_override\b")

#: Options that each minion has, and those of the unit tests have not.
FILES = {"file_client": "local", "file_roots": {}}

#: What the loader gives to a module.
DUNDERS = ("__salt__", "__opts__", "__grains__", "__pillar__", "__context__")


def pytest_configure():
    """As a plugin of Pytest: let the extension's functions answer, by the loader and in the module itself."""
    if os.environ.get("MAPSTACK_SUITE") != "mapstack":
        return
    import salt.config
    import saltext.formula.modules.map as theirs
    import saltext.mapstack.modules.mapstack_map as ours

    defaults = salt.config.DEFAULT_MINION_OPTS
    salt.config.DEFAULT_MINION_OPTS = type(defaults)({**defaults, "disable_modules": ["map"]})

    def answering(name):
        def function(*args, **kwargs):
            vars(ours).update({dunder: vars(theirs)[dunder] for dunder in DUNDERS})
            vars(ours)["__opts__"] = {**FILES, **theirs.__opts__}
            return getattr(ours, name)(*args, **kwargs)

        return function

    for name in ("data", "stack", "tofs"):
        setattr(theirs, name, answering(name))


def passed(directory, which):
    """The tests that pass, and all that ran, by their names."""
    environment = {**os.environ, "MAPSTACK_SUITE": which, "PYTHONPATH": str(HERE)}
    command = [sys.executable, "-m", "pytest", "-p", "no:logging", "-p", HERE.joinpath(__file__).stem, "-q", "-rA", "--tb=no"]
    ran = subprocess.run(
        [*command, "tests/functional", "tests/unit"], cwd=directory, env=environment, capture_output=True, text=True
    )
    outcomes = re.findall(r"^(PASSED|FAILED|ERROR) \S+?::(.*?)(?: - .*)?$", ran.stdout, re.M)
    if not outcomes:
        sys.exit(f"no test ran:\n{ran.stdout[-2000:]}{ran.stderr[-2000:]}")
    return {name for outcome, name in outcomes if outcome == "PASSED"}, {name for _, name in outcomes}


def main():
    directory = pathlib.Path(sys.argv[1])
    (theirs, ran), (ours, _) = (passed(directory, which) for which in ("salt", "mapstack"))
    inside = {name for name in theirs - ours if INSIDE.match(name)}
    missing = sorted(theirs - ours - inside)
    print(f"{len(ran)} tests: {len(theirs)} pass with saltext-formula, {len(ours)} with mapstack")
    print(f"{len(inside)} look into Python objects: {', '.join(sorted(inside))}")
    for name in sorted(ours - theirs):
        print(f"  with mapstack alone: {name}")
    for name in missing:
        print(f"  not with mapstack: {name}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
