"""
Questions about the configuration of formulas: what it is made of, where values come from, and what is wrong with it.

The answers are data. They are about formulas with layers of parameter files, as ``map.data`` reads them, and about
those that have a ``map.jinja``.
"""

import mapstack
from salt.exceptions import CommandExecutionError

try:
    # Salt 3008 changes the option `test` in the options of modules that do not import them from here.
    from salt.loader.dunder import __opts__
except ImportError:
    # Salt 3006 has none there, and gives them to each module.
    pass

from saltext.mapstack import sessions

__virtualname__ = "mapstack"


def __virtual__():
    return __virtualname__


def _ask(question, *args, saltenv):
    session = sessions.Session(
        salt=__salt__,
        opts=__opts__,
        grains=__grains__,
        pillar=__pillar__,
    )
    try:
        return session(question, *args, saltenv=_saltenv(saltenv))
    except mapstack.Error as err:
        raise CommandExecutionError(str(err)) from err


def _saltenv(saltenv):
    return saltenv or __opts__.get("saltenv") or "base"


def version():
    """
    Return the version of the engine.

    CLI Example:

    .. code-block:: bash

        salt '*' mapstack.version
    """
    return mapstack.__version__


def explain(formula, path=None, saltenv=None):
    """
    Return where each value of a formula's configuration comes from: the value, its place (``from``), the source
    definition and what its matchers found on this minion (``because``), the merge strategy, and what it replaced
    (``before``). Values of the pillar, and those under the names of secrets, are masked.

    CLI Example:

    .. code-block:: bash

        salt '*' mapstack.explain openssh sshd_config:Port

    formula
        The formula: the first directory of its files.

    path
        The keys that lead to a value, with colons between them. Default: all values.

    saltenv
        The saltenv of the formula. Default: that of the minion, or ``base``.
    """
    keys = [] if path is None else str(path).split(":")
    explained = _ask("explain", formula, keys, saltenv=saltenv)
    if not explained and keys:
        raise CommandExecutionError(f"{formula} has no value at {path}")
    return explained


def sources(formula, saltenv=None):
    """
    Return the files and values that a formula's configuration looks for on this minion, in order, and whether they
    are there.

    CLI Example:

    .. code-block:: bash

        salt '*' mapstack.sources openssh

    formula
        The formula: the first directory of its files.

    saltenv
        The saltenv of the formula. Default: that of the minion, or ``base``.
    """
    return _ask("sources", formula, saltenv=saltenv)


def lint(formula, saltenv=None):
    """
    Return the mistakes in a formula, which is run for one minion of each platform that is built in. Salt's functions
    are not called for them.

    The files have to be in directories that the minion reads itself, as with ``salt-call --local``. A master's files
    are checked on the master, by the command ``mapstack lint``.

    CLI Example:

    .. code-block:: bash

        salt-call --local mapstack.lint openssh

    formula
        The formula: the first directory of its files.

    saltenv
        The saltenv of the formula. Default: that of the minion, or ``base``.
    """
    opts = sessions.plain(__opts__)
    if not sessions.reads_directories(opts):
        raise CommandExecutionError(
            "The files come from a master: run it there with `salt-call --local`, or use the command `mapstack lint`"
        )
    try:
        return sessions.checker(opts).lint(formula, _saltenv(saltenv))
    except mapstack.Error as err:
        raise CommandExecutionError(str(err)) from err
