"""
Formulas on all minions that a master knows, by the command ``mapstack``, which has to be installed on the master.

.. code-block:: bash

    /opt/saltstack/salt/salt-pip install mapstack

Minions are those in the master's cache, with the grains and the pillars that it has of them; where the master compiles
pillars from files, they are compiled. No minion is asked.
"""

import json

import salt.utils.args
from salt.exceptions import CommandExecutionError

from saltext.mapstack import native

if native.missing is None:
    from saltext.mapstack import command

__virtualname__ = "mapstack"


def __virtual__():
    return native.missing or __virtualname__


def fleet(*formulas, **kwargs):
    """
    Return the configuration of formulas for each minion: ``lines`` with ``minion``, ``formula``, and ``data`` or
    ``error``, as ``mapstack fleet`` prints them. ``retcode`` is 1 if a minion has no result.

    CLI Example:

    .. code-block:: bash

        salt-run mapstack.fleet openssh
        salt-run mapstack.fleet openssh count=sshd_config:Port select="grains.os_family == 'Debian'"

    formulas
        The formulas: the first directories of their files. Default: the only one there is.

    get
        A key, or a list of keys with colons between their steps: the values under them alone.

    count
        The same for how many minions have which value.

    select
        A Jinja expression about a minion.

    minion_glob
        A pattern of ids.

    saltenv
        The saltenv of the formulas. Default: ``base``.

    strict
        Whether warnings are failures.
    """
    given = _given(kwargs, "get", "count", "select", "minion_glob", "saltenv", "strict")
    arguments = command.flags(output="jsonl", **given)
    printed, status = command.printed(__opts__, "fleet", arguments, formulas)
    _failed(status != 0)
    # Texts can contain what Python takes for ends of lines.
    lines = printed.rstrip("\n").split("\n")
    return {"lines": [json.loads(line) for line in lines], "retcode": status}


def diff(*formulas, **kwargs):
    """
    Return what a change to the master's files does to the configuration of formulas on each minion, as
    ``mapstack diff`` prints it. ``retcode`` is 0 if nothing differs, 1 if something does, and 2 if not all could be
    compared.

    CLI Example:

    .. code-block:: bash

        salt-run mapstack.diff
        salt-run mapstack.diff openssh before=main~1 after=main

    formulas
        The formulas: the first directories of their files. Default: all, and the pillar.

    before
        The state before: a revision of the git repository that the master's files are in. Default: ``HEAD``.

    after
        The state after: a revision, or ``worktree``. Default: the files as they are now.

    get
        A key, or a list of keys with colons between their steps: changes at and below them alone.

    ignore
        The same for all changes but these.

    select
        A Jinja expression about a minion.

    minion_glob
        A pattern of ids.

    saltenv
        The saltenv of the formulas. Default: ``base``.

    strict
        Whether warnings are failures, and files that were not compared.
    """
    given = _given(kwargs, "before", "after", "get", "ignore", "select", "minion_glob", "saltenv", "strict")
    states = {"from": given.pop("before", "HEAD"), "to": given.pop("after", "worktree")}
    arguments = command.flags(output="json", **states, **given)
    printed, status = command.printed(__opts__, "diff", arguments, formulas)
    _failed(status > 1)
    return {**json.loads(printed), "retcode": status}


def _given(kwargs, *names):
    """The arguments that a function takes by their names: Salt before 3008 does not pass on any behind ``*formulas``."""
    given = salt.utils.args.clean_kwargs(**kwargs)
    unknown = sorted(set(given).difference(names))
    if unknown:
        # An invocation error would count as success.
        raise CommandExecutionError(f"unknown arguments: {', '.join(unknown)}; there are {', '.join(names)}")
    return given


def _failed(is_failed):
    """Tell Salt whether the runner counts as failed, although it returns what there is."""
    if is_failed:
        __context__["retcode"] = 1
