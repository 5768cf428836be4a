"""Make up masters with external pillars that follow from files and options: `file_tree`, `nodegroups`,
`extra_minion_data_in_pillar`. They have the form of recorded whole pillars.
"""
import pillar_trees
from pillar_trees import flow

IDS = ["web1", "web2.example.com", "db-1", "a"]
NAMES = ["a", "b", "key.pem", "sub", "deep", "conf.d", "x.yml", ".hidden", "users", "é"]
TEXTS = ["x\n", "x", "", "\n", "\n\n", "two\nlines\n", "crlf\r\nline\r\n", "é\n", "  \n", "{{ grains.os }}\n", "a: {{ grains.id }}\n", "#!yaml\nb: [1, 2]\n", "#!jinja|yaml\nc: {{ sls }}x\n",
         "#!json\n{\"d\": 1}\n", "#!nosuch\nx\n", "{{ pillar | json }} {{ saltenv }}\n", "{{ opts.id }} {{ salt['pillar.get']('a', 'none') }}\n", "#!jinja\n{{ minion_id | default('nd') }}\n",
         "{% import_yaml 'served.yaml' as d %}{{ d.k }}\n", "5\n", "null\n", "[1, 2]\n"]
BROKEN = ["{{ nosuch.x }}\n", "#!yaml\na: [\n", "a: {{ 1 / 0 }}\n", "#!jinja|yaml\na: [\n"]
TARGETS = ["*", "web*", "db*", "web1", "G@os:Debian", "G@os:Debian and web*", "not web1", "N@one or db*", "N@nosuch", "L@web1,a", "E@w.*", "S@10.0.0.0/8", "( web* or db* ) and not web1",
           "P@os:(Debian|Red.*)", "and web1", "web1 db-1", "", 5, None, ["web1", "a"], ["web1", "or", "a"], ["G@os:Debian"], {"a": 1}, "D@x:y", "G@roles:web", "R@x", "()", "web1 not a"]


def tree(r, depth, wild):
    """Files of a directory by their paths."""
    files = {}
    for name in r.sample(NAMES, r.randrange(1, 4)):
        if depth and r.random() < 0.35:
            files.update({f"{name}/{path}": text for path, text in tree(r, depth - 1, wild).items()})
        else:
            files[name] = r.choice(TEXTS + (BROKEN if wild and r.random() < 0.2 else []))
    return files


def file_tree(r, wild):
    made = {"root_dir": "<DIR>/tree"}
    maybe = lambda chance, name, values: made.update({name: r.choice(values)}) if r.random() < chance else None
    maybe(0.2, "follow_dir_links", [True, False, None])
    maybe(0.1, "debug", [True, False])
    maybe(0.4, "keep_newline", [True, False, ["*"], ["./a"], ["./*", "sub/*"], ["*.pem"], [], ["sub/a", 5]] + ([None, "yes", 1] if wild else []))
    maybe(0.5, "template", [True, True, True, False, "yes", 1])
    maybe(0.5, "render_default", ["jinja", "jinja|yaml", "yaml", "nosuch", None, "jinja|json", "text"])
    maybe(0.15, "renderer_blacklist", [["jinja"], ["yaml"], [], "jinja"])
    maybe(0.15, "renderer_whitelist", [["jinja"], ["yaml", "jinja"], []])
    if wild and r.random() < 0.2:
        made.update(r.choice([{"root_dir": None}, {"root_dir": "<DIR>/nosuch"}, {"root_dir": "../tree"}, {"root_dir": "../tree/"}, {"root_dir": 5}, {"raw_data": True}, {"root_dir": "<DIR>/base/a.sls"}, {5: 1}, {"minion_id": 1}]))
    roll = r.random()
    if roll < 0.1:
        return made["root_dir"]
    if roll < 0.2:
        return [made["root_dir"], False, False, made.get("keep_newline", False)] + (["jinja", None, None, True, 1][: r.randrange(6)] if r.random() < 0.5 else [])
    return made


