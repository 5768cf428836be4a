# What code of a tree imports, and what Python's library has otherwise, or not at all: modules of other packages that
# Salt itself needs, and modules that would look at the machine.

class _Logger:
    """Drops messages: a minion would write them to its log, which templates do not have."""

    level = 0
    propagate = True

    def __init__(self, name="root"):
        self.name, self.handlers = name, []

    def _log(self, *args, **kwargs):
        return None

    debug = info = warning = warn = error = critical = fatal = exception = log = _log
    trace = garbage = profile = quiet = setLevel = addHandler = removeHandler = addFilter = _log

    def isEnabledFor(self, level):
        return False

    def getEffectiveLevel(self):
        return 30

    def getChild(self, suffix):
        return _Logger(f"{self.name}.{suffix}")


def _logging():
    loggers = {}
    levels = {"CRITICAL": 50, "FATAL": 50, "ERROR": 40, "WARNING": 30, "WARN": 30, "INFO": 20, "DEBUG": 10, "NOTSET": 0}
    names = {"getLogger": lambda name="root": loggers.setdefault(name, _Logger(name)), "Logger": _Logger, **levels}
    root = names["getLogger"]()
    for name in ("debug", "info", "warning", "warn", "error", "critical", "exception", "log", "basicConfig"):
        names[name] = root._log
    return names


class _Handler:
    """Takes no messages, as there are none."""

    level, formatter, filters = 0, None, ()

    def __init__(self, *args, **kwargs):
        pass

    def _nothing(self, *args, **kwargs):
        return None

    setFormatter = setLevel = emit = handle = close = flush = addFilter = removeFilter = acquire = release = _nothing


_provide("logging", {**_logging(), "Handler": _Handler, "NullHandler": _Handler, "StreamHandler": _Handler, "Formatter": _Handler})


# Of `io`, what is in memory.
_provide("io", {"StringIO": _io_module.StringIO, "BytesIO": _io_module.BytesIO})
_provided["io"].__getattr__ = lambda name: _attribute_of_io(name)


def _attribute_of_io(name):
    if name.startswith("__") and name.endswith("__"):
        raise AttributeError(name)
    return Missing("import", f"io.{name}", True)


# --- platform ---------------------------------------------------------------------------------------------------------


def _grain(*names):
    """A grain of the minion; without one, nothing is known of the machine."""
    grains = _fact("__system__")
    for name in names:
        if name in grains:
            return grains[name]
    _unavailable_at(f"what the module 'platform' says of a machine without the grain '{names[0]}'")


def _python_implementation():
    return "CPython"


_provide(
    "platform",
    {
        "system": lambda: _grain("kernel"),
        "node": lambda: _grain("nodename"),
        "machine": lambda: _grain("cpuarch"),
        "release": lambda: _grain("kernelrelease"),
        "version": lambda: _grain("kernelversion"),
        "python_version": lambda: ".".join(map(str, _python_version()[:3])),
        "python_version_tuple": lambda: tuple(map(str, _python_version()[:3])),
        "python_implementation": _python_implementation,
    },
)


# --- traceback and inspect --------------------------------------------------------------------------------------------


def _format_exc(*args, **kwargs):
    # Its text names files of the machine, and most code writes it to the log alone.
    return Missing("import", "traceback.format_exc()", True)


def _print_exc(*args, **kwargs):
    """Prints nowhere."""


def _format_exception_only(exc, value=None, **kwargs):
    error = exc if value is None else value
    name = type(error).__name__
    return [f"{name}: {error}\n" if str(error) else f"{name}\n"]


_provide(
    "traceback",
    {
        "format_exc": _format_exc,
        "print_exc": _print_exc,
        "print_exception": _print_exc,
        "print_stack": _print_exc,
        "format_exception_only": _format_exception_only,
    },
)


# --- yaml -------------------------------------------------------------------------------------------------------------


class YAMLError(Exception):
    """What is wrong with a text."""


class _Mark:
    """A place in a text."""

    def __init__(self, line, column):
        self.name, self.line, self.column, self.index, self.buffer, self.pointer = "<unicode string>", line, column, 0, None, 0

    def get_snippet(self, *args, **kwargs):
        return None

    def __str__(self):
        return f'  in "{self.name}", line {self.line + 1}, column {self.column + 1}'


class MarkedYAMLError(YAMLError):
    def __init__(self, context=None, context_mark=None, problem=None, problem_mark=None, note=None):
        self.context, self.context_mark, self.note = context, context_mark, note
        self.problem, self.problem_mark = problem, problem_mark

    def __str__(self):
        return "\n".join(str(line) for line in (self.context, self.problem, self.problem_mark) if line is not None)


