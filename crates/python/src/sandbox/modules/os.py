"""What pure modules need of `os`; nothing here reaches the system."""

sep = "/"
name = "posix"
environ = {}


class PathLike:
    """An object with a path."""


def fspath(path):
    if isinstance(path, (str, bytes)):
        return path
    make = getattr(type(path), "__fspath__", None)
    if make is None:
        raise TypeError(f"expected str, bytes or os.PathLike object, not {type(path).__name__}")
    return make(path)


def urandom(size):
    raise NotImplementedError("there is no source of secrets")


import posixpath as path


def __getattr__(name):
    raise AttributeError(f"'os.{name}' is not available to templates: it would reach outside of the template")
