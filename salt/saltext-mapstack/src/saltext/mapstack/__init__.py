"""A Salt extension: the layered configuration of formulas, computed by Rust.

The modules that Salt loads are in the folders named after Salt's. ``live`` and ``sessions`` are what they share: they
get Salt's dunders as arguments, so none of them has to be loaded by Salt.
"""

import salt.utils.templates

__version__ = "0.1.0"


def _render(*args, **kwargs):
    from saltext.mapstack import templates

    return templates.render(*args, **kwargs)


# Salt imports this package for each of its loaders, so that `template: mapstack` is known wherever templates are
# managed.
salt.utils.templates.TEMPLATE_REGISTRY.setdefault("mapstack", _render)
