"""Salt's layered formula configuration, computed by Rust.

    >>> import mapstack
    >>> engine = mapstack.Engine.local({"file_roots": {"base": ["/srv/salt"]}})
    >>> facts = mapstack.Facts(grains={"os": "Debian"}, pillar={}, opts={"id": "web1"})
    >>> engine.data(facts, "openssh")  # doctest: +SKIP

The package does not know about Salt's loader: ``saltext.mapstack`` is what makes Salt's modules of it.
"""

from mapstack._native import Engine, ExtPillar, Facts, __version__
from mapstack.errors import (
    DataSourceError,
    DefinitionError,
    Error,
    FileError,
    InternalError,
    LimitError,
    LookupFailed,
    MergeError,
    NotData,
    OptionsError,
    ParseError,
    TemplateError,
)

__all__ = [
    "DataSourceError",
    "DefinitionError",
    "Engine",
    "Error",
    "ExtPillar",
    "Facts",
    "FileError",
    "InternalError",
    "LimitError",
    "LookupFailed",
    "MergeError",
    "NotData",
    "OptionsError",
    "ParseError",
    "TemplateError",
    "__version__",
]
