"""What a master compiles for a minion: `salt.pillar.Pillar`, in this process.

A record has `files` and git `repositories` below a directory, the text of a `master` configuration, `minion_id`, `grains`, and what a minion
may ask with: `saltenv`, `pillarenv`, `override`, `ext`, `extra_minion_data`. The minion is accepted, and its grains are
in the master's cache. Directories are read in the order of names, instead of that on disk. `<DIR>` is the directory in files, options and results.
"""
import contextlib
import copy
import datetime
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile

import salt_reference as reference

# Includes that grow longer by each level take that many seconds of the processor, instead of minutes up to Python's limit.
LONGEST = 4

# What a master's process has once, and what would start daemons or look at the machine.
QUIET = ("cachedir", "pki_dir", "sock_dir", "extension_modules")


def compiled(record, root=None):
    """The result, or what it raises: `{"result": repr}` or `{"error": class, "message": text}`."""
    with tempfile.TemporaryDirectory(prefix="mapstack-pillar-") as place:
        root = root or os.path.join(place, "tree")
        os.makedirs(root, exist_ok=True)
        try:
            return asked(record, root, os.path.join(place, "home"))
        finally:
            shutil.rmtree(root, ignore_errors=True)


def asked(record, root, home):
    put = lambda text: text.replace("<DIR>", root)
    reference.write_files(root, {name: put(text) for name, text in record["files"].items()})
    for name in record.get("directories", ()):
        os.makedirs(os.path.join(root, name), exist_ok=True)
    for name, target in record.get("links", {}).items():
        os.symlink(put(target), os.path.join(root, name))
    for name, repository in record.get("repositories", {}).items():
        build(os.path.join(root, name), repository)
    here = json.loads(put(json.dumps({key: record[key] for key in record if key not in ("files", "links")})))
    cut = lambda text: text.replace(root, "<DIR>")
    if "stateconf" in str(record):
        start_stateconf()
    if "pyobjects" in str(record["files"]):
        start_pyobjects()
    signal.signal(signal.SIGVTALRM, endless)
    signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST)
    try:
        made = named_options(thawed(pillar(here, root, home)), here)
        return {"result": cut(repr(without_reasons(made)))}
    except Exception as error:
        return {"error": type(error).__name__, "message": cut(str(error)).strip().partition("\n")[0]}
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def named_options(made, record):
    """A pillar with the master's options in it (`pillar_opts`) has only those that its configuration names, by name: the others are
    those of the machine at hand."""
    if "pillar_opts" in record["master"] and isinstance(made.get("master"), dict):
        options = made["master"]
        names = re.findall(r"^(\w+):", record["master"], re.MULTILINE)
        made["master"] = {name: options[name] for name in sorted(names) if name in options}
    return made


def build(place, repository):
    """A bare repository with a commit for each branch and tag."""
    clean = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    run = lambda *args, **more: subprocess.run(["git", *args], check=True, capture_output=True, env=clean, **more)
    run("init", "--quiet", "--bare", place)
    stream = ""
    for kind, references in (("heads", repository["branches"]), ("tags", repository.get("tags", {}))):
        for name, files in references.items():
            stream += f"commit refs/{kind}/{name}\ncommitter A Person <a@example.org> 1700000000 +0000\ndata 1\nx\n"
            stream += "".join(f"M 100644 inline {path}\ndata {len(text.encode())}\n{text}\n" for path, text in files.items()) + "\n"
    run("-C", place, "fast-import", "--quiet", input=stream.encode())


def endless(*_):
    raise RecursionError("includes do not end")


def pillar(record, root, home):
    import salt.config
    import salt.pillar

    os.makedirs(home, exist_ok=True)
    path = os.path.join(home, "master")
    with open(path, "w", encoding="utf-8") as out:
        out.write(record["master"])
    opts = salt.config.master_config(path)
    opts.update({name: os.path.join(home, name) for name in QUIET})
    opts.update(root_dir=home, log_file=os.path.join(home, "log"), id="master")
    os.makedirs(opts["cachedir"], exist_ok=True)
    extend(opts)
    accept(opts, record["minion_id"], record["grains"])
    names = {"pillar_override": "override", "pillarenv": "pillarenv", "ext": "ext", "extra_minion_data": "extra_minion_data"}
    arguments = {name: record[key] for name, key in names.items() if key in record}
    keep_order(salt.pillar)
    made = salt.pillar.Pillar(opts, copy.deepcopy(record["grains"]), record["minion_id"], record.get("saltenv"), **arguments)
    try:
        with in_order():
            return made.compile_pillar()
    finally:
        made.destroy()


class InOrder(dict):
    """A set whose members come in the order in which they were added."""

    def add(self, member):
        self[member] = None

    def update(self, members):
        for member in members:
            self.add(member)

    def __iand__(self, others):
        return InOrder({member: None for member in self if member in others})


