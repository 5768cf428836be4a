"""The renderer `mapstack`, beside Salt's own, in a masterless minion."""

import io

import mapstack
import pytest
import salt.exceptions
import salt.loader
import salt.state
import salt.utils.templates
import salt.version

KNOWS_HEADERS = salt.version.__saltstack_version__.major >= 3008

FILES = {
    "f/mac.jinja": "{% macro m(x) %}\n{{ x.a.b }}\n{% endmacro %}\n{% set known = [tpldir, sls|default('none')] %}\n",
    "f/bad.jinja": "x\n{{ nope.y }}\n",
    "f/syntax.jinja": "q\n{% endif %}\n",
    "f/part.jinja": "  - part: {{ grains.os }} {{ salt['test.echo'](tpldir) }}\n",
}

#: Texts that render.
GOOD = [
    "a: {{ [sls, saltenv, slspath, tpldir, tplfile, tpldot, slsdotpath, sls_path, slscolonpath] | json }}\n",
    "a: {{ tplpath }} {{ proxy_there is defined }}\n",
    "a: {{ 'test.ping' in salt }} {{ 'no.x' in salt }} {{ salt['no.x'] is defined }} {{ salt.test is defined }}\n",
    "a: {{ opts.file_client }} {{ opts['test'] }} {{ salt['config.get']('id') }} {{ salt.grains.get('os') }}\n",
    "a: {{ pillar }} {{ salt['pillar.get']('web:secret') }} {{ salt['pillar.get']('no:such', 4) }}\n",
    "a: {{ salt['test.arg'](1, [2], a={'b': none}) }}\n",
    "{% from 'f/mac.jinja' import known with context %}a: {{ known }}\n",
    "{% from './mac.jinja' import known %}a: {{ known }}\n",
    "a:\n{% include 'f/part.jinja' %}",
    '#jinja2: {"trim_blocks": true}\n{% if true %}\na: 1\n{% endif %}\n',
    "a: {{ 'bash' | which }} {{ [1, 2] | avg }} {{ 'x' | regex_match('(.)') }}\n",
    "a: {{ renderers is defined }} {{ proxy }}\n",
    "a: ß {{ '€' | yaml_encode }}",
    "",
    "{# nothing #}\n",
]

#: Texts that fail.
BAD = [
    "a: 1\nb: {{ nope }}\n",
    "a: {{ pillar.nope.x }}\n",
    "a: 1\n{% if %}\n",
    "a: 1\n{% for x in y %}\n",
    "a: 1\n{{ 'x' | nofilter }}\n",
    "a: {{ 1 / 0 }}\n",
    "a: {{ salt['no.such']() }}\n",
    "a: {{ salt.no.such() }}\n",
    "a: {{ salt['cmd.run_all']() }}\n",
    "a: {{ salt['test.raise_exception']('salt.exceptions.CommandExecutionError', 'no disk') }}\n",
    "a: {{ salt['test.exception']('boo') }}\n",
    "a: {{ raise('oops') }}\n",
    "{% import 'no/such.jinja' as x %}\n",
    "a: 1\n{% import 'f/bad.jinja' as x %}\n",
    "{% from 'f/mac.jinja' import m %}\n\n{{ m(1) }}\n",
    "{% include 'f/syntax.jinja' %}\n",
    "{% from 'f/mac.jinja' import zz %}\n{{ zz }}",
    "{{ ''.__class__.__mro__ }}\n",
]


@pytest.fixture
def renderers(tree, minion):
    """The renderers of a minion."""
    for path, text in FILES.items():
        tree(path, text)
    modules = minion(pillar={"web": {"secret": "hush"}})
    return salt.loader.render(modules.opts, modules)


@pytest.fixture
def both(renderers, tmp_path):
    """A function that renders a text by Salt and by the engine."""

    def render(text, renderer, **kwargs):
        path = str(tmp_path / "srv" / "f" / "init.sls")
        return renderers[renderer](io.StringIO(text), "base", "f", tmplpath=path, **kwargs).read()

    return lambda text, **kwargs: [render(text, name, **kwargs) for name in ("jinja", "mapstack")]


@pytest.fixture
def ours(renderers, tmp_path):
    """A function that renders a text by the engine."""
    path = str(tmp_path / "srv" / "f" / "init.sls")
    return lambda text: renderers["mapstack"](io.StringIO(text), "base", "f", tmplpath=path).read()


