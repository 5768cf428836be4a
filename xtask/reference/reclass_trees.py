"""Make up masters whose only files are inventories of reclass. They have the form of recorded whole pillars."""
from pillar_trees import STRATEGIES, flow

IDS = ["web1", "web2.example.com", "db-1", "a"]
CLASSES = ["a", "b", "c", "app.ssh", "app.web", "app", "role.x.y", "role.x", "d.e", "w1"]
KEYS = ["k", "l", "m", "users", "list", "deep"]
TEXTS = ["x", "y", "text", "z z", "1"]
REFERENCES = ["${k}", "${l}", "${deep:k}", "pre ${k} post", "${k} ${l}", "${users:k}", "${deep}", "${list}", "${users}", "\\${k}", "a\\${k}b ${l}", "\\\\${k}", "${_reclass_:name:short}", "${_reclass_:name:full}-${k}", "${deep:${m}}", "${${m}}",
              "${ k } ${l}", "x ${deep:${ m }}", "${k}\t${l}", "${_reclass_:name:parts}", "${_reclass_:environment}", "${users:${m}} x", "${base}", "${base:k}", "${m}"]
WRONG = ["${nosuch}", "${k:x}", "${list:0}", "${list:0:k}", "${", "${}", "${k", "${nosuch:x} y", "${deep:${nosuch}}"]


def text(r, wild, order):
    roll = r.random()
    if roll < 0.65:
        return r.choice(TEXTS)
    if wild and roll > 0.97:
        return r.choice(WRONG)
    return r.choice(REFERENCES)


EXPORTS = ["exports:k", "exports:role", "exports:deep:k", "exports:list", "exports:deep", "exports:n"]


def query(r, wild):
    """An inventory query, or something like one."""
    blank = lambda: r.choice([" ", " ", " ", "  ", "\t", ""])
    if wild and r.random() < 0.2:
        return r.choice(["$[]", "$[ ]", "$[ exports ]", "$[ exports:k", "$[ exports:k if ]", "$[ if exports:k ]", "$[ k ]", "$[exports:k b]", "$[ exports:k if k == l ]", "$[ if self:k == self:l ]", "$[ if exports:k == exports:role ]", "$[ exports:list:x ]",
                         "$[ exports:list:0 ]", "$[ exports:k:x ]", "$[ if exports:role == self:nosuch ]", "x $[ exports:k ]", "${k} $[ exports:k ]", "$[ if exports:role == self:k ] x", "\\$[ exports:k ]", "$[ \\] ]", "$[\\] exports:k ]", "$[ exports:k ]]",
                         "$[ exports:deep:k:x ]", "$[ exports:deep:list:k:l ]", "$[ if exports == x ]", "$[ exports:k if exports:n == 1.5x ]", "$[ é ]", "$[ exports:role if exports:list:x == x ]"])
    options = r.choice(["", "", "", "+AllEnvs ", "+IgnoreErrors ", "+AllEnvs +IgnoreErrors ", "+ignoreerrors+allenvs "])
    operand = lambda: r.choice(["web", "db", "x", "1", "5", "1.5", "-1", ".5", "true", "False", "self:k", "self:l", "self:deep:k", "self:m", "self:list", "007", "1e3"])

    def test():
        sides = [r.choice(EXPORTS), r.choice([" == ", " != ", " ==", "  !=  "]), operand()]
        return "".join(sides if r.random() < 0.9 else [sides[2], " == ", sides[0]])

    tests = test()
    for _ in range(r.choice([0, 0, 0, 1, 1, 2])):
        tests += r.choice([" and ", " or ", " AND ", " or"]) + test()
    made = r.choice([r.choice(EXPORTS), r.choice(EXPORTS), f"{r.choice(EXPORTS)} if {tests}", f"{r.choice(EXPORTS)} IF {tests}", f"if {tests}", f"if {tests}"])
    return f"$[{blank()}{options}{made}{blank()}]"


def exported(r, wild):
    """What a class or a node exports."""
    made = {}
    for name in r.sample(["k", "role", "n", "list", "deep", "x"], r.randrange(1, 4)):
        if name == "deep":
            made[name] = {inner: r.choice(["x", "${k}", "${deep:k}", "${nosuch}" if r.random() < 0.1 else "y", 1]) for inner in r.sample(["k", "l", "list"], r.randrange(1, 3))}
        elif name == "list":
            made[name] = r.choice([["x", "${k}"], ["x"], "${list}", [{"k": "${l}"}], ["a", "b"]])
        elif name == "n":
            made[name] = r.choice([1, 5, 1.5, True, False, -1, "1", None, "${n}"])
        else:
            made[name] = r.choice(["web", "db", "x", "${k}", "${l}", "${m}", "${_reclass_:name:short}", "${users:k}", "${deep}", "${nosuch}" if r.random() < 0.3 else "y", "${${m}}", "$[ exports:k ]" if wild and r.random() < 0.2 else "z"])
    return {key(r, name): value for name, value in made.items()} if r.random() < 0.2 else made


