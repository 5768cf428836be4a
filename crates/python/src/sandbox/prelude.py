# What templates find besides what Python has: the minion's functions, and words for what is not there.
#
# This runs once, before any template. What keeps a template in is not here, but around the process.

import _io as _io_module
import builtins as _real
import codecs as _codecs_module
import posixpath as _posixpath_module
import sys as _sys_module
import time as _time_module


def _find_codec(name):
    """The one encoding besides ASCII and UTF-8 that modules of the library ask for."""
    if name.lower().replace("-", "_").replace(" ", "_") in ("latin1", "latin_1", "iso8859_1", "iso_8859_1", "l1"):
        return _codecs_module.CodecInfo(_codecs_module.latin_1_encode, _codecs_module.latin_1_decode, name="iso8859-1")
    return None


_codecs_module.register(_find_codec)

import collections as _collections_module
import gc as _gc_module

_sys_module.modules["os.path"] = _posixpath_module


def forget():
    """Before each job. A pattern that is kept for some flags is found for others that are equal and not allowed, such as 2.0."""
    if "re" in _sys_module.modules:
        _sys_module.modules["re"].purge()


def settle():
    """What is here stays: the collector need not look at it. Otherwise its first pass in a session writes to every object,
    and the kernel copies the page of each."""
    _gc_module.collect()
    _gc_module.freeze()


# There is one time zone.
_time_module.localtime = _time_module.gmtime
_time_module.timezone, _time_module.altzone, _time_module.daylight = 0, 0, 0
_time_module.tzname = ("UTC", "UTC")


class Refused(ImportError):
    """Something that would reach outside the template."""


def _unavailable(name):
    def refuse(*args, **kwargs):
        raise Refused(f"'{name}' is not available to templates: it would reach outside of the template")

    refuse.__name__ = name
    return refuse


def _print(*values, **options):
    """Prints nowhere: templates have no terminal."""


_import_module = _real.__import__


def _import(name, globals=None, locals=None, fromlist=(), level=0):
    try:
        return _import_module(name, globals, locals, fromlist, level)
    except ImportError as error:
        if name in _sys_module.modules or name in native["modules"]:
            raise
        if isinstance(error, Refused):
            raise
        raise ModuleNotFoundError(f"No module named '{name}': templates have those that need no machine") from None


def _own_module(name, names):
    """A module that templates can import."""
    module = type(_real)(name)
    module.__dict__.update(names)
    _sys_module.modules[name] = module
    return module


BUILTINS = dict(vars(_real))
BUILTINS.update({"__import__": _import, "__name__": "template", "print": _print})
for _name in ("open", "input", "breakpoint", "help"):
    BUILTINS[_name] = _unavailable(_name)
BUILTINS[native["tick_name"]] = native["tick"]
BUILTINS[native["note_name"]] = native["note"]
BUILTINS[native["unfold_name"]] = native["unfold"]


def _import_as(name):
    return _import(name, fromlist=("*",))


ordered = _collections_module.OrderedDict


def _ordered_repr(self):
    # The words of Python up to 3.11, which Salt runs on.
    return f"{type(self).__name__}({list(self.items())!r})" if self else f"{type(self).__name__}()"


ordered.__repr__ = _ordered_repr


class _Bunch(dict):
    """A dict whose items are attributes, as Salt's renderer `stateconf` gives to templates."""

    def __getattr__(self, name):
        return self[name]


_Bunch.__name__ = _Bunch.__qualname__ = "Bunch"
ordered._bunch = _Bunch


# --- the minion's functions ----------------------------------------------------------------------------------


class SaltException(Exception):
    """The base of the exceptions of Salt."""

    def __init__(self, message=""):
        message = message if isinstance(message, str) else str(message)
        super().__init__(message)
        self.message = self.strerror = message


class CommandExecutionError(SaltException):
    """A function of the minion refused its call."""


class _Functions:
    """`salt['module.function'](...)` and `salt.module.function(...)`."""

    __slots__ = ()

    def __getitem__(self, name):
        # What only a minion can answer is there, and its call has no answer here.
        if native["has_function"](name) or isinstance(name, str) and native["find"]("modules", name)[1]:
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


class _Functions_of:
    __slots__ = ("_module",)

    def __init__(self, module):
        self._module = module

    def __getattr__(self, name):
        if native["has_function"](f"{self._module}.{name}"):
            return _Function(f"{self._module}.{name}")
        raise AttributeError(name)


class _Function:
    __slots__ = ("_name",)

    def __init__(self, name):
        self._name = name

    def __call__(self, *args, **kwargs):
        return native["call"](self._name, *args, **kwargs)

    def __repr__(self):
        return f"<function {self._name}>"


functions = _Functions()
