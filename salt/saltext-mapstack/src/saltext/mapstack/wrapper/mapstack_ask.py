"""
Questions about the configuration of formulas for ``salt-ssh``: the execution module ``mapstack``, on the master.
"""

from salt.utils.functools import namespaced_function

from saltext.mapstack import native
from saltext.mapstack.modules import mapstack_ask

if native.missing is None:
    from saltext.mapstack.sessions import Session

__virtualname__ = "mapstack"


def __virtual__():
    return native.missing or __virtualname__


def _session():
    return Session(globals(), client=__context__["fileclient"])


version = namespaced_function(mapstack_ask.version, globals())
explain = namespaced_function(mapstack_ask.explain, globals())
sources = namespaced_function(mapstack_ask.sources, globals())
lint = namespaced_function(mapstack_ask.lint, globals())
