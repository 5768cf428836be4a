"""The command ``mapstack`` of a master: what is asked about all minions is answered by a process of its own."""

import importlib.metadata
import logging
import shutil
import subprocess

from salt.exceptions import CommandExecutionError

from saltext.mapstack.options import option
from saltext.mapstack.sessions import VERSION

log = logging.getLogger(__name__)

_NAME = "mapstack"


def _installed():
    """The program of the wheel in this Python, which is on no path in Salt's packages."""
    try:
        files = importlib.metadata.files(_NAME) or ()
    except importlib.metadata.PackageNotFoundError:
        return None
    return next((str(file.locate()) for file in files if file.name == _NAME), None)


def _program(opts):
    """The program: the one that the master's configuration names, that of the wheel, or the one on the path."""
    program = option(opts, "command") or _installed() or shutil.which(_NAME)
    if program is None:
        raise CommandExecutionError(
            "the command mapstack is not installed: `pip install mapstack` into Salt's own Python, or name the program in"
            " the master's configuration as `mapstack: {command: PATH}`"
        )
    return program


def flags(**values):
    """The flags of the command for values by their names. A list repeats a flag; None and False leave it out."""
    arguments = []
    for name, value in values.items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            arguments.append(flag)
            continue
        items = value if isinstance(value, (list, tuple)) else [value]
        # What belongs to a flag cannot be taken for another one.
        arguments.extend(f"{flag}={item}" for item in items if item is not None and item is not False)
    return arguments


def printed(opts, verb, arguments, formulas):
    """What the command prints with a master's configuration, and its exit status.

    An exception if it prints nothing. What it says besides goes to Salt's log.
    """
    line = [
        _program(opts),
        verb,
        *flags(config=opts["conf_file"], config_kind="master", salt_version=VERSION, color="never"),
        *arguments,
        "--",
        *(str(formula) for formula in formulas),
    ]
    try:
        # A project around the directory of whoever calls is not meant.
        done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, check=False, cwd="/")
    except OSError as err:
        raise CommandExecutionError(f"cannot run {line[0]}: {err}") from err
    said = done.stderr.decode("utf-8", "replace").strip()
    if not done.stdout:
        raise CommandExecutionError(said or f"{line[0]} ended with status {done.returncode} and printed nothing")
    if said:
        log.warning("mapstack %s: %s", verb, said)
    return done.stdout.decode("utf-8"), done.returncode
