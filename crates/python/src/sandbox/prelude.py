# What code in the sandbox finds: its builtins, and the modules it may import.
#
# This runs once for each interpreter, with Python's own builtins. `native` holds functions of the host.

import builtins as _real
import codecs as _codecs_module
import types as _types

_raw_getattr, _raw_setattr, _raw_delattr, _raw_hasattr = getattr, setattr, delattr, hasattr
_look, _weigh, _spec, _refused, _printable = (
    native[name] for name in ("getattr", "weigh", "spec", "refused", "printable"))
_MISSING = object()


def _find_codec(name):
    """The one encoding besides ASCII and UTF-8 that modules of the library ask for."""
    if name.lower().replace("-", "_").replace(" ", "_") in ("latin1", "latin_1", "iso8859_1", "iso_8859_1", "l1"):
        return _codecs_module.CodecInfo(_codecs_module.latin_1_encode, _codecs_module.latin_1_decode, name="iso8859-1")
    return None


_codecs_module.register(_find_codec)


class _Fixed(type):
    """The class of what renders share: no template changes what the next one sees."""

    def __setattr__(cls, name, value):
        raise AttributeError(f"'{cls.__name__}.{name}' cannot be changed: other templates see it, too")

    def __delattr__(cls, name):
        raise AttributeError(f"'{cls.__name__}.{name}' cannot be removed: other templates see it, too")


class Refused(ImportError):
    """Something that would reach outside the template."""


def _deny(name):
    if _refused(name):
        raise AttributeError(f"'{name}' is not available to templates: it leads out of the sandbox")


def _getattr(object, name, default=_MISSING, /):
    _deny(name)
    if default is _MISSING:
        return _look(object, name)
    try:
        return _look(object, name)
    except AttributeError:
        return default


def _hasattr(object, name, /):
    _deny(name)
    return _raw_hasattr(object, name)


def _setattr(object, name, value, /):
    _deny(name)
    _raw_setattr(object, name, value)


def _delattr(object, name, /):
    _deny(name)
    _raw_delattr(object, name)


def _vars(*objects):
    if not objects:
        raise TypeError("vars() needs an object here")
    return _look(objects[0], "__dict__")


def _pow(base, exp, mod=None):
    return native["pow"](base, exp) if mod is None else pow(base, exp, mod)


def _format(value, spec="", /):
    _spec(spec)
    return format(_printable(value), spec)


def _print(*values, **options):
    """Prints nowhere: templates have no terminal."""


def _repr(value, /):
    return repr(_printable(value))


def _stand_in(real, check):
    """A class that makes what `real` makes, after a look at the arguments."""

    class Meta(type):
        def __instancecheck__(cls, value):
            return isinstance(value, real)

        def __subclasscheck__(cls, other):
            return other is cls or issubclass(other, real)

        def __call__(cls, *args, **kwargs):
            check(args)
            return real(*args, **kwargs)

        def __repr__(cls):
            return repr(real)

        def __eq__(cls, other):
            return other is cls or other is real

        def __hash__(cls):
            return hash(real)

        def __getattr__(cls, name):
            return _raw_getattr(real, name)

    return Meta(real.__name__, (), {"__slots__": ()})


def _check_bytes(args):
    if args and isinstance(args[0], int):
        _weigh(args[0])


def _check_range(args):
    whole = range(*args)
    steps = (whole.stop - whole.start) // whole.step if whole else 0
    _weigh(steps * 4)


_range = _stand_in(range, _check_range)
_bytes = _stand_in(bytes, _check_bytes)
_bytearray = _stand_in(bytearray, _check_bytes)


def _iter(value, sentinel=_MISSING, /):
    if sentinel is _MISSING:
        return iter(value)
    return _until(value, sentinel)


def _until(call, sentinel):
    while True:
        native["tick"]()
        value = call()
        if value == sentinel:
            return
        yield value


def _build_class(function, name, /, *bases, **keywords):
    metaclass = keywords.get("metaclass", type)
    for kind in [metaclass, *(type(base) for base in bases)]:
        if kind not in _METACLASSES:
            raise TypeError("classes of classes are not available to templates")
    if any(isinstance(base, type) and issubclass(base, type) for base in bases):
        raise TypeError("classes of classes are not available to templates")
    return _real.__build_class__(function, name, *bases, **keywords)


