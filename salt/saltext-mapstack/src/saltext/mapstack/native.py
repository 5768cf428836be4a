"""Whether the native module works here.

Salt says of a module that cannot be imported that it "is not available", and nothing else. So the modules that Salt loads
look here first, and return :py:data:`missing` from ``__virtual__``.
"""

import logging

log = logging.getLogger(__name__)

#: What ``__virtual__`` returns where the native module cannot be imported.
missing = None

try:
    from mapstack import __version__
except ImportError as err:
    missing = (
        False,
        f"the native module of saltext-mapstack cannot be imported ({err}):"
        " `salt-pip install mapstack-native` installs it",
    )
    # Renderers and external pillars have no place to say why they are not there.
    log.warning("%s", missing[1])
