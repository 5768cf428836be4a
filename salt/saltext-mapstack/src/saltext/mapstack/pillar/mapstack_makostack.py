"""
MakoStack by Rust, for the same files. Salt 3008 no longer has it. Templates run in Salt's own Python, which needs Mako.

.. code-block:: yaml

    ext_pillar:
      - makostack: /srv/stack/stack.cfg

Where Salt has a ``makostack`` of its own, that one answers to this name, and this one to ``mapstack_makostack``.
"""

import importlib.util

from saltext.mapstack import native

if native.missing is None:
    from saltext.mapstack import pillars

__virtualname__ = "makostack"
__virtual_aliases__ = ("mapstack_makostack",)


def __virtual__():
    if importlib.util.find_spec("mako") is None:
        return False, "Mako is not installed in Salt's Python"
    return native.missing or pillars.name_beside_salts(__virtualname__, "pillar")


def ext_pillar(minion_id, pillar, *args, **kwargs):
    """
    Return the data of the files that the config files list for a minion.
    """
    return pillars.give_stack("makostack", minion_id, pillar, args, kwargs, globals())
