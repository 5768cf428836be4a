"""
PillarStack by Rust: the external pillar ``stack`` under another name, for the same files.

.. code-block:: yaml

    ext_pillar:
      - mapstack_stack: /srv/stack/stack.cfg

The arguments are those of ``stack``: config files, or mappings such as ``grains:os`` from values to config files.
"""

from saltext.mapstack import native

if native.missing is None:
    from saltext.mapstack import pillars

__virtualname__ = "mapstack_stack"


def __virtual__():
    return native.missing or __virtualname__


def ext_pillar(minion_id, pillar, *args, **kwargs):
    """
    Return the data of the files that the config files list for a minion.
    """
    return pillars.give_stack("stack", minion_id, pillar, args, kwargs, globals())
