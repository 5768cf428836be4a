"""External pillars in a master's `salt.pillar.Pillar`, beside Salt's own and the recorded results of Salt's own."""

import ast
import json
import pathlib
import re

import pytest
import salt.config
import salt.loader
import salt.utils.yaml
import salt.version
from saltext.mapstack.pillars import has_own

DATA = pathlib.Path(__file__).parents[2] / "crates" / "pillar" / "tests" / "data"


@pytest.fixture
def directory(tmp_path):
    """A function that writes the files of a case."""

    def write(files, links=None, name="here"):
        here = tmp_path / name
        here.mkdir(parents=True, exist_ok=True)
        for path, text in files.items():
            file = here / path.replace("<DIR>", str(here))
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text.replace("<DIR>", str(here)))
        for path, target in (links or {}).items():
            (here / path).symlink_to(target)
        return here

    return write


def _is_pairs(table):
    return isinstance(table, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in table)


def external(name, case, here, tmp_path):
    """What an external pillar of the loader returns for a case, or the class of its exception."""
    opts = salt.config.DEFAULT_MASTER_OPTS.copy()
    opts.update({"cachedir": str(tmp_path / "cache"), "root_dir": str(tmp_path), "id": "master"})

    def filled(value):
        return json.loads(json.dumps(value).replace("<DIR>", str(here)))

    opts.update(filled(case.get("opts", {})))
    opts["grains"] = filled(case["grains"])
    pillar = filled(case["pillar"])
    loaded = salt.loader.pillars(opts, salt.loader.minion_mods(opts))
    # Tables whose keys are not text are recorded as pairs.
    tables = {
        selector: dict(table) if _is_pairs(table) else table
        for selector, table in filled(case["kwargs"]).items()
    }
    try:
        result = loaded[name](case["minion_id"], pillar, *filled(case["args"]), **tables)
    except Exception:  # pylint: disable=broad-except
        return "error"
    return repr(result), repr(pillar)


#: Cases that differ on purpose; pillar.rs and reclass.rs in crates/pillar/tests have the reasons.
KNOWN = {
    "stack": {"cfg: \ufeffa.yml", "stack: holds itself"},
    "makostack": {"stack: shares with itself", "fails: undefined into stack", "fails: stack holds itself"},
    "saltclass": set(),
    "reclass": {"a query of a class that sets a key twice"},
}


def plain(value):
    """A pillar without the classes of dicts that sls are read into."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def recorded(name):
    return json.loads((DATA / f"{name}.json").read_text())


def test_stack_returns_what_salts_own_does(directory, tmp_path):
    different = {}
    cases = [case for case in recorded("pillar_stacks") if case["module"] == "stack" and "args" in case]
    assert len(cases) > 200
    for index, case in enumerate(cases):
        here = directory(case["files"], case.get("links"), f"case{index}")
        theirs, ours = (external(name, case, here, tmp_path) for name in ("stack", "mapstack_stack"))
        if ours != theirs:
            different[case["name"]] = theirs, ours
    assert different.keys() == KNOWN["stack"], different


def test_makostack_returns_what_salts_own_did(directory, tmp_path):
    pytest.importorskip("mako")
    different = {}
    cases = [case for case in recorded("makostacks") if case["module"] == "makostack"]
    assert len(cases) > 200
    for index, case in enumerate(cases):
        here = directory(case["files"], case.get("links"), f"case{index}")
        ours = external("mapstack_makostack", case, here, tmp_path)
        theirs = "error"
        if "error" not in case:
            theirs = json.dumps(case["result"]).replace("<DIR>", str(here))
            ours = ours if ours == "error" else json.dumps(ast.literal_eval(ours[0]))
        if ours != theirs:
            different[case["name"]] = theirs, ours
    assert different.keys() == KNOWN["makostack"], different


@pytest.mark.parametrize("kind", ["saltclass", "reclass"])
def test_classes_give_what_salts_own_gave(directory, master, tmp_path, kind):
    different = {}
    # Other external pillars that newer versions do not have are recorded beside saltclass.
    cases = [case for case in recorded(f"{kind}_pillars") if kind in case["master"]]
    assert len(cases) > 200
    # What this version of Salt has otherwise.
    others = recorded("other_saltclass_versions").get(salt.version.__version__, {}) if kind == "saltclass" else {}
    for index, case in enumerate(cases):
        here = directory(case["files"], name=f"case{index}")
        options = salt.utils.yaml.safe_load(case["master"].replace("<DIR>", str(here)))
        if has_own(kind, "pillar"):
            # Salt's own answers to the name.
            options["ext_pillar"] = [
                {f"mapstack_{kind}" if name == kind else name: given for name, given in item.items()}
                for item in options["ext_pillar"]
            ]
        override = case.get("override")
        compiled = plain(master(options, case["minion_id"], case["grains"], pillar_override=override))
        failures = compiled.pop("_errors", [])
        case = {**case, **others.get(case["name"], {})}
        ours, theirs = repr(compiled), case["result"].replace("<DIR>", str(here))
        theirs, has_failed = re.subn(r", '_errors': \[.*\](?=\}$)|'_errors': \[.*\](?=\}$)", "", theirs, flags=re.S)
        is_same = ours == theirs and bool(failures) == bool(has_failed)
        if not is_same:
            different[case["name"]] = theirs, ours, failures
    assert different.keys() == KNOWN[kind], different


def tops(name, options, case, tmp_path):
    """What a master's `master_tops` of the loader returns for a case; None for an exception."""
    opts = salt.config.DEFAULT_MASTER_OPTS.copy()
    opts.update({"cachedir": str(tmp_path / "cache"), "root_dir": str(tmp_path), **options, "id": case["minion_id"]})
    try:
        return plain(salt.loader.tops(opts)[name](opts=opts, grains=case["grains"]))
    except Exception:  # pylint: disable=broad-except
        return None