def _plain_names(mapping):
    if mapping is None:
        return {}
    return {name: value for name, value in dict(mapping).items() if isinstance(name, str) and name[:1] != "<"}


def _evaluate(source, mode, globals, locals, here, there):
    """Run text in copies of the given names; `here` and `there` are those of the caller."""
    if not isinstance(source, (str, bytes)):
        raise TypeError(f"{mode}() takes text here")
    text = source if isinstance(source, str) else source.decode()
    code = native["compile"](text.strip() if mode == "eval" else text, mode)
    names = _plain_names(here if globals is None else globals)
    names["__builtins__"] = BUILTINS
    if locals is None and globals is None:
        locals = there
    changed = names if locals is None else _plain_names(locals)
    result = native["run"](code, names, changed)
    kept = globals if locals is None else locals
    if mode == "exec" and isinstance(kept, dict):
        for name, value in changed.items():
            if name != "__builtins__":
                kept[name] = value
    return result


def _unavailable(name):
    def refuse(*args, **kwargs):
        raise Refused(f"'{name}' is not available to templates: it would reach outside of the template")

    refuse.__name__ = name
    return refuse


# --- modules -------------------------------------------------------------------------------------------------

_MODULES = {}
_MODULE = type(_real)


def _public(real):
    names = _raw_getattr(real, "__all__", None) or [name for name in dir(real) if name[:1] != "_"]
    return {name: _raw_getattr(real, name) for name in names if not isinstance(_raw_getattr(real, name), _MODULE)}


def _module(name, names):
    module = _MODULE(name)
    module.__dict__.update(names)
    for gone in ("__loader__", "__spec__"):
        module.__dict__.pop(gone, None)
    return module


def _of(name, **changes):
    """A maker of a module that shows the public names of Python's own."""

    def make():
        real = __import__(name, None, None, ["*"])
        return _module(name, {**_public(real), **changes})

    return make


def _metered(name, **changes):
    """The same for a module that is rewritten like a template."""

    def make():
        return _module(name, {**_public(native["metered"](name)), **changes})

    return make


def _math():
    import math

    def factorial(n, /):
        _weigh(n * n if isinstance(n, int) and n < 100_000 else 1 << 40)
        return math.factorial(n)

    def small(function):
        def call(n, k=None, /):
            _weigh(n * 1000 if isinstance(n, int) and n < 60_000 else 1 << 40)
            return function(n) if k is None else function(n, k)

        return call

    def prod(values, /, *, start=1):
        for value in values:
            start = native["mul"](start, value)
        return start

    return _module("math", {**_public(math), "factorial": factorial, "comb": small(math.comb),
                            "perm": small(math.perm), "prod": prod})


def _itertools():
    import itertools

    def metered(function):
        def call(*args, **kwargs):
            return _each(function(*args, **kwargs))

        call.__name__ = function.__name__
        return call

    def tee(iterable, n=2):
        _weigh(n * 1000)
        return itertools.tee(iterable, n)

    names = {name: metered(value) if name not in ("chain", "groupby", "tee", "islice") else value
             for name, value in _public(itertools).items()}
    return _module("itertools", {**names, "tee": tee})


def _each(iterable):
    for value in iterable:
        native["tick"]()
        yield value


def _operator():
    import operator

    def attrgetter(*names):
        for name in names:
            for part in name.split("."):
                _deny(part)

        def one(object, name):
            for part in name.split("."):
                object = _look(object, part)
            return object

        if len(names) == 1:
            return lambda object: one(object, names[0])
        return lambda object: tuple(one(object, name) for name in names)

    def methodcaller(name, /, *args, **kwargs):
        _deny(name)
        return lambda object: _look(object, name)(*args, **kwargs)

    changes = {"attrgetter": attrgetter, "methodcaller": methodcaller, "add": native["add"], "concat": native["add"],
               "mul": native["mul"], "pow": native["pow"], "lshift": native["lshift"], "mod": native["mod"],
               "iadd": native["iadd"], "iconcat": native["iadd"], "imul": native["imul"], "ipow": native["ipow"],
               "ilshift": native["ilshift"], "imod": native["imod"]}
    names = {name: value for name, value in _public(operator).items() if name[:2] != "__"}
    names.pop("call", None)
    return _module("operator", {**names, **changes})


