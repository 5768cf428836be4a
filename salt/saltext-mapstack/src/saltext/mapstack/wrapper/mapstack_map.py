"""
The layered configuration of formulas for ``salt-ssh``: the execution module ``map``, on the master.

The grains, the options and the pillar are those of the minion, and files are those that the master serves. Where
saltext-formula is installed as well, its wrapper answers, unless the options of the minions disable it:

.. code-block:: yaml

    # /etc/salt/master
    ssh_minion_opts:
      disable_wrappers:
        - map
"""

from salt.utils.functools import namespaced_function

from saltext.mapstack import native
from saltext.mapstack.modules import mapstack_map

if native.missing is None:
    from saltext.mapstack.sessions import Session

__virtualname__ = "map"


def __virtual__():
    return native.missing or mapstack_map.stands_in(__opts__, "disable_wrappers")


def _session():
    return Session(globals(), client=__context__["fileclient"])


data = namespaced_function(mapstack_map.data, globals())
stack = namespaced_function(mapstack_map.stack, globals())
tofs = namespaced_function(mapstack_map.tofs, globals())
