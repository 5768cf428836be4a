"""What pure modules need of `os`; nothing here reaches the system."""

sep = "/"
name = "posix"
environ = {}


class _WithPath(type):
    def __instancecheck__(cls, instance):
        return hasattr(type(instance), "__fspath__")

    def __subclasscheck__(cls, subclass):
        return hasattr(subclass, "__fspath__")


class PathLike(metaclass=_WithPath):
    """An object with a path."""

    @classmethod
    def register(cls, other):
        return other


class stat_result:
    """What is known of a file."""


class DirEntry:
    """What is in a directory."""


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