def _functools():
    import functools

    def update_wrapper(wrapper, wrapped, assigned=functools.WRAPPER_ASSIGNMENTS, updated=functools.WRAPPER_UPDATES):
        for name in (*assigned, *updated):
            _deny(name)
        return functools.update_wrapper(wrapper, wrapped, assigned, updated)

    def wraps(wrapped, assigned=functools.WRAPPER_ASSIGNMENTS, updated=functools.WRAPPER_UPDATES):
        return lambda wrapper: update_wrapper(wrapper, wrapped, assigned, updated)

    return _module("functools", {**_public(functools), "update_wrapper": update_wrapper, "wraps": wraps})


def _string():
    import string

    class Formatter(string.Formatter):
        def get_field(self, field_name, args, kwargs):
            for part in field_name.replace("[", ".").split("."):
                _deny(part)
            return super().get_field(field_name, args, kwargs)

        def format_field(self, value, format_spec):
            return _format(value, format_spec)

    return _module("string", {**_public(string), "Formatter": Formatter})


def _json():
    import json

    def dumps(value, **options):
        return json.dumps(_printable(value), **options)

    names = {**_public(json), "dumps": dumps}
    for name in ("load", "dump"):
        names.pop(name, None)
    return _module("json", names)


def _copy():
    import copy

    def deepcopy(value, memo=None):
        return copy.deepcopy(value, memo)

    return _module("copy", {"copy": copy.copy, "deepcopy": deepcopy, "Error": copy.Error})


def _time():
    import time

    names = ("time", "time_ns", "gmtime", "strftime", "mktime", "asctime", "ctime", "struct_time", "strptime")
    shown = {name: _raw_getattr(time, name) for name in names if _raw_hasattr(time, name)}
    return _module("time", {**shown, "localtime": time.gmtime, "timezone": 0, "tzname": ("UTC", "UTC")})


def _os():
    module = _module("os", {"path": _import("os.path", fromlist=("*",)), "sep": "/", "linesep": "\n", "curdir": ".",
                            "pardir": "..", "extsep": ".", "pathsep": ":", "name": "posix"})
    module.__getattr__ = lambda name: _outside("os", name)
    return module


def _outside(module, name):
    raise Refused(f"'{module}.{name}' is not available to templates: it would reach outside of the template")


def _path():
    import posixpath

    module = _module("posixpath", _public(posixpath))
    module.__getattr__ = lambda name: _outside("os.path", name)
    return module


def _hashlib():
    import hashlib

    names = {name: value for name, value in _public(hashlib).items()
             if name not in ("file_digest", "scrypt", "pbkdf2_hmac")}
    return _module("hashlib", names)


def _re():
    import re

    names = {name: value for name, value in _public(re).items() if name not in ("purge", "template")}
    return _module("re", names)


def _collections():
    import collections

    module = _module("collections", _public(collections))
    module.abc = _import("collections.abc", fromlist=("*",))
    return module


def _future():
    return _module("__future__", {name: None for name in (
        "annotations", "print_function", "unicode_literals", "absolute_import", "division", "generator_stop")})


_MAKERS = {
    "__future__": _future,
    "base64": _of("base64"),
    "bisect": _of("bisect"),
    "calendar": _of("calendar"),
    "collections": _collections,
    "collections.abc": _of("collections.abc"),
    "copy": _copy,
    "datetime": _of("datetime"),
    "functools": _functools,
    "hashlib": _hashlib,
    "heapq": _of("heapq"),
    "ipaddress": _metered("ipaddress"),
    "itertools": _itertools,
    "json": _json,
    "math": _math,
    "operator": _operator,
    "os": _os,
    "os.path": _path,
    "posixpath": _path,
    "random": _of("random"),
    "re": _re,
    "string": _string,
    "textwrap": _metered("textwrap"),
    "time": _time,
}


def _import(name, globals=None, locals=None, fromlist=(), level=0):
    if level:
        raise Refused("relative imports are not available to templates")
    if name not in _MAKERS:
        known = ", ".join(sorted(key for key in _MAKERS if key[:2] != "__"))
        raise Refused(f"module '{name}' is not available to templates, only {known}")
    if name not in _MODULES:
        _MODULES[name] = _MAKERS[name]()
    if fromlist:
        return _MODULES[name]
    top = name.split(".")[0]
    return _MODULES[name] if top == name else _import(top)


