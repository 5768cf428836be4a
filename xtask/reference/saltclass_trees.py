"""Make up masters whose only files are inventories of saltclass. They have the form of recorded whole pillars."""
from pillar_trees import STRATEGIES, flow

IDS = ["web1", "web2.example.com", "db-1", "a"]
CLASSES = ["a", "b", "c", "init", "app.ssh", "app.web", "app", "role.x.y", "role.x", "d.e", "_h"]
WANTED = CLASSES + ["a", "b", "c", "app.*", "role.*", "role.x.*", "?", "[ab]", "nosuch", "no.*", "*", "app.ss?", "d*"]
KEYS = ["k", "l", "m", "users", "list", "deep"]
TEXTS = ["x", "y", "", "text", "${k}", "${deep:k}", "pre ${deep:l} post", "${nosuch:x}", "\\${k}", "a\\${k}b ${l}", "${k}${l}", "${k} ${l}", "${k}-${k}", "${deep}", "${list}", "${k:x}", "${m:l}", "$${k}",
         "${", "${}", "${k", "é ${users:k}", "two\nlines ${k}", "${deep:k:l}", "^", "${k} and ${k}", "${users:m:k}"]


def value(r, depth, wild):
    roll = r.random()
    if depth and roll < 0.4:
        return {r.choice(KEYS): value(r, depth - 1, wild) for _ in range(r.randrange(0 if wild else 1, 4))}
    if depth and roll < 0.65:
        items = [value(r, depth - 1, wild) for _ in range(r.randrange(0 if wild else 1, 4))]
        return ["^"] + items if r.random() < 0.25 else items
    if roll < (0.9 if wild else 0.97):
        return r.choice(TEXTS if wild or r.random() < 0.35 else TEXTS[:4])
    return r.choice([1, True, None, 1.5, "1"] if wild else [1, True])


def pillars(r, wild):
    return {key: shape(r, key, wild) for key in r.sample(KEYS, r.randrange(0, 4))}


def shape(r, key, wild):
    """Each key mostly has values of one type, as it has in real inventories."""
    if wild and r.random() < 0.15:
        return value(r, 2, wild)
    if key in ("k", "l", "m"):
        return r.choice(TEXTS if r.random() < 0.3 else TEXTS[:4])
    if key == "list":
        items = [value(r, r.choice([0, 0, 1]), False) for _ in range(r.randrange(1, 4))]
        return ["^"] + items if r.random() < 0.3 else items
    return {inner: shape(r, r.choice(["k", "k", "list", "deep" if r.random() < 0.4 else "l"]), wild) for inner in r.sample(KEYS, r.randrange(1, 4))}


def source(r, document, wild):
    """The text of a file: the document, sometimes with a template around or within it."""
    text = "".join(f"{name}: {flow(inner)}\n" for name, inner in document.items())
    roll = r.random()
    if roll < 0.06:
        text += "{% set x = __grains__.os %}" + ("z" if "z" not in document else "zz") + ": {{ x }}\n"
    elif roll < 0.12 and "pillars" not in document:
        text += "pillars:\n{% for c in ['k', 'l'] %}  {{ c }}: '{{ minion_id }}-{{ __pillar__.get('k', 'none') }}'\n{% endfor %}"
    elif roll < 0.16 and "pillars" not in document:
        text += "pillars:\n  deep: {{ __pillar__.get('deep', {'k': 'v'}) }}\n  list: {{ __opts__.get('nodegroups') | list }}\n  k: '{{ __opts__.id }}'\n"
    elif roll < 0.19 and "pillars" not in document:
        text += "pillars:\n  list: &l [p, q]\n  users: {k: *l}\n  deep: {m: &m {k: v}, l: *m}\n"
    elif roll < 0.21:
        text += "{% include 'part.txt' %}\n"
    elif roll < 0.23 and "pillars" not in document:
        text += "{% set _ = __pillar__.update({'users': {'z': 'put'}}) %}pillars: {k: {{ __salt__['pillar.get']('a', 'nothing') }}}\n"
    if wild and r.random() < 0.04:
        text = r.choice(["", "[]\n", "text\n", "a: [\n", "{{ nosuch.x }}\n", "{% if %}\n", "null\n", "{}\n", "{{ 1 / 0 }}\n", "classes:\n", "a: 1\na: 2\n", "{{ nosuch }}a: 1\n", "{% do x.y() %}\n", "pillars: {k: |\n  x}\n"])
    return text


