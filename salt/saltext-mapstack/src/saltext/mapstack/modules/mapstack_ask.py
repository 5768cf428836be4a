"""
Questions about the configuration of formulas: what it is made of, where values come from, and what is wrong with it.

The answers are the documents that the commands ``mapstack explain``, ``sources`` and ``lint`` print as JSON. They are
about formulas with layers of parameter files, as ``map.data`` reads them, and about those that have a ``map.jinja``.
"""

from salt.exceptions import CommandExecutionError, SaltRenderError

try:
    # Salt 3008 changes the option `test` in the options of modules that do not import them from here.
    from salt.loader.dunder import __opts__
except ImportError:
    # Salt 3006 has none there, and gives them to each module.
    pass

from saltext.mapstack import native

if native.missing is None:
    import mapstack
    from saltext.mapstack import sessions

__virtualname__ = "mapstack"


def __virtual__():
    return native.missing or __virtualname__


def _session():
    return sessions.Session(globals())


def _asked(question, *args, saltenv):
    try:
        return question(*args, saltenv=saltenv)
    except (mapstack.Error, SaltRenderError) as err:
        raise CommandExecutionError(str(err)) from err


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
    Return where each value of a formula's configuration comes from: the ``layers`` in the order of merging, each with
    its file, the source definition that led to it, what its matchers found on this minion (``because``) and how it is
    merged; and the ``values``, each with its ``path``, its ``layer``, its place (``origin``) and what it replaced
    (``past``). Values of the pillar, and those under the names of secrets, are masked.

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
    return _asked(_session(), "explain", formula, keys, saltenv=saltenv)


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
    return _asked(_session(), "sources", formula, saltenv=saltenv)


def lint(formula, saltenv=None):
    """
    Return the mistakes in a formula (``findings``), which is run for one minion of each platform that is built in, and
    what was not checked. Salt's functions are not called for them. Each file of a master is fetched that the check
    looks at.

    CLI Example:

    .. code-block:: bash

        salt web1 mapstack.lint openssh

    formula
        The formula: the first directory of its files.

    saltenv
        The saltenv of the formula. Default: that of the minion, or ``base``.
    """
    return _asked(_session().lint, formula, saltenv=saltenv)
