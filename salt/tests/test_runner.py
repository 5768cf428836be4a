"""The runner `mapstack` of a real master's configuration and cache, by `salt.runner.RunnerClient` in this process.

It needs the command: `MAPSTACK_COMMAND` is its path.
"""

import os
import subprocess

import pytest
import salt.cache
import salt.config
import salt.runner
import salt.utils.yaml
import salt.version

MINIONS = {
    "web1": ({"os": "Debian", "id": "web1", "roles": ["web"]}, {"web": {"user": "www"}}),
    "db1": ({"os": "RedHat", "id": "db1"}, {}),
}
FILES = {
    "web/parameters/defaults.yaml": "values:\n  port: 80\n  name: '{{ grains.id }}\u2028'\n",
    "web/parameters/os/Debian.yaml": "values:\n  port: 8080\n",
}


@pytest.fixture
def run(tmp_path, tree):
    """A function that calls a runner of a master, and returns what it returns and whether it succeeded."""
    for path, text in FILES.items():
        tree(path, text)
    config = tmp_path / "etc" / "master"
    config.parent.mkdir()
    options = {
        "root_dir": str(tmp_path),
        "cachedir": str(tmp_path / "cache"),
        "file_roots": {"base": [str(tmp_path / "srv")]},
        "mapstack": {"command": os.environ["MAPSTACK_COMMAND"]},
    }
    config.write_text(salt.utils.yaml.safe_dump(options))
    opts = salt.config.master_config(str(config))
    (tmp_path / "cache" / "proc").mkdir(parents=True)
    cache = salt.cache.factory(opts)
    for name, (grains, pillar) in MINIONS.items():
        if salt.version.__saltstack_version__.major >= 3008:
            cache.store("grains", name, grains)
            cache.store("pillar", name, pillar)
        else:
            cache.store(f"minions/{name}", "data", {"grains": grains, "pillar": pillar})

    def call(function, *args, **kwargs):
        options = {**opts, **kwargs.pop("opts", {})}
        client = salt.runner.RunnerClient(options)
        try:
            done = client.cmd(function, list(args), kwarg=kwargs, print_event=False, full_return=True)
        finally:
            # Salt 3006 has nothing to end.
            getattr(client, "destroy", lambda: None)()
        return done["return"], done["success"]

    return call


def test_formulas_are_computed_for_each_minion_that_the_master_knows(run):
    answer, success = run("mapstack.fleet", "web")
    assert success
    assert answer["retcode"] == 0
    found = {line["minion"]: line["data"] for line in answer["lines"]}
    assert {name: (data["port"], data["name"]) for name, data in found.items()} == {
        "web1": (8080, "web1\u2028"),
        "db1": (80, "db1\u2028"),
    }
    # The pillar is that of the cache.
    assert found["web1"]["user"] == "www"


def test_values_and_counts_are_picked(run):
    picked, _ = run("mapstack.fleet", "web", get=["port", "name"], select="grains.os == 'Debian'")
    assert [(line["minion"], line["key"], line["value"]) for line in picked["lines"]] == [
        ("web1", "port", 8080),
        ("web1", "name", "web1\u2028"),
    ]
    counted, _ = run("mapstack.fleet", "web", count="port", minion_glob="web*")
    assert [(line["value"], line["count"]) for line in counted["lines"]] == [(8080, 1)]


def test_a_minion_without_a_result_makes_the_runner_fail(run, tree):
    tree("web/parameters/os/RedHat.yaml", "values: {{ nope.x }}\n")
    answer, success = run("mapstack.fleet", "web")
    assert not success
    assert answer["retcode"] == 1
    lines = {line["minion"]: line for line in answer["lines"]}
    assert "data" in lines["web1"]
    assert "nope" in lines["db1"]["error"]


@pytest.mark.parametrize("formula", ["nowhere", "--help", "$(touch TOUCHED)", "web;touch TOUCHED"])
def test_what_cannot_be_asked_is_an_error(run, formula, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer, success = run("mapstack.fleet", formula)
    assert not success
    assert "CommandExecutionError" in answer
    assert formula in answer
    assert not list(tmp_path.rglob("TOUCHED"))


def test_an_argument_that_there_is_not_is_an_error(run):
    for function in ("mapstack.fleet", "mapstack.diff"):
        answer, success = run(function, "web", show_secrets=True)
        assert not success
        assert "unknown arguments: show_secrets; there are" in answer


def test_an_argument_is_not_a_flag(run):
    answer, success = run("mapstack.fleet", "web", select="--show-secrets")
    assert not success
    assert all("'show' is undefined" in line["error"] for line in answer["lines"])


def test_without_the_command_it_says_what_to_do(run, monkeypatch):
    monkeypatch.setattr("saltext.mapstack.command.shutil.which", lambda name: None)
    for options, says in (
        ({"mapstack": {}}, "pip install mapstack"),
        ({"mapstack": {"command": "/nowhere/mapstack"}}, "cannot run /nowhere/mapstack"),
    ):
        answer, success = run("mapstack.fleet", "web", opts=options)
        assert not success
        assert says in answer


def test_a_change_is_compared_on_each_minion(run, tree, tmp_path):
    def git(*args):
        author = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        subprocess.run(["git", *author, *args], cwd=tmp_path / "srv", check=True, capture_output=True)

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "before")
    answer, success = run("mapstack.diff")
    assert success
    assert (answer["retcode"], answer["changes"]) == (0, [])
    tree("web/parameters/os/Debian.yaml", "values:\n  port: 8081\n")
    answer, success = run("mapstack.diff", "web")
    assert success
    assert answer["retcode"] == 1
    (change,) = answer["changes"]
    assert (change["key"], change["old"], change["new"], change["minions"]) == ("port", 8080, 8081, ["web1"])
    answer, _ = run("mapstack.diff", ignore="port")
    assert (answer["retcode"], answer["changes"]) == (0, [])


def test_what_could_not_be_compared_makes_the_runner_fail(run):
    answer, success = run("mapstack.diff", before="no-such-revision")
    assert not success
    assert "no-such-revision" in answer
