"""Record again what the reference does with the recorded inputs.

    python record.py PROJECT [FILE …]

Each file holds one record a line. Its inputs are kept and its outputs replaced; lines whose outputs have not
changed keep their bytes, so that `git diff` shows what a newer reference does otherwise.
"""
import atexit
import copy
import functools
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

import definitions
import formats
import gitfs
import high_data
import high_trees
import master_cache
import mine
import platforms
import salt_reference as reference
import state_run
import whole_pillar

OUTPUTS = ("result", "error", "message", "type", "value", "found", "output", "tree", "line", "renderer", "matchers",
           "chain_finished", "outcomes", "yaml_flow", "yaml_block", "json", "py_str", "py_repr", "base_after", "overlay_after",
           "templates_requested", "templates_found", "log", "errors", "changed", "loads", "raw_decode", "events")


def refusal(error, *directories):
    message = str(error)
    for directory in directories:
        message = message.replace(directory, "<DIR>")
    if "Traceback (most recent call last)" in message:
        # The rest names lines of the reference on this machine.
        before = message.partition("Traceback (most recent call last)")[0].strip()
        message = before or message.strip().rpartition("\n")[2]
    return {"error": type(error).__name__, "message": message}


def matcher(record):
    import saltext.formula.modules.map as module

    module.__salt__ = dict.fromkeys(("config.get", "grains.get", "pillar.get"))
    context = module.RenderContext(stack={}, base_dirs=("p",), tpldir="f", tplroot="f")
    letters = {cls: letter for letter, cls in module.TYP_CLS_MAP.items()}
    try:
        renderer = module._render_matcher_chain(record["definition"], context, record["for_path_rendering"])
    except Exception as error:
        return refusal(error)
    matchers = [
        {"type": letters[type(m)], "query": m.query, "options": list(m.options), "delimiter": m.delimiter}
        for m in renderer._matchers
    ]
    kind = "yaml" if isinstance(renderer, module.YAMLRenderer) else "raw"
    return {"renderer": kind, "matchers": matchers, "chain_finished": renderer.chain_finished}


def merge(record):
    from salt.utils.dictupdate import merge

    base, overlay = copy.deepcopy(record["base"]), copy.deepcopy(record["overlay"])
    try:
        out = {"result": merge(base, overlay, strategy=record["strategy"], merge_lists=record["merge_lists"])}
        out = copy.deepcopy(out)
    except Exception as error:
        out = refusal(error)
    for name, value in (("base", base), ("overlay", overlay)):
        if json.dumps(value) != json.dumps(record[name]):
            out[f"{name}_after"] = value
    return out


def stack_merge(record):
    import salt.pillar.stack as stack

    try:
        return {"result": stack._merge_dict(copy.deepcopy(record["base"]), copy.deepcopy(record["overlay"]))}
    except Exception as error:
        return refusal(error)


def yaml_scalar(record):
    import salt.utils.yaml

    try:
        value = salt.utils.yaml.safe_load(record["input"])
    except Exception as error:
        return {"error": type(error).__name__}
    try:
        return reference.node(value)
    except RecursionError:
        return {"type": "cyclic", "value": str(value)}


def yaml_dump(record):
    from salt.utils.jinja import SerializerExtension

    serializer = SerializerExtension(__import__("jinja2").Environment())
    value = float(record["value_special"]) if "value_special" in record else record["value"]
    if "note" in record:
        value = share(value)
        names = ("yaml_flow", "yaml_block")
    else:
        names = ("yaml_flow", "yaml_block", "json", "py_str", "py_repr")
    out = {
        "yaml_flow": str(serializer.format_yaml(value)),
        "yaml_block": str(serializer.format_yaml(value, flow_style=False)),
        "json": str(serializer.format_json(value)),
        "py_str": str(value),
        "py_repr": repr(value),
    }
    return {"value": record["value"], **{name: out[name] for name in names}}


def share(value):
    """The same collection, equal members being one object."""
    members = value.values() if isinstance(value, dict) else value
    first = next(iter(members))
    return {key: first for key in value} if isinstance(value, dict) else [first for _ in value]


def traverse(record):
    from salt.utils.data import traverse_dict_and_list

    missing = object()
    try:
        data = reference.from_node(record["data"])
        found = traverse_dict_and_list(data, record["key"], missing, delimiter=record["delimiter"])
    except Exception as error:
        return {"error": type(error).__name__}
    return {"found": False} if found is missing else {"found": True, "result": reference.node(found)}


def path_as_text(record):
    import posixpath

    path = record["path"]
    return {"result": {"normpath": posixpath.normpath(path), "split": list(posixpath.split(path)),
                       "below_a": posixpath.join("a", path), "with_b": posixpath.join(path, "b")}}


