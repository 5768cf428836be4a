# The modules of Salt that code of a tree imports.

import copy as _copy_module
import hashlib as _hashlib_module
import ipaddress as _ipaddress_module
import json as _json_module
import re as _re_of_args


def _same(function):
    return function


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
_provide("salt._compat", {"ipaddress": _ipaddress_module})
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


# --- salt.utils.args --------------------------------------------------------------------------------------------------


def _clean_kwargs(**kwargs):
    return {name: value for name, value in kwargs.items() if not name.startswith("__")}


def _invalid_kwargs(invalid_kwargs, raise_exc=True):
    if isinstance(invalid_kwargs, dict):
        invalid_kwargs = [f"{name}={value}" for name, value in invalid_kwargs.items()]
    message = "The following keyword arguments are not valid: " + ", ".join(invalid_kwargs)
    if raise_exc:
        raise _provided["salt.exceptions"].SaltInvocationError(message)
    return message


def _yamlify_arg(arg):
    """The value of a word of a command line."""
    if not isinstance(arg, str) or arg.strip() in ("", "---", "...") or any(char in arg for char in "\t\r\n"):
        return arg
    if "_" in arg and all(char in "0123456789_" for char in arg.strip()):
        return arg
    if arg == "None":
        return None
    try:
        made = _yaml_load(arg, True, False)
    except Exception:
        return arg
    if "#" in arg:
        # What follows would be a comment.
        return arg if made is None or isinstance(made, str) else made
    if isinstance(made, dict):
        return made if arg.startswith("{") else arg
    if isinstance(made, list):
        return made if arg.startswith("[") else arg
    if made is None:
        return arg if arg == "!" else None
    if isinstance(made, (float, int, str)):
        return arg if made == "" and arg in ("|", "!") else made
    return arg


_KWARG = _re_of_args.compile(r"^([^\d\W][\w.-]*)=(?!=)(.*)$")


def _parse_kwarg(string_):
    """A name and a value, if a word of a command line has both."""
    found = _KWARG.match(string_)
    return found.groups() if found else (None, None)


def _condition_input(args, kwargs):
    made = []
    for arg in args:
        if isinstance(arg, int) and len(str(arg)) == 20:
            # As long as the number of a job.
            arg = str(arg)
        made.append(arg)
    if kwargs:
        made.append({"__kwarg__": True, **kwargs})
    return made


def _parse_input(args, condition=True, no_parse=None):
    positional, named = [], {}
    for arg in args:
        if isinstance(arg, str):
            name, value = _parse_kwarg(arg)
            if name:
                named[name] = value if name in (no_parse or ()) else _yamlify_arg(value)
            else:
                positional.append(_yamlify_arg(arg))
        elif isinstance(arg, dict) and arg.pop("__kwarg__", False) is True:
            named.update(arg)
        else:
            positional.append(arg)
    return _condition_input(positional, named) if condition else (positional, named)


def _split_input(val, mapper=None):
    mapper = mapper or (lambda item: item)
    items = val if isinstance(val, list) else (val if isinstance(val, str) else str(val)).split(",")
    return [mapper(item.strip()) if isinstance(item, str) else mapper(item) for item in items]


_provide(
    "salt.utils.args",
    {
        "clean_kwargs": _clean_kwargs,
        "invalid_kwargs": _invalid_kwargs,
        "yamlify_arg": _yamlify_arg,
        "parse_kwarg": _parse_kwarg,
        "condition_input": _condition_input,
        "parse_input": _parse_input,
        "split_input": _split_input,
    },
)


def _salts_dump(data, stream=None, **kwargs):
    kwargs.setdefault("allow_unicode", True)
    kwargs.setdefault("default_flow_style", None)
    return _yaml_dump(data, stream, dialect="salt", **kwargs)


_provide(
    "salt.utils.yaml",
    {
        "load": lambda stream, Loader=None: _yaml_load(stream, True, False),
        "safe_load": lambda stream, Loader=None: _yaml_load(stream, True, False),
        "dump": _salts_dump,
        "safe_dump": _salts_dump,
        "YAMLError": _provided["yaml"].YAMLError,
        "parser": _provided["yaml.parser"],
        "scanner": _provided["yaml.scanner"],
    },
)


# --- salt.utils.data --------------------------------------------------------------------------------------------------


def _traverse_dict(data, key, default=None, delimiter=":"):
    try:
        for part in key.split(delimiter):
            data = data[part]
    except (KeyError, IndexError, TypeError):
        return default
    return data


def _in_list(items, part):
    """The item of a list at an index, or what the first dict in it has under a key."""
    try:
        part = int(part)
    except ValueError:
        index = None
    else:
        index = part
    for item in items:
        if isinstance(item, dict) and part in item:
            return item[part]
    return _NOTHING if index is None or not -len(items) <= index < len(items) else items[index]


_NOTHING = type("Nothing", (), {})()