def document(r, wild, is_node):
    made = {}
    if r.random() < (0.9 if is_node else 0.4):
        made["classes"] = [r.choice(WANTED) for _ in range(r.randrange(1, 4))]
    if r.random() < 0.8:
        made["pillars"] = pillars(r, wild)
    if r.random() < 0.4:
        made["states"] = r.sample(["ssh", "nginx", "app.web", "x"], r.randrange(1, 4))
    if r.random() < 0.25:
        made["environment"] = r.choice(["base", "dev", "prod"])
    if wild and r.random() < 0.12:
        made[r.choice(["classes", "pillars", "states", "environment"])] = r.choice([None, [], {}, "", "ab", 5, ["^", "b"], [None], [5], [["a"]], {"a": 1}, [{"k": 1}], {"b": None}, True])
    return dict(r.sample(sorted(made.items(), key=lambda pair: pair[0]), len(made)))


def place(r, name, under):
    """A path of a class."""
    path = name.replace(".", "/")
    return f"{under}/{r.choice([path + '.yml', path + '.yml', path + '/init.yml', name + '.yml'])}"


def files(r, minion_id, wild):
    made = {f"sc/classes/{path}": text for path, text in [("part.txt", "# a comment"), ("app/part.txt", "# {{ minion_id }}")]}
    for name in r.sample(CLASSES, r.randrange(2, len(CLASSES))):
        path = place(r, name, "sc/classes")
        if not any(other.startswith(path + "/") or path.startswith(other + "/") for other in made):
            made[path] = source(r, document(r, wild, False), wild)
    if r.random() < 0.95:
        where = r.choice(["", "", "x/", "x/y/", "b/"])
        made[f"sc/nodes/{where}{minion_id}.yml"] = source(r, document(r, wild, True), wild)
    if r.random() < 0.1:
        made[f"sc/nodes/{r.choice(['', 'c/', 'a/z/'])}{minion_id}.yml"] = source(r, document(r, wild, True), wild)
    made["sc/nodes/other.yml"] = "classes: [a]\n"
    return made


def arguments(r, wild):
    plain = [{"path": "<DIR>/sc"}]
    if not wild or r.random() < 0.9:
        return plain
    return r.choice([[{"path": "<DIR>/sc/"}], {"path": "<DIR>/sc"}, "<DIR>/sc", [{}], [], None, [{"path": None}], [{"path": 5}], [{"path": "/nosuch"}, {"path": "<DIR>/sc"}], ["path"], [{"path": "<DIR>/nosuch"}], [{"path": "<DIR>/sc/../sc"}]])


def one(r):
    wild = r.random() < 0.4
    minion_id = r.choice(IDS)
    made = {"base/top.sls": "base: {'*': [s]}\n", "base/s.sls": r.choice(["k: from sls\n", "users: {k: sls}\nlist: [sls]\n", "deep: {deep: {k: 1}}\nlist: [p]\n", "a: given\n", "k: {x: 1}\n"]), **files(r, minion_id, wild)}
    master = {"pillar_roots": {"base": ["<DIR>/base"]}, "id": "master", "nodegroups": {"one": "web*"}, "ext_pillar": [{"saltclass": arguments(r, wild)} for _ in range(2 if r.random() < 0.05 else 1)]}
    maybe = lambda chance, name, values: master.update({name: r.choice(values)}) if r.random() < chance else None
    maybe(0.2, "pillar_source_merging_strategy", STRATEGIES)
    maybe(0.15, "pillar_merge_lists", [True])
    maybe(0.1, "ext_pillar_first", [True])
    return {"files": made, "master": "".join(f"{flow(name)}: {flow(inner)}\n" for name, inner in master.items()), "minion_id": minion_id, "grains": {"id": minion_id, "os": r.choice(["Debian", "RedHat"])}}
