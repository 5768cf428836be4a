# The modules that a tree ships for Salt's loaders, such as `salt://_modules/*.py`, and what they find besides what
# templates have.
#
# The rule for what is not here: it is never answered by chance. What a module imports that the sandbox lacks is a
# `Missing`. It can be passed around, since most functions never touch what their module imports for others. Whatever
# would need its value, or do something with it, ends the job with an error that names it. Code cannot catch that.

import copy as _copy_module
import json as _json_module


class Unavailable(BaseException):
    """Ends the job: nothing is known of what the code would do."""


# Whether a module is being loaded, so that decorators from elsewhere may be applied.
_loading = [0]


def _unavailable_at(what):
    native["unavailable"](f"{what} is not available offline")


class Missing:
    """Something that a module imports and the sandbox does not have."""

    __slots__ = ("_what", "_name", "_reaches_out")

    def __init__(self, what, name, reaches_out):
        object.__setattr__(self, "_what", what)
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "_reaches_out", reaches_out)

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            _needs(self)
        return Missing(self._what, f"{self._name}.{name}", self._reaches_out)

    def __call__(self, *args, **kwargs):
        # While a module loads, this is a decorator, an object to use later, or a class to derive from.
        if _loading[0] and not self._reaches_out:
            return Missing(self._what, f"{self._name}()", False)
        _needs(self)

    def __mro_entries__(self, bases):
        missing = self

        class Base:
            def __new__(cls, *args, **kwargs):
                _needs(missing)

        return (Base,)


def _needs(missing, *args, **kwargs):
    _unavailable_at(f"'{missing._name}'")


for _name in (
    "bool eq ne lt le gt ge hash len iter next contains getitem setitem delitem reversed int float complex index str repr "
    "format bytes add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow and rand or ror xor rxor "
    "lshift rlshift rshift rrshift neg pos abs invert enter exit setattr delattr instancecheck subclasscheck fspath round "
    "copy deepcopy reduce_ex dir get set iadd await aiter anext aenter aexit"
).split():
    setattr(Missing, f"__{_name}__", _needs)


# --- what modules import -------------------------------------------------------------------------------------------

# Of Python 2; Salt runs on Python 3, where importing them fails.
_GONE = frozenset(
    "__builtin__ BaseHTTPServer ConfigParser Cookie HTMLParser Queue SocketServer StringIO UserDict cPickle cStringIO "
    "commands compiler cookielib copy_reg exceptions httplib md5 new sets sha thread urllib2 urlparse xmlrpclib imp "
    "distutils asyncore asynchat smtpd".split()
)

# Modules of Python's library whose functions do something, or look at the machine, when they are called.
_REACHING_OUT = frozenset(
    "asyncio ctypes fcntl ftplib getpass glob grp http imaplib importlib io multiprocessing os pathlib pkgutil platform "
    "poplib pty pwd resource select shutil signal smtplib socket sqlite3 ssl stat subprocess sys sysconfig syslog tempfile "
    "termios threading time urllib uuid venv zipfile tarfile fileinput spwd crypt".split()
)

# Full names of modules with what they are.
_provided = {}


def _provide(name, names):
    module = type(_real)(name)
    module.__dict__.update(names)
    _provided[name] = module
    return module


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


_provide("logging", _logging())


class _Typing:
    """Stands in annotations, which nothing looks at."""

    def __getitem__(self, item):
        return self

    def __or__(self, other):
        return self

    __ror__ = __or__

    def __call__(self, *args, **kwargs):
        return self


def _typing():
    names = {"TYPE_CHECKING": False, "cast": lambda kind, value: value, "overload": _same, "final": _same}
    for name in (
        "Any Dict List Optional Union Tuple Set FrozenSet Callable Iterable Iterator Mapping MutableMapping Sequence Type "
        "Generator Literal Text AnyStr NoReturn ClassVar Final TypeVar Pattern Match Collection DefaultDict OrderedDict"
    ).split():
        names[name] = _Typing()
    return names


def _same(function):
    return function


_provide("typing", _typing())

