"""Trees of files, and minions of a real Salt in this process."""

import pathlib

import mapstack
import pytest
import salt.config
import salt.loader


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
                "pillar": pillar or {},
                "grains": {"id": "web1", "os": "Debian", "os_family": "Debian", "osarch": "amd64"},
                "disable_modules": ["map"] if ours else [],
            }
        )
        opts.update(overrides)
        return salt.loader.minion_mods(opts, utils=salt.loader.utils(opts))

    return load
