"""A state run of a minion without a master, up to the states: `state.show_sls`, as `salt-call --local` calls it.

Everything is Salt's own: the minion compiles its pillar from `pillar_roots`, with a top file, and the state compiler
renders the sls.
"""
import contextlib
import os
import tempfile

import salt_reference as reference


def state_run(record):
    """What each state of an sls is given, by its id."""
    with tempfile.TemporaryDirectory(prefix="mapstack-state-") as home:
        minion = masterless(home, record)
        try:
            shown = minion.cmd("state.show_sls", record["sls"])
        except Exception as error:
            return {"error": type(error).__name__, "message": str(error).replace(home, "<DIR>")}
        if not isinstance(shown, dict):
            return {"error": "SaltRenderError", "message": shown[0].partition("\n")[0].replace(home, "<DIR>")}
        return {"result": {name: arguments(state) for name, state in sorted(shown.items())}}


def state_top(record):
    """What the top files give a minion, and the sls of its high state, each of which has one state."""
    with tempfile.TemporaryDirectory(prefix="mapstack-top-") as home:
        minion = masterless(home, record)
        try:
            top = minion.cmd("state.show_top")
            high = minion.cmd("state.show_highstate")
        except Exception as error:
            return {"error": type(error).__name__, "message": str(error).replace(home, "<DIR>")}
        if isinstance(high, dict):
            found = sorted(f"{state['__env__']}:{state['__sls__']}" for state in high.values())
            return {"result": top, "found": found}
        return {"result": top, "errors": [line.replace(home, "<DIR>") for line in high]}


def masterless(home, record):
    """A minion with files and a pillar of its own."""
    import salt.client
    import salt.config
    import salt.grains.core

    envs = record.get("envs") or {"base": record["files"]}
    roots = {env: os.path.join(home, "files", env) for env in envs}
    pillar = os.path.join(home, "pillar")
    for root in (*roots.values(), pillar):
        os.makedirs(root)
    for env, files in envs.items():
        reference.write_files(roots[env], files)
    reference.write_files(pillar, {"top.sls": "base: {'*': [data]}\n", "data.sls": record.get("pillar", "{}")})
    opts = salt.config.minion_config(None)
    here = {name: os.path.join(home, name) for name in ("cachedir", "pki_dir", "sock_dir", "extension_modules")}
    opts.update(here, id="m", root_dir=home, log_file=os.path.join(home, "log"), file_client="local",
                file_roots={env: [root] for env, root in roots.items()}, pillar_roots={"base": [pillar]},
                grains=dict(record["grains"]), enable_fqdns_grains=False, **record.get("opts", {}))
    with only_these_grains(record["grains"]):
        return salt.client.Caller(mopts=opts)


@contextlib.contextmanager
def only_these_grains(grains):
    """Nothing is looked up on this machine."""
    import salt.loader

    original = salt.loader.grains
    salt.loader.grains = lambda *args, **kwargs: {"id": "m", **grains}
    try:
        yield
    finally:
        salt.loader.grains = original


def arguments(state):
    """What the one function of a state is given, apart from what the compiler adds."""
    (call,) = (value for key, value in state.items() if not key.startswith("__"))
    given = {}
    for argument in call:
        if isinstance(argument, dict):
            given.update(argument)
    given.pop("order", None)
    return given
