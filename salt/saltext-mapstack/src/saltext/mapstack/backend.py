"""The functions of ``map`` for a module of the same interface, which gives its own dunders.

saltext-formula with the patch in ``salt/saltext-formula`` asks here, if the configuration of the minion says so:

.. code-block:: yaml

    formula_backend: mapstack
"""

import types

from saltext.mapstack import native

#: Names that Salt's loader gives a module.
_DUNDERS = ("__salt__", "__opts__", "__grains__", "__pillar__", "__context__")

#: Functions that see the dunders, in the order in which they call each other.
_FUNCTIONS = ("_session", "data", "stack", "tofs")


def functions(space):
    """``data``, ``stack`` and ``tofs`` with the dunders in the names of a module; None if the engine is not there.

    A module of salt-ssh runs on the master, where files come by another client.
    """
    if native.missing is not None:
        return None
    if ".wrapper." in space["__name__"]:
        from saltext.mapstack.wrapper import mapstack_map as ours
    else:
        from saltext.mapstack.modules import mapstack_map as ours
    names = {**vars(ours), **{name: space[name] for name in _DUNDERS if name in space}}
    # Salt 3008 changes the option `test` in the options that it gives a module, and not in those that ours imports.
    imported = vars(ours).get("__opts__")
    if imported is not None and imported.value():
        names["__opts__"] = imported
    for name in _FUNCTIONS:
        own = getattr(ours, name)
        names[name] = types.FunctionType(own.__code__, names, name, own.__defaults__)
    return types.SimpleNamespace(**{name: names[name] for name in _FUNCTIONS[1:]})
