"""Make up whole pillars: top files, sls and options of a master, in the form of the recorded ones.

`<DIR>` is the directory that the files are in.
"""
import json

IDS = ["web1", "web2.example.com", "db-1", "Web1", "a", "w[e]b", "1"]
GRAINS = {"os": ["Debian", "debian", "RedHat", None, 5], "roles": [["web", "db"], ["Web"], "web", [], {"web": {"deep": "x"}}, [{"web": 1}]],
          "deep": [{"a": {"b": "c"}}, {"a": ["b", "c"]}, {"a:b": "c"}, "a"], "ipv4": [["127.0.0.1", "10.1.2.3"], "10.1.2.3", []], "ipv6": [["::1", "fe80::1"], "::1"], "num": [5, 1.5, True, "5"]}
SLS = ["a", "b", "c", "sub.a", "sub.b", "sub.deep.a", "sub", "only", "x-y"]
PATTERNS = ["*", "sub.*", "s*", "?", "[ab]*", "sub", "sub/a", "a.*", "nosuch", "no.*", "/a", "//b", ".sub.a", "..c", "/sub/a"]
ENVS = ["base", "dev", "prod", "qa"]
KEYS = ["a", "b", "c", "list", "users", "port", "deep", 1, True, None, "é"]
SCALARS = [None, True, False, 0, 1, 22, -1, 1.5, "", "x", "y", "1", "é", "yes", "0644", "a: b", "text with spaces"]
STRATEGIES = ["smart", "recurse", "aggregate", "list", "overwrite", "none", "bogus", "", None]


def scalar(r):
    return r.choice(SCALARS)


def tree(r, depth):
    roll = r.random()
    if depth and roll < 0.4:
        return {r.choice(KEYS if r.random() < 0.2 else KEYS[:7]): tree(r, depth - 1) for _ in range(r.randrange(4))}
    if depth and roll < 0.6:
        return [tree(r, depth - 1) for _ in range(r.randrange(4))]
    return scalar(r)


