# Salt's renderer `pyobjects`: what a file makes by calling objects that stand for states.
#
# Salt keeps what was made in a class of its process. Here it belongs to one render.

import re as _re_module

_REQUISITES = tuple(
    name + end for end in ("", "_in") for name in ("listen", "onchanges", "onfail", "require", "watch", "use")
)


# Errors about a file that is imported are raised at its place, by the names of their classes.
ImportError = _real.ImportError


class StateException(Exception):
    pass


class DuplicateState(StateException):
    pass


class InvalidFunction(StateException):
    pass


class _Made:
    """What a file has made so far."""

    def __init__(self):
        self.states, self.extended, self.includes, self.open = ordered(), ordered(), [], []
        # What a file imports makes nothing.
        self.is_on = False

    def add(self, id_, state, of):
        if not self.is_on:
            return
        if id_ not in of:
            of[id_] = ordered()
        elif state.full_func in of[id_]:
            raise DuplicateState(f"A state with id ''{id_}'', type ''{state.full_func}'' exists")
        for requisite in self.open:
            state.kwargs.setdefault(requisite.requisite, []).append(requisite())
        of[id_].update(state())

    def include(self, *names):
        if self.is_on:
            self.includes += names

    def enter(self, requisite):
        if self.is_on:
            self.open.append(requisite)

    def leave(self):
        if self.is_on:
            del self.open[-1]

    def data(self):
        made = ordered(self.states)
        if self.includes:
            made["include"] = self.includes
        if self.extended:
            made["extend"] = ordered(self.extended)
        return made


_made = _Made()


class StateExtend:
    def __init__(self, name):
        self.name = name


class _Entered:
    """What other states require while it is open."""

    def __enter__(self):
        _made.enter(self._entered())

    def __exit__(self, kind, error, traceback):
        _made.leave()


class StateRequisite(_Entered):
    def __init__(self, requisite, module, id_):
        self.requisite, self.module, self.id_ = requisite, module, id_

    def __call__(self):
        return {self.module: self.id_}

    def _entered(self):
        return self


class State(_Entered):
    def __init__(self, id_, module, func, **kwargs):
        self.id_, self.module, self.func = id_, module, func
        for name in _REQUISITES:
            if name in kwargs:
                try:
                    iter(kwargs[name])
                except TypeError:
                    kwargs[name] = [kwargs[name]]
        self.kwargs = kwargs
        if isinstance(id_, StateExtend):
            _made.add(id_.name, self, _made.extended)
            self.id_ = id_.name
        else:
            _made.add(id_, self, _made.states)
        self.requisite = StateRequisite("require", module, self.id_)

    @property
    def attrs(self):
        for name in _REQUISITES:
            if name in self.kwargs:
                self.kwargs[name] = [each() if isinstance(each, StateRequisite) else each for each in self.kwargs[name]]
        return [{name: self.kwargs[name]} for name in sorted(self.kwargs)]

    @property
    def full_func(self):
        return f"{self.module}.{self.func}"

    def __str__(self):
        return f"{self.id_} = {self.full_func}:{self.attrs}"

    def __call__(self):
        return {self.full_func: self.attrs}

    def _entered(self):
        return self.requisite


class StateFactory:
    def __init__(self, module, valid_funcs=None):
        self.module, self.valid_funcs = module, valid_funcs or []

    def __getattr__(self, func):
        if self.valid_funcs and func not in self.valid_funcs:
            raise InvalidFunction(f"The function '{func}' does not exist in the StateFactory for '{self.module}'")
        return lambda id_, **kwargs: State(id_, self.module, func, **kwargs)

    def __call__(self, id_, requisite="require"):
        return StateRequisite(requisite, self.module, id_)


class SaltObject:
    def __init__(self, salt):
        self._salt = salt

    def __getattr__(self, module):
        return _FunctionsOf(self._salt, module)


class _FunctionsOf:
    def __init__(self, salt, module):
        self._salt, self._module = salt, module

    def __getattr__(self, function):
        try:
            return self._salt[f"{self._module}.{function}"]
        except KeyError:
            raise AttributeError(function) from None


class MapMeta(type):
    """Gives a class the attributes of those of its inner classes that fit the grains, and of the pillar."""

    @classmethod
    def __prepare__(metacls, name, bases):
        return ordered()

    def __new__(metacls, name, bases, names):
        made = type.__new__(metacls, name, bases, dict(names))
        made.__ordered_attrs__ = names.keys()
        return made

    def __init__(cls, name, bases, names):
        choices = [(name, cls.__dict__[name]) for name in cls.__ordered_attrs__ if name[0] != "_"]
        choices = [
            (getattr(choice, "__grain__", "os_family"), getattr(choice, "__match__", name), choice)
            for name, choice in choices
            if isinstance(choice, type)
        ]
        attrs = {}
        if choices:
            grains = cls.__salt__["grains.item"](*{grain for grain, _, _ in choices})
            for grain, match, choice in _by_priority(cls, choices):
                if grain in grains and grains[grain] == match:
                    attrs.update((name, value) for name, value in vars(choice).items() if name[0] != "_")
        if hasattr(cls, "merge"):
            found = cls.__salt__["pillar.get"](cls.merge)
            if found:
                attrs.update(found)
        for name in attrs:
            setattr(cls, name, attrs[name])
        super().__init__(name, bases, names)


