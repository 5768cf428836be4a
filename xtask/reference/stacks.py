"""Make up whole trees of PillarStack and MakoStack, in the form of the recorded ones.

`<DIR>` is the directory that the tree is in.
"""
import yaml

STRATEGIES = ["merge-last", "merge-first", "remove", "overwrite"]
TEXT_KEYS = ["a", "b", "c", "users", "list", "port"]
KEYS = ["a", "b", "c", "users", "list", "port", "x y", "é", 1, 0, True, None, 1.5, "1", "yes"]
SCALARS = [None, True, False, 0, 1, 2, 22, -1, 1.0, 2.5, 1e100, "", "x", "y", "1", "é", "yes", "0644", "a: b", "#", "two\nlines\n", "__",
           "merge-last", "{}", "~", 10**20]
NAMES = ["a.yml", "b.yml", "c.yml", "d.yml", "web.yml", "Debian.yml", "sub/a.yml", "sub/b.yml", "sub/deep/c.yml", "role/web.yml",
         "role/db.yml", ".hidden.yml", "sp ace.yml", "é.yml", "[x].yml", "min1.yml", "base.yml", "sub/.hid/a.yml"]
GLOBS = ["*.yml", "sub/*.yml", "*/a.yml", "**/*.yml", "sub/**.yml", "[ab].yml", "[!a].yml", "?.yml", "[[]x].yml", "[x].yml", ".*.yml", "<DIR>/a.yml",
         "*", "sub/*", "**", "sub/**", ".*", "*/", "sub*/[a-b].yml", "./a.yml", "sub//a.yml", "sub/../a.yml", "../here/a.yml", "no/*", "*.nope", "a.yml/", "sub/*/*.yml", "[", "[]",
         "[a", "*.y?l", "{a,b}.yml", "~/a.yml", "$HOME/a.yml", "sub/deep/../*.yml", "nosuch/../a.yml", "<DIR>/a.yml", "<DIR>/sub/*.yml"]
TEXTS = ["", "\n", "---\n", "# a comment\n", "null\n", "[1, 2]\n", "text\n", "a: b: c\n", "a: 1\na: 2\n", "\ta: 1\n", "%YAML 1.1\n---\na: 1\n",
         "a: !!python/name:os.system 1\n", "--- {a: 1}\n...\n", "a: 1\n---\nb: 2\n", "a: {b: [1, {c: 2}]}\n", "a: 2024-01-02\nb: 0o17\nc: 1:30\n",
         "a: &x {b: 1}\nc: *x\n", "a: &x {b: [1]}\nc: {<<: *x, d: 2}\n", "a: *nope\n", "? [1, 2]\n: x\n", "a: !!set {x, y}\n", "{}\n", "a:\n",
         "a: !!binary aGk=\n", "__: overwrite\n", "__: remove\na:\n", "__: bogus\n", "__: [merge-last]\n", "a: {__: null}\n", "a: [{__: bogus}]\n",
         "users: {__: overwrite}\n", "a: [{__: remove}, 1]\n", "a: [{__: merge-first, x: 1}, {y: 2}]\n", "list: [{__: overwrite}]\n", "a: [[1], {__: x}]\n",
         "a: >-\n  folded\n  text\nb: |\n  kept\n", "'__': merge-first\na: 9\nusers: {b: 8}\n", "a: {users: {__: remove, b: }}\n", "a: @x\n", "a: `x`\n"]

GRAINS = {"os": ["Debian", "Rocky", "Debian", "Rocky", ["Debian", "x"], None, 5, {"a": 1}], "role": ["web", "db", "web", ["web", "db"], "nosuch", ""],
          "num": [5, 0, 1.5, True]}
PATHS = ["os", "role", "num", "deep:x:y", "deep:x", "nosuch", "deep:list:0", "deep:list:1:k", "os:a", "num:1", "", "deep:"]


def scalar(r):
    return r.choice(SCALARS)


