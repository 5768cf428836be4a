"""A master and two minions of the reference, as processes, and what the master then has in its cache.

The processes speak over loopback and keep everything below a temporary directory. The minions' own core grains
are turned off, as they would describe the machine that records; they get those of two platforms in their place.
"""
import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import salt_reference as reference

BIN = pathlib.Path(sys.executable).parent
MINIONS = {"web1": "debian-12", "db1": "rockylinux-9"}
# Each minion gets its own part, a common part, and values that packing could change.
PILLAR = {
    "top.sls": "base:\n  '*': [common]\n  web1: [web]\n",
    "common.sls": "common: {text: é, number: 1099511627776, float: 1.5, nothing: null, list: [1, two, {three: 3}]}\n",
    "web.sls": "roles: [web]\nlookup: {2: two, false: no}\nwhen: 2020-01-02\n",
}
# How long the minions may take to connect, in seconds.
TIMEOUT = 180


def record(platforms, target, outputs):
    """Write the cache's `grains` and `pillar` below a directory, and beside them what the reference reads there.

    `outputs` gets what `salt` and `salt-call` print of the minions' grains, in each format; one minion is then gone.
    """
    import salt.cache
    import salt.version

    with tempfile.TemporaryDirectory(prefix="mapstack-master-") as home:
        home = pathlib.Path(home)
        with processes(home, platforms) as started:
            wait_for(home)
            record_outputs(home, outputs, started)
        shutil.rmtree(target, ignore_errors=True)
        cache = salt.cache.Cache({"cachedir": str(cachedir(home)), "cache": "localfs"})
        expected = {"salt": salt.version.__version__, "minions": {}}
        for minion in sorted(MINIONS):
            parts = {bank: cache.fetch(bank, minion) for bank in ("grains", "pillar")}
            expected["minions"][minion] = {bank: reference.node(value) for bank, value in parts.items()}
            for bank in parts:
                (target / "cache" / bank).mkdir(parents=True)
                shutil.copyfile(cachedir(home) / bank / f"{minion}.p", target / "cache" / bank / f"{minion}.p")
    put(target / "expected.json", json.dumps(expected, separators=(",", ":")) + "\n")
    print(f"{target.name}: a master's cache of {len(MINIONS)} minions", flush=True)


def cachedir(home):
    return home / "master/var/cache/salt/master"


@contextlib.contextmanager
def processes(home, platforms):
    """A master and its minions; they are ended by their ids, whatever happens."""
    publish, answer = free_port(), free_port()
    for name, text in PILLAR.items():
        put(home / "pillar" / name, text)
    master = {
        "interface": "127.0.0.1", "publish_port": publish, "ret_port": answer, "root_dir": str(home / "master"),
        "auto_accept": True, "user": user(), "worker_threads": 2, "pillar_roots": {"base": [str(home / "pillar")]},
        "file_roots": {"base": [str(home / "states")]}, "sock_dir": str(home / "sm"), "log_level": "warning",
        "pki_dir": str(home / "master/pki"), "cachedir": str(cachedir(home)), "pidfile": str(home / "master.pid"),
    }
    put(home / "master.d/master", json.dumps(master))
    (home / "states").mkdir()
    started = [start("salt-master", home / "master.d")]
    try:
        for at, (minion, platform) in enumerate(MINIONS.items()):
            grains = {**platforms[platform], "id": minion}
            config = {
                "id": minion, "master": "127.0.0.1", "master_port": answer, "publish_port": publish,
                "root_dir": str(home / minion), "user": user(), "grains": grains, "grains_blacklist": ["*"],
                "sock_dir": str(home / f"s{at}"), "log_level": "warning", "pidfile": str(home / f"{minion}.pid"),
                "enable_fqdns_grains": False, "acceptance_wait_time": 2, "auth_timeout": 30,
            }
            put(home / f"{minion}.d/minion", json.dumps(config))
            started.append(start("salt-minion", home / f"{minion}.d"))
        yield started
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()


def start(program, config):
    log = open(config / "output", "wb")
    return subprocess.Popen([BIN / program, "-c", config], stdout=log, stderr=log)


def wait_for(home):
    """Ask all minions until both have answered, then have their pillar compiled again."""
    until = time.monotonic() + TIMEOUT
    while time.monotonic() < until:
        if set(ask(home, "test.ping")) == set(MINIONS) and set(ask(home, "saltutil.refresh_pillar")) == set(MINIONS):
            time.sleep(5)
            if all((cachedir(home) / bank / f"{minion}.p").is_file() for bank in ("grains", "pillar") for minion in MINIONS):
                return
        time.sleep(2)
    logs = "\n".join(f"{log}: {log.read_text(errors='replace')[-2000:]}" for log in home.glob("*.d/output"))
    sys.exit(f"the minions have not answered for {TIMEOUT} s:\n{logs}")


def record_outputs(home, outputs, started):
    outputs.mkdir(parents=True, exist_ok=True)
    names = ["os", "osfinger", "osrelease_info", "id", "systemd", "ip4_interfaces", "transactional", "osservicepack"]
    salt, call = [BIN / "salt", "-c", home / "master.d"], [BIN / "salt-call", "-c", home / "web1.d", "--local"]
    printed = {
        "each.json": [*salt, "--out=json", "*", "grains.items"],
        "static.json": [*salt, "--static", "--out=json", "*", "grains.items"],
        "each.yaml": [*salt, "--out=yaml", "*", "grains.item", *names],
        "static.yaml": [*salt, "--static", "--out=yaml", "*", "grains.item", *names],
        "local.json": [*call, "--out=json", "grains.items"],
        "local.yaml": [*call, "--out=yaml", "grains.item", *names],
    }
    for name, command in printed.items():
        put(outputs / name, run(command))
    # The last one to have been started is the last minion.
    gone = started.pop()
    gone.terminate()
    gone.wait(30)
    item = ["-t", "3", "*", "grains.item", *names]
    put(outputs / "gone.json", run([*salt, "--out=json", *item]))
    put(outputs / "gone_static.json", run([*salt, "--static", "--out=json", *item]))
    put(outputs / "gone.yaml", run([*salt, "--out=yaml", *item]))
    print(f"{outputs.name}: {len(printed) + 3} outputs", flush=True)


def run(command):
    return subprocess.run(command, capture_output=True, text=True).stdout


def ask(home, function):
    command = [BIN / "salt", "-c", home / "master.d", "--static", "--out=json", "-t", "15", "*", function]
    try:
        answers = json.loads(run(command))
    except ValueError:
        return {}
    return {minion: value for minion, value in answers.items() if value is True}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def user():
    import getpass

    return getpass.getuser()


def put(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