# Of `io`, what is in memory.
_provide("io", {"StringIO": _io_module.StringIO, "BytesIO": _io_module.BytesIO})
_provided["io"].__getattr__ = lambda name: _attribute_of_io(name)


def _attribute_of_io(name):
    if name.startswith("__") and name.endswith("__"):
        raise AttributeError(name)
    return Missing("import", f"io.{name}", True)


# The classes of `salt.exceptions`: each line has a base and what derives from it.
_EXCEPTIONS = """
SaltException: SaltClientError SaltMasterError SaltNoMinionsFound SaltSyndicMasterError SaltMasterUnresolvableError
SaltException: AuthenticationError CommandNotFoundError LoaderError PublishError MinionError FileserverConfigError
SaltException: FileLockError GitLockError GitRemoteError PkgParseError SaltRenderError SaltClientTimeout SaltCacheError
SaltException: TimeoutError SaltReqTimeoutError TimedProcTimeoutError EauthAuthenticationError TokenAuthenticationError
SaltException: TokenExpiredError SaltDeserializationError AuthorizationError SaltValidationError UnsupportedAlgorithm
SaltException: SaltDaemonNotRunning SaltRunnerError SaltWheelError SaltConfigurationError SaltCloudException
SaltException: NotImplemented TemplateError MissingSmb NxosError
CommandExecutionError: ArgumentValueError CheckError InvalidConfigError InvalidEntityError VMwareSaltError CodePageError
"""


def _exceptions():
    names = {"SaltException": SaltException, "CommandExecutionError": CommandExecutionError}
    for line in _EXCEPTIONS.split("\n"):
        base, _, derived = line.partition(":")
        for name in derived.split():
            names[name] = type(name, (names[base],), {})
    for name, base in (("SaltInvocationError", TypeError), ("InvalidKeyError", ValueError)):
        names[name] = type(name, (SaltException, base), {"__new__": lambda cls, *args: Exception.__new__(cls, *args)})
    names["LoggingRuntimeError"] = type("LoggingRuntimeError", (RuntimeError,), {})
    return names


_provide("salt.exceptions", _exceptions())
_provide("salt.utils.odict", {"OrderedDict": ordered, "DefaultOrderedDict": _collections_module.defaultdict})


def _registering(name):
    """What a template is given under a name stays a function like any other."""
    return _same


_provide(
    "salt.utils.decorators.jinja",
    {"jinja_filter": _registering, "jinja_test": _registering, "jinja_global": _registering},
)


def _update(dest, upd, recursive_update=True, merge_lists=False):
    """`salt.utils.dictupdate.update`."""
    if not isinstance(dest, dict) or not isinstance(upd, dict):
        raise TypeError("Cannot update using non-dict types in dictupdate.update()")
    for key in list(upd.keys()):
        val = upd[key]
        old = dest.get(key) if recursive_update else None
        if recursive_update and isinstance(old, dict) and isinstance(val, dict):
            dest[key] = _update(old, val, merge_lists=merge_lists)
        elif recursive_update and merge_lists and isinstance(old, list) and isinstance(val, list):
            merged = _copy_module.deepcopy(old)
            merged.extend(x for x in val if x not in merged)
            dest[key] = merged
        else:
            dest[key] = val
    return dest


def _merge(obj_a, obj_b, strategy="smart", renderer="yaml", merge_lists=False):
    """`salt.utils.dictupdate.merge`, which is what a function of the minion does."""
    return native["call"]("slsutil.merge", obj_a, obj_b, strategy, renderer, merge_lists)


def _merge_recurse(obj_a, obj_b, merge_lists=False):
    return _update(_copy_module.deepcopy(obj_a), obj_b, merge_lists=merge_lists)


_provide("salt.utils.dictupdate", {"update": _update, "merge": _merge, "merge_recurse": _merge_recurse})
_provide(
    "salt.utils.json",
    {"loads": lambda s, **kwargs: _json_module.loads(s, **kwargs), "dumps": lambda obj, **kwargs: _salt_dumps(obj, kwargs)},
)


