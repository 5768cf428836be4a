"""A template's syntax tree as nested lists, by Jinja's own parser with Salt's extensions.

Salt turns its own tags into macros, assignments and blocks of Jinja while it parses; here they are turned
back into what was written.
"""
import json
import re

from jinja2 import TemplateSyntaxError, nodes
from jinja2.compiler import find_undeclared
from jinja2.sandbox import SandboxedEnvironment
from salt.utils.jinja import SerializerExtension

BINARY = ("Add", "Sub", "Mul", "Div", "FloorDiv", "Mod", "Pow", "And", "Or")
environments = {}


class Anything(dict):
    """Filters or tests of every name: the parser alone is asked."""

    def get(self, key, default=None):
        return lambda *args, **kwargs: ""

    def __contains__(self, key):
        return True


def environment(options):
    key = json.dumps(options, sort_keys=True)
    if key not in environments:
        extensions = ["jinja2.ext.do", "jinja2.ext.loopcontrols", SerializerExtension]
        env = SandboxedEnvironment(extensions=extensions, optimized=False, **options)
        env.filters, env.tests = Anything(env.filters), Anything(env.tests)
        environments[key] = env
    return environments[key]


def parse(template, options):
    """`{"tree": …}` or `{"message": …, "line": …}`."""
    env = environment(options)
    try:
        tree = statements(env.parse(template).body)
        # Some mistakes are found only when code is made of the tree.
        env._compile(env._generate(env.parse(template), None, None), "<template>")
    except TemplateSyntaxError as error:
        return {"message": error.message, "line": error.lineno}
    return {"tree": tree}


def statements(body):
    out, rest = [], list(body)
    while rest:
        statement(rest.pop(0), rest, out)
    return out


def statement(n, rest, out):
    kind = type(n).__name__
    if kind == "Output":
        out.extend(["text", x.data] if isinstance(x, nodes.TemplateData) else ["out", expression(x)] for x in n.nodes)
    elif kind == "For":
        out.append(["for", *map(expression, (n.target, n.iter, n.test)), bool(n.recursive), statements(n.body),
                    statements(n.else_), uses_loop(n)])
    elif kind == "If":
        arms = [[expression(arm.test), statements(arm.body)] for arm in (n, *n.elif_)]
        out.append(["if", arms, statements(n.else_)])
    elif kind == "Macro" and re.match(r"_fi\d", n.name):
        assignment = rest.pop(0)
        data_format = assignment.node.name.removeprefix("load_")
        out.append(["load", data_format, expression(assignment.target), statements(n.body)])
    elif kind == "Macro":
        out.append(["macro", n.name, function(n)])
    elif kind == "CallBlock":
        out.append(["callblock", expression(n.call), function(n)])
    elif kind == "FilterBlock":
        out.append(["filterblock", expression(n.filter), statements(n.body)])
    elif kind == "Assign" and getattr(n.target, "name", "").startswith("_salt_profile_"):
        out.append(profiled(n, rest))
    elif kind == "Assign":
        out.append(["set", expression(n.target), expression(n.node)])
    elif kind == "AssignBlock":
        out.append(["setblock", expression(n.target), expression(n.filter), statements(n.body)])
    elif kind == "With":
        bindings = [[expression(a), expression(b)] for a, b in zip(n.targets, n.values)]
        out.append(["with", bindings, statements(n.body)])
    elif kind == "Block":
        out.append(["block", n.name, bool(n.scoped), bool(n.required), statements(n.body)])
    elif kind == "Extends":
        out.append(["extends", expression(n.template)])
    elif kind == "Include":
        out.append(["include", expression(n.template), n.with_context, n.ignore_missing])
    elif kind == "Import":
        out.append(["import", expression(n.template), n.target, n.with_context])
    elif kind == "FromImport":
        names = [[name, name] if isinstance(name, str) else list(name) for name in n.names]
        out.append(["from", expression(n.template), names, n.with_context])
    elif kind == "ExprStmt":
        out.append(["do", expression(n.node)])
    elif kind in ("Break", "Continue"):
        out.append([kind.lower()])
    elif kind == "Scope":
        modifier = n.body[0]
        out.append(["autoescape", expression(modifier.options[0].value), statements(modifier.body)])
    else:
        raise TypeError(f"no form for {kind}")


def uses_loop(loop):
    body = loop.iter_child_nodes(only=("body",))
    return bool(loop.recursive or "loop" in find_undeclared(body, ("loop",))
                or any(block.scoped for block in loop.find_all(nodes.Block)))


def profiled(start, rest):
    """What stands between the start and the end of a measurement: a `profile` block, or an `import_yaml`."""
    label, source = start.node.dyn_args.items
    inside = []
    while not ends(rest[0], start.target.name):
        inside.append(rest.pop(0))
    rest.pop(0)
    if source.value == "profile block":
        return ["profile", expression(label), statements(inside)]
    data = inside[0]
    target = ["name", data.target]
    return ["importdata", source.value.removeprefix("import_"), expression(data.template), target, data.with_context]


def ends(n, name):
    return isinstance(n, nodes.ExprStmt) and getattr(getattr(n.node, "dyn_args", None), "name", None) == name


def function(n):
    without_default = len(n.args) - len(n.defaults)
    defaults = [None] * without_default + [expression(default) for default in n.defaults]
    names = [arg.name for arg in n.args]
    free = find_undeclared(n.body, ("caller", "kwargs", "varargs"))
    uses = [name in free and name not in names for name in ("varargs", "kwargs")]
    return [[list(pair) for pair in zip(names, defaults)], statements(n.body), *uses, "caller" in free]


def expression(n):
    if n is None:
        return None
    kind = type(n).__name__
    name = kind.lower()
    if kind == "Const":
        return ["const", repr(n.value)]
    if kind == "Name":
        return ["name", n.name]
    if kind == "NSRef":
        return ["nsref", n.name, n.attr]
    if kind in ("Tuple", "List"):
        return [name, [expression(x) for x in n.items]]
    if kind == "Dict":
        return ["dict", [[expression(pair.key), expression(pair.value)] for pair in n.items]]
    if kind == "Getattr":
        return ["attr", expression(n.node), n.attr]
    if kind == "Getitem" and isinstance(n.arg, nodes.Slice):
        return ["slice", *map(expression, (n.node, n.arg.start, n.arg.stop, n.arg.step))]
    if kind == "Getitem":
        return ["item", expression(n.node), expression(n.arg)]
    if kind == "Call":
        return ["call", expression(n.node), arguments(n)]
    if kind in ("Filter", "Test"):
        return [name, expression(n.node), n.name, arguments(n)]
    if kind in BINARY:
        return [name, expression(n.left), expression(n.right)]
    if kind in ("Neg", "Pos", "Not"):
        return [name, expression(n.node)]
    if kind == "Compare":
        return ["compare", expression(n.expr), [[operand.op, expression(operand.expr)] for operand in n.ops]]
    if kind == "Concat":
        return ["concat", [expression(x) for x in n.nodes]]
    if kind == "CondExpr":
        return ["cond", *map(expression, (n.test, n.expr1, n.expr2))]
    raise TypeError(f"no form for {kind}")


def arguments(n):
    positional, named = [expression(x) for x in n.args], [[k.key, expression(k.value)] for k in n.kwargs]
    return [positional, named, expression(n.dyn_args), expression(n.dyn_kwargs)]
