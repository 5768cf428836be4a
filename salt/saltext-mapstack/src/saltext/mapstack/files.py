"""The files of Salt's file server, as one state run or one call sees them."""

import os
import threading
import weakref

import salt.fileclient
from salt.exceptions import LoaderError
from salt.loader.dunder import __file_client__

#: What the file server said, for as long as the client that asked it lives: that of a state run ends with it.
_answers = weakref.WeakKeyDictionary()


class _Answers:
    """What a file server said about its files."""

    def __init__(self):
        self.listed = {}
        self.cached = {}


def packed_client():
    """The file client that Salt's loader has for its modules, if any: in a state run, it has that of the run."""
    try:
        # The loader replaces `None` by an empty dict.
        return __file_client__.value() or None
    except LoaderError:
        return None


class _Kept:
    """A client of a master, until the thread or the process ends: reading the minion's key takes longer than a call."""

    def __init__(self, opts):
        self._opts = dict(opts)
        self._process = os.getpid()
        self.client = salt.fileclient.get_file_client(opts)
        weakref.finalize(self, _destroy, self.client, self._process)

    def is_for(self, opts):
        """Whether the client belongs to this process and has these options."""
        return self._process == os.getpid() and self._opts == opts


#: What a process has from its parent, whose sockets it must not close.
_inherited = []

_of_thread = threading.local()


def _destroy(client, process):
    if process == os.getpid():
        client.destroy()
    else:
        _inherited.append(client)


def _masters_client(opts):
    """The client of this thread for the files of a master."""
    kept = getattr(_of_thread, "kept", None)
    if kept is None or not kept.is_for(opts):
        kept = _of_thread.kept = _Kept(opts)
    return kept.client


class Files:
    """Files by a file client. Without one, there is one for each thread, or for local files one for each object, which
    :py:meth:`close` closes: what serves them looks for changes when it is opened.
    """

    def __init__(self, opts, client=None):
        self._opts = opts
        self._given = client
        self._own = None
        self._answers = None

    def _of_run(self):
        """The client of a state run."""
        if self._given is None:
            return None
        # Salt wraps it, for each loader again.
        client = vars(self._given).get("file_client", self._given)
        return client if client.opts["file_roots"] == self._opts["file_roots"] else None

    def _open(self):
        """The client, and what it said so far: in the state run that it belongs to, or to this object."""
        if self._answers is None:
            client = self._of_run()
            if client is not None:
                said = _answers.setdefault(client, _Answers())
            elif self._opts.get("file_client", "remote") == "remote":
                client, said = _masters_client(self._opts), _Answers()
            else:
                client = self._own = salt.fileclient.get_file_client(self._opts)
                said = _Answers()
            self._answers = client, said
        return self._answers

    def _ask(self, question, *args):
        """What the client says. After a failure, the next call opens another one."""
        try:
            return getattr(self._open()[0], question)(*args)
        except Exception:
            _of_thread.kept = None
            raise

    def listed(self, saltenv):
        """All files of a saltenv."""
        known = self._open()[1].listed
        if saltenv not in known:
            known[saltenv] = frozenset(self._ask("file_list", saltenv))
        return known[saltenv]

    def cached(self, path, saltenv):
        """The path on disk of a file; ``None`` if there is none. A file that was found is not asked for again."""
        known = self._open()[1].cached
        if (path, saltenv) not in known:
            on_disk = self._ask("get_file", f"salt://{path}", "", True, saltenv)
            if not on_disk:
                return None
            known[path, saltenv] = on_disk
        return known[path, saltenv]

    def envs(self):
        """All saltenvs."""
        return list(self._ask("envs"))

    def close(self):
        """Close the client, if it is that of this object alone."""
        own, self._own, self._answers = self._own, None, None
        if hasattr(own, "destroy"):
            own.destroy()