def _salt_dumps(obj, kwargs):
    kwargs.pop("_json_module", None)
    kwargs.setdefault("ensure_ascii", False)
    return _json_module.dumps(obj, **kwargs)


def _to_text(s, encoding=None, errors="strict", normalize=False):
    if isinstance(s, str):
        return s
    if isinstance(s, (bytes, bytearray)):
        return bytes(s).decode(encoding or "utf-8", errors)
    raise TypeError(f"expected str, bytes, or bytearray not {type(s)}")


def _to_bytes(s, encoding=None, errors="strict"):
    if isinstance(s, (bytes, bytearray)):
        return bytes(s)
    if isinstance(s, str):
        return s.encode(encoding or "utf-8", errors)
    raise TypeError("expected str, bytes, or bytearray")


_provide(
    "salt.utils.stringio",
    {
        "is_stringio": lambda obj: isinstance(obj, _io_module.StringIO),
        "is_readable": lambda obj: isinstance(obj, _io_module.StringIO) and obj.readable(),
        "is_writable": lambda obj: isinstance(obj, _io_module.StringIO) and obj.writable(),
    },
)
_provide("salt.utils.stringutils", {"to_str": _to_text, "to_unicode": _to_text, "to_bytes": _to_bytes})


def _kernel(*names):
    return lambda: _fact("__system__").get("kernel") in names


_provide(
    "salt.utils.platform",
    {
        "is_windows": _kernel("Windows"),
        "is_linux": _kernel("Linux"),
        "is_darwin": _kernel("Darwin"),
        "is_freebsd": _kernel("FreeBSD"),
        "is_openbsd": _kernel("OpenBSD"),
        "is_netbsd": _kernel("NetBSD"),
        "is_sunos": _kernel("SunOS"),
        "is_aix": _kernel("AIX"),
    },
)


class _Package:
    """A package of Salt, of which some modules are here."""

    def __init__(self, name):
        self.__dict__["_name"] = name

    def __getattr__(self, name):
        return _of_salt(f"{self._name}.{name}", self._name)


def _of_salt(name, package):
    """A module of Salt, or a part of one."""
    if name in _provided:
        return _provided[name]
    if name in _salt_modules:
        is_package = name in _whole_packages or any(other.startswith(name + ".") for other in _provided)
        return _Package(name) if is_package else Missing("import", name, False)
    if package in _whole_packages:
        raise AttributeError(f"module '{package}' has no attribute '{name.rpartition('.')[2]}'")
    return Missing("import", name, False)


# Every module of Salt in these packages is in the list, and the packages themselves define nothing.
_salt_modules = frozenset(native["salt_modules"].split())
_whole_packages = ("salt.utils", "salt.ext")
for _module_of_salt in _provided.values():
    _package = _module_of_salt.__name__
    if _package.startswith("salt."):
        _module_of_salt.__getattr__ = (lambda package: lambda name: _attribute_of_salt(package, name))(_package)


def _attribute_of_salt(package, name):
    if name.startswith("__") and name.endswith("__"):
        raise AttributeError(name)
    return Missing("import", f"{package}.{name}", False)


def _import_of_salt(name):
    """The module of a full name."""
    parts = name.split(".")
    module, known = _Package("salt"), "salt"
    for part in parts[1:]:
        package, known = known, f"{known}.{part}"
        if known not in _salt_modules and (package in _whole_packages or package == "salt"):
            raise ModuleNotFoundError(f"No module named '{known}'", name=known)
        module = getattr(module, part)
    return module