def nodegroups(r, wild):
    return r.choice([None, {}, "groups", {"pillar_name": "groups"}, {"pillar_name": ""}, ["a"]] + ([["a", "b"], {"name": "x"}, {"pillar_name": 5}, {"pillar_name": ["x"]}] if wild else []))


def extra(r, wild):
    return r.choice(["*", "<all>", {"include": "*"}, {"include": ["a"]}, {"include": ["a:b", "c"]}, {"include": ["nosuch", "a:nosuch", "c"]}, {"include": ["a", "a:b"]}, ["<all>"], [["a", "c"]]]
                    + ([{}, None, {"include": None}, {"include": 5}, {"include": [5]}, {"include": "ac"}, {"include": {"a": 1}}, {"include": ["c:x"]}, {"include": ["d:x"]}, {"include": ["d:e"]},
                        {"include": "*", "extra_minion_data": {"z": 1}}, ["*", {"z": 1}], {"include": ["a:b:c"]}, {"include": [""]}] if wild else []))


def one(r):
    wild = r.random() < 0.5
    minion_id = r.choice(IDS)
    files = {"base/top.sls": "base: {'*': [a]}\n", "base/a.sls": r.choice(["a: 1\n", "a: {b: 1}\nusers: {x: 1}\n", "conf.d: {a: 1}\ngroups: [z]\n"]), "served/served.yaml": "k: v\n"}
    for place in ["hosts/" + minion_id, "hosts/other", "nodegroups/one", "nodegroups/two", "nodegroups/nosuch"]:
        if r.random() < 0.7:
            files.update({f"tree/{place}/{path}": text for path, text in tree(r, 2, wild).items()})
    if r.random() < 0.1:
        files["tree/nodegroups/three"] = "x\n"
    if wild and r.random() < 0.05 and not any(path.startswith(f"tree/hosts/{minion_id}/") for path in files):
        files["tree/hosts/" + minion_id] = "x\n"
    if not any(path.startswith("tree/") for path in files):
        files["tree/x"] = "x\n"
    links = {}
    if r.random() < 0.25:
        files["tree/shared/a"] = "shared\n"
        host = f"tree/hosts/{minion_id}"
        if any(path.startswith(host + "/") for path in files):
            links[host + "/link"] = "../../shared"
            links[host + "/linked"] = "../../shared/a"
    kinds = {"file_tree": file_tree, "nodegroups": nodegroups, "extra_minion_data_in_pillar": extra}
    listed = [{name: kinds[name](r, wild)} for name in (r.choice(["file_tree", "file_tree", "nodegroups", "extra_minion_data_in_pillar"]) for _ in range(r.randrange(1, 4)))]
    master = {"pillar_roots": {"base": ["<DIR>/base"] + (["<DIR>/more"] if r.random() < 0.1 else [])}, "file_roots": {"base": ["<DIR>/served"]}, "id": "master", "ext_pillar": listed,
              "nodegroups": {name: r.choice(TARGETS) for name in r.sample(["one", "two", "three", "four"], r.randrange(5))}}
    maybe = lambda chance, name, values: master.update({name: r.choice(values)}) if r.random() < chance else None
    maybe(0.2, "pillar_source_merging_strategy", pillar_trees.STRATEGIES)
    maybe(0.1, "ext_pillar_first", [True])
    maybe(0.1, "minion_data_cache", [True, False])
    maybe(0.1, "renderer_blacklist", [["py"], ["jinja"]])
    maybe(0.3, "pillarenv", ["base", "dev"])
    made = {"files": files, "master": "".join(f"{flow(name)}: {flow(value)}\n" for name, value in master.items()), "minion_id": minion_id,
            "grains": {"id": minion_id, "os": r.choice(["Debian", "RedHat"]), "ipv4": ["10.1.2.3", "127.0.0.1"], "roles": ["web", "db"]}}
    if links:
        made["links"] = links
    if r.random() < 0.6:
        made["extra_minion_data"] = r.choice([{"a": {"b": {"c": 1}}, "c": [1, "x"], "d": "text"}, {"a": 1}, {"a": {"b": 2, "z": 3}, "c": None}, {}])
    return made