def value(r, depth, wild):
    roll = r.random()
    if depth and roll < 0.35:
        return {key(r, r.choice(KEYS)): value(r, depth - 1, wild) for _ in range(r.randrange(0, 4))}
    if depth and roll < 0.6:
        return [value(r, depth - 1, wild) for _ in range(r.randrange(0, 4))]
    if roll < 0.9:
        return text(r, wild, 0)
    return r.choice([1, True, None, 1.5, 0, "", False])


def key(r, name):
    return r.choice(["~", "="]) + name if r.random() < 0.04 else name


def shape(r, name, wild):
    """Each key mostly has values of one type, as it has in real inventories."""
    if wild and r.random() < 0.1:
        return value(r, 2, wild)
    if name == "m":
        return r.choice(["k", "l", "k"])
    if name in ("k", "l"):
        # What is merged first refers to nothing, so that circles are rare.
        return text(r, wild, 0) if name == "l" and r.random() < 0.3 else r.choice(TEXTS)
    if name == "list":
        return r.choice(["${base:list}", "${list2}"]) if r.random() < 0.1 else [value(r, r.choice([0, 0, 1]), wild) for _ in range(r.randrange(0, 4))]
    if r.random() < 0.08:
        return r.choice(["${base}", "${base:deep}", "${users}"] if name == "deep" else ["${base}"])
    # So do most keys in mappings.
    other = lambda: r.choice(["k", "l", "k", "list", "deep" if r.random() < 0.3 else "l"])
    return {key(r, inner): shape(r, inner if r.random() < 0.9 else other(), wild) for inner in r.sample(KEYS, r.randrange(0, 4))}


def parameters(r, wild):
    made = {key(r, name): shape(r, name, wild) for name in r.sample(KEYS, r.randrange(0, 5))}
    if wild and r.random() < 0.1:
        made[r.choice([1, True, None, 1.5])] = r.choice(["x", {"y": 1}, [1]])
    if r.random() < 0.1:
        made["new" + r.choice("abc")] = r.choice(REFERENCES)
    if r.random() < QUERIES:
        made["q" + r.choice("abc")] = r.choice([lambda: query(r, wild), lambda: query(r, wild), lambda: [query(r, wild), "x"], lambda: {"in": query(r, wild)}])()
        if r.random() < 0.2:
            made["of" + r.choice("abc")] = "${q" + r.choice(["a", "b", "c", "a:web1", "a:db-1"]) + "}"
    return made


# How many of the parameters have an inventory query.
QUERIES = 0.1


def names(r, by, wild):
    made = []
    for _ in range(r.randrange(1, 4)):
        roll = r.random()
        if roll < 0.85:
            made.append(r.choice(CLASSES))
        elif roll < 0.92:
            made.append(r.choice([".web", ".ssh", "..a", ".x", ".e", "..b"]))
        elif roll < 0.97:
            made.append(r.choice(["app.${which}", "${which}", "w${n}", "app.${_reclass_:name:short}", "role.${deep:k}"]))
        elif wild:
            made.append(r.choice(["nosuch", "", "a b", "a/b", 5, None, "no.such.${k}"]))
    return made


def document(r, name, wild, is_node):
    made = {}
    if r.random() < (0.9 if is_node else 0.3):
        made["classes"] = names(r, name, wild) if is_node else [other for other in names(r, name, wild) if not isinstance(other, str) or other > name or wild and r.random() < 0.2]
    if r.random() < 0.9:
        made["parameters"] = parameters(r, wild)
    if r.random() < 0.4:
        made["applications"] = [r.choice(["ssh", "nginx", "~ssh", "~nginx", "app.web", "x"]) for _ in range(r.randrange(1, 4))]
    if r.random() < 0.2:
        made["environment"] = r.choice(["base", "dev", "prod", None])
    if r.random() < 0.3:
        made["exports"] = exported(r, wild)
    if wild and r.random() < 0.06:
        made[r.choice(["classes", "parameters", "applications", "exports"])] = r.choice([None, [], {}, "", "ab", 5, [None], ["a"], {"a": 1}, "a", False, True, {"": 1}, {"~": 1}])
    return made


def source(r, name, wild, is_node):
    if wild and r.random() < 0.03:
        return r.choice(["", "[]\n", "text\n", "a: [\n", "null\n", "{}\n", "parameters: {a: &x {k: v}, b: *x}\n", "parameters: {a: {<<: {k: v}, l: w}}\n"])
    return "".join(f"{part}: {flow(inner)}\n" for part, inner in document(r, name, wild, is_node).items())