def _module_import(name, globals=None, locals=None, fromlist=(), level=0):
    if globals is None or globals.get("__builtins__") is not MODULE_BUILTINS:
        # The library imports its own parts.
        return _import_module(name, globals, locals, fromlist, level)
    if level:
        _unavailable_at(f"what is imported relative to the module ('from {'.' * level}{name} import …')")
    top = name.partition(".")[0]
    if top == "salt":
        module = _import_of_salt(name)
        if not fromlist:
            return _Package("salt")
        for part in fromlist:
            if part == "*":
                _unavailable_at(f"'from {name} import *'")
            try:
                getattr(module, part)
            except AttributeError:
                raise ImportError(f"cannot import name '{part}' from '{name}'", name=name) from None
        return module
    if name in _provided:
        return _provided[name]
    if top in _GONE:
        raise ModuleNotFoundError(f"No module named '{name}'", name=name)
    if top == "__future__" or name in native["modules"] or name in _sys_module.modules or top in _sys_module.builtin_module_names:
        if top == "__future__":
            return _future
        return _import_module(name, globals, locals, fromlist, level)
    module = _plain(top)
    if module is not None:
        if name != top:
            _unavailable_at(f"'{name}'")
        return module
    return Missing("import", name if fromlist else top, top in _REACHING_OUT)


_plain_modules = {}


def _plain(name):
    """A file beside the modules, or among the utility modules, that is imported by its name."""
    if name not in _plain_modules:
        _plain_modules[name] = None
        for kind in ("modules", "utils"):
            for path, text, unit in native["find"](kind, name + ".")[0]:
                if path.rpartition("/")[2] == name + ".py" and _plain_modules[name] is None:
                    module = _plain_modules[name] = type(_real)(name)
                    module.__dict__["__builtins__"] = MODULE_BUILTINS
                    native["run_unit"](unit, module.__dict__)
    return _plain_modules[name]


class _Future:
    def __getattr__(self, name):
        return None


_future = _Future()


def _reaching_out(name):
    return Missing("builtin", name, True)


MODULE_BUILTINS = dict(BUILTINS)
MODULE_BUILTINS["__import__"] = _module_import
for _name in ("open", "input", "breakpoint", "help"):
    MODULE_BUILTINS[_name] = _reaching_out(_name)


# What the library has of `os` and others, and modules of the tree do not.
_of_library = {}


def _enter_module_mode():
    """What looks at the machine, or pretends there is none, is missing from now on."""
    import os

    _real.__import__ = _module_import
    for module, shown, hidden in (
        (os, "os", ("environ", "urandom")),
        (os.path, "os.path", ()),
        (_time_module, "time", ("sleep",)),
    ):
        for name in hidden:
            _of_library[shown, name] = module.__dict__.pop(name, None)
        module.__getattr__ = (lambda shown: lambda name: _attribute(shown, name))(shown)


def _attribute(shown, name):
    # The library looks for what may not be there, and is not asked by the tree for its own sake.
    is_of_tree = _sys_module._getframe(2).f_globals.get("__builtins__") is MODULE_BUILTINS
    if not is_of_tree and (shown, name) in _of_library:
        return _of_library[shown, name]
    if not is_of_tree or (name.startswith("__") and name.endswith("__")):
        raise AttributeError(name)
    return Missing("import", f"{shown}.{name}", True)


# --- loading -------------------------------------------------------------------------------------------------------

_TAGS = {"modules": "module", "utils": "utils", "renderers": "render", "states": "states", "grains": "grains"}
_facts = {}


def _fact(name):
    if name not in _facts:
        _facts[name] = native["fact"](name)
    return _facts[name]


class Loaded:
    """A module that was loaded: its names, and its functions."""

    def __init__(self, names, functions, reason, declines=False):
        self.names, self.functions, self.reason = names, functions, reason
        # Whether it says itself that it is not for this minion.
        self.declines = declines


def _stem(path):
    stem = path.rpartition("/")[2]
    if stem == "__init__.py":
        stem = path.split("/")[-2]
    return stem[:-3] if stem.endswith(".py") else stem


def _pack(loader, module, text):
    """The names that Salt's loader sets in every module."""
    given = module.__dict__
    orig = given.get("__opts__")
    for name in ("__opts__", "__grains__", "__pillar__"):
        if name in text:
            given[name] = _fact(name)
    if isinstance(orig, dict) and "__opts__" in given:
        given["__opts__"] = {**given["__opts__"], **orig}
    given["__context__"] = context
    # Grains are computed before there are execution modules.
    if loader != "grains":
        given["__salt__"] = modules
    if loader != "renderers":
        given["__utils__"] = utils
    for name in ("__proxy__", "__states__", "__serializers__", "__returners__", "__runner__", "__ret__", "__file_client__"):
        if name in text:
            given[name] = Missing("dunder", name, True)