def test_saltclass_gives_the_states_that_salts_own_gives(directory, tmp_path):
    if not has_own("saltclass", "tops"):
        pytest.skip("this Salt has no saltclass of its own")
    different, states = {}, 0
    for index, case in enumerate(recorded("saltclass_pillars")):
        here = directory(case["files"], name=f"case{index}")
        options = salt.utils.yaml.safe_load(case["master"].replace("<DIR>", str(here)))
        arguments = [item["saltclass"] for item in options["ext_pillar"] if "saltclass" in item]
        if len(arguments) != 1 or not isinstance(arguments[0], list) or len(arguments[0]) != 1:
            continue
        if sum(path.endswith(f"/{case['minion_id']}.yml") and "/nodes/" in path for path in case["files"]) > 1:
            # The order on disk decides which file is the node.
            continue
        ours, theirs = (
            tops(name, {**options, "master_tops": {name: arguments[0][0]}}, case, tmp_path)
            for name in ("mapstack_saltclass", "saltclass")
        )
        states += any((theirs or {}).values())
        if "*" in str(case["files"]) and ours and theirs:
            # The order on disk is that of the classes that a pattern finds.
            ours, theirs = (
                {env: sorted(names, key=repr) for env, names in each.items()} for each in (ours, theirs)
            )
        # Salt does not look at the pillar for this, and a minion with errors in its pillar applies no states.
        if ours != theirs and not (ours is None and "'_errors'" in case["result"]):
            different[case["name"]] = theirs, ours
    assert states > 30
    # Salt has no functions for these templates; Rust answers some.
    assert different.keys() == {"what templates see"}, different


def test_reclass_gives_the_applications_of_a_node(directory, tmp_path):
    given = 0
    for index, case in enumerate(recorded("reclass_pillars")):
        here = directory(case["files"], name=f"case{index}")
        options = salt.utils.yaml.safe_load(case["master"].replace("<DIR>", str(here)))
        node = ast.literal_eval(case["result"].replace("<DIR>", str(here))).get("__reclass__")
        arguments = [item["reclass"] for item in options["ext_pillar"] if "reclass" in item]
        if not node or len(arguments) != 1 or case["name"] in KNOWN["reclass"]:
            continue
        found = tops("reclass", {**options, "master_tops": {"reclass": arguments[0]}}, case, tmp_path)
        assert found == {node["environment"]: node["applications"]}, case["name"]
        given += bool(node["applications"])
    assert given > 20


def test_a_master_compiles_them_with_all_others(directory, master):
    pytest.importorskip("mako")
    here = directory(
        {
            "s/stack.cfg": "{{ minion_id }}.yml\n",
            "s/web1.yml": "a: {{ pillar.given }}-{{ __grains__.os }}-{{ __salt__['grains.get']('os') }}\nl: [1]\n",
            "m/stack.cfg": "${minion_id}.yml\n",
            "m/web1.yml": "b: ${__salt__['test.echo'](pillar['a'])}\n",
            "sls/top.sls": "base: {'*': [s]}\n",
            "sls/s.sls": "#!mapstack|yaml\ngiven: {{ grains.os }} {{ sls }} {{ salt['pillar.get']('no', 'none') }}\n",
        }
    )
    compiled = master(
        {
            "pillar_roots": {"base": [str(here / "sls")]},
            "ext_pillar": [
                {"mapstack_stack": f"{here}/s/stack.cfg"},
                {"makostack": [f"{here}/m/stack.cfg"]},
                {"mapstack_stack": {"grains:os": {"Debian": f"{here}/s/stack.cfg"}}},
            ],
        },
        grains={"os": "Debian"},
    )
    assert plain(compiled) == {
        "given": "Debian s none",
        "a": "Debian s none-Debian-Debian",
        "l": [1],
        "b": "Debian s none-Debian-Debian",
    }


def test_errors_are_those_of_a_master(directory, master):
    here = directory({"stack.cfg": "a.yml\n", "a.yml": "a: {{ nope }}\nb: {{ nope.x }}\n"})
    compiled = master({"ext_pillar": [{"mapstack_stack": f"{here}/stack.cfg"}]})
    (error,) = compiled["_errors"]
    assert error.startswith(f"Failed to load ext_pillar mapstack_stack: {here}/a.yml:2:7: ")
    assert "'nope' is undefined" in error


def test_a_change_of_a_file_is_seen(directory, master):
    here = directory({"stack.cfg": "a.yml\n", "a.yml": "a: 1\n"})
    options = {"ext_pillar": [{"mapstack_stack": f"{here}/stack.cfg"}]}
    assert master(options) == {"a": 1}
    (here / "a.yml").write_text("a: changed\n")
    (here / "b.yml").write_text("b: 1\n")
    (here / "stack.cfg").write_text("*.yml\n")
    assert master(options) == {"a": "changed", "b": 1}


def test_names_that_salt_has_are_salts(tmp_path):
    opts = salt.config.DEFAULT_MASTER_OPTS.copy()
    opts.update({"cachedir": str(tmp_path), "grains": {}})
    loaded = salt.loader.pillars(opts, {})
    for name in ("makostack", "saltclass", "reclass"):
        assert f"mapstack_{name}" in loaded
    assert not loaded["stack"].__module__.endswith("mapstack_stack")