def tree(r, depth, pool):
    roll = r.random()
    if pool and roll < 0.06:
        return r.choice(pool)
    if depth and roll < 0.5:
        return mapping(r, depth, pool)
    if depth and roll < 0.72:
        items = [tree(r, depth - 1, pool) for _ in range(r.randrange(4))]
        if r.random() < 0.25:
            items.insert(0, {"__": strategy(r)})
            if r.random() < 0.1:
                items[0]["a"] = scalar(r)
        pool.append(items)
        return items
    return scalar(r)


def strategy(r):
    return r.choice(STRATEGIES) if r.random() < 0.99 else r.choice(["bogus", "", None, 1, ["remove"], {}, "Remove"])


def mapping(r, depth, pool):
    made = {r.choice(KEYS if r.random() < 0.3 else KEYS[:5]): tree(r, depth - 1, pool) for _ in range(r.randrange(5))}
    if r.random() < 0.2:
        named = {"__": strategy(r)}
        made = {**named, **made} if r.random() < 0.8 else {**made, **named}
    pool.append(made)
    return made


def data(r, share):
    """The text of a mapping; what occurs in it twice is an anchor."""
    pool = [] if share else Nothing()
    made = mapping(r, 4, pool)
    return yaml.safe_dump(made, sort_keys=False, allow_unicode=r.random() < 0.8, default_flow_style=r.choice([None, False, False, True]),
                          width=r.choice([20, 80, 4000]))


class Nothing(list):
    """A pool that keeps nothing."""

    def append(self, _):
        pass


def json_tree(r, depth):
    """Data that survives JSON."""
    roll = r.random()
    if depth and roll < 0.5:
        return {r.choice(["a", "b", "c", "users", "list", "env"]): json_tree(r, depth - 1) for _ in range(r.randrange(4))}
    if depth and roll < 0.7:
        return [json_tree(r, depth - 1) for _ in range(r.randrange(4))]
    return r.choice([None, True, False, 0, 1, 22, 2.5, "", "x", "web", "é", "a.yml"])


class Language:
    """What stands in templates."""

    def __init__(self, wild):
        self.wild = wild
        self.keys = []

    def key(self, r):
        """A key that the file does not have, as a rule; equal keys are an error."""
        if self.wild and r.random() < 0.1 or not self.keys:
            self.keys = r.sample(TEXT_KEYS, len(TEXT_KEYS))
        return self.keys.pop()

    def statements(self, r):
        """Lines of template between the data."""
        return r.choice(self.lines(r, self.expression) + (self.broken() if self.wild else []))()