def _yaml_error(name, base=MarkedYAMLError):
    return type(name, (base,), {"__module__": "yaml"})


_YAML_ERRORS = {
    "ReaderError": _yaml_error("ReaderError", YAMLError),
    "ScannerError": _yaml_error("ScannerError"),
    "ParserError": _yaml_error("ParserError"),
    "ComposerError": _yaml_error("ComposerError"),
    "ConstructorError": _yaml_error("ConstructorError"),
}
_RepresenterError = _yaml_error("RepresenterError", YAMLError)


def _date_of(text):
    """The date, or the date and time, of its text."""
    import datetime

    if len(text) == 10:
        return datetime.date.fromisoformat(text)
    return datetime.datetime.fromisoformat(text)


def _yaml_text(stream):
    if hasattr(stream, "read"):
        stream = stream.read()
    if isinstance(stream, (bytes, bytearray)):
        stream = bytes(stream).decode().removeprefix("\ufeff")
    if not isinstance(stream, str):
        raise AttributeError(f"'{type(stream).__name__}' object has no attribute 'read'")
    return stream


def _yaml_load(stream, is_salts, many):
    kind, made, *place = native["yaml_load"](_yaml_text(stream), is_salts, many, _date_of)
    if kind == "made":
        return made if many else made[0]
    if kind in _YAML_ERRORS and issubclass(_YAML_ERRORS[kind], MarkedYAMLError):
        raise _YAML_ERRORS[kind](problem=made, problem_mark=_Mark(*place) if place else None)
    if kind == "ConstructorOfPython":
        _unavailable_at(made)
    error = _YAML_ERRORS.get(kind) or getattr(_real, kind, None) or _YAML_ERRORS["ReaderError"]
    if kind == "UnicodeDecodeError":
        error = ValueError
    raise error(made)


def _with_loader(many, needs_loader):
    def load(stream, Loader=None):
        if Loader is None and needs_loader:
            raise TypeError("load() missing 1 required positional argument: 'Loader'")
        if Loader is not None and not (isinstance(Loader, type) and Loader in _YAML_LOADERS):
            _unavailable_at(f"the YAML loader '{getattr(Loader, '__name__', Loader)}'")
        documents = _yaml_load(stream, False, many)
        return iter(documents) if many else documents

    return load


def _yaml_dump(data, stream=None, dialect="all", **options):
    known = {
        "default_flow_style": False,
        "indent": None,
        "width": None,
        "allow_unicode": None,
        "explicit_start": None,
        "explicit_end": None,
        "sort_keys": True,
        "encoding": None,
        "line_break": None,
        "default_style": None,
        "canonical": None,
        "version": None,
        "tags": None,
    }
    dumper = options.pop("Dumper", None)
    if dumper is not None and dumper not in _YAML_DUMPERS:
        _unavailable_at(f"the YAML dumper '{getattr(dumper, '__name__', dumper)}'")
    if dumper is not None and dialect != "salt":
        dialect = _YAML_DUMPERS[dumper]
    for name in options:
        if name not in known:
            raise TypeError(f"dump_all() got an unexpected keyword argument '{name}'")
    given = {**known, **options}
    for name in ("default_style", "canonical", "version", "tags", "explicit_end"):
        if given[name]:
            _unavailable_at(f"yaml.dump with {name}={given[name]!r}")
    if given["line_break"] not in (None, "\n"):
        _unavailable_at(f"yaml.dump with line_break={given['line_break']!r}")
    style, width = given["default_flow_style"], given["width"] or 0
    layout = 2 if style is None else 1 if style else 0
    numbers = [layout, max(0, given["indent"] or 0), int(max(0, min(width, 1 << 40)))]
    flags = [int(bool(given[name])) for name in ("allow_unicode", "sort_keys", "explicit_start")]
    made, problem = native["yaml_dump"](data, dialect, numbers + flags)
    if made is None:
        if dialect == "safe":
            raise _RepresenterError("cannot represent an object", problem)
        _unavailable_at(f"what yaml.dump makes of an object of class '{type(problem).__name__}'")
    if given["encoding"] and stream is None:
        return made.encode(given["encoding"])
    if stream is None:
        return made
    stream.write(made if not given["encoding"] else made.encode(given["encoding"]))


def _of_yaml(kind, **names):
    """A class of loaders or dumpers, which others can derive from as long as nothing depends on what they change."""

    def refuse(*args, **kwargs):
        _unavailable_at(f"what yaml.{kind} does besides loading and dumping")

    made = {"add_constructor": refuse, "add_multi_constructor": refuse, "add_representer": refuse, "__new__": refuse}
    made |= {"add_multi_representer": refuse, "add_implicit_resolver": refuse, "__module__": "yaml"}
    return type(kind, (), made)


