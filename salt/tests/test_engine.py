"""The native module by itself: errors, callers, threads and processes."""

import os
import resource
import threading
import time

import mapstack
import pytest


class Caller:
    """A caller that has some functions."""

    def __init__(self, **functions):
        self.functions = {f"test.{name}": function for name, function in functions.items()}
        self.warnings = []

    def has(self, name):
        return name in self.functions

    def has_module(self, module):
        return module == "test"

    def replaces(self, name):
        return name in self.functions

    def call(self, name, args, kwargs):
        return self.functions[name](*args, **kwargs)

    def change(self, name, args, kwargs):
        return NotImplemented

    def warn(self, message):
        self.warnings.append(message)


def test_an_error_names_its_place(engine, facts, tree):
    file = tree("f/parameters/defaults.yaml", "values:\n  a: {{ nope.x }}\n")
    with pytest.raises(mapstack.TemplateError, match="nope") as caught:
        engine.data(facts, "f")
    assert str(caught.value).startswith(f"{file}:2:9: ")
    error = caught.value
    assert (error.file, error.line, error.column) == (str(file), 2, 9)
    assert error.message in str(error)


@pytest.mark.parametrize(
    "sources,layer,error",
    [
        (["X@a"], None, ValueError),
        (["defaults.yaml"], "foo: 1\n", TypeError),
        (["defaults.yaml"], "values: [\n", mapstack.ParseError),
        (["defaults.yaml"], "values: {{ 'x' * 10**12 }}\n", mapstack.LimitError),
        (5, None, TypeError),
    ],
)
def test_errors_have_the_classes_of_the_reference(engine, facts, tree, sources, layer, error):
    if layer is not None:
        tree("f/parameters/defaults.yaml", layer)
    with pytest.raises(error) as caught:
        engine.stack(facts, "f", sources)
    assert isinstance(caught.value, mapstack.Error)


def test_an_unknown_argument_is_an_error(engine, facts):
    with pytest.raises(mapstack.OptionsError, match="did you mean 'post_map'"):
        engine.data(facts, "f", post_mop=1)


def test_functions_are_called_on_the_thread_of_their_caller(engine, facts, tree):
    tree("f/parameters/defaults.yaml", "values: {x: {{ salt['test.here'](1, b=[2]) }}}\n")
    threads = []

    def here(a, b):
        threads.append(threading.get_ident())
        return a + b[0]

    assert engine.data(facts, "f", Caller(here=here))["x"] == 3
    assert threads == [threading.get_ident()]


def test_what_a_function_raises_is_the_cause(engine, facts, tree):
    tree("f/parameters/defaults.yaml", "values:\n  x: {{ salt['test.fail']() }}\n")

    def fail():
        raise ZeroDivisionError("no luck")

    with pytest.raises(mapstack.TemplateError, match=r"defaults.yaml:2:9: .*no luck") as caught:
        engine.data(facts, "f", Caller(fail=fail))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_an_interruption_goes_on_as_it_is(engine, facts, tree):
    tree("f/parameters/defaults.yaml", "values: {x: {{ salt['test.stop']() }}}\n")

    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine.data(facts, "f", Caller(stop=stop))


def test_a_function_that_there_is_not_is_named(engine, facts, tree):
    tree("f/parameters/defaults.yaml", "values:\n  x: {{ salt['test.no_such']() }}\n")
    for answer in (
        lambda: engine.data(facts, "f"),
        lambda: engine.jinja(facts, "{{ salt['test.no_such']() }}", {}),
    ):
        with pytest.raises(mapstack.TemplateError) as caught:
            answer()
        assert caught.value.missing_function == "test.no_such"
    tree("f/parameters/defaults.yaml", "values: {x: {{ nope.x }}}\n")
    with pytest.raises(mapstack.TemplateError) as caught:
        engine.data(facts, "f")
    assert caught.value.missing_function is None


def test_a_map_exports_a_variable(engine, facts, tree):
    tree("f/map.jinja", "{% set other = [1] %}{% set f = {'os': salt['test.upper'](grains.os)} %}")
    tree("f/other.jinja", "{% set mapdata = {'a': 1} %}")
    assert engine.map(facts, "f", caller=Caller(upper=str.upper)) == {"os": "DEBIAN"}
    assert engine.map(facts, "f", variable="other", caller=Caller(upper=str.upper)) == [1]
    assert engine.map(facts, "f", template="other.jinja") == {"a": 1}
    with pytest.raises(mapstack.Error, match="no_such"):
        engine.map(facts, "f", variable="no_such", caller=Caller(upper=str.upper))


def test_files_are_rendered_as_salt_writes_them(engine, facts, tree):
    tree("f/init.sls", "{{ sls }}:\n  test.nop: [name: {{ grains.os }}]\n")
    tree("f/files/x.conf", "{{ name }} {{ a }} {{ b }}\n")
    assert engine.render(facts, "f/init.sls") == "f:\n  test.nop: [name: Debian]\n"
    assert engine.sls(facts, "salt://f/init.sls") == {"f": {"test.nop": [{"name": "Debian"}]}}
    text = engine.render(facts, "f/files/x.conf", context={"a": 1}, defaults={"a": 2, "b": 3}, name="/etc/x")
    assert text == "/etc/x 1 3\n"
    with pytest.raises(ValueError, match="an sls has none of them"):
        engine.render(facts, "f/init.sls", context={})
    with pytest.raises(mapstack.Error, match="nowhere.conf"):
        engine.render(facts, "nowhere.conf")