class Jinja(Language):
    """What stands in the templates of PillarStack."""

    module = "stack"
    tame = ["stack", "pillar", "__grains__", "minion_id", "pillarenv", "none", "[3, 1, 2]", "{'k': 1, 'a': 2}", "stack.get('a', {})", "pillar.get('list')",
            "__grains__['role']", "__grains__.deep.x", "__opts__.site.name", "ymlpath", "__stack__.traverse(stack, 'a:b')", "stack.users | default('d')",
            "__stack__.traverse(pillar, 'users:a', 'dflt')", "__stack__.traverse(__grains__, 'deep.list.0', delimiter='.')", "stack | length",
            "__stack__.traverse(__grains__, 'deep:list:1:k', none)", "stack.keys() | list", "stack.a is defined", "pillar.users is mapping",
            "'x' in stack", "stack.list | default([], true) | string", "__stack__.cfg_path.split('/')[-1]", "stack | dictsort | length", "1 if stack.b else 2"]
    atoms = ["stack", "pillar", "__grains__", "__opts__.site", "minion_id", "pillarenv", "nosuch", "none", "true", "1", "'x'", "[3, 1, 2]",
             "{'k': 1, 'a': 2}", "stack.a", "stack['users']", "stack.list", "stack.get('a', {})", "pillar.users", "pillar.get('list')", "pillar.a",
             "__grains__.os", "__grains__['role']", "__grains__.deep.x", "__grains__.nosuch", "__opts__.site.name", "ymlpath", "__opts__.saltenv",
             "__stack__.traverse(stack, 'a:b')", "__stack__.traverse(pillar, 'users:a', 'dflt')", "__stack__.traverse(__grains__, 'deep:x:y')",
             "__stack__.traverse(__grains__, 'deep.list.0', delimiter='.')", "__stack__.traverse(__grains__, 'deep:list:1:k', none)",
             "__stack__['traverse'](stack, 'users:b:c', [])", "__stack__.cfg_path.split('/')[-1]", "__salt__['test.echo']('hi')", "range(3) | list", "dict(a=1)", "(1, 2)",
             "stack | length", "1.0", "2 ** 70", "'a,b'.split(',')", "stack.keys() | list", "pillar.items() | list", "'%s' % stack.a", "-7 // 2",
             "stack.a.b", "stack.users.a", "namespace(a=1).a", "__stack__.traverse(stack, 1)", "__stack__.traverse(stack, '')"]
    filters = ["length", "list", "string", "default('d')", "default('d', true)", "join(',')", "sort", "unique | list", "min", "max", "tojson", "json", "yaml",
               "yaml(False)", "first", "last", "upper", "lower", "title", "int", "float", "dictsort", "reverse | list", "map('string') | list",
               "select | list", "reject('none') | list", "batch(2) | list", "replace('a', 'b')", "trim", "indent(2)", "abs", "round(1)", "sum", "items | list",
               "attr('a')", "map(attribute='a') | list", "selectattr('a') | list", "json(sort_keys=True)", "load_yaml", "load_json", "truncate(5)", "e",
               "urlencode", "wordcount", "capitalize", "center(9)", "format(1)", "groupby(0) | list", "slice(2) | list", "pprint", "python", "striptags",
               "tojson(indent=2)", "xml", "filesizeformat", "forceescape", "regex_replace('a', 'b')", "to_bool", "yaml(False) | indent(2)", "wordwrap(5)"]
    tests = ["defined", "none", "mapping", "string", "sequence", "number", "iterable", "undefined", "sameas none", "in [1, 'x', none]", "eq(1)",
             "not none", "boolean", "odd", "callable", "true"]
    comment = "{# a comment: {{ nosuch.x }} #}"

    def expression(self, r, depth=2):
        if not self.wild:
            return r.choice(self.tame)
        roll = r.random()
        inner = lambda: self.expression(r, depth - 1)
        if not depth or roll < 0.4:
            return r.choice(self.atoms)
        if roll < 0.7:
            return f"({inner()}) | {r.choice(self.filters)}"
        if roll < 0.76:
            return f"({inner()} {r.choice(['+', '~', '==', '<', '*', '-', 'and', 'or', 'in', '!='])} {inner()})"
        if roll < 0.82:
            return f"({inner()} if {inner()} is {r.choice(self.tests)} else {inner()})"
        if roll < 0.88:
            return f"({inner()}){r.choice(['.a', '[0]', '[-1]', '[1:]', '.b.c', '[::2]', '.get(1)', '.keys() | list', '.upper()'])}"
        if roll < 0.94:
            return f"[{inner()}, {inner()}]"
        return f"{{'a': {inner()}}}"

    def printed(self, r):
        made = self.expression(r)
        return "{{ " + (f"({made}) | json" if r.random() < (0.6 if self.wild else 0.95) else made) + " }}"

    def lines(self, r, expression):
        e = lambda: expression(r, 1)
        mark = r.choice(["{% ", "{%- "]), r.choice([" %}", " -%}"])
        tag = lambda text: mark[0] + text + mark[1]
        return [
            lambda: tag(f"set v = {e()}"),
            lambda: tag(f"do stack.update({{'{r.choice('abc')}': {e()}}})"),
            lambda: tag(f"do stack.pop('{r.choice('abc')}', none)"),
            lambda: tag(f"do stack.update(users={{'z': {r.randrange(9)}}})"),
            lambda: "{% if stack.list is sequence and stack.list is not string %}{% do stack.list.append(7) %}{% endif %}",
            lambda: tag("do pillar.update({'seen': 1})"),
            lambda: tag("do stack.clear()"),
            lambda: "{% if " + e() + " %}\n" + self.line(r) + "{% elif " + e() + " %}\n" + self.line(r) + "{% else %}\n" + self.line(r) + "{% endif %}",
            lambda: "{% for k in stack %}\nk{{ loop.index }}: {{ k | json }}\n{% else %}\nelse: 1\n{% endfor %}",
            lambda: "{% for k, v in stack.items() | list %}\n{{ ('n' ~ k) | json }}: {{ v | json }}\n{% endfor %}",
            lambda: "{% for k in [1, 2] recursive %}\nr{{ k }}{{ loop.depth }}: x\n{% endfor %}",
            lambda: "{% macro m(p, q=2) %}{{ p }}-{{ q }}-{{ varargs }}{% endmacro %}\nm: {{ m(" + e() + ") | json }}",
            lambda: "{% load_yaml as y %}\n" + self.line(r) + "{% endload %}\ny: {{ y | json }}",
            lambda: "{% import_yaml '" + r.choice(["sub/data.yaml", "macros.j2", "nosuch.yml"]) + "' as iy %}\niy: {{ iy | json }}",
            lambda: "{% import_text 'sub/data.yaml' as it %}\nit: {{ it | json }}",
            lambda: "{% import 'macros.j2' as mm" + r.choice(["", " with context"]) + " %}\nmm: {{ mm.say('x') | json }}\nst: {{ mm.stacked() | json }}",
            lambda: "{% from 'macros.j2' import say, " + r.choice(["value", "nosuch"]) + " as s2" + r.choice(["", " with context"]) + " %}\nfi: {{ say(s2) | json }}",
            lambda: "{% include '" + r.choice(["inc.yml", "sub/inc.yml", "nosuch.yml", "../here/inc.yml", "./inc.yml"]) + "'" + r.choice(["", " ignore missing", " without context"]) + " %}",
            lambda: "{% filter upper %}\nup: " + self.printed(r) + "\n{% endfilter %}",
            lambda: "{% raw %}\nraw: '{{ nosuch }}'\n{% endraw %}",
            lambda: "{% set ns = namespace(n=0) %}{% for i in range(4) %}{% set ns.n = ns.n + i %}{% endfor %}\nns: {{ ns.n }}",
            lambda: "{% set big %}\n" + self.line(r) + "{% endset %}\nbig: {{ big | json }}",
            lambda: "{% macro wrap(x) %}[{{ caller(x) }}]{% endmacro %}\nw: {% call(u) wrap(1) %}{{ u }}{% endcall %}",
            lambda: "{% with w = " + e() + " %}\nwith: {{ w | json }}\n{% endwith %}",
            lambda: "{% extends 'layout.j2' %}{% block body %}\nbody: {{ super() | json }}\n{% endblock %}",
            lambda: tag("do 1 + 1"), lambda: "ymlpath: {{ ymlpath | json }}", lambda: "cfg: {{ __stack__.cfg_path }}",
        ]

    def broken(self):
        return [
            lambda: "{% break %}", lambda: "{% call(u) wrap(1) %}{{ u }}{% endcall %}", lambda: "{% do stack.pop('nosuch') %}",
            lambda: "{% do stack.setdefault('users', {}).update(z=1) %}", lambda: "{% do stack.setdefault('list', []).append(7) %}",
            lambda: "{{ nosuch.x }}", lambda: "{{ 1 / 0 }}", lambda: "{% if %}", lambda: "{{ }}", lambda: "{% endif %}",
        ]

    def line(self, r):
        return f"{self.key(r)}: {self.printed(r)}\n"

    def names(self, r):
        """Lines of a config file."""
        return r.choice([
            lambda: "{{ minion_id }}.yml", lambda: "role/{{ __grains__.role }}.yml", lambda: "{% for x in __grains__.deep.files %}\n{{ x }}\n{% endfor %}",
            lambda: "{% if " + self.expression(r, 1) + " %}\na.yml\n{% else %}\nb.yml\n{% endif %}", lambda: "{{ pillarenv }}.yml",
            lambda: "{{ __opts__.saltenv }}.yml", lambda: "{% for k in stack %}\n{{ k }}.yml\n{% endfor %}", lambda: "{{ " + self.expression(r, 1) + " }}",
            lambda: "{% do stack.update({'from': 'cfg'}) %}a.yml", lambda: "{%- for r in pillar.get('list', []) %}\nrole/{{ r }}.yml\n{%- endfor %}", lambda: "{{ ymlpath }}",
            lambda: "{% include 'sub/list.inc' %}", lambda: "{% from 'macros.j2' import say %}{{ say('a') }}.yml", lambda: self.comment,
            lambda: "{{ __stack__.traverse(pillar, 'a:b', 'a.yml') }}",
        ])()

    def helpers(self, r):
        return {"macros.j2": "{% set value = 'v' %}{% macro say(x) %}{{ x }}{% endmacro %}{% macro stacked() %}{{ stack is defined }}/{{ minion_id }}/{{ ymlpath is defined }}{% endmacro %}\n",
                "sub/data.yaml": "k: {n: [1, 2]}\n", "inc.yml": "inc: {{ stack.get('a') | json }}\n", "sub/inc.yml": "subinc: {{ v | default('no v') }}\n",
                "layout.j2": "lay: out\n{% block body %}inner{% endblock %}\n", "sub/list.inc": "b.yml\nc.yml\n"}


