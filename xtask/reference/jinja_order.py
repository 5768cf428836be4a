"""Make up templates whose operands count or fail: `jinja_order.py SEED COUNT`, rows for `record.py` on stdout.

The order in which Jinja2 evaluates is what they print, or which of their errors is raised. Rows whose error names a
Python function of Jinja2 itself, which no template calls by that name, were left out of what is recorded.
"""

import json
import random
import sys

START = (
    "{% set log = [] %}"
    "{% macro g(x) %}{% do log.append(x) %}{{ x }}{% endmacro %}"
    "{% macro f(a=g('da'), b=g('db'), c=a ~ 'c') %}({{ a }},{{ b }},{{ c }},{{ varargs|join('+') }},"
    "{{ kwargs|dictsort }}{{ caller() if caller is defined }}){% endmacro %}"
    "{% set ns = namespace(n=0) %}{% set d = {'k': 1, 'l': [1, 2, 3]} %}{% set l = [5, 6, 7] %}"
)
END = "|{{ log|join(' ') }}"


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.one = self.random.choice
        self.count = 0
        self.failing = 0.0

    def leaf(self):
        self.count += 1
        if self.random.random() < self.failing:
            number = self.count
            return self.one([f"nope{number}.x", f"nope{number}()", f"nope{number}['a']", "(1 // 0)", f"('t{number}' + 1)", f"d.none{number}.y",
                             f"[]['m{number}'].z", f"l.nope{number}()", f"(1 in 2{number})", f"none.e{number}()"])
        return self.one([f"g('{self.count}')", f"g('{self.count}')", f"g('{self.count}')", f"g({self.count})|int", str(self.count)])

    def expr(self, depth=2):
        if depth == 0 or self.random.random() < 0.2:
            return self.leaf()
        e = lambda: self.expr(depth - 1)
        kinds = [self.call, self.call, self.call, self.subscript, self.operators, self.operators, self.filtered, self.literal, self.choice, self.method]
        return self.one(kinds)(e)

    def call(self, e):
        parts = [e() for _ in range(self.random.randint(0, 2))]
        if self.random.random() < 0.35:
            parts.append(f"{self.one(['a', 'b', 'z'])}={e()}")
        if self.random.random() < 0.25:
            parts.append(f"{self.one(['c', 'y'])}={e()}")
        if self.random.random() < 0.3:
            parts.append(f"*[{e()}]" if self.random.random() < 0.8 else f"*{e()}")
        if self.random.random() < 0.3:
            parts.append(f"**{{'{self.one(['w', 'v', 'b'])}': {e()}}}" if self.random.random() < 0.8 else f"**{e()}")
        function = self.one(["f"] * 8 + ["dict", "namespace", "range", f"nofunc{self.count}"])
        return f"{function}({', '.join(parts)})"

    def subscript(self, e):
        parts = [f"[{e()}, {e()}][{e()}|int % 2]", f"{{{e()}: {e()}}}[{e()}]", f"l[{e()}|int:{e()}|int:{self.one([e() + '|int', ''])}]", f"d[{e()}]", f"d.l[{e()}]"]
        return self.one(parts)

    def operators(self, e):
        chain = [e()]
        for _ in range(self.random.randint(1, 3)):
            chain += [self.one(["~", "~", "+", "==", "<", "<=", "in", "not in", "and", "or", "!=", "*"]), e()]
        return "(" + " ".join(chain) + ")"

    def filtered(self, e):
        return self.one(
            [
                f"{e()}|default({e()})",
                f"{e()}|replace({e()}|string, {e()}|string)",
                f"({e()}, {e()})|join({e()}|string)",
                f"({e()} is {self.one(['eq', 'ne', 'sameas', 'in', 'lt'])}({e()}))",
                f"{e()}|nofilter({e()})" if self.random.random() < 0.1 else f"{e()}|upper",
                f"[{e()}, {e()}]|map('default', {e()})|list",
                f"[{e()}]|sum(start={e()}|int)",
                f"{e()}|round(method={e()}, precision={e()}|int)",
            ]
        )

    def literal(self, e):
        return self.one([f"[{e()}, {e()}, {e()}]", f"{{{e()}: {e()}, {e()}: {e()}}}", f"({e()}, {e()})", f"-({e()}|int)", f"(not {e()})"])

    def choice(self, e):
        return self.one([f"({e()} if {e()} else {e()})", f"({e()} if {e()})", f"({e()} if not {e()} else {e()})"])

    def method(self, e):
        return self.one([f"'{{}} {{}}'.format({e()}, {e()})", f"d.get({e()}, {e()})", f"l.index({e()})", f"d.update({{{e()}: {e()}}})", f"{e()}.split({e()})", f"'%s %s' % ({e()}, {e()})", f"log.append({e()})"])

    def statement(self):
        e = lambda: self.expr(1)
        name = f"v{self.count}"
        return self.one(
            [
                f"{{% set {name} = {e()} %}}{{{{ {name} }}}}",
                f"{{% set {name}, w = {e()}, {e()} %}}{{{{ w }}}}",
                f"{{% set ns.n = {e()} %}}{{{{ ns.n }}}}",
                f"{{% set d.n = {e()} %}}",
                f"{{% set nons{self.count}.n = {e()} %}}",
                f"{{% for i in {e()} %}}{{{{ i }}}}{{{{ loop.index }}}}{{% else %}}{e()}{{{{ {e()} }}}}{{% endfor %}}",
                f"{{% for i in [{e()}, {e()}] if {e()} %}}{{{{ loop.length }}}}{{{{ loop.cycle({e()}, {e()}) }}}}{{{{ loop.changed({e()}) }}}}{{% else %}}{{{{ {e()} }}}}{{% endfor %}}",
                f"{{% for a, b in [({e()}, {e()})] %}}{{{{ a ~ b }}}}{{% endfor %}}",
                f"{{% call f({e()}, z={e()}) %}}{{{{ {e()} }}}}{{% endcall %}}",
                f"{{% call(u) f({e()}) %}}{{{{ u }}}}{{% endcall %}}",
                f"{{% if {e()} %}}1{{% elif {e()} %}}2{{% else %}}{{{{ {e()} }}}}{{% endif %}}",
                f"{{% filter replace({e()}|string, {e()}|string) %}}a{{{{ {e()} }}}}{{% endfilter %}}",
                f"{{% with p = {e()}, q = {e()} %}}{{{{ p ~ q }}}}{{% endwith %}}",
                f"{{% macro h(a, b={e()}, c=b) %}}{{{{ a }}}}{{{{ b }}}}{{{{ c }}}}{{% endmacro %}}{{{{ h({e()}) }}}}{{{{ h({e()}, c={e()}) }}}}{{{{ h() }}}}",
                f"{{% do log.append({e()}) %}}",
                f"{{% set {name} | replace({e()}|string, 'r') %}}{{{{ {e()} }}}}{{% endset %}}{{{{ {name} }}}}",
            ]
        )

    def template(self):
        self.count = 0
        self.failing = self.one([0.0, 0.0, 0.15, 0.3])
        body = "".join(self.statement() if self.random.random() < 0.4 else f"{{{{ {self.expr()} }}}}" for _ in range(self.random.randint(1, 2)))
        return START + body + END


def main(seed, count):
    maker = Maker(int(seed))
    rows = {maker.template(): None for _ in range(int(count))}
    lines = ",\n".join(json.dumps([row], ensure_ascii=False) for row in rows)
    print(f"[\n{lines}\n]")


if __name__ == "__main__":
    main(*sys.argv[1:])
