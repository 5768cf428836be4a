#!/usr/bin/env python3
"""Compare a live master and two minions that use the extension with the same ones that use what Salt has.

usage: master.py FORMULA...

FORMULA is a checkout, such as openssh-formula. A master and the minions `web1` (Debian) and `db1` (RedHat) run on
loopback twice, in the same directories. First the master compiles pillars by `stack`, and the minions render by `jinja`
and have the `map` of saltext-formula; then by `mapstack_stack`, `mapstack` and the `map` of the extension. Pillars, the
data of a formula, and the returns of `state.apply` in test mode have to be equal, errors included.
"""

import argparse
import contextlib
import json
import logging
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import formulas
import salt.client
import salt.utils.yaml
from salt.exceptions import SaltClientError

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / "examples"

MINIONS = {
    "web1": {"os": "Debian", "os_family": "Debian", "roles": ["web"]},
    "db1": {"os": "RedHat", "os_family": "RedHat", "roles": ["db"]},
}

#: What each run is configured with, and the Python module that has to answer for `map`.
RUNS = {
    "salt": {"map": "map", "pillar": "stack", "minion": {"renderer": "jinja|yaml"}},
    "mapstack": {
        "map": "mapstack_map",
        "pillar": "mapstack_stack",
        "minion": {"renderer": "mapstack|yaml", "disable_modules": ["map"]},
    },
}

#: The files of the stacked pillar.
STACK = {
    "stack.cfg": "core.yml\nos/{{ __grains__['os_family'] }}.yml\n"
    "{% for role in __grains__['roles'] %}roles/{{ role }}.yml\n{% endfor %}minions/{{ minion_id }}.yml\n",
    "core.yml": "accounts: [root]\nlimits: {files: 1024, text: {{ pillar['from_top'] }}}\n"
    "called: {{ __salt__['test.echo']('by a function') }}\n",
    "os/Debian.yml": "accounts: [__: merge-first, debian]\n",
    "os/RedHat.yml": "accounts:\n- __: overwrite\n- redhat\nlimits: {files: 4096}\n",
    "roles/web.yml": "limits: {__: remove, files: null}\nseen: {{ stack['accounts'] }}\n",
    "minions/db1.yml": "ünïcode: [1, 1.5, null, true, '{{ minion_id }}']\n",
}

#: How often the state run that measures calls `map.data`.
CALLS = 100

#: Calls `map.data` often, and names a state after the microseconds that all calls took together. The filter's argument
#: is a variable, as Jinja calls a filter of a constant once only, when it compiles.
TIMED = f"""\
{{%- set now = none %}}
{{%- set data = salt['map.data']('users') %}}
{{%- set start = now | strftime('%s%f') | int %}}
{{%- for call in range({CALLS}) %}}{{% do salt['map.data']('users', cache=false) %}}{{% endfor %}}
{{%- set end = now | strftime('%s%f') | int %}}
timed:
  test.configurable_test_state:
    - name: {{{{ end - start }}}} us
    - changes: false
    - result: true
    - comment: {{{{ data | json | yaml_dquote }}}}
"""


def written(root, files):
    """Write files, given by their paths."""
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def options(**values):
    return salt.utils.yaml.safe_dump(values, default_flow_style=False)


def configured(root, checkouts, run):
    """Write the configuration of a master and its minions for a run; returns the master's."""
    names = [checkout.name for checkout in checkouts]
    pillars = {}
    for checkout in checkouts:
        example = checkout / "pillar.example"
        with contextlib.suppress(Exception):
            if isinstance(salt.utils.yaml.safe_load(example.read_text()), dict):
                pillars[checkout.name] = example.read_text()
    written(root / "srv", {"timed.sls": TIMED})
    written(root / "stack", STACK)
    written(
        root / "pillar",
        {
            "top.sls": options(base={"*": ["own", *(f"of-{name}" for name in names if name in pillars)]}),
            "own.sls": "from_top: of {{ grains['id'] }}\n",
            **{f"of-{name}.sls": f"#!yaml\n{text}" for name, text in pillars.items()},
        },
    )
    common = {"user": "root", "log_level": "quiet", "log_level_logfile": "quiet"}
    ports = free_ports(2)
    master = {
        **common,
        "root_dir": str(root / "master"),
        "pki_dir": "/pki",
        "interface": "127.0.0.1",
        "publish_port": ports[0],
        "ret_port": ports[1],
        "auto_accept": True,
        "worker_threads": 2,
        "file_roots": {"base": [str(path) for path in (root / "srv", EXAMPLES / "formulas", EXAMPLES / "site", *checkouts)]},
        "pillar_roots": {"base": [str(root / "pillar")]},
        "ext_pillar": [{run["pillar"]: [str(root / "stack" / "stack.cfg")]}],
    }
    written(root, {"master/etc/master": options(**master)})
    for name, grains in MINIONS.items():
        minion = {
            **common,
            "id": name,
            "root_dir": str(root / name),
            "pki_dir": "/pki",
            "master": "127.0.0.1",
            "master_port": ports[1],
            "publish_port": ports[0],
            "grains": grains,
            **run["minion"],
        }
        written(root, {f"{name}/etc/minion": options(**minion)})


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in sockets]


