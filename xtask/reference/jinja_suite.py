"""What Jinja's own tests render, and what Salt makes of the same templates.

    python jinja_suite.py record TESTS FILE     run the tests and write what they render, one record a line
    python jinja_suite.py expect                read such records from the standard input, and write Salt's answers

Variables are those that the templates name. A template that a test makes and never renders is rendered without any.
A record that only Python can ask (its templates use Python's objects, or it needs an environment that Salt cannot be
configured to) holds a `reason` instead of what to render. The first line holds counts.
"""
import json
import os
import re
import sys

from suite import NotComparable, Recorder

# The options that Salt hands on, and the attributes that have them.
OPTIONS = ("block_start_string", "block_end_string", "variable_start_string", "variable_end_string",
           "comment_start_string", "comment_end_string", "line_statement_prefix", "line_comment_prefix", "trim_blocks",
           "lstrip_blocks", "keep_trailing_newline", "newline_sequence")
EXTENSIONS = {"jinja2.ext.ExprStmtExtension", "jinja2.ext.LoopControlExtension"}


def plain(value):
    """Plain data with its types, as `salt_reference.node` writes it."""
    kind = type(value)
    if value is None:
        return {"type": "null", "value": None}
    if kind in (bool, str, int):
        return {"type": kind.__name__, "value": value if kind is not int or abs(value) < 2**63 else str(value)}
    if kind is float:
        finite = value == value and abs(value) != float("inf")
        return {"type": "float", "value": value if finite else str(value)}
    if kind is bytes:
        return {"type": "bytes", "value": value.hex()}
    if kind is dict:
        return {"type": "map", "value": [[plain(k), plain(v)] for k, v in value.items()]}
    if kind in (list, tuple):
        return {"type": kind.__name__, "value": [plain(v) for v in value]}
    if kind is range:
        return {"type": "range", "value": [plain(v) for v in (value.start, value.stop, value.step)]}
    if kind is set:
        return {"type": "set", "value": sorted((plain(v) for v in value), key=repr)}
    if kind.__name__ == "Markup":
        return {"type": "markup", "value": str(value)}
    what = "functions" if callable(value) and not isinstance(value, type) else "objects"
    raise NotComparable(f"the template uses {what} of the test's own")


class JinjaRecorder(Recorder):
    """What Jinja's own tests render."""

    tests_in = ["."]

    def __init__(self):
        super().__init__()
        self.loaded = {}
        self.made = []

    def pytest_runtest_teardown(self, item):
        rendered = {(id(env), source) for env, source, _, _ in self.renders}
        self.renders += [(env, source, "sync", {}) for env, source in self.made if (id(env), source) not in rendered]
        super().pytest_runtest_teardown(item)
        self.loaded.clear()
        self.made.clear()

    @staticmethod
    def is_template(frame):
        return "__name__" not in frame.f_globals

    def record(self, env, source, how, variables):
        try:
            if how == "async":
                raise NotComparable("asynchronous")
            if source is None:
                raise NotComparable("the source is not kept (compiled or built in Python)")
            out = {**environment(env), "templates": self.templates(env)}
            if env.autoescape is True and "extends" not in source:
                start, end = env.block_start_string, env.block_end_string
                source = f"{start} autoescape true {end}{source}{start} endautoescape {end}"
            elif env.autoescape:
                raise NotComparable("autoescape is on for a whole template, which Salt cannot configure")
            texts = [source, *out["templates"].values()]
            out["variables"] = plain(named_in(texts, {**more_globals(env), **variables}))
            return {**out, "source": source}
        except NotComparable as reason:
            return {"source": source, "reason": str(reason)}

    def templates(self, env):
        if env.loader is None:
            return {}
        sources = dict(self.loaded.get(id(env.loader), {}))
        try:
            names = env.loader.list_templates()
        except Exception:
            names = []
        for name in names:
            try:
                sources[name] = env.loader.get_source(env, name)[0]
            except Exception:
                pass
        for name in sources:
            if os.path.isabs(name) or any(part in ("", ".", "..") for part in name.split("/")) or name in self.parents(sources):
                raise NotComparable("template names that files cannot have")
        return sources

    @staticmethod
    def parents(names):
        return {"/".join(name.split("/")[:end]) for name in names for end in range(1, name.count("/") + 1)}

    def note(self, env, source, how, args, kwargs):
        try:
            variables = dict(*args, **kwargs)
        except (TypeError, ValueError):
            variables = {"": object()}
        self.renders.append((env, source, how, variables))

    def install(self):
        from jinja2 import Environment, Template
        from jinja2.environment import TemplateExpression
        from jinja2.loaders import BaseLoader

        recorder = self

        def source_of(template):
            return getattr(template, "_suite_source", None)

        def rendered(template, args, kwargs):
            self.note(template.environment, source_of(template), "sync", args, kwargs)

        def awaited(template, args, kwargs):
            self.note(template.environment, source_of(template), "async", args, kwargs)

        def imported(template, args, kwargs):
            self.note(template.environment, source_of(template), "sync", (), {})

        def evaluated(expression, args, kwargs):
            self.note(expression._template.environment, source_of(expression), "sync", args, kwargs)

        def read(env, args, kwargs):
            self.note(env, args[0] if args and isinstance(args[0], str) else None, "sync", (), {})

        for name in ("render", "generate", "stream", "make_module"):
            self.watch(Template, name, rendered)
            if name != "stream":
                self.watch(Template, f"{name}_async", awaited)
        self.watch(Template, "_get_default_module", imported)
        self.watch(TemplateExpression, "__call__", evaluated)
        for name in ("parse", "lex", "compile"):
            self.watch(Environment, name, read)

        from_string, load = Environment.from_string, BaseLoader.load
        compile_expression = Environment.compile_expression

        def watched_from_string(env, source, *args, **kwargs):
            try:
                template = from_string(env, source, *args, **kwargs)
            except Exception:
                recorder.note(env, source, "sync", (), {})
                raise
            template._suite_source = source if isinstance(source, str) else None
            if isinstance(source, str) and not recorder.is_nested():
                recorder.made.append((env, source))
            return template

        def watched_load(loader, env, name, *args, **kwargs):
            template = load(loader, env, name, *args, **kwargs)
            try:
                template._suite_source = loader.get_source(env, name)[0]
                recorder.loaded.setdefault(id(loader), {})[name] = template._suite_source
            except Exception:
                pass
            return template

        def watched_expression(env, source, *args, **kwargs):
            wrapped = f"{env.variable_start_string} ({source}) {env.variable_end_string}"
            try:
                expression = compile_expression(env, source, *args, **kwargs)
            except Exception:
                recorder.note(env, wrapped, "sync", (), {})
                raise
            expression._suite_source = wrapped
            return expression

        self.wrappers.add(watched_from_string.__code__)
        self.wrappers.add(watched_expression.__code__)
        Environment.from_string, BaseLoader.load = watched_from_string, watched_load
        Environment.compile_expression = watched_expression