def _by_priority(cls, choices):
    """Choices by the grains in `priority`, and then the others."""
    priority = getattr(cls, "priority", None)
    if not hasattr(priority, "__iter__"):
        return choices
    first, left = [], list(choices)
    for grain in priority:
        first += [choice for choice in left if choice[0] == grain]
        left = [choice for choice in left if choice[0] != grain]
    return first + left


# --- a file --------------------------------------------------------------------------------------------------------

_FROM = _re_module.compile(r"^\s*from\s+(salt://.*)\s+import (.*)$")
_IMPORT = _re_module.compile(r"^\s*import\s+(salt://.*)$")
_AS = _re_module.compile(r"^(.*) as (.*)$")
_CAPITAL = _re_module.compile(r"\b[A-Z][A-Za-z0-9]*\b")
_WORD = _re_module.compile(r"[A-Z][a-z0-9]*")


class PyobjectsModule:
    """A file that was imported whole."""

    def __init__(self, name, names):
        self.name = name
        self.__dict__ = names


def _camel(module):
    return "".join(part.capitalize() for part in module.split("_"))


def _states():
    """The objects for Salt's own states."""
    made = {}
    for line in native["salt_states"].split("\n"):
        module, _, functions = line.partition(": ")
        if functions:
            made[_camel(module)] = StateFactory(module, functions.split(" "))
    return made


def _add_states_of_tree(names, text):
    """Objects for the states of the tree that a text may mean: those in `salt://_states` that come before Salt's own."""
    for name in _CAPITAL.findall(text):
        module = "_".join(_WORD.findall(name)).lower()
        if name in names.known or _camel(module) != name:
            continue
        names.known.add(name)
        kind, functions = loader_of["states"]._names(module)
        if kind == "names" and functions:
            names[name] = StateFactory(module, functions)


class _Globals(dict):
    """The names of a file, and which of them were looked for among the tree's states."""

    def __init__(self, names, known=None):
        super().__init__(names)
        self.known = set() if known is None else known


def _prepare(number, text, names):
    """A text without the lines that import files, its lines' numbers, and its names."""
    _add_states_of_tree(names, text)
    own, kept, lines = _Globals(names, names.known), [], []
    rows = text.split("\n")
    for at, line in enumerate(rows[:-1] if rows[-1] == "" else rows):
        line = line.rstrip("\r\n")
        found = _IMPORT.match(line) or _FROM.match(line)
        if found is None:
            kept.append(line)
            lines.append(at + 1)
            continue
        uri = found.group(1).strip()
        names_of = _imported(uri, names, (number, at + 1))
        if found.re is _IMPORT:
            name = uri.partition("?")[0].rpartition("/")[2]
            name = name.rpartition(".")[0] or name
            own[name] = PyobjectsModule(name, names_of)
            continue
        for name in found.group(2).split(","):
            name = alias = name.strip()
            renamed = _AS.match(name)
            if renamed:
                name, alias = renamed.group(1).strip(), renamed.group(2).strip()
            if name not in names_of:
                native["raise_at"]("ImportError", f"'{name}' was not found in '{uri}'", number, at + 1)
            own[alias] = names_of[name]
    return "\n".join(kept), lines, own


def _imported(uri, names, place):
    found = native["file"](uri)
    if found is None:
        native["raise_at"]("ImportError", f"Could not find the file '{uri}'", *place)
    text, number = found
    return _run(number, text, names)


def _run(number, text, names):
    code, lines, own = _prepare(number, text, names)
    # Python takes only a plain dict for globals.
    plain = dict(own)
    native["run_lines"](number, code, lines, plain)
    return plain


def render_objects(number, text, data, saltenv, sls, keywords):
    """The data that a file makes."""
    enter_module_mode()
    if not keywords.get("salt_data", True):
        _unavailable_at("what pyobjects returns with 'salt_data: False'")
    Map = MapMeta("Map", (), {"__salt__": modules, "__module__": "builtins"})
    names = _Globals(_states())
    names.update(
        {
            "__builtins__": MODULE_BUILTINS,
            # What code finds that was given no name.
            "__name__": "builtins",
            "StateFactory": StateFactory,
            "include": _made.include,
            "extend": StateExtend,
            "Map": Map,
            "salt": SaltObject(modules),
            "pillar": modules["pillar.get"],
            "grains": modules["grains.get"],
            "mine": modules["mine.get"],
            "config": modules["config.get"],
            "__salt__": modules,
            "__pillar__": _fact("__pillar__"),
            "__grains__": _fact("__grains__"),
            "__opts__": _fact("__opts__"),
            "__sls__": sls,
        }
    )
    names.update(keywords.get("context") or {})
    code, lines, own = _prepare(number, text, names)
    _made.is_on = True
    native["run_lines"](number, code, lines, dict(own))
    return "value", _made.data()


# --- renderers of the tree -----------------------------------------------------------------------------------------


def render_by(name, text, data, saltenv, sls, keywords):
    """The outcome of a renderer of the tree for a text, or for data in a tuple: a word for its kind, and the result."""
    enter_module_mode()
    loaded, _, reason = loader_of["renderers"]._find(f"{name}.render")
    if loaded is None:
        return "missing", reason
    keywords["renderers"] = Missing("renderers", "renderers", True)
    given = _io_module.StringIO(text) if data is None else data[0]
    render = loaded.functions["render"]
    made = render(given, saltenv, sls, **keywords)
    if made is None:
        # Salt takes the file for one that is being written, and asks again.
        made = render(given, saltenv, sls, **keywords)
    if isinstance(made, Missing):
        _needs(made)
    return ("text", made.getvalue()) if isinstance(made, _io_module.StringIO) else ("value", made)