def _load(loader, path, unit, text):
    stem = _stem(path)
    module = type(_real)(f"salt.loaded.ext.{_TAGS[loader]}.{stem}")
    given = module.__dict__
    given["__builtins__"] = MODULE_BUILTINS
    given["__file__"] = Missing("dunder", "__file__", True)
    _loading[0] += 1
    try:
        try:
            native["run_unit"](unit, given)
        except Exception as error:
            return _unloaded(stem, path, error)
        _pack(loader, module, text)
        init = given.get("__init__")
        if isinstance(init, _types_function):
            try:
                init(_fact("__opts__"))
            except TypeError:
                pass
            except Exception as error:
                return _unloaded(stem, path, error)
    finally:
        _loading[0] -= 1
    loads, name, reason, aliases = _virtual(given, stem)
    if not loads:
        why = f": {reason}" if reason else ""
        reason = f"__virtual__() of salt://{path} returns a false value{why}"
        return Loaded((name, stem), {}, reason, declines="__virtual__() raised" not in why)
    return Loaded((name, *aliases), _functions_of(given), None)


_types_function = type(_load)


def _unloaded(stem, path, error):
    """A module that fails to load. Salt writes to its log why, and goes on without it."""
    line, at = None, error.__traceback__
    while at is not None:
        # Code of the tree is named by its unit.
        if at.tb_frame.f_code.co_filename.startswith("<unit "):
            line = at.tb_lineno
        at = at.tb_next
    if line is None:
        line = getattr(error, "lineno", None)
    place = f"{path}:{line}" if line else path
    return Loaded((stem,), {}, f"salt://{place} does not load: {type(error).__name__}: {error}")


def _virtual(given, name):
    """Whether a module loads, its name, why it does not, and its other names."""
    aliases = given.get("__virtual_aliases__", ())
    function = given.get("__virtual__")
    if not isinstance(function, _types_function):
        return True, name, None, aliases
    reason = None
    try:
        virtual = function()
        if isinstance(virtual, tuple):
            virtual, reason = virtual[0], virtual[1]
    except Exception as error:
        virtual, reason = None, f"__virtual__() raised {type(error).__name__}: {error}"
    virtualname = given.get("__virtualname__", virtual)
    if not virtual:
        if "__virtualname__" in given and isinstance(virtualname, str) and virtualname:
            name = virtualname
        return False, name, reason and str(reason), aliases
    if virtual is not True and name != virtual:
        name = virtualname
    elif virtual is True and virtualname is not True and virtualname != name:
        name = virtualname
    return True, name, None, aliases


def _functions_of(given):
    names = given.get("__load__", given.get("__all__", sorted(given)))
    alias = given.get("__func_alias__", {})
    out = {}
    for attr in names:
        if attr.startswith("_"):
            continue
        function = given[attr]
        if isinstance(function, Missing):
            # A decorator from elsewhere was applied; what it made is not known.
            out.setdefault(alias.get(attr, attr), function)
            continue
        if not isinstance(function, (_types_function, _partial)):
            continue
        if not str(getattr(function, "__module__", "")).startswith("salt.loaded"):
            continue
        out.setdefault(alias.get(attr, attr), function)
    return out


