"""The execution module `mapstack`."""

import json
import os
import subprocess

import mapstack
import pytest
import salt.exceptions

FILES = {
    "web/parameters/defaults.yaml": "values:\n  port: 80\n  names: [a]\n  db_password: hush\n  empty: {}\n",
    "web/parameters/os/Debian.yaml": "strategy: recurse\nvalues:\n  port: {{ salt['test.echo'](8080) }}\n",
}
PILLAR = {"web": {"user": "www"}}


@pytest.fixture
def web(tree):
    return {path: str(tree(path, text)) for path, text in FILES.items()}


@pytest.fixture
def command(tmp_path):
    """A function that returns what the command prints as JSON about the same files and the same minion."""
    facts = tmp_path / "web1.json"

    def ask(verb, *args, minion=None):
        options = ["--root", str(tmp_path / "srv")]
        if minion:
            facts.write_text(json.dumps(minion))
            options += ["--minion", str(facts)]
        done = subprocess.run(
            [os.environ["MAPSTACK_COMMAND"], verb, *args, *options, "-o", "json"],
            capture_output=True,
            check=False,
            text=True,
        )
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    return ask


def values(explained):
    """The explanations of values by their paths."""
    return {":".join(str(step) for step in value["path"]): value for value in explained["values"]}


def test_the_version_is_the_engines(minion):
    assert minion()["mapstack.version"]() == mapstack.__version__


def test_values_have_their_places(web, minion):
    defaults, debian = web.values()
    explained = minion(pillar=PILLAR)["mapstack.explain"]("web", "port")
    (known,) = explained["values"]
    assert (known["path"], known["value"]) == (["port"], 8080)
    assert known["origin"] == {"file": debian, "line": 3, "column": 9, "computed": True}
    layer = explained["layers"][known["layer"] - 1]
    assert (layer["file"], layer["definition"]) == (debian, "Y!G@os")
    assert layer["because"] == [{"matcher": "G@os", "found": "Debian"}]
    assert layer["merged"]["strategy"] == "recurse"
    (past,) = known["past"]
    assert (past["value"], past["ended"]) == (80, "replaced")
    assert (past["origin"]["file"], past["origin"]["line"]) == (defaults, 2)


def test_every_value_is_explained(web, minion):
    explained = values(minion(pillar=PILLAR)["mapstack.explain"]("web"))
    assert {"port", "names:0", "db_password", "empty", "user"} <= set(explained)
    assert explained["names:0"]["value"] == "a"


def test_secrets_are_masked(web, tree, minion):
    explained = minion(pillar=PILLAR)["mapstack.explain"]("web")
    for name in ("db_password", "user"):
        assert values(explained)[name]["value"].startswith("<secret ")
    assert "hush" not in repr(explained)
    assert "www" not in repr(explained)


def test_secrets_are_masked_in_errors(web, tree, minion):
    tree("web/parameters/os/Debian.yaml", "values: {{ {}['pw ' ~ pillar.web.user] }}\n")
    with pytest.raises(salt.exceptions.CommandExecutionError, match="has no attribute") as caught:
        minion(pillar=PILLAR)["mapstack.explain"]("web")
    assert "www" not in str(caught.value)


def test_a_path_without_value_is_an_error(web, minion):
    with pytest.raises(salt.exceptions.CommandExecutionError, match="nothing under 'no'"):
        minion()["mapstack.explain"]("web", "no:such")


def test_sources_are_what_is_looked_for(web, minion):
    sources = minion()["mapstack.sources"]("web")
    hits = [source["path"] for source in sources if source["outcome"] == "hit" and "path" in source]
    assert hits == [f"salt://{path}" for path in FILES]
    assert {"stage": "layers", "definition": "C@web", "outcome": "miss"} in sources


def test_a_formula_with_a_map_is_explained(tree, minion):
    tree("ntp/os.yaml", "Debian:\n  pkg: ntpsec\n")
    file = tree(
        "ntp/map.jinja",
        "{% import_yaml 'ntp/os.yaml' as os %}{% set ntp = salt['grains.filter_by'](os, grain='os') %}",
    ).parent / "os.yaml"
    origin = values(minion()["mapstack.explain"]("ntp"))["pkg"]["origin"]
    assert (origin["file"], origin["line"], origin["column"]) == (str(file), 2, 8)


def test_mistakes_are_found(web, tree, minion):
    tree("web/parameters/os/Debain.yaml", "values: {port: 1}\n")
    tree("web/init.sls", "{{ salt['vault.read_secret']('x') }}: {test.nop: []}\n")
    found = minion()["mapstack.lint"]("web")
    rules = {(finding["rule"], finding["file"].split("/")[-1]) for finding in found["findings"]}
    assert ("unreachable-file", "Debain.yaml") in rules
    assert [unknown["function"] for unknown in found["not_followed"]] == ["vault.read_secret"]


def test_a_masters_files_are_checked_through_the_file_client(web, tree, minion):
    tree("web/parameters/os/Debain.yaml", "values: {port: 1}\n")
    tree("web/init.sls", "{% import_yaml 'lib/x.yaml' as x %}\n{{ x.name }}: {test.nop: []}\n")
    tree("lib/x.yaml", "name: a\n")

    def without_files(found):
        # A file of a master is named by its copy.
        return [{**finding, "file": None, "related": None} for finding in found["findings"]]

    near, far = (minion(mapstack={"files": files})["mapstack.lint"]("web") for files in ("auto", "client"))
    assert without_files(near) == without_files(far)
    assert near["findings"]
    assert near["summary"] == far["summary"]


def test_what_the_file_client_raises_while_a_formula_is_checked_is_the_cause(web):
    class Failing:
        def list_files(self, saltenv):
            raise ZeroDivisionError("no luck")

    with pytest.raises(mapstack.Error, match="no luck") as caught:
        mapstack.Engine.remote().lint("web", caller=Failing())
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with pytest.raises(ValueError, match="needs a caller"):
        mapstack.Engine.remote().lint("web")


def test_answers_are_what_the_command_prints(web, tree, engine, facts, command):
    tree("web/parameters/os/Debian.yaml", "values: {port: {{ grains.id }}}\n")
    of_facts = {"id": "web1", "grains": {"os": "Debian", "id": "web1"}, "opts": {"id": "web1"}}
    explained, printed = engine.explain(facts, "web", []), command("explain", "web", minion=of_facts)
    for layer in printed["layers"]:
        # The command has a minion's usual options.
        assert layer in explained["layers"]
    assert [value["path"] for value in explained["values"]] == [value["path"] for value in printed["values"]]
    assert explained["values"][1:] == printed["values"][1:]
    assert engine.sources(facts, "web") == command("sources", "web", minion=of_facts)
    assert engine.lint("web") == command("lint", "web")


def test_questions_are_answered_through_the_file_client(web, minion):
    modules = minion(mapstack={"files": "client"}, pillar=PILLAR)
    assert values(modules["mapstack.explain"]("web", "port"))["port"]["value"] == 8080


@pytest.mark.parametrize("function", ["explain", "sources"])
def test_errors_are_salts(tree, minion, function):
    tree("bad/parameters/defaults.yaml", "values: {{ nope }}\n")
    with pytest.raises(salt.exceptions.CommandExecutionError, match="nope"):
        minion()[f"mapstack.{function}"]("bad")
