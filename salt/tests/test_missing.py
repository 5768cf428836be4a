"""A Salt that has the extension, but whose native module cannot be imported."""

import os
import subprocess
import sys

import salt.version

#: What a process of Salt says about modules that it looks for, and which of those that say nothing are there.
SCRIPT = """
import sys
import salt.config
import salt.loader

root = sys.argv[1]
opts = {**salt.config.DEFAULT_MASTER_OPTS, **salt.config.DEFAULT_MINION_OPTS}
opts.update(root_dir=root, cachedir=root, extension_modules=root, grains={}, pillar={}, disable_modules=["map"])
opts.update(optimization_order=[0, 1, 2], master_tops={})
modules = salt.loader.minion_mods(opts)
for loader, name in (
    (modules, "map.data"),
    (modules, "mapstack.version"),
    (salt.loader.runner(opts), "mapstack.diff"),
):
    assert name not in loader
    print(loader.missing_fun_string(name))
print("mapstack_stack" in salt.loader.pillars(opts, modules))
print("mapstack_reclass" in salt.loader.tops(opts))
print("mapstack" in salt.loader.render(opts, modules))
"""

WHY = (
    "the native module of saltext-mapstack cannot be imported (libm.so.6: no such version):"
    " `salt-pip install mapstack-native` installs it"
)


def test_salt_says_why_the_modules_are_missing(tmp_path):
    hidden = tmp_path / "path" / "mapstack"
    hidden.mkdir(parents=True)
    hidden.joinpath("__init__.py").write_text("raise ImportError('libm.so.6: no such version')\n")
    path = os.pathsep.join([str(hidden.parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert said[2] == f"'mapstack' __virtual__ returned False: {WHY}"
    if salt.version.__saltstack_version__.major >= 3008:
        assert said[:2] == [f"'{module}' __virtual__ returned False: {WHY}" for module in ("map", "mapstack")]
    else:
        # These look for the reason under the name that the module would have, and keep it under that of its file.
        assert said[:2] == [f"'{function}' is not available." for function in ("map.data", "mapstack.version")]
    assert said[3:] == ["False"] * 3
    # Nothing else says why an external pillar or a renderer is not there.
    assert done.stderr.count(WHY) == 1
