"""The execution module `mapstack`."""

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


def test_the_version_is_the_engines(minion):
    assert minion()["mapstack.version"]() == mapstack.__version__


def test_values_have_their_places(web, minion):
    defaults, debian = web.values()
    explained = minion(pillar=PILLAR)["mapstack.explain"]("web", "port")
    assert list(explained) == ["port"]
    known = explained["port"]
    assert (known["value"], known["from"]) == (8080, f"{debian}:3:9")
    assert (known["source"], known["because"], known["strategy"]) == ("Y!G@os", {"G@os": "Debian"}, "recurse")
    assert known["before"] == [{"value": 80, "from": f"{defaults}:2:9", "became": "replaced"}]


def test_every_value_is_explained(web, minion):
    explained = minion(pillar=PILLAR)["mapstack.explain"]("web")
    assert {"port", "names:0", "db_password", "empty", "user"} <= set(explained)
    assert explained["names:0"]["value"] == "a"


def test_secrets_are_masked(web, minion):
    explained = minion(pillar=PILLAR)["mapstack.explain"]("web")
    for name in ("db_password", "user"):
        assert set(explained[name]["value"]) == {"*"}
    assert "hush" not in repr(explained)
    assert "www" not in repr(explained)


def test_a_path_without_value_is_an_error(web, minion):
    with pytest.raises(salt.exceptions.CommandExecutionError, match="web has no value at no:such"):
        minion()["mapstack.explain"]("web", "no:such")


def test_sources_are_what_is_looked_for(web, minion):
    sources = minion()["mapstack.sources"]("web")
    hits = [source["path"] for source in sources if source["outcome"] == "hit" and "path" in source]
    assert hits == [f"salt://{path}" for path in FILES]
    assert {"stage": "layers", "source": "C@web", "outcome": "miss"} in sources


def test_a_formula_with_a_map_is_explained(tree, minion):
    tree("ntp/os.yaml", "Debian:\n  pkg: ntpsec\n")
    file = tree(
        "ntp/map.jinja",
        "{% import_yaml 'ntp/os.yaml' as os %}{% set ntp = salt['grains.filter_by'](os, grain='os') %}",
    ).parent / "os.yaml"
    assert minion()["mapstack.explain"]("ntp")["pkg"]["from"] == f"{file}:2:8"


def test_mistakes_are_found(web, tree, minion):
    tree("web/parameters/os/Debain.yaml", "values: {port: 1}\n")
    found = minion()["mapstack.lint"]("web")
    rules = {(finding["rule"], finding["file"].split("/")[-1]) for finding in found}
    assert ("unreachable-file", "Debain.yaml") in rules
    assert all(finding["level"] in ("note", "warning", "error") for finding in found)


def test_only_directories_are_checked(web, minion):
    with pytest.raises(salt.exceptions.CommandExecutionError, match="come from a master"):
        minion(mapstack={"files": "client"})["mapstack.lint"]("web")
    with pytest.raises(ValueError, match="only files in directories"):
        mapstack.Engine.remote().lint("web")


def test_questions_are_answered_through_the_file_client(web, minion):
    modules = minion(mapstack={"files": "client"}, pillar=PILLAR)
    assert modules["mapstack.explain"]("web", "port")["port"]["value"] == 8080


@pytest.mark.parametrize("function", ["explain", "sources"])
def test_errors_are_salts(tree, minion, function):
    tree("bad/parameters/defaults.yaml", "values: {{ nope }}\n")
    with pytest.raises(salt.exceptions.SaltException, match="nope"):
        minion()[f"mapstack.{function}"]("bad")
