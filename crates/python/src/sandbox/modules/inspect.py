"""What kind of object something is, and what parameters a function has."""

import types
from collections import namedtuple

FullArgSpec = namedtuple("FullArgSpec", "args varargs varkw defaults kwonlyargs kwonlydefaults annotations")


def isclass(object):
    return isinstance(object, type)


def isfunction(object):
    return isinstance(object, types.FunctionType)


def ismethod(object):
    return isinstance(object, types.MethodType)


def isbuiltin(object):
    return isinstance(object, types.BuiltinFunctionType)


def ismodule(object):
    return isinstance(object, types.ModuleType)


def isgenerator(object):
    return isinstance(object, types.GeneratorType)


def isroutine(object):
    return isfunction(object) or ismethod(object) or isbuiltin(object)


def unwrap(func, *, stop=None):
    """The function behind decorators."""
    seen = {id(func)}
    while hasattr(func, "__wrapped__") and not (stop is not None and stop(func)):
        func = func.__wrapped__
        if id(func) in seen:
            raise ValueError(f"wrapper loop when unwrapping {func!r}")
        seen.add(id(func))
    return func


def getfullargspec(func):
    """The names of parameters, and their defaults."""
    bound = 1 if ismethod(func) else 0
    func = unwrap(func.__func__ if bound else func)
    if not isfunction(func):
        raise TypeError("unsupported callable")
    code = func.__code__
    names, count, keywords = code.co_varnames, code.co_argcount, code.co_kwonlyargcount
    at = count + keywords
    varargs = names[at] if code.co_flags & 4 else None
    varkw = names[at + bool(varargs)] if code.co_flags & 8 else None
    defaults, keyword_defaults = func.__defaults__, func.__kwdefaults__
    return FullArgSpec(
        list(names[bound:count]), varargs, varkw, defaults, list(names[count:at]), keyword_defaults, {}
    )


def signature(obj, **kwargs):
    """Classes that `dataclasses` makes have no text of their signature."""
    raise ValueError("no signature found")


def cleandoc(doc):
    """A docstring without the indentation of its lines."""
    lines = doc.expandtabs().split("\n")
    margin = min((len(line) - len(line.lstrip(" ")) for line in lines[1:] if line.strip(" ")), default=0)
    lines = [lines[0].lstrip(" "), *(line[margin:] for line in lines[1:])]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return "\n".join(lines)


def getdoc(object):
    doc = getattr(object, "__doc__", None)
    return cleandoc(doc) if isinstance(doc, str) else None