def keep_order(module):
    """Salt before 3008 keeps the environments in a set, whose order changes with every start of Python. They come in the order of pillar_roots here."""
    if before_3008():
        module.set = InOrder


def before_3008():
    import salt.version

    return int(salt.version.__version__.partition(".")[0]) < 3008


# External pillars that left Salt after 3007, but for the code behind them.
FORMER = ("cmd_yamlex", "nacl", "saltclass")


def extend(opts):
    """The modules of former external pillars are an older Salt's files, which lie beside the one that the environment names."""
    for name in FORMER:
        if name in str(opts.get("ext_pillar")):
            place = os.path.join(opts["extension_modules"], "pillar")
            os.makedirs(place, exist_ok=True)
            shutil.copy(os.path.join(os.path.dirname(os.environ["MAPSTACK_SALTCLASS"]), name + ".py"), place)
    if "reclass" in str(opts.get("ext_pillar")):
        forget_settings()


def forget_settings():
    """The parsers of reclass outlive an inventory, and of two of them only one follows other sentinels. A master has one inventory."""
    from reclass.core import Core
    from reclass.values.parser import Parser
    from reclass.values.value import Value

    Core._parser, Value._parser = Parser(), Parser()


def start_pyobjects():
    """What `pyobjects` keeps in its process is new for each compile, but for the states, which take seconds to load."""
    import salt.loader
    import salt.utils.pyobjects

    salt.utils.pyobjects.Registry.empty()
    salt.utils.pyobjects.Registry.enabled = True
    if not hasattr(salt.loader.states, "kept"):
        load = salt.loader.states

        def states(*args, **kwargs):
            states.kept = states.kept or {name: None for name in load(*args, **kwargs)}
            return states.kept

        states.kept = None
        salt.loader.states = states


def start_stateconf():
    """After an error `stateconf` asks a state run what is wrong with the data. The answer needs nothing that a run starts with, such as a master."""
    import salt.state

    salt.state.State.__init__ = lambda self, opts, *_: None


def accept(opts, minion_id, grains):
    import salt.cache

    if not any(name in str(opts.get("ext_pillar")) for name in ("file_tree", "nodegroups")):
        return
    for kind in ("minions", "minions_pre", "minions_rejected", "minions_denied"):
        os.makedirs(os.path.join(opts["pki_dir"], kind), exist_ok=True)
    with open(os.path.join(opts["pki_dir"], "minions", minion_id), "w", encoding="utf-8") as out:
        out.write("-----BEGIN PUBLIC KEY-----\nx\n-----END PUBLIC KEY-----\n")
    cache = salt.cache.factory(opts)
    if before_3008():
        cache.store(f"minions/{minion_id}", "data", {"grains": grains, "pillar": {}})
    else:
        cache.store("grains", minion_id, grains)


@contextlib.contextmanager
def in_order():
    """Directories are read by name."""
    import salt.pillar.file_tree
    import salt.utils.path

    real_walk, real_list, real_scan = salt.utils.path.os_walk, os.listdir, os.scandir

    def walk(*args, **kwargs):
        for place, directories, files in real_walk(*args, **kwargs):
            directories.sort()
            files.sort()
            yield place, directories, files

    salt.utils.path.os_walk, os.listdir = walk, lambda *args: sorted(real_list(*args))
    os.scandir = lambda *args: Scanned(real_scan(*args))
    try:
        yield
    finally:
        salt.utils.path.os_walk, os.listdir, os.scandir = real_walk, real_list, real_scan


class Scanned:
    """A directory whose entries come by name."""

    def __init__(self, scanned):
        with scanned:
            self.entries = iter(sorted(scanned, key=lambda entry: entry.name))

    def __iter__(self):
        return self.entries

    def __next__(self):
        return next(self.entries)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        pass


def without_reasons(made):
    """Errors without what templates and external pillars say, which is in words of each side's own."""
    if isinstance(made.get("_errors"), list):
        made["_errors"] = [WORDS.sub(r"\1", str(error)) for error in made["_errors"]]
    return made


WORDS = re.compile(r"(?s)(.*?render error:(?=\n)|Failed to load ext_pillar [^:]*).*")


class Sorted(set):
    """A set that prints in an order of its own; a set's depends on a seed that differs from run to run."""

    def __repr__(self):
        return "{%s}" % ", ".join(sorted(map(repr, self))) if self else "set()"


def thawed(value):
    """The value as the minion has it after transport (`salt.payload`), in Python's own types, which print the same in all versions."""
    if isinstance(value, dict):
        return {thawed(key): thawed(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return list(map(thawed, value))
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value
    if isinstance(value, (set, frozenset)):
        # Python's order changes with every start.
        return sorted(map(thawed, value), key=repr)
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return str(value)
    for kind in (bool, int, float):
        if isinstance(value, kind):
            return kind(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return str(value)
    # Some texts print in a way of their own.
    return str.__str__(value) if isinstance(value, str) else value