_YAML_LOADERS = {_of_yaml(name): None for name in "Loader SafeLoader FullLoader UnsafeLoader BaseLoader CLoader CSafeLoader CFullLoader".split()}
_YAML_LOADERS = {loader: None for loader in _YAML_LOADERS if loader.__name__ != "BaseLoader"}
_YAML_DUMPERS = {_of_yaml("Dumper"): "all", _of_yaml("SafeDumper"): "safe", _of_yaml("CDumper"): "all", _of_yaml("CSafeDumper"): "safe"}


def _safe_dump(data, stream=None, **options):
    return _yaml_dump(data, stream, dialect="safe", **options)


def _dump_all(documents, stream=None, **options):
    _unavailable_at("yaml.dump_all")


_provide("yaml.parser", {"ParserError": _YAML_ERRORS["ParserError"]})
_provide("yaml.scanner", {"ScannerError": _YAML_ERRORS["ScannerError"]})
_provide("yaml.reader", {"ReaderError": _YAML_ERRORS["ReaderError"]})
_provide("yaml.composer", {"ComposerError": _YAML_ERRORS["ComposerError"]})
_provide("yaml.constructor", {"ConstructorError": _YAML_ERRORS["ConstructorError"]})
_provide("yaml.representer", {"RepresenterError": _RepresenterError})
_provide("yaml.error", {"YAMLError": YAMLError, "MarkedYAMLError": MarkedYAMLError, "Mark": _Mark})
_provide(
    "yaml",
    {
        "YAMLError": YAMLError,
        "MarkedYAMLError": MarkedYAMLError,
        "load": _with_loader(False, True),
        "safe_load": _with_loader(False, False),
        "full_load": _with_loader(False, False),
        "unsafe_load": _with_loader(False, False),
        "load_all": _with_loader(True, True),
        "safe_load_all": _with_loader(True, False),
        "full_load_all": _with_loader(True, False),
        "dump": _yaml_dump,
        "safe_dump": _safe_dump,
        "dump_all": _dump_all,
        "safe_dump_all": _dump_all,
        "warnings": lambda settings=None: {},
        **{kind.__name__: kind for kind in [*_YAML_LOADERS, *_YAML_DUMPERS]},
        **{name: _provided[f"yaml.{name}"] for name in "parser scanner reader composer constructor representer error".split()},
    },
)


# --- packaging and looseversion, as far as versions are compared -----------------------------------------------------


def _loose_parts(text):
    parts, part = [], ""
    kinds = []
    for char in text:
        kind = "digit" if char in "0123456789" else "lower" if "a" <= char <= "z" else "dot" if char == "." else "other"
        if kinds and kinds[-1] == kind and kind != "dot":
            part += char
        else:
            if part and part != ".":
                parts.append(part)
            part = char
        kinds.append(kind)
    if part and part != ".":
        parts.append(part)
    return [int(part) if part.isdigit() else part for part in parts]


class _LooseVersion:
    """A version number of any form, compared part by part."""

    def __init__(self, vstring=None):
        if vstring:
            self.parse(vstring)

    def parse(self, vstring):
        self.vstring = vstring
        self.version = _loose_parts(vstring)

    def __str__(self):
        return self.vstring

    def __repr__(self):
        return f"LooseVersion ('{self.vstring}')"

    def _cmp(self, other):
        if isinstance(other, str):
            other = type(self)(other)
        if not isinstance(other, _LooseVersion):
            return NotImplemented
        mine, theirs = self._comparable(other)
        return (mine > theirs) - (mine < theirs)

    def _comparable(self, other):
        return self.version, other.version

    def _compared(test):
        def compare(self, other):
            result = self._cmp(other)
            return result if result is NotImplemented else test(result)

        return compare

    __eq__ = _compared(lambda result: result == 0)
    __ne__ = _compared(lambda result: result != 0)
    __lt__ = _compared(lambda result: result < 0)
    __le__ = _compared(lambda result: result <= 0)
    __gt__ = _compared(lambda result: result > 0)
    __ge__ = _compared(lambda result: result >= 0)

    def __hash__(self):
        return hash(tuple(self.version))


_LooseVersion.__name__ = _LooseVersion.__qualname__ = "LooseVersion"
_provide("looseversion", {"LooseVersion": _LooseVersion})


# Whatever else is asked of these modules is not here.
def _without_the_rest(module):
    def missing(name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Missing("import", f"{module.__name__}.{name}", module.__name__ in _REACHING_OUT)

    if "__getattr__" not in module.__dict__:
        module.__getattr__ = missing


for _module in _provided.values():
    _without_the_rest(_module)