def _import_as(name):
    return _import(name, fromlist=("*",))


def _import_from(module, *names):
    source = _import(module, fromlist=names)
    values = []
    for name in names:
        if f"{module}.{name}" in _MAKERS:
            values.append(_import(f"{module}.{name}", fromlist=("*",)))
        elif _raw_hasattr(source, name):
            _deny(name)
            values.append(_raw_getattr(source, name))
        else:
            raise ImportError(f"cannot import name '{name}' from '{module}'")
    return tuple(values)


def _import_names(module):
    """What `from module import *` binds."""
    return {name: value for name, value in vars(_import(module, fromlist=("*",))).items() if name[:1] != "_"}


def forget():
    """Give the next run modules of its own."""
    _MODULES.clear()


_HIDDEN = {"open", "input", "breakpoint", "exit", "quit", "help", "copyright", "credits", "license", "compile",
           "memoryview", "anext", "aiter"}

BUILTINS = {name: value for name, value in vars(_real).items() if name not in _HIDDEN and name[:1] != "_"}
BUILTINS.update({
    "__build_class__": _build_class, "__import__": _import, "__name__": "template", "__debug__": True,
    "getattr": _getattr, "hasattr": _hasattr, "setattr": _setattr, "delattr": _delattr, "vars": _vars,
    "range": _range, "bytes": _bytes, "bytearray": _bytearray, "pow": _pow, "format": _format, "print": _print,
    "repr": _repr, "ascii": lambda value, /: ascii(_printable(value)), "iter": _iter, "eval": native["eval"], "exec": native["exec"],
    "globals": native["globals"], "locals": native["locals"],
})
for _name in ("open", "input", "breakpoint", "compile", "exit", "quit", "help"):
    BUILTINS[_name] = _unavailable(_name)
for _name, _value in native["rewritten"].items():
    BUILTINS[_name] = _value
BUILTINS[native["name"]("import")] = _import
BUILTINS[native["name"]("importas")] = _import_as
BUILTINS[native["name"]("importfrom")] = _import_from

import abc as _abc
import enum as _enum

_METACLASSES = {type, _abc.ABCMeta, _enum.EnumType, type(_range), type(_bytes), type(_bytearray), _Fixed}

import collections as _collections_module

ordered = _collections_module.OrderedDict


def _ordered_repr(self):
    # The words of Python up to 3.11, which Salt runs on.
    return f"{type(self).__name__}({list(self.items())!r})" if self else f"{type(self).__name__}()"


ordered.__repr__ = _ordered_repr


class _SyntaxError(SyntaxError):
    """Text given to eval() or exec() that is no code."""


_SyntaxError.__name__ = "SyntaxError"
BUILTINS[native["name"]("importall")] = native["importall"]


# --- the minion's functions ----------------------------------------------------------------------------------


class CommandExecutionError(Exception):
    """A function of the minion refused its call."""


class _Functions(metaclass=_Fixed):
    """`salt['module.function'](...)` and `salt.module.function(...)`."""

    __slots__ = ()

    def __getitem__(self, name):
        if native["has_function"](name):
            return _Function(name)
        raise KeyError(name)

    def __contains__(self, name):
        return isinstance(name, str) and native["has_function"](name)

    def get(self, name, default=None):
        return self[name] if name in self else default

    def __getattr__(self, name):
        if native["has_module"](name):
            return _Functions_of(name)
        raise AttributeError(name)

    def __repr__(self):
        return "<salt functions>"


class _Functions_of(metaclass=_Fixed):
    __slots__ = ("_module",)

    def __init__(self, module):
        self._module = module

    def __getattr__(self, name):
        if native["has_function"](f"{self._module}.{name}"):
            return _Function(f"{self._module}.{name}")
        raise AttributeError(name)


class _Function(metaclass=_Fixed):
    __slots__ = ("_name",)

    def __init__(self, name):
        self._name = name

    def __call__(self, *args, **kwargs):
        return native["call"](self._name, *args, **kwargs)

    def __repr__(self):
        return f"<function {self._name}>"


functions = _Functions()
