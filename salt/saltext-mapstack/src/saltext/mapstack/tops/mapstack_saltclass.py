"""
The states of saltclass by Rust, for the same inventories.

.. code-block:: yaml

    master_tops:
      mapstack_saltclass:
        path: /srv/saltclass

Where Salt has no ``saltclass`` of its own, this one answers to that name as well.
"""

from saltext.mapstack import native

if native.missing is None:
    from saltext.mapstack import pillars

__virtualname__ = "saltclass"
__virtual_aliases__ = ("mapstack_saltclass",)


def __virtual__():
    return native.missing or pillars.name_beside_salts(__virtualname__, "tops")


def top(**kwargs):
    """
    Return the states of a minion's classes, by its environment.
    """
    given = pillars.arguments_of_top(__opts__, *__virtual_aliases__, __virtualname__)
    found = pillars.give_top("saltclass", [given], kwargs)["__saltclass__"]
    return {found["environment"]: found["states"]}
