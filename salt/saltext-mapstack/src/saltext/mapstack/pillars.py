"""External pillars by the engine, for the modules that Salt loads."""

import contextlib
import importlib.util
import os

import mapstack

from saltext.mapstack import sessions
from saltext.mapstack.files import Files
from saltext.mapstack.live import IN_RUST, Live, plain

#: One for each item of a master's ``ext_pillar``, with what it has parsed.
_MAX_KEPT = 64

_kept = {}


class PillarLive(Live):
    """Salt's functions for the templates of an external pillar, and Mako."""

    #: Functions see another pillar than the one that is compiled, and options of their own.
    in_rust = frozenset(name for name in IN_RUST if not name.startswith(("pillar.", "config.")))

    def __init__(self, module, minion_id, pillar, files):
        super().__init__(module["__salt__"], files)
        dunders = {name: module[name] for name in ("__salt__", "__opts__", "__grains__")}
        self._variables = {**dunders, "minion_id": minion_id, "pillar": pillar}

    def change(self, name, args, kwargs):
        """Render a template of MakoStack by Salt's own Python."""
        if name != "makostack.render":
            return NotImplemented
        from mako.lookup import TemplateLookup

        path, directories = args
        stack = kwargs["stack"]
        try:
            template = TemplateLookup(directories=directories).get_template(path)
            text = template.render(stack=stack, **self._variables)
        except Exception as err:  # pylint: disable=broad-except
            from mako.exceptions import text_error_template

            message = f"{type(err).__name__}: {err}\n{text_error_template().render().strip()}"
            return {"stack": stack, "error": message}
        return {"stack": stack, "text": text}


def _external(name, arguments):
    """The external pillar with these arguments; the process keeps it."""
    key = (name, repr(arguments))
    return sessions.kept(_kept, _MAX_KEPT, key, lambda: mapstack.ExtPillar(name, arguments, sessions.VERSION))


def give_stack(name, minion_id, pillar, args, kwargs, module):
    """What PillarStack or MakoStack returns for a minion. Salt passes what stands behind its name as either kind of
    arguments.
    """
    if args and kwargs:
        raise TypeError(f"{name}: its arguments are a list or a mapping, not both")
    return give(name, minion_id, pillar, dict(kwargs) if kwargs else list(args), module)


def give(name, minion_id, pillar, arguments, module):
    """What an external pillar returns for a minion.

    ``module`` has the dunders of the module that Salt calls: it is what ``globals()`` returns there. What templates
    change in the pillar in place is changed there.
    """
    opts = plain(module["__opts__"])
    facts = sessions.facts(plain(module["__grains__"]), plain(pillar), opts, id=minion_id)
    with contextlib.closing(Files(opts)) as files:
        caller = PillarLive(module, minion_id, pillar, files)
        data, failure, changes = _external(name, arguments).give(facts, caller=caller)
    sessions.apply(pillar, changes)
    if failure is not None:
        raise failure
    return data


def name_beside_salts(name, folder):
    """What ``__virtual__`` returns: the name, unless a module of Salt's in this folder answers to it."""
    return f"mapstack_{name}" if has_own(name, folder) else name


def has_own(name, folder):
    """Whether Salt has such a module in one of its folders, which works: for reclass, it has in any case."""
    if name == "reclass":
        return importlib.util.find_spec("reclass") is not None
    import salt

    return os.path.isfile(os.path.join(os.path.dirname(salt.__file__), folder, f"{name}.py"))


def arguments_of_top(opts, *names):
    """What stands behind the first of these names in ``master_tops``."""
    tops = plain(opts)["master_tops"]
    return next(tops[name] for name in names if name in tops)


def give_top(name, arguments, kwargs):
    """What an external pillar returns for a minion whose states a master asks for: no function of Salt, no pillar."""
    opts, grains = kwargs["opts"], kwargs["grains"]
    module = {"__salt__": {}, "__opts__": opts, "__grains__": grains}
    return give(name, opts["id"], {}, arguments, module)