def flow(value):
    """YAML on one line; JSON is YAML, except for keys that are not text."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{flow(k) if not isinstance(k, str) else json.dumps(k)}: {flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    return json.dumps(value)


def target(r, minion_id, wild):
    """A target, and the matcher that is for it."""
    word = lambda: r.choice(["*", "web*", "db*", minion_id, "web1", "G@os:Debian", "G@os:debian", "G@roles:web", "E@web.*", "E@.*1$", "L@web1,db-1", "L@" + minion_id,
                             "P@os:(Debian|Red.*)", "S@10.1.2.0/24", "S@127.0.0.1", "S@::1", "S@fe80::/10", "N@words", "L@web*", "I@deep:a:*", "J@users:.*", "N@webs", "N@nested", "N@listed", "I@e:x", "I@e:*", "J@e:.*", "G@deep:a:b", "G|@deep|a|b",
                             "G@num:5", "nosuch", "N@nosuch", "G@nope", "S@x", "T@x", "M@web1", "I@o:1", "G@deep:*:c", "G@*:web", "G@roles:*", "G@roles:web:deep"])
    compound = lambda: r.choice([word(), f"{word()} and {word()}", f"{word()} or {word()}", f"not {word()}", f"( {word()} or {word()} ) and not {word()}",
                                 f"{word()} and", f"or {word()}", f"{word()} {word()}", f"{word()} not {word()}", "()", "( )"])
    made = r.choice([
        lambda: ("*", None), lambda: ("*", None), lambda: (minion_id, None), lambda: (compound(), None), lambda: (compound(), "compound"),
        lambda: (r.choice(["web*", "*1", "?", "[w]eb?", minion_id, "*"]), "glob"), lambda: (r.choice(["web.*", ".*1", "", "(web|db).*", "w"]), "pcre"),
        lambda: (r.choice([minion_id, f"x,{minion_id}", f"{minion_id},y", "a,b", f"x,{minion_id},y"]), "list"),
        lambda: (r.choice(["os:Debian", "os:deb*", "roles:web", "deep:a:b:c", "deep:a:b", "os", "num:5", "roles:*"]), "grain"),
        lambda: (r.choice(["os:Deb.*", "roles:(web|db)", "deep:a:b:c", "os:("]), "grain_pcre"),
        lambda: (r.choice(["e:x", "e:*", "o:1", "x:y:z"]), "pillar"), lambda: (r.choice(["e:x.*", "e:.", "o:\\d"]), "pillar_pcre"),
        lambda: (r.choice(["e:x", "e:*", "o:1"]), "pillar_exact"), lambda: (r.choice(["webs", "nested", "nosuch", "listed", "expr", "words"]), "nodegroup"),
        lambda: (r.choice(["10.1.2.3", "10.0.0.0/8", "::1", "::/0", "127.0.0.1", "x"]), "ipcidr"), lambda: (minion_id, "managing_minion"),
    ])()
    if wild and r.random() < 0.05:
        made = r.choice([("*", "data"), ("(", "pcre"), ("*", "nosuch"), (5, None), (5, "glob"), (5, "list"), (5, "pcre"), (True, "grain"), ("*", "range"), ("*", "compound_pillar_exact")])
    return made


def listed(r, matcher, wild):
    """What stands behind a target."""
    if wild and r.random() < 0.04:
        return r.choice([None, "a", "ab", 5, {"a": 1}, [], [None, 5, "a"], [["a"]], {}])
    made = [r.choice(SLS) if r.random() < 0.85 else r.choice(PATTERNS) for _ in range(r.randrange(1, 4))]
    if matcher:
        made.insert(r.choice([0, 0, 0, len(made)]), {"match": matcher})
    if r.random() < 0.12:
        made.append({"order": r.choice([1, 2, -1, 5, "3", "x", 1.5, 0] + ([None, [1]] if wild else []))})
    if r.random() < 0.12:
        made.append({"ignore_missing": r.choice([True, True, False, "yes"])})
    return made


def top(r, minion_id, envs, wild):
    made = {}
    for env in r.sample(envs, r.randrange(1, len(envs) + 1)):
        targets = {}
        for _ in range(r.randrange(1, 4)):
            name, matcher = target(r, minion_id, wild)
            targets[name] = listed(r, matcher, wild)
        made[env] = targets
    if wild and r.random() < 0.05:
        made[r.choice(envs)] = r.choice([None, [], ["a"], "x", "", 5, [0], [5], {}])
    if wild and r.random() < 0.03:
        made[5] = {"*": ["a"]}
    if r.random() < 0.06:
        made["include"] = r.choice([["tops.one"], ["nosuch"], ["tops.one", "tops.two"], "x", [5], ["tops.one", "tops.one"]])
    if wild and r.random() < 0.04:
        return r.choice(["[]", "x", "include", "5", "{{ nosuch.x }}", "base: {", "", "- include", "true", "#!nosuch\nbase: {}", "null"])
    text = "".join(f"{flow(env)}: {flow(targets)}\n" for env, targets in made.items())
    if r.random() < 0.04 and all(isinstance(env, str) for env in made):
        return r.choice(["#!json\n", "#!jinja|json\n"]) + json.dumps(made)
    if r.random() < 0.04:
        text = "{% for one in ['*', grains.id] %}" + f"{{% if loop.first %}}{text}{{% endif %}}" + "{% endfor %}\n"
    return r.choice(["", "", "", "{% if grains.os is defined %}{% endif %}", "# {{ saltenv }} {{ grains.id }}\n", "#!jinja|yaml\n", "#!yaml\n", "{% if pillar.get('o') %}dev: {'*': [b]}\n{% endif %}"]) + text


def include(r, wild):
    name = r.choice(SLS + [".a", ".b", ".deep.a", "sub/a", "sub.*", "*", "nosuch", ".nosuch", "?", "[ab]", ".deep.*", "/sub/a", "//a"])
    if wild and r.random() < 0.05:
        # These include themselves by ever longer names, if they do.
        name = r.choice([".", "..a"])
    if r.random() < 0.65:
        return name
    details = {}
    if r.random() < 0.6:
        details["defaults"] = {r.choice(["v", "w", "port"]): scalar(r) for _ in range(r.randrange(1, 3))}
    if r.random() < 0.6:
        details["key"] = r.choice(["k", "k:l", "users", "deep:a", "a", "", ":", None])
    if wild and r.random() < 0.15:
        return r.choice([{}, {name: None}, {name: "x"}, {name: ["x"]}, {name: {"defaults": None}}, {name: {"defaults": [1]}}, {name: {"defaults": {"sls": 1}}}, 5, None, {5: {}},
                         {name: {"defaults": {"salt": 1}}}, {name: {"defaults": {1: 2}}}, {name: {"defaults": ""}}, {name: details, "b": {"key": "second"}}, [name]])
    return {name: details}


VALUES = ["{{ sls }}", "{{ slspath }}", "{{ tplfile }}", "{{ tpldir }}", "{{ tplpath }}", "{{ tpldot }}", "{{ saltenv }}", "{{ opts.id }}", "{{ opts.pillarenv }}", "{{ opts.saltenv }}",
          "{{ grains.id }}", "{{ pillar | json }}", "{{ pillar.get('a') | json }}", "{{ salt['pillar.get']('a', 'none') | json }}", "{{ v | default('no v') | json }}", "{{ w | default('no w') | json }}",
          "{{ port | default(80) | json }}", "{{ salt['grains.get']('os') | json }}", "{{ salt['match.compound']('web*') }}", "{{ salt['match.glob']('*') }}", "{{ opts.minion_id }}",
          "{{ salt['config.get']('id') }}", "{{ grains.roles | json }}", "{{ opts.pillar_roots.keys() | list | json }}", "{{ opts['site'] | default('none') | json }}", "{{ opts.state_top }}",
          "{{ salt['config.get']('pillarenv') }}", "{{ salt['pillar.get']('e', 'none') | json }}", "{{ slsdotpath }}", "{{ slscolonpath }}", "{{ sls_path }}", "{{ salt['match.grain']('os:Debian') }}",
          "{{ salt['pillar.get']('nosuch') | json }}", "{{ salt['pillar.get']('users:k', {'own': 1}, merge=True) | json }}", "{{ salt['match.pillar']('e:x') }}", "{{ salt['match.grain_pcre']('os:D.*') }}",
          "{{ salt['match.list']('web1,a') }}", "{{ salt['match.pcre']('web.*') }}", "{{ salt['match.ipcidr']('10.0.0.0/8') }}", "{{ salt['match.filter_by']({'web*': 'w', 'db*': 'd'}, default='x') | json }}",
          "{{ salt['grains.filter_by']({'Debian': {'a': 1}, 'default': {}}, grain='os', default='default') | json }}", "{{ salt['slsutil.merge']({'a': [1]}, {'a': [2]}) | json }}",
          "{{ salt['config.get']('a', 'no a') | json }}", "{{ salt['pillar.keys']('users') | json }}", "{{ salt['grains.get']('deep:a:b', 'none') | json }}", "{{ salt['pillar.get']('a:b', default=none) | json }}", "{{ grains.get('ipv6') | json }}",
          "{{ salt['defaults.merge']({'a': {'b': 1}}, {'a': {'c': 2}}) | json }}", "{{ salt['match.search_by']({'w': ['web*'], 'd': ['db*']}) | json }}", "{{ opts.get('pillar') | json }}",
          "{{ opts.grains.id }}", "{{ opts.file_client }}", "{{ _pillar_rend }}", "{{ salt['cp.get_file_str']('salt://served') | json }}"]
STATEMENTS = ["{% do pillar.update({'seen': 1}) %}", "{% do pillar.setdefault('order', []).append(sls) %}", "{% set x = 1 %}", "{% import_yaml 'data.yaml' as d %}\nd: {{ d | json }}",
              "{% from 'macros.jinja' import m %}\nm: {{ m(sls) | json }}", "{% import 'macros.jinja' as mm with context %}\nmm: {{ mm.where() | json }}", "{% include 'inc.txt' %}",
              "{% do grains.update({'fresh': sls}) %}", "fresh: {{ grains.fresh | default('no') | json }}", "{% from 'sub/macros.jinja' import where %}\nwhere: {{ where() | json }}",
              "{% from './macros.jinja' import m %}\nm2: {{ m(1) | json }}", "{% do opts.update({'site': sls}) %}", "site: {{ opts.site | default('none') | json }}"]
# Other languages, and what text can have around it.
OTHERS = ["#!yamlex\na: !aggregate [1, 2]\nb: x\n", "#!jinja|yamlex\nlist: !aggregate ['{{ sls }}']\n", "#!toml\na = 1\n[users]\nk = 'v'\n", "#!jinja|toml\nb = '{{ grains.id }}'\n", "#!json\n{\"a\": {\"b\": [1]}, \"list\": []}",
          "x: &x {k: v, l: [1]}\nusers: *x\ndeep: *x\n", "x: &x [1, 2]\nlist: *x\nc: *x\n", "base: &base {k: v}\nusers: {<<: *base, z: 1}\n", "exclude: [b]\na: 1\n", "exclude: [{sls: b}]\na: 2\n", "a: é\nb: '\u2603'\n", "\ufeffa: 1\n",
          "a: 1\r\nb: {c: 2}\r\n", "a: |\n  text\n  {{ sls }}\nb: >-\n  folded\n  text\n", "--- \na: 1\n...\n", "a: 0x1F\nb: 1_000\nc: 12:30\nport: 0o17\n", "a: 2024-01-02\nb: 2024-01-02 10:20:30\n", "a: !!binary aGk=\n", "a: {1: x, '1': y}\n",
          "a: !!set {x, y}\n", "a: !!omap [{x: 1}]\n", "- a: 1\n", "users: {k: {l: null}}\ndeep: null\nlist: null\n", "__: a\n_errors: [mine]\n", "_errors: text\n", "a: .nan\nb: -.inf\n", "users: ~\n",
          "#!jinja|yaml|yaml\na: 1\n", "#!yaml\na: '{{ sls }}'\n", "# {#\na: 1\n# #}\nb: 2\n", "{# comment #}a: 1\n", "{%- set x = {'k': [1]} %}\na: {{ x }}\nb: {{ x | yaml }}\n", "{% raw %}a: '{{ b }}'{% endraw %}\n", "{% for i in range(3) %}k{{ i }}: {{ i }}\n{% endfor %}"]
# What nothing here can decrypt stays as it is on both sides.
CIPHERTEXT = "-----BEGIN PGP MESSAGE-----\n\nhQEMA0nothing\n=abcd\n-----END PGP MESSAGE-----"
PYOBJECTS = ["#!pyobjects\nPkg.installed('a')\n", "#!pyobjects\nwith Pkg.installed('x', version='1'):\n    Service.running('x', enable=True)\n",
             "#!pyobjects\nFile.managed('/etc/{}'.format(grains('os')), user='root', mode=420)\n", "#!pyobjects\nCmd.run('a', name=str(pillar('users', 'none')))\n",
             "#!jinja|pyobjects\nFile.directory('/{{ sls }}', makedirs=True)\n", "#!pyobjects\ninclude('b')\nPkg.removed('b')\n", "#!pyobjects\nfor n in range(3):\n    User.present('u%d' % n, uid=1000 + n)\n",
             "#!pyobjects\nx = 1\n", "#!pyobjects\nPkg.installed('a', require=Pkg('b'))\nextend(Service.running('c'))\n", "#!pyobjects\nNosuch.state('a')\n", "#!pyobjects\nPkg.installed('a')\nPkg.installed('a')\n"]
BROKEN = ["a: {{ nosuch.x }}", "a: [", "x", "[1, 2]", "5", "a: {{ 1 / 0 }}", "#!nosuch\na: 1", "#!yaml\na: {{ x }}", "", "  \n", "#!json\n{\"a\": 1}", "#!jinja|json\n{\"a\": \"{{ sls }}\"}", "include: a",
          "include:\n", "include: {a: b}", "a: 1\na: 2", "{% raise 'x' %}", "{{ raise('boom') }}", "#!jinja|yaml\na: {{ sls }}", "true", "'text'", "{}", "a: !!python/name:os.system 1", "#!yaml|jinja\na: 1",
          "#!jinja\na: 1", "#!/bin/sh\na: 1", "{% include 'nosuch' %}", "#!json\n[1]", "include: []\na: 1"]


def sls(r, wild):
    if wild and r.random() < 0.2:
        return r.choice(BROKEN)
    if r.random() < 0.08:
        return r.choice(OTHERS)
    if r.random() < 0.02:
        return r.choice(PYOBJECTS)
    lines = []
    if r.random() < 0.4:
        lines.append("include: " + flow([include(r, wild) for _ in range(r.randrange(1, 4))]))
    keys = r.sample(["a", "b", "c", "list", "users", "port", "deep"], r.randrange(1, 4))
    for key in keys:
        roll = r.random()
        lines.append(f"{key}: " + (json.dumps(CIPHERTEXT) if roll < 0.03 else r.choice(VALUES) if roll < 0.3 else flow(tree(r, 3))))
    if r.random() < 0.3:
        lines.insert(r.randrange(len(lines) + 1), r.choice(STATEMENTS))
    return "\n".join(lines) + r.choice(["\n", ""])


def external(r, wild):
    kind = r.random()
    if kind < 0.5:
        return {r.choice(["cmd_yaml", "cmd_json"]): "echo '" + json.dumps(r.choice([{"e": "x"}, {"e": {"x": 1}, "a": "from %s"}, {"o": 1, "list": [9]}, {"a": 2, "deep": {"e": 1}}, {}, {"e": "x", "users": {"z": None}}])) + "'"}
    if kind < 0.75:
        return {"stack": "<DIR>/stack/stack.cfg"}
    if kind < 0.8:
        return {"gpg": {}}
    if kind < 0.9 or not wild:
        return {"nosuch": "x"}
    return r.choice([{"cmd_yaml": "echo 'a: ['"}, {"cmd_json": "echo 'x'"}, {"cmd_json": "echo '[1]'"}, {"cmd_yaml": "echo 'x'"}, {"cmd_yaml": ["echo 'a: 1'", "b"]}, {"cmd_yaml": 5}, {}, "x", 5,
                     {"cmd_json": "echo '{\"e\": 1}'", "cmd_yaml": "echo '{}'"}, {"cmd_yaml": {"command": "echo 'e: x'"}}, {"cmd_json": "echo '\"\"'"}, {"cmd_yaml": "echo ''"}])


def master(r, envs, wild):
    roots = {env: ["<DIR>/" + env] for env in envs}
    if r.random() < 0.15:
        roots[envs[-1]].append("<DIR>/more")
    if r.random() < 0.08:
        roots["__env__"] = ["<DIR>/dyn/__env__"]
    if r.random() < 0.05:
        roots[r.choice(ENVS)] = []
    made = {"pillar_roots": roots, "file_roots": {"base": ["<DIR>/served"]}, "id": "master",
            "nodegroups": {"webs": "G@os:Debian or web*", "nested": "N@webs and not db*", "listed": ["web1", "db-1"], "expr": "(web|db).*", "words": ["G@os:Debian", "or", "web1"]}}
    maybe = lambda chance, name, values: made.update({name: r.choice(values)}) if r.random() < chance else None
    maybe(0.3, "pillar_source_merging_strategy", STRATEGIES)
    maybe(0.3, "pillar_merge_lists", [True, False, "no", 0])
    maybe(0.2, "env_order", [["dev", "base"], ["base"], ["prod", "qa", "dev"], [], None, ["nosuch", "dev"]])
    maybe(0.08, "pillarenv", ENVS + ["nosuch", ""])
    maybe(0.06, "saltenv", ENVS)
    maybe(0.08, "pillarenv_from_saltenv", [True, False])
    maybe(0.1, "top_file_merging_strategy", ["merge", "merge_all", "same"])
    maybe(0.05, "default_top", ["base", "dev"])
    maybe(0.2, "pillar_includes_override_sls", [True, False])
    maybe(0.15, "pillar_safe_render_error", [True, False])
    maybe(0.2, "ext_pillar_first", [True, False])
    maybe(0.05, "file_ignore_glob", [["sub"], ["deep"], ["*"], ["a.sls"], "s*"])
    maybe(0.05, "file_ignore_regex", [["^sub"], ["deep"], ["("], "d"])
    maybe(0.05, "state_top", ["salt://top.sls", "/top.sls", "tops/one.sls", "nosuch.sls"])
    maybe(0.05, "renderer", ["yaml", "jinja|yaml", "yaml_jinja", "json"])
    maybe(0.04, "renderer_blacklist", [["json"], ["yaml"], []])
    maybe(0.04, "jinja_sls_env", [{"trim_blocks": True}, {"lstrip_blocks": True, "trim_blocks": True}])
    maybe(0.04, "exclude_ext_pillar", [["stack"], ["cmd_yaml"], []])
    maybe(0.1, "site", [{"name": "here"}])
    maybe(0.08, "pillar_raise_on_missing", [True, False])
    maybe(0.03, "pillar_cache", [False])
    maybe(0.04, "jinja_env", [{"trim_blocks": True}])
    maybe(0.04, "allow_undefined", [True])
    maybe(0.06, "decrypt_pillar", [[], ["users"], ["users:k", "a"], ["a", {"b": "gpg"}], {"list": None, "deep:a": "gpg"}, ["deep:a:b", "nosuch:x"]])
    # Without this, what cannot be decrypted is an error where gpg is asked.
    made["gpg_decrypt_must_succeed"] = False
    maybe(0.02, "decrypt_pillar_delimiter", [":", "|"])
    maybe(0.02, "decrypt_pillar_default", ["gpg"])
    maybe(0.06, "pillar_opts", [True, True, False, "yes"])
    maybe(0.05, "state_aggregate", [True])
    if r.random() < 0.06:
        made.update(pillarenv_from_saltenv=True, saltenv=r.choice(ENVS))
    if r.random() < 0.3:
        made["ext_pillar"] = [external(r, wild) for _ in range(r.randrange(1, 4))]
        if wild and r.random() < 0.05:
            made["ext_pillar"] = r.choice([{}, {"stack": "x"}, None, "x"])
    if r.random() < 0.1:
        made["on_demand_ext_pillar"] = r.choice([["cmd_yaml"], ["cmd_json", "stack"], []])
    return "".join(f"{name}: {flow(value)}\n" for name, value in made.items())


def one(r):
    """A master's tree, and the minion that asks. Wild ones have mistakes in them."""
    wild = r.random() < 0.35
    envs = r.choice([["base"], ["base"], ["base", "dev"], ["dev", "base", "prod"], ["dev"], ["base", "qa"]])
    minion_id = r.choice(IDS[:4] if not wild else IDS)
    files = {"served/served": "from the file server\n", "stack/stack.cfg": "one.yml\n{{ __grains__['id'] }}.yml\n",
             "stack/one.yml": "e: x\nfrom_stack: {{ pillar.get('a') | json }}\nids: [\"{{ minion_id }}\", \"{{ __opts__['id'] }}\"]\n"}
    for env in envs + (["more"] if r.random() < 0.5 else []) + (["dyn/qa"] if r.random() < 0.3 else []):
        if r.random() < 0.9:
            files[f"{env}/top.sls"] = top(r, minion_id, envs + (["qa"] if r.random() < 0.1 else []), wild)
        for name in r.sample(SLS, r.randrange(2, 7)):
            for ending in r.choice([[".sls"], [".sls"], ["/init.sls"], ["/init.sls"] if r.random() < 0.8 else [".sls", "/init.sls"]]):
                files[f"{env}/" + name.replace(".", "/") + ending] = sls(r, wild)
        for name in ("one", "two"):
            if r.random() < 0.1:
                files[f"{env}/tops/{name}.sls"] = top(r, minion_id, envs, wild)
        if r.random() < 0.6:
            files[f"{env}/data.yaml"] = "k: {{ sls | default('no') }}\n"
            files[f"{env}/macros.jinja"] = "{% macro m(x) %}m{{ x }}{{ saltenv }}{% endmacro %}\n{% macro where() %}{{ tplfile }} {{ sls }} {{ tpldir }}{% endmacro %}\n"
            files[f"{env}/sub/macros.jinja"] = "{% macro m(x) %}sub{{ x }}{% endmacro %}\n{% macro where() %}{{ tplfile }} {{ tpldir }} {{ tpldot }}{% endmacro %}\n"
            files[f"{env}/inc.txt"] = "inc: {{ sls }}\n"
    made = {"files": files, "master": master(r, envs, wild), "minion_id": minion_id, "grains": {"id": minion_id, **{key: r.choice(values) for key, values in GRAINS.items() if r.random() < 0.85}}}
    if r.random() < 0.2:
        made["saltenv"] = r.choice(ENVS + [None])
    if r.random() < 0.2:
        made["pillarenv"] = r.choice(ENVS + ["nosuch", ""])
    if r.random() < 0.15:
        made["override"] = r.choice([{"a": 9}, {"o": 1, "deep": {"x": 1}}, {"e": "x", "list": [7]}, {}])
    if r.random() < 0.06:
        made["ext"] = r.choice([{"cmd_yaml": "echo 'd: 1'"}, {"cmd_json": "echo '{\"d\": 2}'"}, {"nosuch": 1}, {}])
    return made
