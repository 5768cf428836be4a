"""Real Salt as a library: a minion's functions over a file root, without a master or a daemon."""
import contextlib
import copy
import logging
import os
import shutil
import sys
import tempfile
import warnings

sys.dont_write_bytecode = True
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

import salt.config
import salt.fileclient
import salt.loader

try:
    import salt.utils.secret
except ImportError:
    pass  # Salt before 3008 shows all values.
else:
    # As inside a state run; elsewhere newer versions of Salt show asterisks instead of pillar values.
    salt.utils.secret.mask_pillar.set(False)


class Reference:
    """One minion over one file root, or several.

    With `as_in_state_run` its functions share one file client, which makes them several times faster.
    """

    def __init__(self, root, grains=None, pillar=None, opts=None, as_in_state_run=False):
        self.home = tempfile.mkdtemp(prefix="mapstack-reference-")
        self.opts = salt.config.minion_config(None)
        self.opts.update(opts or {})
        grains = dict(grains or {})
        grains.setdefault("id", "minion")
        here = {name: os.path.join(self.home, name) for name in ("cachedir", "pki_dir", "sock_dir", "extension_modules")}
        self.opts.update(
            here,
            root_dir=self.home,
            log_file=os.path.join(self.home, "log"),
            file_client="local",
            file_roots={"base": [root] if isinstance(root, str) else list(root)},
            pillar_roots={"base": []},
            id=grains["id"],
            grains=grains,
            pillar=pillar or {},
        )
        os.makedirs(self.opts["cachedir"])
        client = salt.fileclient.get_file_client(self.opts) if as_in_state_run else None
        client = client and salt.fileclient.ContextlessFileClient(client)
        utils = salt.loader.utils(self.opts)
        self.functions = salt.loader.minion_mods(self.opts, context={}, utils=utils, file_client=client)

    def call(self, function, *args, **kwargs):
        return self.functions[function](*args, **kwargs)

    def close(self):
        shutil.rmtree(self.home, ignore_errors=True)


def stand_in(minion, interfaces):
    """Let a minion have these network interfaces, and compile the pillar it was given."""
    import salt.pillar

    class Compiled:
        def compile_pillar(self):
            return minion.opts["pillar"]

    salt.pillar.get_pillar = lambda *args, **kwargs: Compiled()
    utils = minion.functions.pack["__utils__"]
    module = utils["network.ip_addrs"].func.__globals__
    module["interfaces"] = lambda: copy.deepcopy(interfaces)


@contextlib.contextmanager
def reference(files, **minion):
    """A reference whose file root holds the given texts."""
    with tempfile.TemporaryDirectory(prefix="mapstack-root-") as root:
        write_files(root, files)
        minion = Reference(root, **minion)
        try:
            yield minion
        finally:
            minion.close()


def write_files(root, files):
    for path, text in files.items():
        path = os.path.join(root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as out:
            out.write(text.encode("utf-8", "surrogateescape"))


@contextlib.contextmanager
def watched_requests():
    """The templates that are asked of the file server, and those that are found and rendered, in order."""
    requested, found = [], []
    original = salt.fileclient.Client.get_template

    def watching(self, url, *args, **kwargs):
        answer = original(self, url, *args, **kwargs)
        requested.append(url)
        if answer:
            found.append(url)
        return answer

    salt.fileclient.Client.get_template = watching
    try:
        yield requested, found
    finally:
        salt.fileclient.Client.get_template = original


def node(value, above=()):
    """A value as JSON that names every type."""
    if id(value) in above:
        raise RecursionError("a value that holds itself")
    above = (*above, id(value))
    if value is None:
        return {"type": "null", "value": None}
    if isinstance(value, bool):
        return {"type": "bool", "value": value}
    if isinstance(value, int):
        return {"type": "int", "value": value if abs(value) < 2**63 else str(value)}
    if isinstance(value, float):
        finite = value == value and abs(value) != float("inf")
        return {"type": "float", "value": value if finite else str(value)}
    if isinstance(value, str):
        return {"type": "str", "value": str(value)}
    if isinstance(value, bytes):
        return {"type": "bytes", "value": value.hex()}
    if isinstance(value, dict):
        return {"type": "map", "value": [[node(k, above), node(v, above)] for k, v in value.items()]}
    if isinstance(value, (list, tuple)):
        return {"type": type(value).__name__, "value": [node(v, above) for v in value]}
    if isinstance(value, (set, frozenset)):
        return {"type": "set", "value": sorted((node(v, above) for v in value), key=repr)}
    raise TypeError(f"no form for {type(value).__name__}")


def from_node(node):
    """The value that `node` describes."""
    kind, value = node["type"], node["value"]
    if kind == "map":
        return {from_node(k): from_node(v) for k, v in value}
    if kind in ("list", "tuple", "set"):
        return {"list": list, "tuple": tuple, "set": set}[kind](from_node(v) for v in value)
    if kind == "bytes":
        return bytes.fromhex(value)
    return {"int": int, "float": float}.get(kind, lambda v: v)(value)
