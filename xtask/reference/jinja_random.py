"""Make up templates for both sides: JSON lines on stdout, as `jinja_suite.py expect` reads them.

    python jinja_random.py SEED COUNT

Nothing in a template makes what it loops over longer: Jinja2 would not come to an end.
"""
import json
import random
import sys

VARIABLES = {"a": 1, "b": -7, "c": 0, "s": "text é", "l": [3, 1, 2], "d": {"k": 1, "items": [1, 2], "z": {"q": "v"}},
             "f": 2.5, "e": [], "words": ["b", "a", "b"]}
#: Names that are likely bound, and names that may not be.
KNOWN = ["a", "b", "c", "s", "l", "d", "f", "e", "words", "x", "n", "s", "l", "d", "words"]
OTHERS = ["y", "é", "ns", "m", "row", "self", "loop", "caller", "super", "varargs"]

NUMBERS = ["0", "1", "2", "3", "10", "15", "-3", "7", "12345678901234567890"]
TEXTS = ["''", "'a'", "'b c'", "'é'", "'x%s'", "'1'"]
CONSTANTS = ["true", "false", "none", "1.5", "-0.5"]
KEYS = ["'k'", "'z'", "'items'", "1", "2", "true", "1.0", "none", "(1, 2)"] * 6 + ["[1]"]
COUNTS = ["a", "b", "c", "f", "1", "2", "-3", "10", "s|length", "l[0]", "d.k", "n|default(0)", "x|default(4)",
          "(loop.index if loop is defined else 9)"]
PATHS = ["d.k", "d.z.q", "d['k']", "d['items']", "d.items()|list", "ns.k", "s[0]", "l[0]", "words[-1]", "d.z", "l[1:]",
         "words[::-1]", "d.nope|default(1)", "s[1:3]"]
ATTRIBUTES = ["k", "z", "items", "q", "v", "index", "index0", "last", "first", "length", "keys", "nope"]
FILTERS = ["upper", "lower", "length", "list", "first", "last", "join(',')", "join", "default('q')", "default(0, true)",
           "replace('a','b')", "int", "string", "reverse|list", "dictsort", "map('string')|list", "select|list",
           "reject('equalto', 1)|list", "title", "trim", "batch(2)|list", "round", "tojson", "yaml",
           "selectattr('k')|list", "indent(2)", "center(5)", "float", "d('w')"]
TESTS = ["defined", "undefined", "none", "string", "number", "mapping", "sequence", "even", "odd", "divisibleby 2",
         "iterable", "sameas 1", "equalto 1", "in [1, 2]", "true", "callable"]
PAIRS = ["d.items()", "[[1,2],[3,4]]", "d|dictsort", "{'a': 1}.items()"]
ITEMS = ["range(0)", "range(3)", "l", "d", "words", "s", "[1, 'a', {'k': 1}]", "['b', 'a']", "e", *PAIRS]

LIBRARY = {"inc": "<{{ x }}{{ n }}{{ loop.index if loop is defined }}>",
           "lib": "{% macro q(z) %}[{{ z }}{{ y }}]{% endmacro %}{% set v = [1, {'k': 2}] %}"}
BASE = ("A{% block h %}base{{ x }}{% endblock %}B"
        "{% for n in [1,2] %}{% block i scoped %}{{ n }}{% endblock %}{% endfor %}")
START = ("{% set x = 4 %}{% set n = 2 %}{% set y = {'k': [1]} %}{% set ns = namespace(k=1) %}"
         "{% macro m(x, y=2) %}{{ x }}{% endmacro %}")


