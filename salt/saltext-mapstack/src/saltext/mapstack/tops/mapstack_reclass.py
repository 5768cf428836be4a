"""
The applications of reclass by Rust, for the same inventories. It needs no Python package ``reclass``.

.. code-block:: yaml

    master_tops:
      reclass:
        inventory_base_uri: /srv/reclass

Where that package is installed, Salt's own module answers to this name, and this one to ``mapstack_reclass``.
"""

from saltext.mapstack import native

if native.missing is None:
    from saltext.mapstack import pillars

__virtualname__ = "reclass"
__virtual_aliases__ = ("mapstack_reclass",)


def __virtual__():
    return native.missing or pillars.name_beside_salts(__virtualname__, "tops")


def top(**kwargs):
    """
    Return the applications of a minion's node, by its environment.
    """
    given = pillars.arguments_of_top(__opts__, *__virtual_aliases__, __virtualname__)
    found = pillars.give_top("reclass", given, kwargs)["__reclass__"]
    return {found["environment"]: found["applications"]}