def _traverse_dict_and_list(data, key, default=None, delimiter=":"):
    parts = key.split(delimiter) if isinstance(key, str) else [key] if isinstance(key, int) else key
    for part in parts:
        if isinstance(data, list):
            data = _in_list(data, part)
            if data is _NOTHING:
                return default
            continue
        try:
            data = data[part]
        except TypeError:
            return default
        except KeyError:
            other = _yamlify_arg(part)
            if other == part:
                return default
            try:
                data = data[other]
            except (KeyError, TypeError):
                return default
    return data


def _compare_dicts(old=None, new=None):
    changes = {}
    for key in {*(new or {}), *(old or {})}:
        if key not in old:
            changes[key] = {"old": "", "new": new[key]}
        elif key not in new:
            changes[key] = {"new": "", "old": old[key]}
        elif new[key] != old[key]:
            changes[key] = {"old": old[key], "new": new[key]}
    return changes


def _is_iter(thing, ignore=(str,)):
    if ignore and isinstance(thing, ignore):
        return False
    try:
        iter(thing)
    except TypeError:
        return False
    return True


def _is_true(value=None):
    for kind in (int, float):
        try:
            value = kind(value)
        except (ValueError, TypeError):
            pass
    if isinstance(value, (int, float)):
        return value > 0
    return value.lower() == "true" if isinstance(value, str) else bool(value)


def _is_dictlist(data):
    if not isinstance(data, list):
        return False
    return all(isinstance(item, dict) and len(item) == 1 for item in data)


_provide(
    "salt.utils.data",
    {
        "traverse_dict": _traverse_dict,
        "traverse_dict_and_list": _traverse_dict_and_list,
        "compare_dicts": _compare_dicts,
        "is_dictlist": _is_dictlist,
        "is_iter": _is_iter,
        "is_list": lambda value: isinstance(value, list),
        "is_true": _is_true,
        "substr_in_list": lambda string_to_search_for, list_to_search: any(string_to_search_for in s for s in list_to_search),
    },
)


# --- salt.utils.versions, salt.utils.path and others ----------------------------------------------------------------


class _SaltsLooseVersion(_LooseVersion):
    def _comparable(self, other):
        if all(isinstance(part, int) for part in self.version + other.version):
            return self.version, other.version
        return self._padded(), other._padded()

    def _padded(self):
        return [str(part).zfill(8) if isinstance(part, int) else part for part in self.version]


_SaltsLooseVersion.__name__ = _SaltsLooseVersion.__qualname__ = "LooseVersion"


def _nothing(*args, **kwargs):
    return None


_provide(
    "salt.utils.versions",
    {
        "LooseVersion": _SaltsLooseVersion,
        "warn_until": _nothing,
        "warn_until_date": _nothing,
        "kwargs_warn_until": _nothing,
    },
)
def _join(*parts, use_posixpath=False):
    """`salt.utils.path.join`: what follows is below the first part, also where it is absolute."""
    if not parts:
        return ""
    root, *rest = (_posixpath_module.normpath(_to_text(part)) for part in parts)
    return _posixpath_module.normpath(_posixpath_module.join(root, *(part.lstrip("/") for part in rest)))


_provide("salt.utils.path", {"join": _join})
_provide("salt.utils.files", {"fopen": _opens("salt.utils.files.fopen")})


def _namespaced_function(function, global_dict):
    for name, value in function.__globals__.items():
        global_dict.setdefault(name, value)
    code, defaults = function.__code__, function.__defaults__
    made = type(_same)(code, global_dict, function.__name__, defaults, function.__closure__)
    made.__dict__.update(function.__dict__)
    return made


def _alias_function(fun, name, doc=None):
    made = type(_same)(fun.__code__, fun.__globals__, str(name), fun.__defaults__, fun.__closure__)
    made.__dict__.update(fun.__dict__)
    alias = f"\nThis function is an alias of ``{fun.__name__}``.\n{fun.__doc__ or ''}"
    made.__doc__ = doc if doc and isinstance(doc, str) else alias
    return made


_provide("salt.utils.functools", {"namespaced_function": _namespaced_function, "alias_function": _alias_function})


def _digest(kind):
    return lambda instr: getattr(_hashlib_module, kind)(_to_bytes(instr)).hexdigest()


_provide("salt.utils.hashutils", {f"{kind}_digest": _digest(kind) for kind in ("md5", "sha1", "sha256", "sha512")})


def _depends(*dependencies, **kwargs):
    """A function that needs modules to be there. What is not here is unknown, so it stays."""
    return _same


def _memoize(function):
    known = {}

    def remembered(*args, **kwargs):
        key = ",".join([*map(str, args), *(f"{name}={kwargs[name]}" for name in sorted(kwargs))])
        if key not in known:
            known[key] = function(*args, **kwargs)
        return known[key]

    remembered.__name__, remembered.__doc__, remembered.__module__ = function.__name__, function.__doc__, function.__module__
    remembered.__wrapped__ = function
    return remembered


_provide("salt.utils.decorators", {"depends": _depends, "memoize": _memoize})


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
    return _provided.get(f"{package}.{name}") or Missing("import", f"{package}.{name}", False)


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
