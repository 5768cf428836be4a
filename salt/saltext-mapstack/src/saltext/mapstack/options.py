"""The option ``mapstack`` in the configuration of a minion or a master."""

from salt.exceptions import CommandExecutionError

#: What stands under it, with the possible values, or None for any text.
_KNOWN = {"files": ("auto", "client"), "command": None}


def option(opts, name):
    """What stands under ``mapstack`` for a name. An exception if anything there is not an option."""
    given = opts.get("mapstack")
    if given is None:
        return None
    if not isinstance(given, dict):
        raise CommandExecutionError(f"the option `mapstack` is {given!r}, not a mapping of {_listed(_KNOWN)}")
    for key, value in given.items():
        if key not in _KNOWN:
            raise CommandExecutionError(f"the option `mapstack` has no {key!r}; it has {_listed(_KNOWN)}")
        known = _KNOWN[key]
        if not isinstance(value, str) or (known and value not in known):
            wanted = _listed(known) if known else "a path"
            raise CommandExecutionError(f"the option `mapstack: {key}` is {value!r}, not {wanted}")
    return given.get(name)


def _listed(names):
    return " or ".join(f"`{name}`" for name in names)
