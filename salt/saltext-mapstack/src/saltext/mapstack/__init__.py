"""A Salt extension: the layered configuration of formulas, computed by Rust.

The modules that Salt loads are in the folders named after Salt's. ``live`` and ``sessions`` are what they share: they
get Salt's dunders as arguments, so none of them has to be loaded by Salt.
"""

__version__ = "0.1.0"