def look_up(record, recorded, minions=[]):
    if not minions:
        grains, pillar, opts = (recorded[name] for name in ("grains", "pillar", "opts"))
        minions.append(reference.Reference("/nonexistent", grains=grains, pillar=pillar, opts={**opts, "master": "salt"}))
    try:
        return {"result": copy.deepcopy(minions[0].call(record["function"], *record["args"], **record["kwargs"]))}
    except Exception as error:
        return refusal(error)


def scenario(record):
    import salt.utils.secret

    minion = {name: copy.deepcopy(record[name]) for name in ("grains", "pillar", "opts")}
    with reference.reference(record["files"], **minion) as salt_minion, reference.watched_requests() as (requested, found):
        salt.utils.secret.mask_pillar.set(bool(record.get("called_outside_template")))
        try:
            args, kwargs = copy.deepcopy((record["args"], record["kwargs"]))
            out = {"result": plain(salt_minion.call(record["function"], *args, **kwargs))}
        except Exception as error:
            out = refusal(error, salt_minion.home, salt_minion.opts["file_roots"]["base"][0])
        finally:
            salt.utils.secret.mask_pillar.set(False)
        out.update(templates_requested=list(requested), templates_found=list(found))
    if "log" in record:
        out["log"] = record["log"]
    return out


def pipe(record):
    """An sls through its pipe, a call of `slsutil.renderer`, or a managed file."""
    import salt.loader
    import salt.template

    minion = {name: copy.deepcopy(record[name]) for name in ("grains", "pillar", "opts")}
    with reference.reference(record["files"], **minion) as salt_minion:
        opts, functions = salt_minion.opts, salt_minion.functions
        root = opts["file_roots"]["base"][0]
        opts["file_roots"]["dev"] = [root]
        kwargs = copy.deepcopy(record.get("kwargs", {}))
        functions = with_own(record, salt_minion)
        try:
            if "sls" in record:
                renderers = salt.loader.render(opts, functions, pillar=opts["pillar"])
                path = functions["cp.cache_file"]("salt://" + record["path"])
                made = salt.template.compile_template(
                    path, renderers, opts["renderer"], opts["renderer_blacklist"], opts["renderer_whitelist"],
                    "base", record["sls"], rendered_sls=set(), context=None)
                if hasattr(made, "read"):
                    return {"output": made.read()}
            elif "template" in record:
                path, _, problem = functions["file.get_managed"](
                    "/etc/managed", record["engine"], record["template"], None, None, None, None, None, None, "base",
                    copy.deepcopy(record["context"]), copy.deepcopy(record["defaults"]))
                if problem:
                    return {"error": "SaltRenderError", "message": problem.replace(salt_minion.home, "<DIR>")}
                with open(path, encoding="utf-8", newline="") as file:
                    return {"output": file.read()}
            else:
                made = functions["slsutil.renderer"](*record["args"], **kwargs)
            # A template shows the types that it gets.
            return {"result": repr(made if "args" in record else builtin(made))}
        except Exception as error:
            return refusal(error, salt_minion.home, root)


def with_own(record, minion):
    """The minion's functions, after the tree's renderers and what they need were copied to it."""
    import salt.loader
    import salt.utils.extmods

    if not any(path.startswith("_") for path in record["files"]):
        return minion.functions
    forget_own()
    for form in OWN:
        salt.utils.extmods.sync(minion.opts, form, saltenv=["base"])
    return salt.loader.minion_mods(minion.opts, context={}, utils=salt.loader.utils(minion.opts))


OWN = ("renderers", "modules", "utils", "states")


def forget_own():
    """Modules of an earlier tree, which Python would find again."""
    for name in list(sys.modules):
        if name.startswith("salt.loaded.ext"):
            del sys.modules[name]


def tree_module(record):
    """Calls of functions that the tree ships, after its modules were copied to the minion; and whether they exist."""
    import salt.loader
    import salt.utils.extmods

    minion = {name: copy.deepcopy(record[name]) for name in ("grains", "pillar", "opts")}
    outcomes = []
    for call in record["calls"]:
        # Each call finds a minion that has loaded nothing.
        with reference.reference(record["files"], **copy.deepcopy(minion)) as salt_minion:
            opts = salt_minion.opts
            for form in ("modules", "utils"):
                salt.utils.extmods.sync(opts, form, saltenv=["base"])
            utils = salt.loader.utils(opts)
            functions = salt.loader.minion_mods(opts, context={}, utils=utils)
            utils.pack["__salt__"] = functions
            outcomes.append(outcome_of(call, functions))
            for name in list(sys.modules):
                if name.startswith("salt.loaded.ext") or name in ("helper", "other"):
                    del sys.modules[name]
    return {"outcomes": outcomes}


