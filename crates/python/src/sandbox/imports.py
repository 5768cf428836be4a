# What code of a tree imports, wherever it stands: in modules such as `salt://_modules/*.py`, in `#!py` files, in Mako.
#
# The rule for what is not here: it is never answered by chance. What a module imports that the sandbox lacks is a
# `Missing`. It can be passed around, since most functions never touch what their module imports for others. Whatever
# would need its value, or do something with it, ends the job with an error that names it. Code cannot catch that.

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

# The modules of Python's library, which are there wherever Salt is.
_LIBRARY = frozenset((
    "abc aifc antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii bisect "
    "builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys compileall "
    "concurrent configparser contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm "
    "decimal difflib dis distutils doctest email encodings ensurepip enum errno faulthandler fcntl filecmp "
    "fileinput fnmatch fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip "
    "hashlib heapq hmac html http idlelib imaplib imghdr imp importlib inspect io ipaddress itertools json keyword "
    "lib2to3 linecache locale logging lzma mailbox mailcap marshal math mimetypes mmap modulefinder msilib msvcrt "
    "multiprocessing netrc nis nntplib nt ntpath nturl2path numbers opcode operator optparse os ossaudiodev pathlib "
    "pdb pickle pickletools pipes pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty pwd "
    "py_compile pyclbr pydoc pydoc_data pyexpat queue quopri random re readline reprlib resource rlcompleter runpy "
    "sched secrets select selectors shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver spwd "
    "sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct subprocess sunau "
    "symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap this threading time timeit "
    "tkinter token tokenize tomllib trace traceback tracemalloc tty turtle turtledemo types typing unicodedata "
    "unittest urllib uu uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp "
    "zipfile zipimport zlib zoneinfo"
).split())

# What Salt cannot do without, or has with it, by the names under which it is imported.
_WITH_SALT = frozenset(
    "yaml jinja2 markupsafe msgpack requests distro looseversion packaging psutil tornado cryptography dateutil pytz certifi "
    "urllib3 idna charset_normalizer jmespath croniter cheroot cherrypy OpenSSL aiohttp attr zmq cffi gnupg setproctitle "
    "timelib immutables networkx pkg_resources setuptools backports six mako salt saltext".split()
)

# Modules of Python's library whose functions do something, or look at the machine, when they are called.
_REACHING_OUT = frozenset(
    "asyncio ctypes fcntl ftplib getpass glob grp http imaplib importlib io multiprocessing os pathlib pkgutil platform "
    "poplib pty pwd resource select shutil signal smtplib socket sqlite3 ssl stat subprocess sys sysconfig syslog tempfile "
    "termios threading time urllib uuid venv zipfile tarfile fileinput spwd crypt".split()
)

# What comes of these differs from run to run.
_BY_CHANCE = frozenset("random secrets uuid tempfile".split())

# Full names of modules with what they are.
_provided = {}

# Packages, with the functions that provide them when one is imported.
_on_demand = {}


def _provide(name, names):
    module = type(_real)(name)
    module.__dict__.update(names)
    _provided[name] = module
    return module


def _is_of_tree(globals):
    return globals is not None and globals.get("__builtins__") is MODULE_BUILTINS


# How many modules of the library are being imported. They look for what may not be there.
_importing = [0]


def _of_python(name, globals=None, locals=None, fromlist=(), level=0):
    """A module of Python's library."""
    _importing[0] += 1
    try:
        return _import_module(name, globals, locals, fromlist, level)
    finally:
        _importing[0] -= 1


