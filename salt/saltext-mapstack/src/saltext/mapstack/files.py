"""The files of Salt's file server, as one state run or one call sees them."""

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


class Files:
    """Files by a file client. Without one, a client is opened on first use, and :py:meth:`close` closes it."""

    def __init__(self, opts, client=None):
        self._opts = opts
        self._given = client
        self._own = None
        self._answers = None

    def _client(self):
        if self._own is None and self._given is not None:
            # Salt wraps the client of a state run, for each loader again.
            self._given = vars(self._given).get("file_client", self._given)
            if self._given.opts["file_roots"] != self._opts["file_roots"]:
                self._given = None
        if self._own is None and self._given is None:
            self._own = salt.fileclient.get_file_client(self._opts)
        return self._own or self._given

    def _ask(self):
        """The client, and what it said so far."""
        if self._answers is None:
            client = self._client()
            self._answers = client, _answers.setdefault(client, _Answers())
        return self._answers

    def listed(self, saltenv):
        """All files of a saltenv."""
        client, answers = self._ask()
        if saltenv not in answers.listed:
            answers.listed[saltenv] = frozenset(client.file_list(saltenv))
        return answers.listed[saltenv]

    def cached(self, path, saltenv):
        """The path on disk of a file; ``None`` if there is none. A file that was found is not asked for again."""
        client, answers = self._ask()
        known = answers.cached
        if (path, saltenv) not in known:
            on_disk = client.get_file(f"salt://{path}", "", True, saltenv)
            if not on_disk:
                return None
            known[path, saltenv] = on_disk
        return known[path, saltenv]

    def envs(self):
        """All saltenvs."""
        return list(self._ask()[0].envs())

    def close(self):
        """Close the client, unless it is that of a state run."""
        own, self._own, self._answers = self._own, None, None
        if hasattr(own, "destroy"):
            own.destroy()
