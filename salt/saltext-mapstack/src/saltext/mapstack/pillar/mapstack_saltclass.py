"""
The external pillar ``saltclass`` by Rust, for the same inventories. Salt 3008 no longer has it.

.. code-block:: yaml

    ext_pillar:
      - saltclass:
          - path: /srv/saltclass

Where Salt has a ``saltclass`` of its own, that one answers to this name, and this one to ``mapstack_saltclass``.
"""

from saltext.mapstack import native

if native.missing is None:
    from saltext.mapstack import pillars

__virtualname__ = "saltclass"
__virtual_aliases__ = ("mapstack_saltclass",)


def __virtual__():
    return native.missing or pillars.name_beside_salts(__virtualname__, "pillar")


def ext_pillar(minion_id, pillar, *args):
    """
    Return the pillar of the classes that a node has.
    """
    return pillars.give("saltclass", minion_id, pillar, list(args), globals())
