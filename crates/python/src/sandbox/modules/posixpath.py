"""The functions of `os.path` that look at text alone."""

from os import fspath as _fspath

__all__ = ["altsep", "basename", "commonpath", "commonprefix", "curdir", "dirname", "extsep", "isabs", "join",
           "normcase", "normpath", "pardir", "pathsep", "relpath", "sep", "split", "splitdrive", "splitext", "splitroot"]

sep = "/"
curdir = "."
pardir = ".."
extsep = "."
pathsep = ":"
altsep = None


def _signs(path):
    """The separator and the dots, as text or bytes like the path."""
    return (b"/", b".", b"..", b"") if isinstance(path, bytes) else ("/", ".", "..", "")


def normcase(path):
    return _fspath(path)


def isabs(path):
    path = _fspath(path)
    return path.startswith(_signs(path)[0])


def join(path, *more):
    path = _fspath(path)
    slash = _signs(path)[0]
    for part in map(_fspath, more):
        if part.startswith(slash):
            path = part
        elif not path or path.endswith(slash):
            path += part
        else:
            path += slash + part
    return path


def split(path):
    path = _fspath(path)
    slash = _signs(path)[0]
    at = path.rfind(slash) + 1
    head, tail = path[:at], path[at:]
    return (head if not head.strip(slash) else head.rstrip(slash)), tail


def dirname(path):
    return split(path)[0]


def basename(path):
    return split(path)[1]


def splitext(path):
    path = _fspath(path)
    slash, dot, _, empty = _signs(path)
    start = path.rfind(slash) + 1
    at = path.rfind(dot)
    # Leading dots belong to the name.
    if at < start or not path[start:at].strip(dot):
        return path, empty
    return path[:at], path[at:]


def splitdrive(path):
    path = _fspath(path)
    return _signs(path)[3], path


def splitroot(path):
    path = _fspath(path)
    slash, _, _, empty = _signs(path)
    # Two slashes in front mean something of their own; three mean one.
    is_double = path.startswith(slash * 2) and not path.startswith(slash * 3)
    root = slash * 2 if is_double else path[:path.startswith(slash)]
    return empty, root, path[len(root):]


def normpath(path):
    path = _fspath(path)
    slash, dot, dots, empty = _signs(path)
    if not path:
        return dot
    # Two slashes in front mean something of their own; three mean one.
    lead = path[:2] if path.startswith(slash * 2) and not path.startswith(slash * 3) else path[:path.startswith(slash)]
    parts = []
    for part in path.split(slash):
        if part in (empty, dot):
            continue
        if part != dots or (not lead and not parts) or (parts and parts[-1] == dots):
            parts.append(part)
        elif parts:
            parts.pop()
    return lead + slash.join(parts) or dot


def commonprefix(paths):
    paths = list(paths)
    if not paths:
        return ""
    least, most = min(paths), max(paths)
    for at, item in enumerate(least):
        if item != most[at]:
            return least[:at]
    return least


def commonpath(paths):
    paths = [_fspath(path) for path in paths]
    if not paths:
        raise ValueError("commonpath() arg is an empty sequence")
    slash, dot, _, empty = _signs(paths[0])
    if len({path.startswith(slash) for path in paths}) > 1:
        raise ValueError("Can't mix absolute and relative paths")
    split_paths = [[part for part in path.split(slash) if part not in (empty, dot)] for path in paths]
    common = commonprefix(split_paths)
    return (slash if paths[0].startswith(slash) else empty) + slash.join(common)


def relpath(path, start=None):
    path = _fspath(path)
    if not path:
        raise ValueError("no path specified")
    slash, dot, dots, _ = _signs(path)
    start = dot if start is None else _fspath(start)
    if isabs(path) != isabs(start):
        raise ValueError("relpath() of a relative and an absolute path depends on the current directory, "
                         "which templates do not have")
    here, there = ([part for part in normpath(p).split(slash) if part and part != dot] for p in (start, path))
    common = len(commonprefix([here, there]))
    return slash.join([dots] * (len(here) - common) + there[common:]) or dot


def __getattr__(name):
    raise AttributeError(f"'os.path.{name}' is not available to templates: it would reach outside of the template")
