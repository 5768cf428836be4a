#!/usr/bin/env python3
"""Run the tests of saltext-formula on the `map` of the extension, beside those on its own, in the Salt at hand.

usage: formula_suite.py DIRECTORY

DIRECTORY is what `pip download --no-deps --no-binary :all: saltext.formula` fetches, unpacked. The tests need
`pytest-salt-factories`, and the command `patch`. Those that pass with saltext-formula's own module have to pass with the
extension's, apart from those that look into Python objects which the extension does not have, and with the patch that lets
saltext-formula ask the extension, whether it is told to or not.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

#: The test that replaces `stack` within the module, and looks at how `data` calls it.
INSIDE = re.compile(r"^test_data_configuration_override\b")

#: Options that each minion has, and those of the unit tests have not.
FILES = {"file_client": "local", "file_roots": {}}

#: What the loader gives to a module.
DUNDERS = ("__salt__", "__opts__", "__grains__", "__pillar__", "__context__")


def pytest_configure():
    """As a plugin of Pytest: let the extension's functions answer, by the loader and in the module itself, or be asked."""
    import salt.config

    which = os.environ.get("MAPSTACK_SUITE")
    if which == "backend":
        defaults = salt.config.DEFAULT_MINION_OPTS
        salt.config.DEFAULT_MINION_OPTS = type(defaults)({**defaults, "formula_backend": "mapstack"})
    if which != "mapstack":
        return
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
    # The sources at hand come before what is installed: they may be patched.
    path = os.pathsep.join([str(HERE), str(directory / "src")])
    environment = {**os.environ, "MAPSTACK_SUITE": which, "PYTHONPATH": path}
    command = [sys.executable, "-m", "pytest", "-p", "no:logging", "-p", HERE.joinpath(__file__).stem, "-q", "-rA", "--tb=no"]
    ran = subprocess.run(
        [*command, "tests/functional", "tests/unit"], cwd=directory, env=environment, capture_output=True, text=True
    )
    outcomes = re.findall(r"^(PASSED|FAILED|ERROR) \S+?::(.*?)(?: - .*)?$", ran.stdout, re.M)
    if not outcomes:
        sys.exit(f"no test ran:\n{ran.stdout[-2000:]}{ran.stderr[-2000:]}")
    return {name for outcome, name in outcomes if outcome == "PASSED"}, {name for _, name in outcomes}


def patched(directory, into):
    """A copy of saltext-formula that asks the extension, if it is told to."""
    copy = pathlib.Path(into) / "patched"
    shutil.copytree(directory, copy)
    patch = HERE.parent / "saltext-formula" / "backend.patch"
    subprocess.run(["patch", "--silent", "-p1", "-i", patch], cwd=copy, check=True)
    return copy


def backend(directory, theirs):
    """Compare the tests with the patch, off and on, with those without."""
    with tempfile.TemporaryDirectory() as home:
        copy = patched(directory, home)
        (off, _), (on, _) = (passed(copy, which) for which in ("salt", "backend"))
    print(f"with the patch: {len(off)} pass with the option off, {len(on)} with it on")
    missing = sorted(theirs - (off & on))
    for name in missing:
        print(f"  not with the patch: {name}")
    return missing


def main():
    directory = pathlib.Path(sys.argv[1]).resolve()
    (theirs, ran), (ours, _) = (passed(directory, which) for which in ("salt", "mapstack"))
    inside = {name for name in theirs - ours if INSIDE.match(name)}
    missing = sorted(theirs - ours - inside)
    print(f"{len(ran)} tests: {len(theirs)} pass with saltext-formula, {len(ours)} with mapstack")
    print(f"{len(inside)} look into Python objects: {', '.join(sorted(inside))}")
    for name in sorted(ours - theirs):
        print(f"  with mapstack alone: {name}")
    for name in missing:
        print(f"  not with mapstack: {name}")
    return 1 if backend(directory, theirs) or missing else 0


if __name__ == "__main__":
    sys.exit(main())
