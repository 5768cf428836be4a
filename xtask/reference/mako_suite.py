"""What Mako's own tests render, and what Mako makes of the same templates with plain data.

    python mako_suite.py record TESTS FILE     run the tests and write what they render, one record a line
    python mako_suite.py expect                read such records from the standard input, and write Mako's answers

A record that only Python can ask (it passes Python's objects, or sets options that Salt and MakoStack do not set)
holds a `reason` instead of what to render. The first line holds counts.
"""
import contextlib
import json
import os
import sys

from suite import NotComparable, Recorder

# Options that change what a template means, and what they are unless they are set.
OPTIONS = {"default_filters": None, "buffer_filters": (), "imports": None, "future_imports": None, "enable_loop": True,
           "preprocessor": None, "lexer_cls": None, "error_handler": None, "include_error_handler": None,
           "format_exceptions": False}


class MakoRecorder(Recorder):
    """What Mako's own tests render."""

    tests_in = ["test"]

    @staticmethod
    def is_template(frame):
        return "_magic_number" in frame.f_globals

    def note(self, text, options, lookup, uri, variables, reason=None):
        self.renders.append((text, options, lookup, uri, variables, reason))

    def record(self, text, options, lookup, uri, variables, reason):
        try:
            if reason:
                raise NotComparable(reason)
            if not isinstance(text, str):
                raise NotComparable("the source is not text, or not kept")
            own = {**(lookup.template_args if lookup else {}), **options}
            if own.get("lexer_cls") and own["lexer_cls"].__name__ == "Lexer":
                del own["lexer_cls"]
            for name, usual in OPTIONS.items():
                if own.get(name, usual) not in (usual, [] if usual is None else usual):
                    raise NotComparable(f"the option `{name}`, which neither Salt nor MakoStack sets")
            if not self.is_plain(variables):
                raise NotComparable("variables are Python objects")
            return {"source": text, "uri": uri, "strict": bool(own.get("strict_undefined")), "lookup": lookup is not None,
                    "files": self.files(lookup), "variables": json.loads(json.dumps(variables))}
        except NotComparable as reason:
            return {"source": repr(text), "reason": str(reason)}

    def is_plain(self, value):
        if type(value) is dict:
            return all(type(key) is str and self.is_plain(inner) for key, inner in value.items())
        if type(value) is list:
            return all(map(self.is_plain, value))
        return type(value) in (str, int, bool, float, type(None)) and value == value

    @staticmethod
    def files(lookup):
        """The templates that a lookup has, by URI."""
        if lookup is None:
            return {}
        files = {}
        for directory in reversed(lookup.directories):
            for above, _, names in os.walk(directory):
                for name in names:
                    path = os.path.join(above, name)
                    try:
                        with open(path, encoding="utf-8", newline="") as file:
                            files["/" + os.path.relpath(path, directory)] = file.read()
                    except UnicodeDecodeError:
                        pass
        for uri, template in dict(lookup._collection).items():
            text = getattr(template, "_suite_text", None)
            if template.filename is None and isinstance(text, str):
                files[uri] = text
        return files

    def install(self):
        from mako.lexer import Lexer
        from mako.template import DefTemplate, Template

        recorder = self
        make = Template.__init__

        def watched_make(template, text=None, filename=None, uri=None, lookup=None, **options):
            if text is None and filename is not None:
                try:
                    with open(filename, encoding="utf-8", newline="") as file:
                        text = file.read()
                except (OSError, UnicodeDecodeError):
                    pass
                read = None
            else:
                read = text
            template._suite = (text, options, lookup, uri)
            template._suite_text = text
            try:
                make(template, text=read, filename=filename, uri=uri, lookup=lookup, **options)
            except Exception:
                if not recorder.is_nested():
                    recorder.note(text, options, lookup, uri, {})
                raise
            template._suite = (text, options, lookup, template.uri)

        self.wrappers.add(watched_make.__code__)
        Template.__init__ = watched_make
        nothing = (None, {}, None, None)

        def rendered(template, args, kwargs):
            reason = "positional arguments" if args else None
            if isinstance(template, DefTemplate):
                reason = "a def by itself"
            self.note(*getattr(template, "_suite", nothing), kwargs, reason)

        def in_context(template, args, kwargs):
            context = args[0] if args else kwargs.get("context")
            reason = "a def by itself" if isinstance(template, DefTemplate) else None
            if len(args) > 1 or set(kwargs) - {"context"}:
                reason = reason or "positional arguments"
            self.note(*getattr(template, "_suite", nothing), dict(getattr(context, "_kwargs", {})), reason)

        for name in ("render", "render_unicode"):
            self.watch(Template, name, rendered)
        self.watch(Template, "render_context", in_context)
        self.watch(Lexer, "parse", lambda lexer, args, kwargs: self.note(
            lexer.text, {"preprocessor": lexer.preprocessor or None}, None, None, {}))


def expect():
    import mako_reference

    for line in sys.stdin:
        record = json.loads(line)
        # Templates can print.
        with contextlib.redirect_stdout(sys.stderr):
            answer = mako_reference.render({**record, "template": record["source"], "context": record["variables"]}, {})
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "record":
        MakoRecorder().run(*sys.argv[2:])
    else:
        expect()
