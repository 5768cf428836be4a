"""Patterns for paths. Matching them asks for what is on the machine."""

import fnmatch
import os
import re

_MAGIC = re.compile("([*?[])")


def has_magic(pathname):
    return _MAGIC.search(pathname) is not None


def escape(pathname):
    return _MAGIC.sub(r"[\1]", pathname)


def glob(pathname, *, root_dir=None, dir_fd=None, recursive=False, include_hidden=False):
    """The paths that exist."""
    return list(iglob(pathname, root_dir=root_dir, recursive=recursive, include_hidden=include_hidden))


def iglob(pathname, *, root_dir=None, dir_fd=None, recursive=False, include_hidden=False):
    """The paths that exist, one after the other."""
    base = pathname if root_dir is None else os.path.join(root_dir, pathname)
    return iter(os.scandir(os.path.dirname(base)))


_no_recurse_symlinks = object()


class _StringGlobber:
    """Matches patterns below a directory, which asks for what is on the machine."""

    def __init__(self, sep, case_sensitive, case_pedantic=False, recursive=False):
        self.flags, self.recursive = 0 if case_sensitive else re.IGNORECASE, recursive

    def selector(self, parts):
        return lambda path: os.scandir(path)

    def compile(self, pattern, altsep=None):
        if self.recursive:
            os.scandir(pattern)
        return re.compile(fnmatch.translate(pattern), self.flags).match
