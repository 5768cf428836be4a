# The modules that a tree ships for Salt's loaders, such as `salt://_modules/*.py`, loaded as Salt's loader does.

# --- loading -------------------------------------------------------------------------------------------------------

_TAGS = {"modules": "module", "utils": "utils", "renderers": "render", "states": "states", "grains": "grains", "runners": "runners", "pillar": "pillar", "tops": "top", "matchers": "matchers"}
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


def _fact_of(loader, name):
    """One of the dicts that a loader gives to its modules."""
    if loader in ("runners", "tops") and name == "__grains__":
        return _OF_MASTER[name]
    if loader in ("runners", "tops") and name == "__pillar__":
        return {}
    if loader == "pillar" and name == "__pillar__":
        return Missing("dunder", "__pillar__ of an external pillar", True)
    is_of_functions = name == "__opts__" and loader not in ("renderers", "pillar")
    return _fact(_OPTS_OF_FUNCTIONS if is_of_functions else name)


_OPTS_OF_FUNCTIONS = "__opts__ of functions"


def _pack(loader, module, text, facts):
    """The names that Salt's loader sets in every module."""
    given = module.__dict__
    orig = given.get("__opts__")
    for name in ("__opts__", "__grains__", "__pillar__"):
        if name in text:
            given[name] = _fact_of(loader, name) if facts is None else facts[name]
    if isinstance(orig, dict) and "__opts__" in given:
        given["__opts__"] = {**given["__opts__"], **orig}
    given["__context__"] = context
    # Grains are computed before there are execution modules.
    if loader not in ("grains", "tops"):
        given["__salt__"] = on_master if facts is not None else _functions_for.get(loader, modules)
    if loader not in ("renderers", "tops", "matchers"):
        given["__utils__"] = utils
    for name in ("__proxy__", "__states__", "__serializers__", "__returners__", "__runner__", "__ret__", "__file_client__"):
        if name in text and loader != "runners":
            given[name] = Missing("dunder", name, True)


def _load(loader, path, unit, text, facts=None):
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
        _pack(loader, module, text, facts)
        init = given.get("__init__")
        if isinstance(init, _types_function):
            try:
                init(_fact_of(loader, "__opts__"))
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

    def __init__(self, kind, facts=None):
        # What its modules get instead of the minion's facts.
        self._kind, self._facts, self._loaded = kind, facts, {}

    def _tried(self, name):
        """The modules that may have a function, by its full name, one after the other."""
        for path, text, unit in native["find"](self._kind, name)[0]:
            if path not in self._loaded:
                self._loaded[path] = _load(self._kind, path, unit, text, self._facts)
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


class _Runners(Loader):
    """Functions that run on a master. Of Salt's own, the one that runs functions of a minion is here."""

    def _other(self, name):
        if name == "salt.cmd":
            return _cmd
        return Missing("runner", f"the runner {name} of Salt", True)

    def _has_other(self, name):
        return native["find"]("runners", name)[1]


class _OnMaster(_Modules):
    """Functions that a runner calls as those of a minion on the master, whose grains are not known. It has no pillar."""

    def _other(self, name):
        if name.partition(".")[0] not in _WITHOUT_FACTS:
            _unavailable_at(f"what '{name}' answers on the master")
        return _Function(name)


# Modules whose functions look at their arguments and at served files alone.
_WITHOUT_FACTS = frozenset("cp defaults hashutil log random slsutil test".split())

_OF_MASTER = {
    "__opts__": Missing("dunder", "__opts__ of the minion on the master", True),
    "__grains__": Missing("dunder", "__grains__ of the master", True),
    "__pillar__": {},
}

modules = _Modules("modules")
on_master = _OnMaster("modules", _OF_MASTER)
utils = _Utils("utils")
runners = _Runners("runners")
# `__salt__` where it is not the minion's functions.
_functions_for = {"runners": runners, "matchers": {}}
loader_of = {
    "modules": modules,
    "utils": utils,
    "renderers": _Own("renderers"),
    "states": _Own("states"),
    "runners": runners,
    "pillar": _Own("pillar"),
    "tops": _Own("tops"),
    "matchers": _Own("matchers"),
}
context = {}