class Mako(Language):
    """What stands in the templates of MakoStack."""

    module = "makostack"
    tame = ["stack", "pillar", "__grains__", "minion_id", "None", "[3, 1, 2]", "{'k': 1, 'a': 2}", "stack.get('a')", "pillar.get('users', {})",
            "__grains__['role']", "__opts__['saltenv']", "list(range(3))", "len(stack)", "list(stack)", "'%s' % stack.get('a')", "[str(k) for k in stack]",
            "nosuch or 'd'", "isinstance(stack.get('a'), dict)", "'x' in stack", "sorted(map(str, stack))", "self.uri", "type(stack.get('b')).__name__",
            "f'{minion_id:>6}'", "1 if stack else 2"]
    atoms = ["stack", "pillar", "__grains__", "__opts__['site']", "minion_id", "nosuch", "None", "True", "1", "'x'", "[3, 1, 2]", "{'k': 1, 'a': 2}",
             "stack['a']", "stack.get('users')", "stack.get('list', [])", "pillar.get('users', {})", "pillar['a']", "__grains__['os']", "__grains__['role']",
             "__grains__['deep']['x']", "__opts__['saltenv']", "list(range(3))", "dict(a=1)", "(1, 2)", "len(stack)", "1.0", "2 ** 70", "'a,b'.split(',')",
             "list(stack)", "sorted(pillar)", "'%s' % stack.get('a')", "-7 // 2", "[k for k in stack]", "{k: 1 for k in pillar}", "f'{minion_id:>6}'", "context.get('stack')",
             "str(stack)", "loop", "self.name", "capture", "UNDEFINED", "isinstance(stack, dict)", "type(stack).__name__", "not nosuch", "local.uri", "set([1])",
             "max([1, 2])", "any(stack)", "tuple(stack)", "__salt__['test.echo']('hi')", "context.get('nosuch', 5)", "sorted({3, 1})", "'x' in stack", "lambda: 1",
             "__grains__.get('deep')", "'{0[a]}'.format({'a': 1})", "b'x'", "1 if stack else 2", "next(iter(stack), None)", "'é'.encode()", "sum([1, 2])"]
    filters = ["h", "x", "u", "trim", "n", "str", "unicode", "repr", "json", "n,trim", "entity", "len", "nosuch", "decode.utf8"]
    comment = "## a comment ${nosuch}"

    def expression(self, r, depth=2):
        if not self.wild:
            return r.choice(self.tame)
        roll = r.random()
        inner = lambda: self.expression(r, depth - 1)
        if not depth or roll < 0.55:
            return r.choice(self.atoms)
        if roll < 0.65:
            return f"({inner()} {r.choice(['+', '==', '<', '*', '-', 'and', 'or', 'in', '!=', 'is', '%', '//'])} {inner()})"
        if roll < 0.72:
            return f"({inner()} if {inner()} else {inner()})"
        if roll < 0.8:
            return f"({inner()}){r.choice(['[0]', '[-1]', '[1:]', '.get(1)', '.upper()', '[::2]', '.nosuch', '.items()', '.copy()'])}"
        if roll < 0.87:
            return f"{r.choice(['len', 'str', 'sorted', 'list', 'dict', 'repr', 'int', 'bool', 'json.dumps', 'tuple', '(lambda items: sorted(set(items)))'])}({inner()})"
        if roll < 0.94:
            return f"[{inner()}, {inner()}]"
        return f"{{'a': {inner()}}}"

    def printed(self, r):
        made = self.expression(r)
        if self.wild and r.random() < 0.15:
            return "${" + made + " | " + r.choice(self.filters) + "}"
        return "${" + (f"json.dumps({made})" if r.random() < (0.6 if self.wild else 0.95) else made) + "}"

    def line(self, r):
        return f"{self.key(r)}: {self.printed(r)}\n"

    def lines(self, r, expression):
        e = lambda: expression(r, 1)
        return [
            lambda: f"<% v = {e()} %>\nv: ${{json.dumps(v)}}",
            lambda: f"<%\n    stack['{r.choice('abc')}'] = {e()}\n%>",
            lambda: f"<% stack.pop('{r.choice('abc')}', None) %>",
            lambda: f"<% stack.setdefault('users', {{}})['z'] = {r.randrange(9)} %>",
            lambda: "<% stack.setdefault('list', []).append(7) %>",
            lambda: "<% pillar['seen'] = 1 %>", lambda: "<% stack.clear() %>",
            lambda: "% if " + e() + ":\n" + self.line(r) + "% elif " + e() + ":\n" + self.line(r) + "% else:\n" + self.line(r) + "% endif",
            lambda: "% for k in " + (e() if self.wild else "stack") + ":\nk${loop.index}: ${json.dumps(k)}\n% endfor",
            lambda: "% for k, v in list(stack.items()):\n${json.dumps('n%s' % k)}: ${json.dumps(v)}\n% endfor",
            lambda: "% for i in range(3):\n<% if i == 1: continue %>\ni${i}: ${loop.last}\n% endfor",
            lambda: "<% n = 0 %>\n% while n < 2:\nw${n}: x\n<% n += 1 %>\n% endwhile",
            lambda: "% try:\nt: ${" + e() + "}\n% except Exception as error:\nt: ${type(error).__name__}\n% endtry",
            lambda: "<%def name=\"m(p, q=2)\">${p}-${q}</%def>\nm: ${m(" + e() + ")}",
            lambda: "<%def name=\"c()\" filter=\"trim\">\n  ${caller.body()}\n</%def>\nc: <%self:c>x</%self:c>",
            lambda: "<%def name=\"g(x)\">\\\n<% return 'r%s' % x %></%def>\ng: ${g(1)}",
            lambda: "<%block name=\"bb\">\nbb: ${minion_id}\n</%block>",
            lambda: "<%include file=\"" + r.choice(["inc.yml", "sub/inc.yml", "nosuch.yml", "/inc.yml", "../here/inc.yml"]) + "\"/>",
            lambda: "<%namespace name=\"ns\" file=\"" + r.choice(["macros.mako", "/macros.mako", "nosuch.mako"]) + "\"/>\nns: ${ns.say('x')}",
            lambda: "<%namespace file=\"/macros.mako\" import=\"say\"/>\nsy: ${say('x')}",
            lambda: "<%inherit file=\"" + r.choice(["/layout.mako", "layout.mako"]) + "\"/>",
            lambda: "<%!\n    import re\n    def helper(x):\n        return re.sub('a', 'b', str(x))\n%>\nh: ${helper('aa')}",
            lambda: "<%text>raw: '${nosuch}'</%text>", lambda: "<%doc>${nosuch}</%doc>", lambda: "line: one \\\n", lambda: "<%!\n X = [1]\n%>\nX: ${X}",
            lambda: "p: ${capture(lambda: context.write('cap'))}", lambda: "<% context.write('cw: 1\\n') %>", lambda: "<% return %>", lambda: "<%page args=\"z=3\"/>\nz: ${z}",
            lambda: "% for i in range(2): # note\ni: ${i}\n% endfor",
        ]

    def broken(self):
        return [
            lambda: "<% stack.pop('nosuch') %>", lambda: "%% percent: 1", lambda: "${nosuch}", lambda: "${1 / 0}", lambda: "% if", lambda: "${", lambda: "% endif", lambda: "<%nope/>", lambda: "<% import os %>", lambda: "dl: '$ {x}'",
        ]

    def names(self, r):
        return r.choice([
            lambda: "${minion_id}.yml", lambda: "role/${__grains__['role']}.yml", lambda: "% for x in __grains__['deep']['files']:\n${x}\n% endfor",
            lambda: "% if " + self.expression(r, 1) + ":\na.yml\n% else:\nb.yml\n% endif", lambda: "${__opts__['saltenv']}.yml",
            lambda: "% for k in stack:\n${k}.yml\n% endfor", lambda: "<% stack['from'] = 'cfg' %>a.yml", lambda: "<%include file=\"sub/list.inc\"/>",
            lambda: self.comment, lambda: "${pillar.get('list') or 'a.yml'}", lambda: "${" + self.expression(r, 1) + "}",
        ])()

    def helpers(self, r):
        return {"macros.mako": "<%def name=\"say(x)\">${x}/${minion_id}</%def>\n", "inc.yml": "inc: ${stack.get('a')}\n", "sub/inc.yml": "subinc: ${v or 'no'}\n",
                "layout.mako": "lay: out\n${self.body()}\n<%block name=\"foot\">foot: 1</%block>\n", "sub/list.inc": "b.yml\nc.yml\n"}


