"""
The external pillar ``reclass`` by Rust, for the same inventories. It needs no Python package ``reclass``.

.. code-block:: yaml

    ext_pillar:
      - reclass:
          inventory_base_uri: /srv/reclass

Where that package is installed, Salt's own external pillar answers to this name, and this one to ``mapstack_reclass``.
"""

import importlib.util

from saltext.mapstack import pillars

__virtualname__ = "reclass"
__virtual_aliases__ = ("mapstack_reclass",)


def __virtual__():
    if importlib.util.find_spec("reclass") is not None:
        return __virtual_aliases__[0]
    return __virtualname__


def ext_pillar(minion_id, pillar, **kwargs):
    """
    Return the parameters of a node, with those of its classes.
    """
    dunders = {"__salt__": __salt__, "__opts__": __opts__, "__grains__": __grains__}
    return pillars.give("reclass", minion_id, pillar, kwargs, dunders)