def environment(env):
    """The options of an environment that Salt can be configured to."""
    import jinja2
    import jinja2.defaults
    import jinja2.sandbox

    kind = type(env)
    if kind not in (jinja2.Environment, jinja2.sandbox.SandboxedEnvironment, jinja2.sandbox.ImmutableSandboxedEnvironment):
        reason = "native types" if kind.__name__ == "NativeEnvironment" else "an environment class of the test's own"
        raise NotComparable(reason)
    if env.is_async:
        raise NotComparable("asynchronous")
    others = sorted(set(env.extensions) - EXTENSIONS)
    if others:
        raise NotComparable("extensions that Salt does not load")
    if env.finalize is not None:
        raise NotComparable("a `finalize` function of the test's own")
    if env.undefined not in (jinja2.Undefined, jinja2.StrictUndefined):
        raise NotComparable("an undefined class that Salt cannot be configured to")
    if env.filters != jinja2.defaults.DEFAULT_FILTERS or env.tests != jinja2.defaults.DEFAULT_TESTS:
        raise NotComparable("filters or tests of the test's own")
    if env.policies != {**jinja2.defaults.DEFAULT_POLICIES, "json.dumps_kwargs": env.policies["json.dumps_kwargs"]}:
        raise NotComparable("policies that Salt cannot be configured to")
    defaults = jinja2.Environment()
    options = {name: getattr(env, name) for name in OPTIONS if getattr(env, name) != getattr(defaults, name)}
    return {"options": options, "strict": env.undefined is jinja2.StrictUndefined}


def more_globals(env):
    import jinja2.defaults
    from jinja2.sandbox import safe_range

    # Salt's environment has the sandbox's `range`, too.
    known = [*jinja2.defaults.DEFAULT_NAMESPACE.items(), ("range", safe_range)]
    return {name: value for name, value in env.globals.items() if not any(name == n and value is v for n, v in known)}


def named_in(texts, variables):
    """The variables whose names are words of the texts. Those of no name at all are for values that are not mappings."""
    words = {word for text in texts for word in re.findall(r"\w+", text)}
    return {name: value for name, value in variables.items() if name in words or not name}


def expect():
    import hashlib
    import tempfile

    import salt_reference as reference
    from markupsafe import Markup
    from salt.utils.templates import render_jinja_tmpl

    def data(node):
        kind, value = node["type"], node["value"]
        if kind == "markup":
            return Markup(value)
        if kind == "map":
            return {data(k): data(v) for k, v in value}
        if kind == "range":
            return range(*(data(v) for v in value))
        if kind in ("list", "tuple", "set"):
            return {"list": list, "tuple": tuple, "set": set}[kind](data(v) for v in value)
        return reference.from_node(node)

    with tempfile.TemporaryDirectory(prefix="mapstack-suite-") as home:
        minion = reference.Reference(home)
        try:
            for line in sys.stdin:
                record = json.loads(line)
                files = record["templates"]
                root = os.path.join(home, hashlib.sha256(json.dumps(files).encode()).hexdigest())
                if not os.path.isdir(root):
                    os.makedirs(root)
                    reference.write_files(root, files)
                opts = {**minion.opts, "file_roots": {"base": [root]}, "jinja_env": dict(record["options"]),
                        "allow_undefined": not record["strict"]}
                context = {**data(record["variables"]), "opts": opts, "saltenv": "base"}
                try:
                    answer = {"text": render_jinja_tmpl(record["source"], context)}
                except Exception as error:
                    answer = {"error": str(error).split("; line ")[0].replace(root + "/", "")}
                print(json.dumps(answer), flush=True)
        finally:
            minion.close()


if __name__ == "__main__":
    if sys.argv[1] == "record":
        JinjaRecorder().run(*sys.argv[2:])
    else:
        expect()