def _module_import(name, globals=None, locals=None, fromlist=(), level=0):
    if globals is None:
        # `__import__('name')`
        globals = _sys_module._getframe(1).f_globals
    if not level and name.partition(".")[0] in _BY_CHANCE:
        native["by_chance"]()
    if not _is_of_tree(globals):
        # The library imports its own parts.
        return _of_python(name, globals, locals, fromlist, level)
    if level:
        _unavailable_at(f"what is imported relative to the module ('from {'.' * level}{name} import …')")
    top = name.partition(".")[0]
    if top == "salt":
        module = _import_of_salt(name)
        return _checked(module, name, fromlist) if fromlist else _Package("salt")
    if top == "__future__":
        return _future
    if top in _on_demand:
        _on_demand.pop(top)()
    if name in _provided or top in _provided:
        return _import_provided(name, top, fromlist)
    if top in _GONE:
        raise ModuleNotFoundError(f"No module named '{name}'", name=name)
    if name in native["modules"] or name in _sys_module.modules or top in _sys_module.builtin_module_names:
        if name == "inspect":
            _hide(_of_python(name), name, ("signature",))
        return _of_python(name, globals, locals, fromlist, level)
    if top in native["modules"]:
        # A part of a package of the library that is not here.
        if fromlist:
            return Missing("import", name, True)
        package = _of_python(top, globals, locals, fromlist, level)
        package.__getattr__ = lambda part: _part_of(top, part)
        return package
    module = _plain(top)
    if module is not None:
        if name != top:
            _unavailable_at(f"'{name}'")
        return module
    if not _loading[0] and top not in _LIBRARY and top not in _WITH_SALT:
        # Whether it is installed is not known here: a template that imports it works or fails, and a handler would
        # decide which.
        _unavailable_at(f"the module '{name}'")
    return Missing("import", name if fromlist else top, top in _REACHING_OUT)


def _part_of(package, name):
    if name.startswith("__") and name.endswith("__"):
        raise AttributeError(name)
    return Missing("import", f"{package}.{name}", True)


def _import_provided(name, top, fromlist):
    """A module of `_provided`, or a part of one."""
    if not fromlist:
        if top not in _provided:
            return Missing("import", top, False)
        return _provided[top]
    if name not in _provided:
        return Missing("import", name, False)
    return _checked(_provided[name], name, fromlist)


def _checked(module, name, fromlist):
    """The module, if it has the names that are imported from it."""
    for part in fromlist:
        if part == "*":
            if isinstance(module, Missing) or not hasattr(module, "__all__"):
                _unavailable_at(f"'from {name} import *'")
            continue
        try:
            getattr(module, part)
        except AttributeError:
            raise ImportError(f"cannot import name '{part}' from '{name}'", name=name) from None
    return module


_plain_modules = {}


def _plain(name):
    """A file beside the modules, or among the utility modules, that is imported by its name."""
    if name not in _plain_modules:
        _plain_modules[name] = None
        for kind in ("modules", "utils", "pillar"):
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


# Code of the tree is known by its builtins, which are the same wherever it stands.
MODULE_BUILTINS = BUILTINS
MODULE_BUILTINS["__import__"] = _module_import
for _name in ("open", "input", "breakpoint", "help"):
    MODULE_BUILTINS[_name] = _reaching_out(_name)


# --- files of the machine -------------------------------------------------------------------------------------------
#
# They are read where folders stand for the machine's, or where functions of the minion may read them. Elsewhere nothing is
# known of them.


def _found(shown, path):
    """What is at a path: nothing (`False`), the bytes of a file, or the names in a directory. `shown` is what the code
    calls."""
    path = _posixpath_module._fspath(path)
    if isinstance(path, bytes):
        path = path.decode()
    if path.startswith("/"):
        found = native["machine"](path)
        if found is not None:
            return found
        if native["has_function"]("file.read") and native["has_function"]("file.file_exists"):
            return _by_functions(path)
    _unavailable_at(f"'{shown}' of {path!r}")


def _by_functions(path):
    if native["call"]("file.file_exists", path):
        data = native["call"]("file.read", path, binary=True)
        return data.encode() if isinstance(data, str) else data
    if native["call"]("file.directory_exists", path):
        return [name for name in native["call"]("file.readdir", path) if name not in (".", "..")]
    return False


def _opens(shown):
    def opens(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None):
        """A file to read."""
        if set(mode) - set("rtb") or opener is not None or isinstance(file, int):
            _unavailable_at(f"'{shown}' of {file!r} with the mode {mode!r}")
        found = _found(shown, file)
        if isinstance(found, list):
            raise IsADirectoryError(21, "Is a directory", file)
        if not isinstance(found, bytes):
            raise FileNotFoundError(2, "No such file or directory", file)
        if "b" in mode:
            return _io_module.BytesIO(found)
        return _io_module.StringIO(found.decode(encoding or "utf-8", errors or "strict"), newline=newline)

    return opens