class Loader:
    """Functions of the tree's modules by their full names."""

    def __init__(self, kind):
        self._kind, self._loaded = kind, {}

    def _tried(self, name):
        """The modules that may have a function, by its full name, one after the other."""
        for path, text, unit in native["find"](self._kind, name)[0]:
            if path not in self._loaded:
                self._loaded[path] = _load(self._kind, path, unit, text)
            yield self._loaded[path]

    def _find(self, name):
        """What the tree has of that full name, whether Salt knows it besides, and why the tree has not."""
        module, _, function = name.partition(".")
        reason, is_shipped = None, False
        # Files with other names that take the name of a file, too, are asked when that file has no such function.
        for asked in (name, "*" + name):
            for loaded in self._tried(asked):
                is_shipped = True
                if module in loaded.names:
                    if loaded.reason is None and function in loaded.functions:
                        return loaded, False, None
                    reason = reason or loaded.reason
            if not is_shipped:
                break
        return None, native["find"](self._kind, name)[1], reason

    def _names(self, module):
        """The functions of all files that have the name of a module, or why there are none."""
        names, reason = set(), None
        for loaded in self._tried(module):
            if module.lstrip("*") in loaded.names:
                names.update(loaded.functions)
                reason = reason or loaded.reason
        return ("names", sorted(names)) if names or reason is None else ("missing", reason)

    def __getitem__(self, name):
        if not isinstance(name, str) or "." not in name:
            raise KeyError(name)
        loaded, known, _ = self._find(name)
        if loaded is not None:
            return loaded.functions[name.partition(".")[2]]
        if known:
            return self._other(name)
        raise KeyError(name)

    def __contains__(self, name):
        if not isinstance(name, str) or "." not in name:
            return False
        loaded, _, _ = self._find(name)
        return loaded is not None or self._has_other(name)

    def get(self, name, default=None):
        return self[name] if name in self else default

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return _LoaderOf(self, name)

    def _all(self, *args):
        _unavailable_at(f"the list of all that is in '__{'salt' if self._kind == 'modules' else self._kind}__'")

    __iter__ = __len__ = __bool__ = keys = values = items = _all


class _LoaderOf:
    __slots__ = ("_loader", "_module")

    def __init__(self, loader, module):
        self._loader, self._module = loader, module

    def __getattr__(self, name):
        try:
            return self._loader[f"{self._module}.{name}"]
        except KeyError:
            raise AttributeError(name) from None


class _Modules(Loader):
    def _other(self, name):
        return _Function(name)

    def _has_other(self, name):
        return native["has_function"](name)


class _Utils(Loader):
    def _other(self, name):
        return Missing("utils", f"__utils__['{name}']", True)

    _has_other = _other


class _Own(Loader):
    """Functions that only the tree has: those of Salt are not in the sandbox."""

    def _other(self, name):
        raise KeyError(name)

    def _has_other(self, name):
        return False


modules = _Modules("modules")
utils = _Utils("utils")
loaders = {"modules": modules, "utils": utils, "renderers": _Own("renderers"), "states": _Own("states")}
context = {}


def _grains_of(stem, function, given):
    """The functions of a file of grains in their order, or what one of them returns.

    `given` is what Salt gives to functions that name it.
    """
    for path, text, unit in native["find"]("grains", stem + ".")[0]:
        loaded = _load("grains", path, unit, text)
        if loaded.declines:
            return "names", []
        if loaded.reason is not None:
            return "missing", loaded.reason
        if function is None:
            # What is imported from elsewhere is not a function of the file, unless it was applied to one.
            return "names", [name for name, what in loaded.functions.items() if not _is_imported(what)]
        called = loaded.functions[function]
        if isinstance(called, Missing):
            _needs(called)
        names = _parameters(called)
        made = called(**{name: value for name, value in given.items() if name in names})
        if isinstance(made, Missing):
            _needs(made)
        # Anything else than a dict is ignored.
        return "value", made if isinstance(made, dict) else None
    return "missing", None


def _is_imported(what):
    return isinstance(what, Missing) and not what._name.endswith("()")


def _parameters(function):
    """The names of a function's parameters, as `inspect.signature` has them."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    if isinstance(function, _partial):
        return _parameters(function.func)[len(function.args) :]
    code = function.__code__
    return tuple(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])


def load_and_call(kind, module, function, args, kwargs):
    """What comes of a job: a word for what came of it, and that."""
    _enter_module_mode()
    if kind == "grains":
        return _grains_of(module, function, kwargs)
    if function is None:
        return loaders[kind]._names(module)
    loaded, _, reason = loaders[kind]._find(f"{module}.{function}")
    if loaded is None:
        return "missing", reason
    made = loaded.functions[function](*args, **kwargs)
    if isinstance(made, Missing):
        _needs(made)
    return "value", made
