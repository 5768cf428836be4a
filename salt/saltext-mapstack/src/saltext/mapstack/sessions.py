"""Engines and facts for the modules that Salt loads.

Salt's loader runs the text of a module again for each loader, so what lives as long as the process is here, in a module
that is imported.
"""

import contextlib
import logging
import threading

import mapstack
import salt.version
from salt.exceptions import SaltRenderError

from saltext.mapstack.files import Files, packed_client
from saltext.mapstack.live import Live, plain
from saltext.mapstack.options import option

try:
    from salt.utils.secret import MaskedDict, MaskedList, hide, mask_pillar
except ImportError:  # Salt before 3008 hides nothing.
    hide = mask_pillar = None

log = logging.getLogger(__name__)

#: The options that decide what an engine over local directories serves.
_FILE_OPTIONS = (
    "file_roots",
    "fileserver_backend",
    "fileserver_followsymlinks",
    "fileserver_ignoresymlinks",
    "file_ignore_glob",
    "file_ignore_regex",
)

#: The version of Salt to follow; of a later one than is known, the latest that is.
VERSION = str(salt.version.__saltstack_version__.major)
if VERSION not in ("3006", "3007"):
    VERSION = None

#: What is wrong with a file. Salt's own exception of such a kind, UnicodeDecodeError for one, names no file.
_OF_FILES = (mapstack.TemplateError, mapstack.ParseError, mapstack.FileError, mapstack.LimitError)

#: One minion has one set of directories; a master has one, and tests have some more.
_MAX_ENGINES = 16

_engines = {}
_last = threading.local()


def served(opts):
    """The options that name the files: those of the master for a minion of salt-ssh, whose files it serves itself."""
    master = opts.get("__master_opts__")
    return opts if master is None else {**plain(master), "file_client": "local"}


def reads_directories(opts):
    """Whether the files that Salt serves itself are those of ``file_roots`` and nothing else."""
    if option(opts, "files") == "client":
        return False
    backends = opts.get("fileserver_backend") or ["roots"]
    return opts.get("file_client") == "local" and list(backends) == ["roots"]


def kept(known, most, key, make):
    """What is known under a key, made on first use. The oldest gives way where there are too many."""
    if key not in known:
        while len(known) >= most:
            known.pop(next(iter(known)))
        known[key] = make()
    return known[key]


def engine(opts, of_pillar=False):
    """The engine for these options, or for the pillar's own files; the process keeps it with what it has parsed."""
    key = None
    opts = {"file_roots": opts["pillar_roots"]} if of_pillar else served(opts)
    if of_pillar or reads_directories(opts):
        key = repr([opts.get(name) for name in _FILE_OPTIONS])

    def make():
        made = mapstack.Engine.remote(VERSION) if key is None else mapstack.Engine.local(opts, version=VERSION)
        for warning in made.warnings:
            log.warning("%s", warning)
        return made

    return kept(_engines, _MAX_ENGINES, key, make)


def facts(grains, pillar, opts, id=None):
    """A minion's facts. Those of the call before, on the same thread, save most of the work where they are alike."""
    made = mapstack.Facts(grains, pillar, opts, id=id, like=getattr(_last, "facts", None))
    _last.facts = made
    if log.isEnabledFor(logging.DEBUG):
        for path in made.left_out:
            log.debug("%s is not data: templates in Rust do not see it", path)
    return made


def apply(dict_, changes):
    """Change a dict as a template changed it: templates of Salt have the dict itself, and those of the engine a copy."""
    if changes is None:
        return
    changed, gone = changes
    for key in gone:
        dict_.pop(key, None)
    for key, value in changed.items():
        dict_[key] = value


@contextlib.contextmanager
def _as_salt_does():
    """Errors as Salt raises them, and a pillar that functions of Salt see as templates do: with its secrets."""
    token = mask_pillar.set(False) if mask_pillar is not None else None
    try:
        yield
    except _OF_FILES as err:
        raise SaltRenderError(str(err)) from err
    finally:
        if token is not None:
            mask_pillar.reset(token)


def _is_hidden(pillar):
    """Whether Salt prints asterisks for what is in a pillar. Its options can have a dict of another class around that."""
    return hide is not None and any(isinstance(value, (MaskedDict, MaskedList)) for value in pillar.values())


class Session:
    """One call into the engine on behalf of one of Salt's modules, with that module's dunders and file client."""

    def __init__(self, module, client=None):
        """``module`` has the dunders: it is what ``globals()`` returns there."""
        self._opts = plain(module["__opts__"])
        self._files = Files(served(self._opts), client or packed_client())
        self._live = Live(module["__salt__"], self._files)
        pillar = plain(module["__pillar__"])
        #: What hides the pieces of the pillar in results, where Salt hides those of the pillar itself.
        self.hide = hide if _is_hidden(pillar) else None
        self._facts = facts(plain(module["__grains__"]), pillar, self._opts)

    def __call__(self, function, *args, **kwargs):
        """Call a method of the engine for the minion."""
        method = getattr(engine(self._opts), function)
        with contextlib.closing(self._files), _as_salt_does():
            return method(self._facts, *args, caller=self._live, **kwargs)

    def lint(self, formula, saltenv):
        """What is wrong with a formula on any platform. Without a saltenv, it is that of the minion, as for a call."""
        saltenv = saltenv or self._opts.get("saltenv") or "base"
        with contextlib.closing(self._files):
            return engine(self._opts).lint(formula, saltenv, caller=self._live)