@contextlib.contextmanager
def started(root, commands):
    """Run programs of Salt, each with the configuration of a name."""
    programs = pathlib.Path(sys.executable).parent
    # Salt puts failed requisites into a set, and names them in its order.
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONWARNINGS": "ignore"}
    with contextlib.ExitStack() as stack:
        for program, name in commands:
            process = subprocess.Popen([programs / program, "-c", root / name / "etc"], env=environment)
            stack.callback(stopped, process)
        yield


@contextlib.contextmanager
def running(root):
    """A client of a running master with its minions."""
    commands = [("salt-master", "master"), *(("salt-minion", name) for name in MINIONS)]
    with started(root, commands):
        deadline = time.monotonic() + 90
        while set(asked(client := connected(root), "test.ping", timeout=5)) != set(MINIONS):
            if time.monotonic() > deadline:
                raise SystemExit("the minions do not answer")
            time.sleep(1)
        yield client


def connected(root):
    """A client of the master; None, as long as it has not written the key that a client reads."""
    with contextlib.suppress(SaltClientError):
        return salt.client.LocalClient(str(root / "master" / "etc" / "master"))


def stopped(process):
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def asked(client, function, *args, timeout=300, **kwargs):
    """What the minions return."""
    try:
        return client.cmd("*", function, args, timeout=timeout, kwarg=kwargs)
    except Exception as err:  # pylint: disable=broad-except
        return {"error": str(err)}


def answers(root, checkouts, run):
    """What a master and its minions answer in a run, and how long one `map.data` takes each minion."""
    shutil.rmtree(root, ignore_errors=True)
    configured(root, checkouts, run)
    with running(root) as client:
        modules = asked(client, "test.provider", "map")
        if set(modules.values()) != {run["map"]}:
            raise SystemExit(f"the module `map` is not {run['map']}: {modules}")
        found = {"pillar.items": asked(client, "pillar.items"), "map.data": asked(client, "map.data", "users")}
        for checkout in checkouts:
            for sls in formulas.names(checkout):
                found[f"state.apply {sls}"] = asked(client, "state.apply", sls, test=True)
        timed = asked(client, "state.apply", "timed", test=True)
    times = {name: time_in(returned) for name, returned in timed.items()}
    return {question: formulas.comparable(answer) for question, answer in found.items()}, times


def time_in(returned):
    """The milliseconds of a call, as the state of `TIMED` is named; what was returned, if it is an error."""
    try:
        (state,) = returned.values()
        return f"{int(state['name'].removesuffix(' us')) / CALLS / 1000:.2f} ms"
    except (AttributeError, ValueError):
        return returned


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("formulas", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    logging.disable(logging.CRITICAL)
    checkouts = [path.resolve() for path in args.formulas]
    with tempfile.TemporaryDirectory() as directory:
        # Both runs have the same paths, as errors name them.
        root = pathlib.Path(directory) / "r"
        results = {name: answers(root, checkouts, run) for name, run in RUNS.items()}
    (ours, _), (theirs, _) = results["mapstack"], results["salt"]
    different = [question for question in theirs if theirs[question] != ours[question]]
    failing = sum(isinstance(answer, (list, str)) for each in theirs.values() for answer in each.values())
    unanswered = [question for question, answer in theirs.items() if set(answer) != set(MINIONS)]
    print(f"{len(theirs)} questions to {len(MINIONS)} minions: {failing} errors, {len(different)} different")
    for question in different:
        print(f"  {question}")
        for name, (found, _) in results.items():
            print(f"    {name}: {json.dumps(found[question], default=str)}")
    for question in unanswered:
        print(f"  {question}: not answered by each minion")
    for name, (_, times) in results.items():
        print(f"map.data in a state run, {name}: {times}")
    return 1 if different or unanswered else 0


if __name__ == "__main__":
    sys.exit(main())