def data_file(r, language, clean):
    """A data file: YAML alone, or with the template's language in it."""
    roll = r.random()
    if not clean and roll < 0.12:
        return r.choice(TEXTS)
    if roll < 0.5:
        return data(r, not clean and r.random() < 0.15)
    language.keys = []
    made = ["<%! import json %>"] if language.module == "makostack" else []
    if r.random() < 0.3:
        made.append("__: " + str(strategy(r)))
    for _ in range(r.randrange(1, 4)):
        made.append(language.statements(r) if r.random() < (0.3 if clean else 0.5) else language.line(r))
    if r.random() < 0.2:
        made.append(language.comment)
    return r.choice(["\n", "\n", "\n\n", "\r\n"] if not clean else ["\n"]).join(made) + r.choice(["\n", "", "\n\n"])


def config(r, language, files):
    names = []
    for _ in range(r.randrange(1, 7)):
        roll = r.random()
        if roll < (0.55 if language.wild or language.module == "stack" else 0.75):
            names.append(r.choice(files))
        elif roll < 0.8:
            names.append(language.names(r))
        elif roll < 0.93:
            names.append(r.choice(GLOBS if language.wild else GLOBS[:12]))
        elif not language.wild:
            names.append(r.choice(["", "   ", "# c.yml", "a.yml # note", " a.yml", "a.yml ", "nosuch.yml"]))
        else:
            names.append(r.choice(["", "   ", "# c.yml", "a.yml # note", " a.yml", "a.yml ", "\ta.yml", "nosuch.yml", "sub", ".", "-", "- a.yml", "a.yml: b", "..", "/"]))
    if r.random() < 0.35:
        dash = r.choice(["- ", "- ", "-   ", "  - "])
        quote = r.choice(["", "", '"', "'"])
        lines = [f"{dash}{quote}{name}{quote}" if not name.startswith(("{%", "% ", "#", "<%", "## ", "{#")) else name for name in names]
        if language.wild and r.random() < 0.1:
            lines.append(dash + r.choice(["1", "null", "{a: b}", "[a.yml]", "true", "~", "2024-01-02", "*x"]))
        if r.random() < 0.15:
            lines.insert(0, r.choice(["---", "# comment", ""]))
        return "\n".join(lines) + r.choice(["\n", ""])
    if r.random() < 0.1:
        return yaml.safe_dump(names, default_flow_style=True)
    return r.choice(["\n", "\n", "\n", "\r\n", "\n\n"]).join(names) + r.choice(["\n", "", "\n\n"])