def files(r, minion_id, wild):
    made = {}
    for name in CLASSES:
        if r.random() < 0.9 or not wild:
            path = name.replace(".", "/")
            made[f"rc/classes/{r.choice([path + '.yml', path + '/init.yml', path + '.yaml'])}"] = source(r, name, wild, False)
    made["rc/classes/z.yml"] = "parameters: {which: ssh, n: 1, base: {k: from base, l: other, list: [base], deep: {k: x}}, list2: [two], k: v0, l: w0, m: k, deep: {k: d0, l: d1}, users: {k: u0, l: u1}, list: []}\n"
    if r.random() < (0.9 if wild else 0.99):
        where = r.choice(["", "", "x/", "x/y/", "_z/"])
        text = source(r, minion_id, wild, True)
        if r.random() < 0.85 and text.startswith("classes: ["):
            text = text.replace("classes: [", "classes: [z, ", 1)
        made[f"rc/nodes/{where}{minion_id}.yml"] = text
    if wild and r.random() < 0.03:
        made[f"rc/nodes/q/{minion_id}.yaml"] = "{}\n"
    for name in r.sample(["other", "web3", "db-2", *IDS], r.choice([0, 1, 1, 2, 3])):
        if not any(path.endswith((f"/{name}.yml", f"/{name}.yaml")) for path in made):
            text = source(r, name, wild and r.random() < 0.2, True)
            made[f"rc/nodes/{r.choice(['', '', 'x/', 'n/'])}{name}.yml"] = text.replace("classes: [", "classes: [z, ", 1) if text.startswith("classes: [") else text
    if wild and r.random() < 0.05:
        made["rc/nodes/wrong.yml"] = r.choice(["a: b: c\n", "a: [\n", "\tx: 1\n", "- %\n", "a: *x\n", "parameters: {k: '${k'}\n", "classes: [nosuch]\n"])
    made["rc/nodes/.hidden/other2.yml"] = "classes: [a]\n"
    return made


def arguments(r, wild):
    made = {"inventory_base_uri": "<DIR>/rc"}
    maybe = lambda chance, name, values: made.update({name: r.choice(values)}) if r.random() < chance else None
    maybe(0.7, "ignore_class_notfound", [True])
    maybe(0.05, "ignore_class_notfound_regexp", ["no.*", ["a", "no"], "x"])
    maybe(0.02, "propagate_pillar_data_to_reclass", [True])
    maybe(0.1, "compose_node_name", [True, False])
    maybe(0.1, "default_environment", ["qa", "prod"])
    maybe(0.1, "automatic_parameters", [False])
    maybe(0.15, "class_mappings", [["* a"], ["web* app.web b", "db* c"], ["/^(web)(\\d)/ w\\\\2"], ["'web1' a"], ["/web/ b", "* c"], ["x* a"]])
    for name in ("allow_scalar_over_dict", "allow_scalar_over_list", "allow_list_over_scalar", "allow_dict_over_scalar", "allow_none_override"):
        maybe(0.25, name, [True])
    maybe(0.05, "strict_constant_parameters", [False])
    maybe(0.05, "ignore_overwritten_missing_references", [False])
    maybe(0.05, "group_errors", [False])
    maybe(0.05, "storage_type", ["yaml_fs"])
    maybe(0.15, "inventory_ignore_failed_node", [True])
    maybe(0.1, "inventory_ignore_failed_render", [True])
    maybe(0.03, "export_sentinels", [["<<", ">>"], ["$[", "]"]])
    maybe(0.03, "unknown_option", [1])
    maybe(0.03, "class_mappings_match_path", [True])
    if wild and r.random() < 0.06:
        return r.choice([[], None, "<DIR>/rc", {}, [made], {"inventory_base_uri": "/nosuch"}, {**made, "storage_type": "nosuch"}, {**made, "nodes_uri": "classes"}, {**made, "classes_uri": "nodes/x"}, {**made, "nodes_uri": "nosuch"}, {**made, "class_mappings": ["'a b"]},
                         {**made, "delimiter": "."}, {**made, "reference_sentinels": ["<<", ">>"]}, {**made, "reclass_source_path": "/nosuch"}])
    return made


def one(r):
    wild = r.random() < 0.15
    minion_id = r.choice(IDS)
    made = {"base/top.sls": "base: {'*': [s]}\n", "base/s.sls": r.choice(["k: from sls\n", "users: {k: sls}\nlist: [sls]\n", "deep: {deep: {k: 1}}\nlist: [p]\n", "a: given\n", "k: {x: 1}\n", "a: '${k}'\n"]), **files(r, minion_id, wild)}
    master = {"pillar_roots": {"base": ["<DIR>/base"]}, "file_roots": {"base": ["<DIR>/rc"]}, "id": "master", "ext_pillar": [{"reclass": arguments(r, wild)}]}
    maybe = lambda chance, name, values: master.update({name: r.choice(values)}) if r.random() < chance else None
    maybe(0.1, "pillar_source_merging_strategy", STRATEGIES)
    maybe(0.1, "pillar_merge_lists", [True])
    maybe(0.1, "ext_pillar_first", [True])
    return {"files": made, "master": "".join(f"{flow(name)}: {flow(inner)}\n" for name, inner in master.items()), "minion_id": minion_id, "grains": {"id": minion_id, "os": r.choice(["Debian", "RedHat"])}}