def tree_grain(record):
    """A minion's grains after the tree's modules of grains were copied to it, as far as they are not its system's, and the
    functions that Salt leaves out. Those of the system are given: what the machine at hand is does not count."""
    import salt.loader
    import salt.utils.extmods

    failed = []
    real, critical = salt.loader._module_dirs, salt.loader.log.critical
    with reference.reference(record["files"], opts=copy.deepcopy(record["opts"])) as salt_minion:
        opts = salt_minion.opts
        system = os.path.join(opts["cachedir"], "system")
        reference.write_files(system, {"core.py": f"def given():\n    return {record['grains']!r}\n"})
        for form in ("grains", "utils"):
            salt.utils.extmods.sync(opts, form, saltenv=["base"])
        opts["conf_file"] = os.path.join(opts["cachedir"], "minion")
        pathlib.Path(opts["conf_file"]).write_text(json.dumps({"grains": record["set"]}), encoding="utf-8")
        own = os.path.join(opts["extension_modules"], "grains")
        salt.loader._module_dirs = lambda opts, kind, *args, **kwargs: (
            [own, system] if kind == "grains" else real(opts, kind, *args, **kwargs)
        )
        salt.loader.log.critical = lambda message, *args, **kwargs: failed.append(args[0])
        try:
            grains = salt.loader.grains(opts, force_refresh=True)
        finally:
            salt.loader._module_dirs, salt.loader.log.critical = real, critical
            for name in list(sys.modules):
                if name.startswith("salt.loaded.ext") or name == "helper":
                    del sys.modules[name]
    new = {key: value for key, value in grains.items() if key not in record["grains"] or record["grains"][key] != value}
    return {"result": repr(new), "errors": failed}


def outcome_of(call, functions):
    if "args" not in call:
        return {"result": repr([call["name"] in functions])}
    args = copy.deepcopy(call["args"])
    try:
        made = functions[call["name"]](*args, **copy.deepcopy(call.get("kwargs", {})))
        return {"result": repr([made, args])}
    except Exception as error:
        return {"error": type(error).__name__}


def builtin(value):
    """Data with plain dicts, and without the names of this machine's directories."""
    if isinstance(value, dict):
        return {builtin(key): builtin(member) for key, member in value.items()}
    if isinstance(value, list):
        return [builtin(member) for member in value]
    # The texts of some renderers print in another way.
    return str.__str__(value) if isinstance(value, str) else value


def pillar_stack(record):
    """A run of the external pillar `stack` or `makostack` alone, or of all external pillars of a master. Others are not
    recorded again, nor is `makostack` without its module."""
    runs = {"stack": stack_alone, "master": all_external}
    if os.environ.get("MAPSTACK_MAKOSTACK"):
        runs["makostack"] = makostack_alone
    run = runs.get(record["module"])
    if not run:
        return {key: record[key] for key in OUTPUTS if key in record}
    with tempfile.TemporaryDirectory(prefix="mapstack-stack-") as root:
        files = {name.replace("<DIR>", root): text.replace("<DIR>", root) for name, text in record["files"].items()}
        reference.write_files(root, files)
        for name, target in record.get("links", {}).items():
            os.symlink(target, os.path.join(root, name))
        here = json.loads(json.dumps(record).replace("<DIR>", root))
        try:
            return json.loads(json.dumps(run(here), default=str).replace(root, "<DIR>"))
        except Exception as error:
            failed = refusal(error, root)
            return {**failed, "message": failed["message"].replace("\n", " / ")}


def stack_alone(record):
    return ext_pillar(stack_module(), record)


def stack_module():
    import salt.pillar.stack

    return salt.pillar.stack


def makostack_alone(record):
    return ext_pillar(makostack_module(), record)


@functools.cache
def makostack_module():
    """MakoStack left Salt after 3007, so its module is an older one's: the file that the environment names."""
    import importlib.util

    spec = importlib.util.spec_from_file_location("makostack", os.environ["MAPSTACK_MAKOSTACK"])
    makostack = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(makostack)
    return makostack


def ext_pillar(stack, record, functions={}):
    if not functions:
        functions.update({"test.echo": reference.Reference("/nonexistent").functions["test.echo"]})
    stack.__opts__, stack.__grains__, stack.__salt__ = record["opts"], record["grains"], functions
    tables = {key: dict(map(tuple, table)) if isinstance(table, list) else table for key, table in record["kwargs"].items()}
    return {"result": stack.ext_pillar(record["minion_id"], record["pillar"], *record["args"], **tables)}