def table(r, configs, values, found):
    """What a selector leads to."""
    keys = r.sample(values, r.randrange(1, 4))
    if r.random() < 0.8 and not isinstance(found, (dict, list)):
        keys.append(found)
    pick = lambda: r.choice([r.choice(configs), r.sample(configs, r.randrange(len(configs) + 1)), "<DIR>/__env__.cfg", "<DIR>/nosuch.cfg"])
    return [[key, pick()] for key in keys]


def one(r, kind):
    """A tree, and the minion that it is asked for. Wild ones mostly fail somewhere, and end there."""
    clean = r.random() < 0.7
    language = kind(wild=not clean)
    names = r.sample(NAMES, r.randrange(2, 8))
    files = {**language.helpers(r), **{name: data_file(r, language, clean) for name in names}}
    configs = r.sample(["s.cfg", "t.cfg", "sub/s.cfg", "base.cfg", "dev.cfg"], r.randrange(1, 4))
    for name in configs:
        below = [n[4:] for n in names if n.startswith("sub/")] if name.startswith("sub/") else []
        files[name] = config(r, language, below or names)
    configs = ["<DIR>/" + name for name in configs]
    if language.module == "makostack":
        configs = [c + r.choice(["", "", "", ":a", ":users:b", ":", ":a:", ":x y", ":__", ":1"]) for c in configs]
    deep = {"x": {"y": r.choice(["z", 5, None])}, "list": ["l", {"k": "w"}], "files": r.sample(names, 2)}
    grains = {"id": "min1", "deep": deep, **{key: r.choice(values) for key, values in GRAINS.items()}}
    pillar = {key: json_tree(r, 3) for key in r.sample(["a", "b", "users", "list", "env"], r.randrange(5))}
    opts = {"pillarenv": r.choice([None, "dev", "base", ""]), "saltenv": r.choice([None, "base", "prod"]), "id": "master",
            "site": {"name": r.choice(["here", "web"])}}
    args, kwargs = [], {}
    if r.random() < 0.6:
        args = [*configs, *(["<DIR>/nosuch.cfg"] if r.random() < 0.1 else []), *(["<DIR>/sub"] if r.random() < 0.05 else [])]
    else:
        for _ in range(r.randrange(1, 4)):
            store = r.choice(["grains", "grains", "pillar", "opts", "grain" if language.wild and r.random() < 0.1 else "grains"])
            path = r.choice(PATHS if store.startswith("grain") else ["a", "users:a", "list:0", "env", "nosuch", "b:c"] if store == "pillar" else
                            ["pillarenv", "saltenv", "site:name", "id", "nosuch"])
            values = ["Debian", "Rocky", "web", "db", 5, 1.5, True, None, "5", "z", "l", "w", "x", 0, 1, "__env__", "dev", "base", "prod", "here", "master", "", "22", 22]
            found = {"pillar": pillar, "opts": opts}.get(store, grains)
            for step in path.split(":"):
                found = found.get(step) if isinstance(found, dict) else None
            if isinstance(found, (dict, list)) and not language.wild:
                continue
            kwargs[f"{store}:{path}"] = table(r, configs, values, found)
    return {"module": language.module, "files": files, "args": args, "kwargs": kwargs, "minion_id": "min1", "grains": grains, "pillar": pillar, "opts": opts}