class Maker:
    """Makes templates of parts, each of which is chosen by its weight."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.blocks = 0

    def one(self, parts):
        return self.random.choice(parts)

    def maybe(self, chance, make):
        return make() if self.random.random() < chance else ""

    def weighed(self, parts):
        """What one of the functions makes, of pairs of a weight and a function."""
        weights, makers = zip(*parts)
        return self.random.choices(makers, weights)[0]()

    # ---- expressions ----

    def name(self):
        return self.one(KNOWN if self.random.random() < 0.95 else OTHERS)

    def literal(self, depth=2):
        if depth <= 0:
            return self.one([*NUMBERS, *TEXTS, *CONSTANTS])
        several = lambda: [self.literal(depth - 1) for _ in range(self.random.randrange(4))]
        entries = lambda: [f"{self.one(KEYS)}: {value}" for value in several()]
        return self.weighed([
            (5, lambda: self.literal(0)),
            (2, lambda: f"[{', '.join(several())}]"),
            (1, lambda: f"({''.join(f'{item}, ' for item in several())})"),
            (2, lambda: f"{{{', '.join(entries())}}}"),
        ])

    def number(self, depth=2):
        if depth <= 0 or self.random.random() < 0.4:
            return self.one(COUNTS)
        sign = self.one(["+", "-", "*", "+", "-", "*", "//", "%", "%", "/"])
        return f"({self.number(depth - 1)} {sign} {self.number(depth - 1)})"

    def expression(self, depth=3):
        if depth <= 0:
            return self.name() if self.random.random() < 0.6 else self.literal(1)
        e = lambda: self.expression(depth - 1)
        return self.weighed([
            (20, lambda: self.expression(0)),
            (12, lambda: self.number(depth)),
            (6, lambda: f"({e()} {self.one(['~', '~', '+', '-', '*', '/', '//', '%'])} {e()})"),
            (8, lambda: self.comparison(e)),
            (6, lambda: f"({e()} {self.one(['and', 'or'])} {e()})"),
            (3, lambda: f"(not {e()})"),
            (3, lambda: f"(-{self.number(1)})"),
            (7, lambda: f"({e()} if {e()}{self.maybe(0.6, lambda: f' else {e()}')})"),
            (10, lambda: self.one(PATHS)),
            (4, lambda: f"{self.name()}.{self.one(ATTRIBUTES)}"),
            (2, lambda: f"{self.name()}[{e()}]"),
            (2, lambda: f"{self.name()}[{self.maybe(0.5, e)}:{self.maybe(0.5, e)}{self.one(['', ':-1', ':2'])}]"),
            (12, lambda: f"({e()})|{self.one(FILTERS)}"),
            (4, lambda: f"({e()} is {self.one(TESTS)})"),
            (4, lambda: self.call(e)),
        ])

    def comparison(self, e):
        return self.one([
            lambda: f"({e()} == {e()})", lambda: f"({e()} {self.one(['!=', '<', '<=', '>', 'in', 'not in'])} {e()})",
            lambda: f"({self.number()} < {self.number()})", lambda: f"({self.number(1)} in l)",
            lambda: f"({self.number(1)} <= {self.number(1)} < {self.number()})",
        ])()

    def call(self, e):
        return self.one([
            lambda: f"m({e()})", lambda: f"m({e()}, y={e()})", lambda: f"range({self.random.randrange(5)})|list",
            lambda: f"{self.name()}.get('k', {e()})", lambda: f"{self.name()}.{self.one(['keys', 'items'])}()|list",
            lambda: f"{self.name()}.upper()", lambda: f"'%s-%s' % ({e()}, {e()})", lambda: f"dict(k={e()})",
            lambda: f"loop.cycle({e()}, 2)", lambda: f"loop.changed({e()})", lambda: "m.name", lambda: "caller()",
        ])()

    # ---- statements ----

    def body(self, depth, in_loop=False):
        return "".join(self.statement(depth - 1, in_loop) for _ in range(self.random.randrange(1, 4)))

    def statement(self, depth, in_loop=False):
        printed = [(25, lambda: f"{{{{ {self.expression()} }}}}"),
                   (10, lambda: self.one([" text\n", "é", "x\n\n", "{# c #}", "-"]))]
        if depth <= 0:
            return self.weighed(printed)
        body = lambda: self.body(depth, in_loop)
        return self.weighed([
            *printed,
            (15, lambda: self.loop(depth, body)),
            (10, lambda: self.choice(body)),
            (12, self.assignment),
            (4, self.namespace),
            (6, lambda: self.macro(depth)),
            (6, lambda: f"{{% do {self.one('dy')}.update({{'w': {self.expression(2)}}}) %}}"),
            (2, lambda: self.one(["{% do d.pop('k', none) %}", "{% do words.sort() %}", "{% do words.reverse() %}"])),
            (3, lambda: f"{{% with {self.one('xy')} = {self.expression(2)} %}}{body()}{{% endwith %}}"),
            (3, lambda: f"{{% set {self.one('xn')} %}}{self.body(depth)}{{% endset %}}"),
            (2, lambda: self.block(depth)),
            (2, lambda: self.one(["{% include 'inc' %}", "{% import 'lib' as lib %}{{ lib.q(1) }}{{ lib.v }}"])),
            (2, lambda: self.one(["{% break %}", "{% continue %}"]) if in_loop else self.filtered(depth)),
        ])

    def loop(self, depth, body):
        target = self.one(["x", "y", "n", "a", "é", "k, v", "x, y"])
        items = self.one(PAIRS if "," in target else ITEMS)
        test = self.maybe(0.2, lambda: f" if {self.expression(2)}")
        again = self.random.random() < 0.06
        inner = self.body(depth, True) + ("{{ loop(l) if loop.depth < 3 }}" if again else "")
        otherwise = self.maybe(0.2, lambda: "{% else %}" + body())
        strip = self.one(["", "", "-"])
        head = f"{{%{strip} for {target} in {items}{test}{' recursive' if again else ''} %}}"
        return f"{head}{inner}{otherwise}{{%{strip} endfor %}}"

    def choice(self, body):
        second = self.maybe(0.3, lambda: f"{{% elif {self.expression(2)} %}}{body()}")
        return f"{{% if {self.expression(2)} %}}{body()}{second}{self.maybe(0.5, lambda: '{% else %}' + body())}{{% endif %}}"

    def assignment(self):
        target = self.one(["x", "y", "n", "a", "ns", "l", "d", "é"])
        return f"{{% set {target} = {self.one([self.expression(), self.literal(3), 'namespace(k=1)'])} %}}"

    def namespace(self):
        first, later = self.expression(2), self.expression(2)
        return f"{{% set ns = namespace(k={first}) %}}{{% for q in l %}}{{% set ns.k = {later} %}}{{% endfor %}}{{{{ ns.k }}}}"

    def macro(self, depth):
        reads = self.one(["", "{{ varargs }}", "{{ kwargs }}", "{{ caller() if caller }}"])
        parameters = self.one(["x", "x, y=2", "x=1, y=x", "y"])
        defined = f"{{% macro m({parameters}) %}}{self.body(depth)}{reads}{{% endmacro %}}{{{{ m({self.expression(2)}) }}}}"
        called = lambda: f"{{% call m({self.expression(1)}) %}}{self.body(depth)}{{% endcall %}}"
        return defined + self.maybe(0.3, called)

    def block(self, depth):
        self.blocks += 1
        return f"{{% block b{self.blocks} {self.one(['', 'scoped'])} %}}{self.body(depth)}{{% endblock %}}"

    def filtered(self, depth):
        return f"{{% filter upper %}}{self.body(depth)}{{% endfilter %}}"

    # ---- templates ----

    def question(self):
        self.blocks = 0
        source = "".join(self.statement(4) for _ in range(self.random.randrange(2, 6)))
        source = self.maybe(0.9, lambda: START) + source
        templates = dict(LIBRARY)
        if self.random.random() < 0.08:
            templates["base"] = BASE
            source = self.derived()
        return {"source": source, "options": {}, "strict": self.random.random() < 0.5, "templates": templates,
                "variables": node(VARIABLES)}

    def derived(self):
        h = self.body(3) + self.one(["", "{{ super() }}", "{{ self.i() }}"])
        i = self.body(2) + self.one(["", "{{ super() }}", "{{ super.super }}"])
        return f"{{% extends 'base' %}}{{% block h %}}{h}{{% endblock %}}{{% block i %}}{i}{{% endblock %}}"


class Scopes(Maker):
    """Makes templates that only set and print names: which variable one means depends on all bodies around it."""

    NAMES = ["a", "s", "f", "q"]

    def expression(self, depth=0):
        return self.one([*self.NAMES, "1", "'t'"])

    def statement(self, depth, in_loop=False):
        body = lambda: self.body(depth)
        name = lambda: self.one(self.NAMES)
        simple = [(3, lambda: f"{{{{ {self.expression()} }}}},"),
                  (2, lambda: f"{{% set {name()} = {self.expression()} %}}")]
        if depth <= 0:
            return self.weighed(simple)
        return self.weighed([
            *simple,
            (2, lambda: self.choice(body)),
            (1, lambda: f"{{% for {name()} in [1, 2] %}}{body()}{self.maybe(0.2, lambda: '{% else %}' + body())}{{% endfor %}}"),
            (1, lambda: f"{{% with {name()} = {self.expression()} %}}{body()}{{% endwith %}}"),
            (1, lambda: self.filtered(depth)),
            (1, lambda: f"{{% set {name()} %}}{body()}{{% endset %}}"),
            (1, lambda: f"{{% macro m({self.one(['', 's=1', 'a=s'])}) %}}{body()}{{% endmacro %}}{{{{ m() }}}}"),
            (1, lambda: self.block(depth)),
        ])

    def question(self):
        return {**super().question(), "strict": False}


def node(value):
    """Data as the recorder of the suite writes it."""
    if isinstance(value, list):
        return {"type": "list", "value": [node(item) for item in value]}
    if isinstance(value, dict):
        return {"type": "map", "value": [[node(key), node(item)] for key, item in value.items()]}
    return {"type": type(value).__name__, "value": value}


if __name__ == "__main__":
    makers = [Maker(int(sys.argv[1])), Scopes(int(sys.argv[1]))]
    for number in range(int(sys.argv[2])):
        # One template in five is about names alone.
        print(json.dumps(makers[number % 5 == 4].question()))
