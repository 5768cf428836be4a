"""What can go wrong.

The text of an exception starts with the place as ``file:line:column`` where there is one. Each class is also the
built-in exception that ``saltext-formula`` raises in such a case, so code that handles that one goes on to work.
"""


class Error(Exception):
    """Any error of the library."""

    #: What happened, without the place.
    message: "str | None" = None
    #: What to do.
    help: "str | None" = None
    #: The function of Salt that a template called and that does not exist, if this is what happened.
    missing_function: "str | None" = None
    #: The file as a person would open it.
    file: "str | None" = None
    #: The line, from 1.
    line: "int | None" = None
    #: The column in characters, from 1.
    column: "int | None" = None


class NotData(TypeError):
    """An argument that contains an object which is not data. It is not an error of the library, but of its use."""


class DefinitionError(Error, ValueError):
    """A data-source definition that cannot be read."""


class TemplateError(Error):
    """A template that failed. An exception that one of Salt's functions raised in it is the ``__cause__``."""


class ParseError(Error, ValueError):
    """Text that is not YAML, JSON or TOML."""


class DataSourceError(Error, TypeError):
    """A file without the shape of a data source."""


class MergeError(Error, ValueError):
    """Data that cannot be merged."""


class OptionsError(Error, TypeError):
    """Arguments or meta configuration of a wrong type."""


class LookupFailed(Error, LookupError):
    """A look-up that cannot be made."""


class FileError(Error, OSError):
    """A file that cannot be read."""


class LimitError(Error):
    """A limit on time, memory, depth or steps."""


class InternalError(Error):
    """A mistake in the library itself."""
