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


def masterless(home, record):
    """A minion with files and a pillar of its own."""
    import salt.client
    import salt.config
    import salt.grains.core

    roots = {name: os.path.join(home, name) for name in ("files", "pillar")}
    for root in roots.values():
        os.makedirs(root)
    reference.write_files(roots["files"], record["files"])
    reference.write_files(roots["pillar"], {"top.sls": "base: {'*': [data]}\n", "data.sls": record["pillar"]})
    opts = salt.config.minion_config(None)
    here = {name: os.path.join(home, name) for name in ("cachedir", "pki_dir", "sock_dir", "extension_modules")}
    opts.update(here, id="m", root_dir=home, log_file=os.path.join(home, "log"), file_client="local",
                file_roots={"base": [roots["files"]]}, pillar_roots={"base": [roots["pillar"]]},
                grains=dict(record["grains"]), enable_fqdns_grains=False)
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
