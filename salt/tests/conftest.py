"""Trees of files, and minions of a real Salt in this process."""

import pathlib

import mapstack
import pytest
import salt.config
import salt.loader
import salt.pillar
from salt._logging import shutdown_temp_handler

# Salt keeps what it logs until it is configured, and prints it at the end of the process, when Pytest has closed what it
# captures. Pytest itself shows what was logged in a test that fails.
shutdown_temp_handler()


@pytest.fixture
def tree(tmp_path):
    """A function that writes a file of the tree."""

    def write(path, text):
        file = tmp_path / "srv" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    write("top.sls", "base: {}\n")
    return write


@pytest.fixture
def engine(tmp_path, tree):
    return mapstack.Engine.local({"file_roots": {"base": [str(tmp_path / "srv")]}})


@pytest.fixture
def facts():
    return mapstack.Facts({"os": "Debian", "id": "web1"}, {}, {"id": "web1"})


@pytest.fixture
def minion(tmp_path, tree):
    """A function that returns the execution modules of a masterless minion; with `ours`, `map` is the extension's."""

    def load(ours=True, pillar=None, **overrides):
        opts = salt.config.DEFAULT_MINION_OPTS.copy()
        opts.update(
            {
                "id": "web1",
                "root_dir": str(tmp_path),
                "cachedir": str(tmp_path / "cache"),
                "extension_modules": str(tmp_path / "extmods"),
                "file_client": "local",
                "file_roots": {"base": [str(pathlib.Path(tmp_path) / "srv")]},
                "pillar_roots": {"base": [str(tmp_path / "pillar")]},
                "pillar": pillar or {},
                "grains": {"id": "web1", "os": "Debian", "os_family": "Debian", "osarch": "amd64"},
                "disable_modules": ["map"] if ours else [],
            }
        )
        opts.update(overrides)
        return salt.loader.minion_mods(opts, utils=salt.loader.utils(opts))

    return load


@pytest.fixture
def master(tmp_path):
    """A function that compiles a minion's pillar as a master with these options does."""

    def compile_(options, minion_id="web1", grains=None, **more):
        opts = salt.config.DEFAULT_MASTER_OPTS.copy()
        opts.update(
            {
                "root_dir": str(tmp_path),
                "cachedir": str(tmp_path / "cache"),
                "extension_modules": str(tmp_path / "extmods"),
                "id": "master",
                "__role": "master",
                "pillar_roots": {"base": [str(tmp_path / "pillar")]},
            }
        )
        opts.update(options)
        grains = {"id": minion_id, **(grains or {})}
        pillar = salt.pillar.Pillar(opts, grains, minion_id, "base", **more)
        return pillar.compile_pillar()

    return compile_