def all_external(record):
    import salt.config
    import salt.pillar

    with tempfile.TemporaryDirectory(prefix="mapstack-master-") as home:
        opts = salt.config.master_config("/nonexistent")
        here = {name: os.path.join(home, name) for name in ("cachedir", "pki_dir", "sock_dir", "extension_modules")}
        opts.update(here, root_dir=home, log_file=os.path.join(home, "log"), file_roots={"base": []}, pillar_roots={"base": []})
        opts.update(record["master"])
        pillar = salt.pillar.Pillar(opts, record["grains"], record["minion_id"], None)
        pillar.pillar_data.update(record["pillar"])
        pillar.functions.pack["__pillar__"] = pillar.pillar_data
        compiled, errors = pillar.ext_pillar(pillar.pillar_data)
        return {"result": compiled, "errors": len(errors)}


def through_a_command(record):
    """What Salt makes of the command as its external pillar `cmd_json` or `cmd_yaml`; it has to be on the path."""
    if not shutil.which("mapstack"):
        return {"result": record["result"]}
    project = str(pathlib.Path(__file__).resolve().parents[2])
    with tempfile.TemporaryDirectory(prefix="mapstack-files-") as tree:
        for name, text in record.get("files", {}).items():
            file = pathlib.Path(tree, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        command = record["command"].replace("<REPO>", project).replace("<TREE>", tree)
        asked = {"master": {"ext_pillar": [{record["by"]: command}]}, "grains": {}, "minion_id": record["minion_id"]}
        result = all_external({**asked, "pillar": copy.deepcopy(record["pillar"])})["result"]
        return {"result": repr(thawed(result)).replace(tree, "<TREE>")}


def unpack(record):
    """What a master reads in a file of its cache; times and the like as they print."""
    import salt.exceptions
    import salt.payload

    try:
        value = salt.payload.loads(bytes.fromhex(record["packed"]), encoding="utf-8")
    except salt.exceptions.SaltDeserializationError as error:
        return {"error": type(error.__cause__).__name__}
    return {"result": repr(printed(value))}


def printed(value):
    """Data, and in place of other objects what they print."""
    if isinstance(value, dict):
        return {printed(key): printed(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [printed(inner) for inner in value]
    return value if isinstance(value, (type(None), bool, int, float, str, bytes)) else str(value)


def plain(value):
    """A value without Salt's own types."""
    return json.loads(json.dumps(value, default=str))


def template(record, recorded):
    from salt.utils.templates import AliasedLoader, render_jinja_tmpl

    context = copy.deepcopy(recorded["context"])
    # JSON has no tuples.
    context.update(tup=tuple(context["tup"]), one=tuple(context["one"]))
    with reference.reference(recorded["files"], grains=context["grains"], pillar=context["pillar"]) as minion:
        context.update(opts=minion.opts, saltenv="base", salt=AliasedLoader(minion.functions))
        try:
            return {"output": render_jinja_tmpl(record["template"], context)}
        except Exception as error:
            return refusal(error, minion.home)


def function(record, recorded, minions=[]):
    """A template that calls functions of a minion whose facts and interfaces are those of the file."""
    from salt.utils.templates import AliasedLoader, render_jinja_tmpl

    # What a call changes stays changed.
    fresh = record.get("fresh", False)
    if not minions or fresh:
        root = tempfile.mkdtemp(prefix="mapstack-root-")
        atexit.register(shutil.rmtree, root, ignore_errors=True)
        reference.write_files(root, recorded["files"])
        minion = reference.Reference(root, **{name: copy.deepcopy(recorded[name]) for name in ("grains", "pillar", "opts")})
        atexit.register(minion.close)
        reference.stand_in(minion, recorded["interfaces"])
        minions[:] = [minion]
    minion = minions[0]
    facts = {name: minion.functions.pack[f"__{name}__"] for name in ("grains", "pillar", "opts")}
    context = {"saltenv": "base", "salt": AliasedLoader(minion.functions), **facts}
    try:
        return {"output": render_jinja_tmpl(record["template"], context)}
    except Exception as error:
        out = refusal(error, minion.home)
        return {**out, "message": re.split(r"; line \d+|\nTraceback", out["message"])[0]}
    finally:
        if fresh:
            minions.clear()


def stack_template(record, recorded):
    """A template in the environment that PillarStack sets up."""
    import salt.utils.jinja
    from jinja2 import Environment, FileSystemLoader

    extensions = ["jinja2.ext.do", salt.utils.jinja.SerializerExtension]
    with tempfile.TemporaryDirectory(prefix="mapstack-stack-") as root:
        reference.write_files(root, {**recorded["files"], "the template": record["template"]})
        env = Environment(loader=FileSystemLoader(root), extensions=extensions)
        env.globals["g"] = "global"
        try:
            return {"output": env.get_template("the template").render(stack={"a": 1})}
        except Exception as error:
            return refusal(error, root)


def method(record, environments={}):
    """A template in Jinja's sandbox alone, strict unless the record says that it is lenient."""
    from collections import OrderedDict

    from jinja2 import StrictUndefined, Undefined
    from jinja2.sandbox import SandboxedEnvironment

    if not environments:
        for lenient, undefined in ((True, Undefined), (False, StrictUndefined)):
            environments[lenient] = SandboxedEnvironment(
                undefined=undefined, extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"])
    env = environments[record.get("lenient", False)]
    try:
        inf = float("inf")
        return {"output": env.from_string(record["template"]).render(
            odict=OrderedDict, s={1, 2, 3}, inf=inf, ninf=-inf, nan=float("nan"))}
    except Exception as error:
        return refusal(error)


def syntax(record):
    import jinja_tree

    return jinja_tree.parse(record["template"], record.get("options", {}))


def host_call(record, recorded, machines=[]):
    """A call that looks at the machine: at the files and the HTTP answers that the record names."""
    if not machines:
        machines.append(Machine(recorded["tree"], recorded["answers"]))
    return machines[0].call(record)


class Machine:
    def __init__(self, tree, answers):
        import tempfile

        self.directory = tempfile.mkdtemp(prefix="mapstack-machine-")
        self.minion = reference.Reference("/nonexistent", grains={"kernel": "Linux", "os_family": "Debian"}, opts={"master": "salt"})
        for entry in tree:
            path = pathlib.Path(self.directory, entry["path"])
            path.parent.mkdir(parents=True, exist_ok=True)
            if "link" in entry:
                path.symlink_to(entry["link"])
            else:
                path.write_bytes(bytes.fromhex(entry["hex"]) if "hex" in entry else entry["text"].encode())
                path.chmod(int(entry["mode"], 8))
        self.url = self.serve(answers)

    def serve(self, answers):
        import socket
        import threading

        listener = socket.create_server(("127.0.0.1", 0))

        def answer():
            while True:
                connection, _ = listener.accept()
                with connection, connection.makefile("rb") as stream:
                    request, headers = stream.readline().decode("latin-1").split(), {}
                    while line := stream.readline().decode("latin-1").strip():
                        name, _, value = line.partition(":")
                        headers[name.lower()] = value.strip()
                    body = stream.read(int(headers.get("content-length", 0)))
                    connection.sendall(answers.get(request[1], echo(request, headers, body)).encode())

        threading.Thread(target=answer, daemon=True).start()
        return "http://127.0.0.1:%d" % listener.getsockname()[1]

    def call(self, record):
        from salt.utils.decorators.jinja import JinjaFilter

        name = record["call"]
        args, kwargs = self.put(record["args"], ("@DIR", self.directory), ("@URL", self.url)), {}
        for key, value in record["kwargs"].items():
            kwargs[key] = self.put(value, ("@DIR", self.directory), ("@URL", self.url))
        back = ((self.directory, "@DIR"), (self.url, "@URL"))
        try:
            function = self.minion.functions[name] if "." in name else JinjaFilter.salt_jinja_filters[name]
            result = function(*args, **kwargs)
            if name == "cmd.run_all":
                del result["pid"]
            if name == "list_files":
                result.sort()
            if isinstance(result, dict) and "headers" in result:
                result["headers"] = dict(result["headers"])
            return {"result": self.put(result, *back)}
        except (Exception, SystemExit) as error:
            return {"error": type(error).__name__, "message": self.put(str(error), *back)}

    def put(self, value, *pairs):
        text = json.dumps(value)
        for old, new in pairs:
            text = text.replace(old, new)
        return json.loads(text)


def echo(request, headers, body):
    """What was asked, as far as it says something about the question."""
    shown = {name: headers[name] for name in sorted(headers) if name in ("authorization", "content-type") or name[:2] == "x-"}
    text = json.dumps([request[0], request[1], shown, body.decode()])
    return f"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {len(text.encode())}\r\n\r\n{text}"
def mako(record, recorded):
    import mako_reference

    return mako_reference.render(record, recorded["context"])


# For each recorded file: what answers a record. A function of two arguments sees the whole file, too.
def config_file(record):
    """What a master's or minion's configuration comes to, by the options that differ from the defaults.

    The files are written below a directory of their own, which is the current one and the home, too. The machine's
    name is `host`.
    """
    import salt.config

    with tempfile.TemporaryDirectory() as directory:
        directory = os.path.realpath(directory)
        for name, text in record["files"].items():
            path = pathlib.Path(directory, name.removeprefix("link:"))
            path.parent.mkdir(parents=True, exist_ok=True)
            if name.endswith("/"):
                path.mkdir(exist_ok=True)
            elif name.startswith("link:"):
                path.symlink_to(text)
            else:
                path.write_bytes(text.replace("<DIR>", directory).encode("utf-8", "surrogateescape"))
        here, home, arguments, get_id = os.getcwd(), os.environ.get("HOME"), sys.argv[:], salt.config.get_id
        paths = sys.path[:]
        os.chdir(directory)
        os.environ["HOME"] = directory
        salt.config.get_id = lambda *args, **kwargs: ("host", False)
        try:
            path = record["config"].replace("<DIR>", directory)
            if record["kind"] == "master":
                sys.argv[0] = "salt-master"
                options, defaults = salt.config.master_config(path), salt.config.DEFAULT_MASTER_OPTS
            elif record["kind"] == "proxy":
                sys.argv[0] = "salt-proxy"
                options = salt.config.proxy_config(path, minion_id=record.get("id"))
                defaults = {**salt.config.DEFAULT_MINION_OPTS, **salt.config.DEFAULT_PROXY_MINION_OPTS}
            else:
                sys.argv[0] = "salt-call"
                options = salt.config.minion_config(path, minion_id=record.get("id"))
                defaults = salt.config.DEFAULT_MINION_OPTS
            options = thawed(options)
        except BaseException as error:
            return {"error": type(error).__name__}
        finally:
            os.chdir(here)
            sys.argv[:], sys.path[:], salt.config.get_id = arguments, paths, get_id
            os.environ.pop("HOME") if home is None else os.environ.__setitem__("HOME", home)
    defaults = thawed(defaults)
    changed = {name: options[name] for name in sorted(options) if name not in defaults or options[name] != defaults[name]
               or type(options[name]) is not type(defaults[name])}
    text = json.dumps(changed, default=repr).replace(directory, "<DIR>")
    return {"result": json.loads(text)}


def thawed(value):
    """A frozen value as plain data."""
    import collections.abc

    if isinstance(value, collections.abc.Mapping):
        return {key: thawed(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, collections.abc.Sequence)) and not isinstance(value, (str, bytes)):
        return [thawed(item) for item in value]
    return value


def saltclass(record):
    """A whole pillar with saltclass. Without its module, nothing is recorded again."""
    if os.environ.get("MAPSTACK_SALTCLASS"):
        return whole_pillar.compiled(record)
    return {name: record[name] for name in OUTPUTS if name in record}


def json_text(record):
    """What Python reads in a text as a whole, and from a place on. Texts are told apart by their repr."""
    def read(decode):
        try:
            return decode()
        except json.JSONDecodeError as error:
            return f"{error.msg}: line {error.lineno} column {error.colno}"
        except ValueError as error:
            return str(error).split(":")[0]

    decoder = json.JSONDecoder()
    whole = read(lambda: [repr(json.loads(record["text"]))])
    part = read(lambda: [repr(decoder.raw_decode(record["text"], record["at"])[0]),
                         decoder.raw_decode(record["text"], record["at"])[1]])
    return {"loads": whole, "raw_decode": part}


FILES = {
    "crates/value/tests/data/json_texts.json": json_text,
    "crates/frontend/tests/data/calls.json": host_call,
    "matcher/tests/data/matcher_parse.json": matcher,
    "merge/tests/data/merge_table.json": merge,
    "merge/tests/data/stack_merge.json": stack_merge,
    "crates/minion/tests/data/config_get.json": look_up,
    "crates/minion/tests/data/unpack.json": unpack,
    "crates/salt-config/tests/data/config_files.json": config_file,
    "crates/mapstack/tests/data/functions.json": function,
    "mapstack-cli/tests/data/master_commands.json": through_a_command,
    "crates/pillar/tests/data/makostacks.json": pillar_stack,
    "crates/pillar/tests/data/whole_pillars.json": whole_pillar.compiled,
    "crates/frontend/tests/data/mine.json": mine.answer,
    "crates/pillar/tests/data/version_pillars.json": whole_pillar.compiled,
    "crates/pillar/tests/data/external_pillars.json": whole_pillar.compiled,
    "crates/pillar/tests/data/reclass_pillars.json": whole_pillar.compiled,
    "crates/pillar/tests/data/saltclass_pillars.json": saltclass,
    "crates/pillar/tests/data/stateconf_pillars.json": whole_pillar.compiled,
    "crates/pillar/tests/data/pyobjects_pillars.json": whole_pillar.compiled,
    "crates/pillar/tests/data/git_pillars.json": whole_pillar.compiled,
    "crates/mapstack/tests/data/map_scenarios.json": scenario,
    "crates/mapstack/tests/data/pipes.json": pipe,
    "crates/mapstack/tests/data/pipes_python.json": pipe,
    "crates/mapstack/tests/data/pipes_stateconf.json": pipe,
    "crates/mapstack/tests/data/pipes_renderers.json": pipe,
    "crates/mapstack/tests/data/state_runs.json": state_run.state_run,
    "crates/states/tests/data/high_data.json": high_data.compiled,
    "crates/states/tests/data/trees.json": high_trees.compiled,
    "crates/states/tests/data/tops.json": state_run.state_top,
    "crates/mapstack/tests/data/tree_modules.json": tree_module,
    "crates/mapstack/tests/data/tree_grains.json": tree_grain,
    "crates/pillar/tests/data/pillar_stacks.json": pillar_stack,
    "crates/pillar/tests/data/stack_e2e.json": pillar_stack,
    "crates/salt-jinja/tests/data/jinja_render.json": template,
    "crates/salt-jinja/tests/data/jinja_stack.json": stack_template,
    "crates/salt-jinja/tests/data/jinja_syntax.json": syntax,
    "crates/sandbox/tests/data/mako.json": mako,
    "crates/salt-jinja/tests/data/methods.json": method,
    "crates/salt-jinja/tests/data/views.json": method,
    "crates/value/tests/data/posixpath.json": path_as_text,
    "crates/functions/tests/data/versions.json": formats.record_version,
    "crates/functions/tests/data/toml.json": formats.record_toml,
    "crates/yaml/tests/data/traverse.json": traverse,
    "crates/yaml/tests/data/yaml_dump.json": yaml_dump,
    "crates/yaml/tests/data/yaml_scalars.json": yaml_scalar,
    "crates/yaml/tests/data/yamlex.json": formats.record_yamlex,
    "crates/yaml/tests/data/events.json": formats.record_events,
}
INPUT_NAMES = {"yaml_dump.json": {"value", "type"}}


def record_file(path, answer):
    lines = path.read_text(encoding="utf-8").split("\n")
    recorded = json.loads("\n".join(lines))
    changed = count = 0
    for at, line in enumerate(lines):
        record, end = record_of(line)
        if record is None:
            continue
        arguments = (record,) if answer.__code__.co_varnames[1:2] != ("recorded",) else (record, recorded)
        outputs = answer(*arguments)
        kept = INPUT_NAMES.get(path.name, set())
        new = {key: value for key, value in record.items() if key not in OUTPUTS or key in kept}
        new.update(outputs)
        count += 1
        if same(record, new):
            continue
        changed += 1
        before, after = line[:end], line[end:]
        ascii_only = before.isascii()
        wide = json.dumps(record, ensure_ascii=ascii_only) == before
        spacing = (", ", ": ") if wide else (",", ":")
        lines[at] = json.dumps(new, ensure_ascii=ascii_only, separators=spacing) + after
    path.write_text("\n".join(lines), encoding="utf-8")
    print(f"{path.name}: {count} records, {changed} changed", flush=True)
    return count


def record_of(line):
    """The record that a line holds, and where it ends; what follows closes the file."""
    if not line.startswith("{"):
        return None, 0
    try:
        record, end = json.JSONDecoder().raw_decode(line)
    except ValueError:
        return None, 0
    return (record, end) if re.fullmatch(r"[\]},]*", line[end:]) else (None, 0)


def same(old, new):
    """Equal but for the words of an error, which may have been shortened in the record."""
    def essence(record):
        return json.dumps({key: value for key, value in sorted(record.items()) if key != "message"})

    old_message, new_message = old.get("message"), new.get("message")
    if "error" in old and old_message is not None and new_message is not None:
        unstable = re.compile(r"0x[0-9a-f]+|__tmp_\w+|<DIR>\S*|/\S*")
        words = [unstable.sub("", text).replace("…", "").rstrip(". ") for text in (old_message, new_message)]
        return essence(old) == essence(new) and words[1].startswith(words[0])
    if "error" in old and old_message is None:
        new = {key: value for key, value in new.items() if key != "message"}
        return essence(old) == essence(new)
    return essence(old) == essence(new) and old_message == new_message


def record_filters(path):
    """What Salt's Jinja prints of each template, or the message of its error without the place.

    A row is a template and a text, or a template, null and a message.
    """
    from salt.utils.templates import render_jinja_tmpl

    rows, changed = json.loads(path.read_text(encoding="utf-8")), 0
    with reference.reference({}, grains={}, pillar={}) as minion:
        for row in rows:
            context = {"opts": minion.opts, "saltenv": "base", "salt": {}}
            try:
                new = [without_addresses(render_jinja_tmpl(row[0], context))]
            except Exception as error:
                message = re.split(r"; line \d+|\nTraceback", str(error))[0]
                new = [None, without_addresses(message)]
            if row[1:] != new:
                changed += 1
                row[1:] = new
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(f"{path.name}: {len(rows)} templates, {changed} changed", flush=True)


def without_addresses(text):
    return re.sub(r" at 0x[0-9a-f]+", "", text)


def record_config_defaults(path):
    """The options that masters, minions and proxies start from, and the names of all options there are.

    What depends on this machine is what it is on most.
    """
    import salt.config
    import salt.version

    def defaults(options):
        options = thawed(options)
        for name, usual in (("user", "root"), ("ipc_write_buffer", 0), ("ssh_config_file", "~/.ssh/config")):
            if name in options:
                options[name] = usual
        return {name: options[name] for name in sorted(options)}

    record = {"salt": salt.version.__version__, "master": defaults(salt.config.DEFAULT_MASTER_OPTS),
              "minion": defaults(salt.config.DEFAULT_MINION_OPTS),
              "proxy": defaults(salt.config.DEFAULT_PROXY_MINION_OPTS), "known": sorted(salt.config.VALID_OPTS)}
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"{path.name}: {len(record['known'])} names", flush=True)


def record_builtin(path):
    """What a minion has without any configuration, and the defaults of `config.get`.

    The options are those of a minion without a master and without file roots; its id, and what depends on this
    machine, is left out. Keys are sorted, as their order changes from run to run.
    """
    import salt.config
    import salt.modules.config
    import salt.version

    options = dict(salt.config.minion_config("/nonexistent"))
    del options["id"], options["grains"]
    options.update(__cli="salt-call", conf_file="/etc/salt/minion", file_client="local", file_roots={"base": []},
                   pillar_roots={"base": []}, user="root")
    record = {"salt": salt.version.__version__, "options": {key: options[key] for key in sorted(options)},
              "defaults": salt.modules.config.DEFAULTS}
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"{path.name}: {len(options)} options", flush=True)


def record_documented(project):
    """The documented examples of PillarStack and MakoStack, as the modules answer for each minion beside them."""
    import salt.pillar.stack
    import salt.utils.yaml

    modules = {"stack": salt.pillar.stack}
    if os.environ.get("MAPSTACK_MAKOSTACK"):
        modules["makostack"] = makostack_module()
    directory, count = project / "examples/pillars/documented", 0
    os.chdir(project)
    for master in sorted(directory.glob("masters/*.yaml")):
        opts = {"pillarenv": None, "saltenv": "base", **salt.utils.yaml.safe_load(master.read_text())}
        (kind, argument), = opts["ext_pillar"][0].items()
        if kind not in modules:
            continue
        args = argument if isinstance(argument, list) else [argument] if isinstance(argument, str) else []
        kwargs = argument if isinstance(argument, dict) else {}
        for file in sorted(directory.glob("minions/*.yaml")):
            minion = salt.utils.yaml.safe_load(file.read_text())
            record = {"opts": opts, "grains": minion["grains"], "minion_id": minion["id"], "pillar": minion["pillar"]}
            result = ext_pillar(modules[kind], {**record, "args": args, "kwargs": kwargs})["result"]
            text = salt.utils.yaml.safe_dump(result, default_flow_style=False, sort_keys=False)
            expected = project / "examples/expected/documented" / f"{master.stem}-{minion['id']}.yaml"
            expected.write_text(text, encoding="utf-8")
            count += 1
    print(f"documented pillars: {count} runs", flush=True)


def main():
    project, only = pathlib.Path(sys.argv[1]), sys.argv[2:]
    for name, answer in FILES.items():
        if not only or any(part in name for part in only):
            if not record_file(project / name, answer):
                sys.exit(f"{name}: no records; the file no longer holds one a line")
    if not only or "filters" in only:
        record_filters(project / "crates/salt-jinja/tests/data/filters.json")
        record_filters(project / "crates/salt-jinja/tests/data/order.json")
    if not only or "builtin" in only:
        record_builtin(project / "crates/minion/data/builtin.json")
    if not only or "documented" in only:
        record_documented(project)
    if not only or "definitions" in only:
        definitions.check(project)
    if not only or "platforms" in only:
        platforms.record(project / "crates/minion/data/platforms.tsv")
    if not only or "master" in only:
        data = project / "crates/minion/tests/data"
        master_cache.record(platforms.all_grains(), data / "master", data / "salt_output")
    if not only or "mine" in only:
        mine.write_cache(project / "crates/frontend/tests/data/cache")
    if not only or "config_defaults" in only:
        record_config_defaults(project / "crates/salt-config/data/config_defaults.json")
    if not only or "gitfs" in only:
        gitfs.record(project / "crates/salt-config/tests/data/gitfs.json")


if __name__ == "__main__":
    main()
