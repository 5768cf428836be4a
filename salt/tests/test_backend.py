"""The functions of ``map`` for a module that asks with its own dunders, as saltext-formula's does with the patch."""

from saltext.mapstack import backend

DEFAULTS = "values:\n  port: 22\n  keys: [a]\n"
FAMILY = "merge_lists: true\nvalues:\n  keys: [{{ grains.os }}]\n"


def space(modules, name):
    opts = modules.opts
    return {
        "__name__": f"salt.loaded.ext.{name}",
        "__salt__": modules,
        "__opts__": opts,
        "__grains__": opts["grains"],
        "__pillar__": opts["pillar"],
        "__context__": {},
    }


def test_each_function_answers_for_the_module_that_asks(minion, tree):
    tree("ssh/parameters/defaults.yaml", DEFAULTS)
    tree("ssh/parameters/os_family/Debian.yaml", FAMILY)
    theirs = minion(ours=False)
    asking = space(theirs, "module.map")
    ours = backend.functions(asking)
    assert ours.data("ssh") == theirs["map.data"]("ssh")
    assert ours.data("ssh")["keys"] == ["a", "Debian"]
    assert ours.data("ssh") is ours.data("ssh/config")
    assert list(asking["__context__"]) == ["_formula_mapdata"]
    sources = ["defaults.yaml", "Y!G@os_family"]
    assert ours.stack("ssh", sources) == theirs["map.stack"]("ssh", sources)
    assert ours.tofs("ssh", ["a"]) == theirs["map.tofs"]("ssh", ["a"])


def test_without_the_engine_the_module_answers_itself(monkeypatch):
    monkeypatch.setattr(backend.native, "missing", (False, "not here"))
    assert backend.functions({"__name__": "salt.loaded.ext.module.map"}) is None