@pytest.mark.parametrize("text", GOOD)
def test_it_prints_what_salts_own_prints(both, text):
    theirs, ours = both(text)
    assert ours == theirs


def failure(render, tmp_path):
    with pytest.raises(salt.exceptions.SaltRenderError) as caught:
        render()
    text = str(caught.value).replace(str(tmp_path / "cache" / "files" / "base"), str(tmp_path / "srv"))
    for name in ("optsdict.DictProxy", "context.NamespacedDictWrapper"):
        text = text.replace(f"salt.utils.{name} object", "dict object")
    if text.startswith("Jinja error"):
        # What follows is Python's traceback through Jinja2.
        text = text.split("\nTraceback")[0].split("; line ")[0]
    return text


@pytest.mark.parametrize("text", BAD)
def test_its_errors_are_those_of_salts_own(renderers, tmp_path, text):
    path = str(tmp_path / "srv" / "f" / "init.sls")

    def render(name):
        return renderers[name](io.StringIO(text), "base", "f", tmplpath=path)

    theirs, ours = (failure(lambda name=name: render(name), tmp_path) for name in ("jinja", "mapstack"))
    assert ours == theirs


def test_an_error_names_the_line_of_the_expression(ours):
    with pytest.raises(salt.exceptions.SaltRenderError, match="line 2"):
        ours("{{ 'x'\n  ~ nope }}")


def test_the_exception_of_a_function_is_in_the_error(renderers):
    with pytest.raises(salt.exceptions.SaltRenderError) as caught:
        renderers["mapstack"](io.StringIO("a: {{ salt['test.exception']('boo') }}\n"), "base", "f")
    assert "Jinja error: boo" in str(caught.value)
    assert "Traceback" in str(caught.value)


def test_context_overrides_variables(both):
    text = "{{ x }} {{ sls }} {{ grains }} {{ salt['grains.get']('os') }} {{ tpldir }}"
    context = {"x": [1], "sls": "other", "grains": {"os": "mine"}, "tpldir": "here"}
    theirs, ours = both(text, context=context)
    assert ours == theirs
    assert ours.startswith("[1] other {'os': 'mine'} Debian ")


def test_a_functions_answer_has_to_be_data(ours, tree, minion, tmp_path):
    modules = tmp_path / "modules"
    modules.mkdir()
    (modules / "thing.py").write_text("def it():\n    return [1j]\n")
    loaded = minion(module_dirs=[str(modules)])
    render = salt.loader.render(loaded.opts, loaded)["mapstack"]
    with pytest.raises(salt.exceptions.SaltRenderError, match="thing.it:0 is of the type complex, not data"):
        render(io.StringIO("{{ salt['thing.it']() }}"), "base", "f")


def test_changes_of_opts_end_with_the_template(ours):
    assert ours("{% do opts.update({'new': 1}) %}{{ opts.new }}") == "1"
    assert ours("{{ opts.new is defined }}") == "False"


def test_changes_of_grains_and_pillar_are_there_for_the_next_template(both, ours):
    change = (
        "{% do grains.update({'new': 1}) %}{% do grains.pop('osarch') %}{% do pillar.update({'p': [2]}) %}"
        "{{ salt['grains.get']('new') }} {{ salt['pillar.get']('p', 'none') }} {{ salt['test.echo'](grains.new) }}"
    )
    assert ours(change) == "1 none 1"
    assert both("{{ grains.new }} {{ grains.osarch is defined }} {{ pillar.p }}") == ["1 False [2]"] * 2


@pytest.mark.parametrize("text", ["{{ proxy }}", "{{ thing.real }}", "{{ fileclient is defined }}"])
def test_what_needs_objects_is_rendered_by_salt(both, monkeypatch, text):
    rendered, salts_own = [], salt.utils.templates.render_jinja_tmpl

    def render(*args):
        rendered.append(args[0])
        return salts_own(*args)

    monkeypatch.setattr(salt.utils.templates, "render_jinja_tmpl", render)
    theirs, ours = both(text, context={"thing": complex(1, 2)} if "thing" in text else None)
    assert ours == theirs
    assert rendered == [text]


