"""
The external pillar ``reclass`` by Rust, for the same inventories. It needs no Python package ``reclass``.

.. code-block:: yaml

    ext_pillar:
      - reclass:
          inventory_base_uri: /srv/reclass

Where that package is installed, Salt's own external pillar answers to this name, and this one to ``mapstack_reclass``.
"""

from saltext.mapstack import native

if native.missing is None:
    from saltext.mapstack import pillars

__virtualname__ = "reclass"
__virtual_aliases__ = ("mapstack_reclass",)


def __virtual__():
    return native.missing or pillars.name_beside_salts(__virtualname__, "pillar")


def ext_pillar(minion_id, pillar, **kwargs):
    """
    Return the parameters of a node, with those of its classes.
    """
    return pillars.give("reclass", minion_id, pillar, kwargs, globals())
