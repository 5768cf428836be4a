"""The mine of a master: a cache with three minions, and what `mine.get` returns from it.

A record has `id`, the minion that asks (none for a master's runner), and the call: `tgt`, `fun`, `tgt_type`, `exclude_minion`. All minions are accepted.
"""
import os
import pathlib
import shutil
import tempfile

GRAINS = {
    "web1": {"id": "web1", "os": "Debian", "roles": ["web"], "ipv4": ["127.0.0.1", "10.1.0.1"]},
    "web2": {"id": "web2", "os": "Debian", "roles": ["web", "db"], "ipv4": ["127.0.0.1", "10.1.0.2"]},
    "db1": {"id": "db1", "os": "RedHat", "roles": ["db"], "ipv4": ["127.0.0.1", "10.2.0.1"]},
}
PILLAR = {"web1": {"env": "prod", "deep": {"a": "b"}}, "web2": {"env": "prods"}, "db1": {}}
LIMIT = {"__saltmine_acl__": 1}
MINE = {
    "web1": {
        "network.ip_addrs": {"__data__": ["10.1.0.1"], **LIMIT},
        "secret": {"__data__": "of web1", **LIMIT, "allow_tgt": "db*"},
        "by_grain": {"__data__": 1, **LIMIT, "allow_tgt": "roles:db", "allow_tgt_type": "grain"},
        "for_gone": {"__data__": 2, **LIMIT, "allow_tgt": "gone"},
        "by_list": {"__data__": 3, **LIMIT, "allow_tgt": "web2,db1", "allow_tgt_type": "list"},
        "plain": {"written": "by an old minion", "é": [None, 1.5, True]},
    },
    "web2": {"network.ip_addrs": {"__data__": ["10.1.0.2"], **LIMIT}, "secret": {"__data__": "of web2", **LIMIT}, "plain": "text"},
    "db1": {"network.ip_addrs": {"__data__": ["10.2.0.1"], **LIMIT}, "empty": {"__data__": {}, **LIMIT}, "by_grain": {"__data__": None, **LIMIT}},
}


def filled(home):
    """The options of a master whose cache has the minions."""
    import salt.cache
    import salt.config

    config = os.path.join(home, "master")
    pathlib.Path(config).write_text("id: master\n", encoding="utf-8")
    opts = salt.config.master_config(config)
    opts.update({name: os.path.join(home, name) for name in ("cachedir", "pki_dir", "sock_dir", "extension_modules")}, root_dir=home, id="master")
    for kind in ("minions", "minions_pre", "minions_rejected", "minions_denied"):
        os.makedirs(os.path.join(opts["pki_dir"], kind))
    cache = salt.cache.factory(opts)
    for minion in GRAINS:
        key = pathlib.Path(opts["pki_dir"], "minions", minion)
        key.write_text("-----BEGIN PUBLIC KEY-----\nx\n-----END PUBLIC KEY-----\n", encoding="utf-8")
        for bank, data in (("grains", GRAINS), ("pillar", PILLAR), ("mine", MINE)):
            cache.store(bank, minion, data[minion])
    return opts


def answer(record):
    import salt.cache
    import salt.daemons.masterapi

    with tempfile.TemporaryDirectory(prefix="mapstack-mine-") as home:
        opts = filled(home)
        master = salt.daemons.masterapi.RemoteFuncs.__new__(salt.daemons.masterapi.RemoteFuncs)
        master.opts, master.cache = opts, salt.cache.factory(opts)
        load = {"cmd": "_mine_get", "id": record["id"] or "master", "tgt": record["tgt"], "fun": record["fun"], "tgt_type": record.get("tgt_type", "glob")}
        found = master._mine_get(load)
        if record.get("exclude_minion"):
            found.pop(record["id"], None)
        return {"result": found}


def write_cache(target):
    """Write the cache below a directory."""
    with tempfile.TemporaryDirectory(prefix="mapstack-mine-") as home:
        opts = filled(home)
        shutil.rmtree(target, ignore_errors=True)
        for bank in ("grains", "pillar", "mine"):
            shutil.copytree(os.path.join(opts["cachedir"], bank), os.path.join(target, bank))
    print(f"{pathlib.Path(target).parent.name}: a cache of {len(GRAINS)} minions", flush=True)