@pytest.mark.parametrize(
    "text",
    ["# proxy\n{{ 'proxy' }} {{ 1 }} zabbix_proxy", "{# {{ proxy }} #}{% raw %}{{ proxy }}{% endraw %}", "{% set my_proxy = 1 %}{{ my_proxy }}"],
)
def test_words_that_are_not_names_are_no_reason_to_leave_a_template_to_salt(both, ours, monkeypatch, text):
    theirs, _ = both(text)
    monkeypatch.delattr(salt.utils.templates, "render_jinja_tmpl")
    assert ours(text) == theirs


@pytest.mark.skipif(not KNOWS_HEADERS, reason="this Salt does not know the header")
def test_settings_of_jinja2_can_make_names_of_text(both):
    theirs, ours = both('#jinja2: {"line_statement_prefix": "%%"}\n%% set x = proxy is defined\n{{ x }}')
    assert ours == theirs == "True"


def test_an_argument_of_the_renderer(both, renderers):
    assert both("{{ 1 + 1 }}", argline="-s") == ["2", "2"]
    with pytest.raises(salt.exceptions.SaltRenderError, match="Unknown renderer option: -x"):
        renderers["mapstack"](io.StringIO("a"), "base", "", argline="-x")


def test_templates_come_through_the_file_client(tree, minion, tmp_path):
    for path, text in FILES.items():
        tree(path, text)
    modules = minion(mapstack={"files": "client"})
    render = salt.loader.render(modules.opts, modules)["mapstack"]
    path = str(tmp_path / "srv" / "f" / "init.sls")
    text = render(io.StringIO("a:\n{% include 'f/part.jinja' %}"), "base", "f", tmplpath=path).read()
    assert text == "a:\n  - part: Debian f"
    with pytest.raises(salt.exceptions.SaltRenderError, match="Jinja error: no/such.jinja"):
        render(io.StringIO("{% include 'no/such.jinja' %}"), "base", "f")


def test_a_managed_file_is_rendered(tree, minion):
    tree("f/motd", "{{ who }} on {{ grains.os }}, {{ source }}\n")
    get = minion()["cp.get_template"]
    texts = []
    for engine in ("jinja", "mapstack"):
        path = get("salt://f/motd", "", template=engine, context={"who": "web"}, source="salt://f/motd")
        with open(path) as file:
            texts.append(file.read())
    assert texts[0] == texts[1]


def test_managed_text_is_rendered_with_context_over_defaults(minion):
    apply = minion()["file.apply_template_on_contents"]
    for engine in ("jinja", "mapstack"):
        given = {"context": {"a": 1}, "defaults": {"a": 0, "b": 2}}
        assert apply("{{ a }} {{ b }}", engine, saltenv="base", **given) == "1 2"


def test_states_are_applied(tree, minion):
    tree("f/init.sls", "#!mapstack|yaml\ninclude: [f.sub]\n{{ sls }}:\n  test.nop: []\n")
    tree("f/sub.sls", "{{ sls }}:\n  test.nop:\n    - name: {{ tplfile }}\n")
    returned = {}
    for renderer in ("jinja|yaml", "mapstack|yaml"):
        result = minion(renderer=renderer)["state.apply"]("f", test=True)
        returned[renderer] = {
            key: {name: value for name, value in state.items() if name not in ("duration", "start_time")}
            for key, state in result.items()
        }
    assert returned["jinja|yaml"] == returned["mapstack|yaml"]
    assert len(returned["jinja|yaml"]) == 2


def test_facts_are_converted_where_they_changed():
    nested, grains = {"deep": [1, {"x": "y"}]}, {"os": "Debian", "n": (1, [2])}
    opts = {"id": "a", "grains": grains, "conf": nested, "object": object()}
    engine = mapstack.Engine.remote()

    def see(facts):
        text = "{{ grains }} {{ opts.conf }} {{ opts.grains }} {{ opts.id }} {{ pillar }}"
        return engine.jinja(facts, text, {})[0]

    def fresh():
        return mapstack.Facts(grains, {}, opts)

    facts = fresh()
    changes = [
        lambda: nested["deep"][1].update(x="z"),
        lambda: nested["deep"].append(2),
        lambda: grains["n"][1].append(3),
        lambda: grains.pop("os"),
        lambda: grains.update(first=1),
        lambda: opts.update(id="b"),
        lambda: opts.pop("object"),
        lambda: opts.update(conf={}),
        lambda: grains.clear(),
        lambda: None,
    ]
    for change in changes:
        change()
        facts = mapstack.Facts(grains, {}, opts, like=facts)
        assert see(facts) == see(fresh())
        assert facts.left_out == fresh().left_out
