"""The recipes in the documentation for a master without the extension, as they are printed, in `salt.pillar.Pillar`.

They need the command: `MAPSTACK_COMMAND` is its path.
"""

import os
import pathlib
import re

import pytest
import salt.utils.yaml

DOCS = pathlib.Path(__file__).parents[2] / "docs"

FILES = {
    "stack/stack.cfg": "core.yml\nminions/{{ minion_id }}.yml\n",
    "stack/core.yml": "os: {{ __grains__['os'] }}\nmine: {{ pillar.get('mine') }}\nid: {{ minion_id | tojson }}\n",
    "minions/web1.yaml": "grains: {os: Debian}\npillar: {mine: from the document}\n",
}


def recipes():
    """The commands that the documentation prints for a master, by the name of Salt's external pillar."""
    found = {}
    for file in sorted(DOCS.glob("*.md")):
        for block in re.findall(r"^```yaml\n(ext_pillar:.*?)^```", file.read_text(), re.M | re.S):
            for external in salt.utils.yaml.safe_load(block)["ext_pillar"]:
                for name in {"cmd_json", "cmd_yaml"}.intersection(external):
                    found.setdefault(name, []).append((file.name, external[name]))
    return found


RECIPES = recipes()


def test_the_documentation_has_one_recipe_of_each_kind():
    assert {name: [file for file, _ in found] for name, found in RECIPES.items()} == {
        "cmd_json": ["pillar.md", "tour.md"],
        "cmd_yaml": ["pillar.md"],
    }
    assert all(len({line for _, line in found}) == 1 for found in RECIPES.values())


@pytest.fixture(params=RECIPES)
def compiled(request, master, tmp_path, monkeypatch):
    """A function that compiles a minion's pillar by a recipe, whose paths are below another directory here."""
    command = pathlib.Path(os.environ["MAPSTACK_COMMAND"])
    monkeypatch.setenv("PATH", f"{command.parent}:{os.environ['PATH']}")
    name = request.param
    line = RECIPES[name][0][1]

    def compile_(minion_id="web1", files=FILES):
        for path, text in files.items():
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text) if isinstance(text, bytes) else file.write_text(text)
        return master({"ext_pillar": [{name: line.replace("/srv/", f"{tmp_path}/")}]}, minion_id)

    compile_.module = name
    return compile_


def test_a_minion_gets_its_pillar(compiled):
    assert compiled() == {"os": "Debian", "mine": "from the document", "id": "web1"}


def test_warnings_are_in_the_pillar(compiled):
    (warning,) = compiled(files={path: text for path, text in FILES.items() if path != "stack/stack.cfg"})["_warnings"]
    assert "stack.cfg is not a file" in warning


@pytest.mark.parametrize(
    "minion_id",
    ["$(touch TOUCHED)", "`touch TOUCHED`", "a;touch TOUCHED", "a&touch TOUCHED", "web1 --merged", "-x", "--help", "*", "web[1]", 'a"b', "%s", "ü"],
)
def test_an_id_is_an_id_whatever_it_contains(compiled, minion_id, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert compiled(minion_id, {**FILES, f"minions/{minion_id}.yaml": FILES["minions/web1.yaml"]})["id"] == minion_id
    assert not list(tmp_path.rglob("TOUCHED"))


def test_an_id_of_another_minion_gives_errors(compiled):
    (message,) = compiled("web2")["_errors"]
    assert "web2" in message


FAILURES = {
    "a document that is not YAML": {"minions/web1.yaml": "a: [\n"},
    "a document that is not UTF-8": {"minions/web1.yaml": b"grains: {os: \xe4}\n"},
    "a template that fails": {"stack/core.yml": "a: {{ nope.x }}\n"},
    "a template without end": {"stack/core.yml": "{% for x in range(10 ** 12) %}{% endfor %}\n"},
    "a file that is not YAML": {"stack/core.yml": "a: [\n"},
    "a file that is not UTF-8": {"stack/core.yml": b"a: \xe4\n"},
    "a strategy that there is not": {"stack/core.yml": "__: merge-frist\na: 1\n"},
    "a config file that fails": {"stack/stack.cfg": "{% if %}\n"},
    "a file elsewhere": {"stack/stack.cfg": "/etc/passwd\n"},
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_is_in_the_pillar(compiled, name):
    pillar = compiled(files={**FILES, **FAILURES[name]})
    assert len(pillar["_errors"]) == 1, pillar
    assert set(pillar) <= {"_errors", "_warnings"}


def test_what_json_cannot_say_is_an_error_and_yaml_says_it(compiled):
    pillar = compiled(files={**FILES, "stack/core.yml": "a: !!binary AA==\n80: x\n"})
    if compiled.module == "cmd_yaml":
        assert pillar == {"a": b"\0", 80: "x"}
    else:
        assert list(pillar) == ["_errors"]


def test_without_the_command_the_pillar_is_empty_and_only_the_masters_log_says_so(compiled, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert compiled() == {}