def test_a_pillar_is_compiled_as_by_a_master(tmp_path, facts):
    pillar, stack = tmp_path / "pillar", tmp_path / "stack"
    for path, text in {
        pillar / "top.sls": "base: {'web*': [web], 'G@os:Debian': [{match: compound}, missing]}\n",
        pillar / "web.sls": "role: {{ salt['test.role']() }}\nenv: {{ saltenv }}\nsecret: {a: 1}\n",
        stack / "stack.cfg": "core.yml\n",
        stack / "core.yml": "role_seen: {{ pillar.role }}\nsecret: {b: 2}\n",
    }.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    engine = mapstack.Engine.local(
        {"pillar_roots": {"base": [str(pillar)]}, "ext_pillar": [{"stack": str(stack / "stack.cfg")}]}
    )
    made = engine.pillar(facts, Caller(role=lambda: "web"), pillar_override={"over": True})
    assert {name: made[name] for name in ("role", "env", "role_seen", "secret", "over")} == {
        "role": "web",
        "env": "base",
        "role_seen": "web",
        "secret": {"a": 1, "b": 2},
        "over": True,
    }
    assert ["missing" in error for error in made["_errors"]] == [True]
    # Files are looked at again.
    (pillar / "missing.sls").write_text("found: 1\n")
    assert engine.pillar(facts, Caller(role=lambda: "web"))["found"] == 1
    with pytest.raises(ValueError, match="an engine over directories"):
        mapstack.Engine.remote().pillar(facts)


def test_a_pillar_is_that_of_salt(tmp_path, master):
    (tmp_path / "pillar").mkdir()
    for name, text in {
        "top.sls": "base:\n  '*': [common]\n  'os:Debian': [{match: grain}, debian]\n",
        "common.sls": "a: {x: 1, list: [1]}\nid: {{ grains.id }}\nmaster: {{ opts.id }}\n",
        "debian.sls": "include: [common]\na: {y: 2, list: [2]}\n",
    }.items():
        (tmp_path / "pillar" / name).write_text(text)
    facts = mapstack.Facts({"os": "Debian", "id": "web1"}, {}, {}, id="web1")
    engine = mapstack.Engine.local({"pillar_roots": {"base": [str(tmp_path / "pillar")]}})
    salts = master({}, grains={"os": "Debian"})
    assert repr(engine.pillar(facts)) == repr(salts)
    assert salts["a"] == {"x": 1, "list": [2], "y": 2}


def test_calls_nest(engine, facts, tree):
    tree("f/parameters/defaults.yaml", "values: {x: {{ salt['test.other']().y }}}\n")
    tree("g/parameters/defaults.yaml", "values: {y: 7}\n")
    caller = Caller(other=lambda: engine.data(facts, "g", caller))
    assert engine.data(facts, "f", caller)["x"] == 7


def test_warnings_reach_the_caller(engine, facts, tree):
    caller = Caller()
    engine.data(facts, "nowhere", caller)
    assert any("nowhere" in warning for warning in caller.warnings)


def test_other_threads_run_while_rust_works(engine, facts, tree):
    tree("f/parameters/defaults.yaml", "{% for i in range(500) %}{% for j in range(500) %}{% endfor %}{% endfor %}\nvalues: {x: 1}\n")
    counted = []
    done = threading.Event()

    def count():
        while not done.is_set():
            counted.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    start = time.monotonic()
    engine.data(facts, "f")
    end = time.monotonic()
    done.set()
    thread.join()
    assert any(start < moment < end for moment in counted)


def test_a_fork_in_the_middle_of_a_run_works_on_in_both_processes(engine, facts, tree):
    tree(
        "f/parameters/defaults.yaml",
        "values: {a: {{ salt['test.fork']() }}, b: {{ salt['test.echo']('b') }}}\n",
    )
    pids = []

    def fork():
        pids.append(os.fork())
        return 1

    result = None
    try:
        result = engine.data(facts, "f", Caller(fork=fork, echo=lambda text: text))
        again = engine.data(facts, "g")
    finally:
        if pids == [0]:
            os._exit(0 if result and result["b"] == "b" and again else 1)
    assert result["b"] == "b"
    assert os.waitpid(pids[0], 0)[1] == 0


def test_a_panic_is_an_exception(engine, facts, tree, capfd):
    panic = getattr(mapstack._native, "panic", None)
    if panic is None:
        pytest.skip("the module was built without the feature `panics`")
    tree("f/parameters/defaults.yaml", "values: {x: {{ salt['test.panic']() }}}\n")
    asked = []

    class Noted:
        def has(self, name):
            asked.append(name)

    with pytest.raises(mapstack.InternalError, match="^mapstack panicked: on demand$"):
        panic(Noted())
    assert asked == ["before"]
    # It ends the call that it is in, and nothing else: also as an answer within another call.
    with pytest.raises(mapstack.TemplateError) as caught:
        engine.data(facts, "f", Caller(panic=lambda: panic(Noted())))
    assert isinstance(caught.value.__cause__, mapstack.InternalError)
    tree("f/parameters/defaults.yaml", "values: {x: {{ salt['test.echo'](1) }}}\n")
    assert engine.data(facts, "f", Caller(echo=lambda value: value))["x"] == 1
    assert "panicked at" in capfd.readouterr().err


def test_ten_thousand_calls_need_no_more_memory(engine, facts, tree):
    tree("f/parameters/defaults.yaml", "values: {x: {{ salt['test.echo']([1, 2]) }}}\n")
    caller = Caller(echo=lambda value: value)

    def resident():
        with open("/proc/self/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * resource.getpagesize()

    def calls(count):
        for _ in range(count):
            engine.data(facts, "f", caller)

    calls(1000)
    before = resident()
    calls(10000)
    assert resident() - before < 2 << 20