def _listdir(path="."):
    found = _found("os.listdir", path)
    if isinstance(found, bytes):
        raise NotADirectoryError(20, "Not a directory", path)
    if not isinstance(found, list):
        raise FileNotFoundError(2, "No such file or directory", path)
    return found


MODULE_BUILTINS["open"] = _opens("open")
_ON_MACHINE = {
    ("os.path", "exists"): lambda path: _found("os.path.exists", path) is not False,
    ("os.path", "lexists"): lambda path: _found("os.path.lexists", path) is not False,
    ("os.path", "isfile"): lambda path: isinstance(_found("os.path.isfile", path), bytes),
    ("os.path", "isdir"): lambda path: isinstance(_found("os.path.isdir", path), list),
    ("os", "listdir"): _listdir,
}


# What the library has of `os` and others, and code of the tree does not.
_of_library = {}

# Facts that were asked for.
_facts = {}


def _fact(name):
    if name not in _facts:
        _facts[name] = native["fact"](name)
    return _facts[name]


def enter_module_mode(grains=None):
    """What looks at the machine, or pretends there is none, is missing from now on. `grains` are those of code that
    cannot ask for facts."""
    import os

    if grains is not None:
        _facts["__system__"] = grains
    import io

    io.open = MODULE_BUILTINS["open"]
    _real.__import__ = _module_import
    for module, shown, hidden in (
        (os, "os", ("environ", "urandom")),
        (os.path, "os.path", ()),
        (_time_module, "time", ("sleep",)),
        (_sys_module, "sys", ("version_info", "version", "hexversion", "path", "argv", "stdin", "stdout", "stderr")),
    ):
        _hide(module, shown, hidden)


def _hide(module, shown, hidden):
    """Let only the library find names of a module."""
    for name in hidden:
        if name in module.__dict__:
            _of_library[shown, name] = module.__dict__.pop(name)
    module.__getattr__ = lambda name: _attribute(shown, name)


def _attribute(shown, name):
    # Python itself, and the library while it is imported, look for what may not be there.
    caller = _sys_module._getframe(2).f_globals
    if not _is_of_tree(caller) and (shown, name) in _of_library:
        return _of_library[shown, name]
    if (not _is_of_tree(caller) and _importing[0]) or (name.startswith("__") and name.endswith("__")):
        raise AttributeError(name)
    if shown == "sys" and name in _OF_SALTS_PYTHON:
        return _OF_SALTS_PYTHON[name]()
    if (shown, name) in _ON_MACHINE:
        return _ON_MACHINE[shown, name]
    if shown in ("sys", "time") and (shown, name) not in _of_library:
        # The rest of these modules is here.
        raise AttributeError(f"module '{shown}' has no attribute '{name}'")
    return Missing("import", f"{shown}.{name}", True)


# The Python of Salt's own packages, where no grain says which one the minion has.
_USUAL_PYTHON = (3, 11, 0, "final", 0)


class _VersionInfo(tuple):
    """`sys.version_info`."""

    major = property(lambda self: self[0])
    minor = property(lambda self: self[1])
    micro = property(lambda self: self[2])
    releaselevel = property(lambda self: self[3])
    serial = property(lambda self: self[4])


def _python_version():
    version = _fact("__system__").get("pythonversion")
    return _VersionInfo(version if isinstance(version, list) and len(version) == 5 else _USUAL_PYTHON)


def _hexversion():
    major, minor, micro, level, serial = _python_version()
    level = {"alpha": 0xA, "beta": 0xB, "candidate": 0xC}.get(level, 0xF)
    return major << 24 | minor << 16 | micro << 8 | level << 4 | serial


_OF_SALTS_PYTHON = {"version_info": _python_version, "hexversion": _hexversion}


# --- the clock --------------------------------------------------------------------------------------------------------


def _of_clock(read):
    def watched(*args, **kwargs):
        native["by_chance"]()
        return read(*args, **kwargs)

    return watched


for _name in (
    "time time_ns monotonic monotonic_ns perf_counter perf_counter_ns process_time process_time_ns thread_time "
    "thread_time_ns clock_gettime gmtime localtime ctime asctime strftime"
).split():
    if hasattr(_time_module, _name):
        setattr(_time_module, _name, _of_clock(getattr(_time_module, _name)))
