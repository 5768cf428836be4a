"""Make up masters with the external pillar `git`, in the form of recorded whole pillars. `repositories` has each
repository's branches and tags with their files.
"""
import pillar_trees
from pillar_trees import flow

IDS = ["web1", "db-1"]
BRANCHES = ["master", "main", "dev", "prod"]
ROOTS = ["", "sub", "sub/deep", "nosuch"]
SLS = ["a", "b", "c", "shared.a"]


def files(r, branch, wild):
    made = {}
    for root in r.sample(ROOTS[:3], r.randrange(1, 3)):
        at = lambda path: f"{root}/{path}" if root else path
        if r.random() < 0.85:
            env = r.choice(["base", "base", branch, "{{ saltenv }}", "dev"])
            listed = [r.choice(SLS + (["nosuch"] if wild else [])) for _ in range(r.randrange(1, 4))]
            made[at("top.sls")] = f"{env}: {flow({r.choice(['*', 'web*', 'G@os:Debian']): listed})}\n"
        for name in r.sample(SLS, r.randrange(1, 4)):
            lines = [f"{r.choice('abc')}: " + r.choice(["{{ sls }}", "{{ saltenv }}", "{{ opts.pillarenv }}", f"{branch}", "[1, 2]", "{x: 1}", f"{{y: {branch}}}", "{{ pillar | json }}", "{{ opts.saltenv }}", "{{ opts.id }}",
                                                         "{{ salt['config.get']('id') }}", "{{ opts.pillar_roots.keys() | list | json }}", "{{ tplfile }}", "{{ grains.os }}"])]
            if r.random() < 0.35:
                lines.insert(0, "include: " + flow([r.choice(SLS + ["mnt.a", "mnt.b", "shared.*"])]))
            if wild and r.random() < 0.08:
                lines.append(r.choice(["x: {{ nosuch.y }}", "x: [", "- x"]))
            made[at(name.replace(".", "/") + ".sls")] = "\n".join(lines) + "\n"
    return made


def options(r, branch, wild):
    made = []
    maybe = lambda chance, name, values: made.append({name: r.choice(values)}) if r.random() < chance else None
    maybe(0.4, "env", ["base", "dev", "prod", "__env__", ""])
    maybe(0.4, "root", ROOTS)
    maybe(0.2, "mountpoint", ["mnt", "salt://mnt", "/mnt/", "shared"])
    maybe(0.15, "name", ["one", "two", "three"])
    maybe(0.1, "fallback", BRANCHES)
    if branch == "__env__":
        maybe(0.3, "base", BRANCHES)
        maybe(0.3, "all_saltenvs", BRANCHES + ["v1"])
    if wild and r.random() < 0.1:
        made.append(r.choice([{"branch": "x"}, {"base": "main"}, {"saltenv": []}, {"nosuch": 1}, {"ref_types": ["tag"]}, {"disable_saltenv_mapping": True}]))
    return made


def one(r):
    wild = r.random() < 0.4
    names = ["one", "two"]
    repositories = {name: {"branches": {branch: files(r, branch, wild) for branch in r.sample(BRANCHES, r.randrange(1, 4))},
                           "tags": {"v1": files(r, "v1", wild)} if r.random() < 0.3 else {}} for name in names}
    listed = []
    for _ in range(r.randrange(1, 4)):
        branch = r.choice(BRANCHES[:3] + ["__env__", "__env__", "v1", None, "nosuch"])
        remote = (f"{branch} " if branch else "") + f"file://<DIR>/{r.choice(names)}"
        own = options(r, branch, wild)
        listed.append({remote: own} if own else remote)
    minion_id = r.choice(IDS)
    external = [{"git": listed}]
    if r.random() < 0.2:
        external.append({"git": [f"{r.choice(BRANCHES)} file://<DIR>/{r.choice(names)}"]})
    if r.random() < 0.2:
        external.insert(r.randrange(len(external) + 1), {"extra_minion_data_in_pillar": {"include": "*", "extra_minion_data": {"a": 9, "z": [1]}}})
    master = {"pillar_roots": {"base": ["<DIR>/base"]}, "file_roots": {"base": ["<DIR>/served"]}, "id": "master", "ext_pillar": external}
    maybe = lambda chance, name, values: master.update({name: r.choice(values)}) if r.random() < chance else None
    maybe(0.2, "git_pillar_base", BRANCHES)
    maybe(0.2, "git_pillar_branch", BRANCHES)
    maybe(0.15, "git_pillar_env", ["dev", "base"])
    maybe(0.15, "git_pillar_root", ["sub"])
    maybe(0.1, "git_pillar_fallback", BRANCHES)
    maybe(0.2, "git_pillar_includes", [True, False])
    maybe(0.2, "pillarenv", BRANCHES + ["base"])
    maybe(0.1, "pillarenv_from_saltenv", [True])
    maybe(0.2, "pillar_source_merging_strategy", pillar_trees.STRATEGIES)
    maybe(0.2, "pillar_merge_lists", [True])
    maybe(0.1, "ext_pillar_first", [True])
    maybe(0.1, "pillar_includes_override_sls", [True])
    made = {"files": {"base/top.sls": "base: {'*': [a]}\n", "base/a.sls": r.choice(["a: 1\n", "x: {{ pillar | json }}\n", "a: {x: 0}\n", "a: {{ nosuch.x }}\n"])}, "repositories": repositories,
            "master": "".join(f"{flow(name)}: {flow(value)}\n" for name, value in master.items()), "minion_id": minion_id, "grains": {"id": minion_id, "os": r.choice(["Debian", "RedHat"])}}
    if r.random() < 0.3:
        made["saltenv"] = r.choice(BRANCHES + ["base"])
    if r.random() < 0.2:
        made["pillarenv"] = r.choice(BRANCHES + ["base", "v1"])
    return made
