"""What the engine asks of the live Salt, always on the thread that called it."""

import logging

from salt.exceptions import CommandExecutionError
from salt.utils.decorators.jinja import JinjaFilter

try:
    from salt.utils import optsdict
    from salt.utils.optsdict import OptsDict
except ImportError:  # Salt before 3008 has a plain dict.
    OptsDict = None

log = logging.getLogger(__name__)

#: Functions that Rust answers, because their results follow from the facts and the arguments alone. Those that change
#: an argument in place are among them: an argument that goes to Python is a copy.
IN_RUST = frozenset(
    {
        "config.get",
        "defaults.deepcopy",
        "defaults.merge",
        "defaults.update",
        "grains.fetch",
        "grains.filter_by",
        "grains.get",
        "grains.has_value",
        "pillar.get",
        "slsutil.merge",
        "slsutil.merge_all",
        "slsutil.update",
    }
)

#: Where Salt's own functions are: loaded by its loader, or imported. Those of salt-ssh on the master are `wrapper`.
_OWN = ("salt.loaded.int.module.", "salt.loaded.int.wrapper.", "salt.modules.")


def plain(dunder):
    """The dict behind one of Salt's dunders."""
    value = dunder
    if not isinstance(value, dict) and callable(getattr(value, "value", None)):
        value = value.value()
    if OptsDict is not None and isinstance(value, OptsDict):
        value = _flat(value)
    return value if isinstance(value, dict) else dict(value or {})


def _flat(opts):
    """The options of Salt 3008, which keeps them in layers that are slow to read one by one, and copies what is read."""
    try:
        layers = []
        layer = opts
        while layer is not None:
            layers.append(layer._local)
            layer, last = layer._parent, layer
        flat = dict(last._base)
        deleted = optsdict._DELETED
        for local in reversed(layers):
            flat.update(local)
        for name in {name for local in layers for name, option in local.items() if option is deleted}:
            if flat[name] is deleted:
                del flat[name]
        return flat
    except AttributeError:
        return opts.to_dict()


class Live:
    """Salt's functions and files, for one call into the engine."""

    #: The functions that Rust answers.
    in_rust = IN_RUST

    def __init__(self, salt, files):
        self._salt = salt
        self._files = files
        self._replaced = {}

    def has(self, name):
        """Whether Salt has a function, or a filter, whose name has no dot."""
        known = self._salt if "." in name else JinjaFilter.salt_jinja_filters
        return name in known

    def has_module(self, module):
        """Whether Salt has any function of a module."""
        if isinstance(self._salt, dict):
            return any(name.startswith(f"{module}.") for name in self._salt)
        # The functions of salt-ssh 3006 have modules as items. Either kind of salt-ssh has any module.
        return hasattr(self._salt, module) or module in self._salt

    def replaces(self, name):
        """Whether a function or a module is Salt's to answer, although the engine has one of that name.

        A function that was replaced, by a synchronised module or by another extension, is called as it is.
        """
        if name not in self.in_rust:
            return True
        if name not in self._replaced:
            function = self._salt[name] if name in self._salt else None
            home = getattr(function, "__module__", None) or ""
            self._replaced[name] = function is not None and not home.startswith(_OWN)
        return self._replaced[name]

    def call(self, name, args, kwargs):
        """Call a function of Salt."""
        if "." not in name:
            known = JinjaFilter.salt_jinja_filters.get(name)
            return NotImplemented if known is None else known(*args, **kwargs)
        if name not in self._salt:
            if name in self.in_rust:
                return NotImplemented
            raise KeyError(f"salt[{name!r}]: this Salt has no such function")
        return self._salt[name](*args, **kwargs)

    def change(self, name, args, kwargs):
        """Run a post-map template in Mako or Python by Salt's own interpreter."""
        # With salt-ssh, the functions that are not among these run on the minion, and change its copy of the data.
        if name not in getattr(self._salt, "wfuncs", self._salt):
            raise CommandExecutionError(f"{kwargs['template']}: salt-ssh runs such templates from Salt 3007 on")
        self._salt[name](*args, **kwargs)
        return kwargs["mapdata"]

    def cache_file(self, path, saltenv):
        """The path on disk of a file of the master.

        One list of all files answers for those that do not exist: otherwise each costs a question to the master.
        """
        if path not in self._files.listed(saltenv):
            return None
        return self._files.cached(path, saltenv)

    def list_files(self, saltenv):
        """All files of a saltenv."""
        return sorted(self._files.listed(saltenv))

    def envs(self):
        """All saltenvs."""
        return self._files.envs()

    def warn(self, message):
        """Pass a warning on to Salt's log."""
        log.warning("%s", message)
