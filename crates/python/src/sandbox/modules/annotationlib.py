"""Annotations of classes and functions, as far as `dataclasses` and `typing` ask for them."""

import enum


class Format(enum.IntEnum):
    """What annotations are given as."""

    VALUE = 1
    VALUE_WITH_FAKE_GLOBALS = 2
    FORWARDREF = 3
    STRING = 4


class ForwardRef:
    """The name of a type that is evaluated later."""

    def __init__(self, arg, *, module=None, owner=None, is_argument=True, is_class=False):
        self.__forward_arg__, self.__forward_module__ = arg, module
        self.__forward_is_argument__, self.__forward_is_class__ = is_argument, is_class

    def __eq__(self, other):
        return isinstance(other, ForwardRef) and self.__forward_arg__ == other.__forward_arg__

    def __hash__(self):
        return hash(self.__forward_arg__)

    def __or__(self, other):
        import typing

        return typing.Union[self, other]

    def __repr__(self):
        return f"ForwardRef({self.__forward_arg__!r})"


def get_annotations(obj, *, globals=None, locals=None, eval_str=False, format=Format.VALUE):
    """The annotations of a class itself, or of a function."""
    if isinstance(obj, type):
        own = obj.__dict__.get("__annotations__")
        if own is None:
            own = obj.__annotations__ if any(name in obj.__dict__ for name in _LAZY) else {}
    else:
        own = getattr(obj, "__annotations__", None) or {}
    return dict(own)


_LAZY = ("__annotate__", "__annotate_func__", "__annotations_cache__")


def type_repr(value):
    """A type as it is written."""
    if isinstance(value, type):
        return value.__qualname__ if value.__module__ == "builtins" else f"{value.__module__}.{value.__qualname__}"
    return "..." if value is ... else repr(value)


def annotations_to_string(annotations):
    """Annotations as they are written."""
    return {name: value if isinstance(value, str) else type_repr(value) for name, value in annotations.items()}


def call_annotate_function(annotate, format, *, owner=None):
    """The annotations that a function makes."""
    return annotate(Format.VALUE)


def get_annotate_from_class_namespace(namespace):
    """The function in a class's namespace that makes its annotations."""
    return namespace.get("__annotate__") or namespace.get("__annotate_func__")