def _cmd(fun, *args, **kwargs):
    """Salt's runner `salt.cmd`."""
    kwargs = _clean_kwargs(**kwargs)
    if kwargs.pop("with_pillar", False):
        _unavailable_at("the pillar of the master")
    return on_master[fun](*args, **kwargs) if fun in on_master else f"'{fun}' is not available."


def _takes_any(function):
    """Whether a function takes any names."""
    function = _unwrapped(function)
    return _takes_any(function.func) if isinstance(function, _partial) else bool(function.__code__.co_flags & 8)


def _run_runner(name, function, args, kwargs):
    """What the client of runners makes of a call."""
    saltenv = kwargs.pop("__env__", "base")
    names, takes_any = _parameters(function), _takes_any(function)
    if "saltenv" in names:
        kwargs["saltenv"] = saltenv
    words = _parse_input(list(args))
    if kwargs:
        words.append({**kwargs, "__kwarg__": True})
    positional, named, invalid = [], {}, []
    for word in words:
        if isinstance(word, dict) and word.get("__kwarg__", False) is True:
            given = {key: value for key, value in word.items() if key != "__kwarg__"}
        else:
            given = _parse_input([word], condition=False)[1]
            if not given:
                positional.append(word)
        for key, value in given.items():
            if takes_any or key in names:
                named[key] = value
            else:
                invalid.append(f"{key}={value}")
    if invalid:
        _invalid_kwargs(invalid)
    if takes_any:
        named["__pub_user"] = "UNKNOWN"
    try:
        return function(*positional, **named)
    except TypeError as error:
        return f"\nPassed invalid arguments: {error}\n\nUsage:\n{function.__doc__}"
    except _provided["salt.exceptions"].NotImplemented as error:
        return str(error)
    except Exception as error:
        # Salt returns the text of the traceback, which names files of the master.
        what = f"{type(error).__name__}: {error}"
        _unavailable_at(f"the answer of a runner that raises ({what} in {name})")


def _grains_of(stem, function):
    """The functions of a file of grains in their order, or what one of them returns."""
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
        given = {"proxy": None} if "proxy" in names else {}
        if "grains" in names:
            given["grains"] = _fact("grains so far")
        made = called(**given)
        if isinstance(made, Missing):
            _needs(made)
        # Anything else than a dict is ignored.
        return "value", made if isinstance(made, dict) else None
    return "missing", None


def _is_imported(what):
    return isinstance(what, Missing) and not what._name.endswith("()")


def _unwrapped(function):
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


def _parameters(function):
    """The names of a function's parameters, as `inspect.signature` has them."""
    function = _unwrapped(function)
    if isinstance(function, _partial):
        return _parameters(function.func)[len(function.args) :]
    code = function.__code__
    return tuple(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])


def load_and_call(kind, module, function, args, kwargs):
    """The outcome of a job: a word for its kind, and the result."""
    enter_module_mode()
    if kind == "grains":
        return _grains_of(module, function)
    if function is None:
        return loader_of[kind]._names(module)
    name = f"{module}.{function}"
    loaded, is_known, reason = loader_of[kind]._find(name)
    if kind == "runners" and loaded is None and is_known:
        called = runners[name]
    elif loaded is None:
        return "missing", reason
    else:
        called = loaded.functions[function]
    if isinstance(called, Missing):
        _needs(called)
    if kind == "runners":
        made = _run_runner(name, called, args, kwargs)
    elif kind == "pillar":
        extra = kwargs.pop("extra_minion_data", None)
        if extra and "extra_minion_data" in _parameters(called):
            kwargs["extra_minion_data"] = extra
        made = called(*args, **kwargs)
    else:
        made = called(*args, **kwargs)
    if isinstance(made, Missing):
        _needs(made)
    return "value", made
