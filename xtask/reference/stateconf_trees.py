"""Make up masters whose pillars have sls with the renderer `stateconf`. They have the form of recorded whole pillars."""
import json

SLS = ["a", "b", "d.e", "d.f"]
IDS = [".x", ".y", ".z", "x", "y", "/etc/z", ".params", "params", "..q", ".a.b", "__i", ".goal", ".start", "a::x", "d.e::x"]
FUNCTIONS = ["pkg.installed", "file.managed", "service", "cmd.run", "stateconf.set", "stateconf", "__sls__"]
REQUISITES = ["require", "watch_in", "use", "listen", "onchanges", "onfail_in", "require_in", "require_any", "names", "name", "port"]
OPTIONS = ["", "", "", "-G", "-G", "-o", "-Go", "-s", "-Gs", "-Gos", "-G -s"]
ODD_OPTIONS = ["-x", "--goal", "-G --", "yaml", "yaml . jinja", "-G yaml . jinja", "json . jinja", "-o json . jinja", "yaml . nosuch", "nosuch . jinja", ". jinja", "yaml .", "yaml . jinja x", "-"]
INCLUDES = ["b", ".b", "d.e", ".f", "..b", {"base": "b"}, {"base": ".b"}, {"dev": "b"}, {"b": {"key": "k"}}, {}, 5, None, "...", ".nosuch", "nosuch"]
EXCLUDES = ["b", {"sls": ".b"}, {"sls": "b"}, {"id": "x"}, {"sls": "..b"}, {}, 5, None, "sls.x", {"sls": 5}]
ODD = [None, 5, "text", [], [1], {}, {"a": 1}, "stateconf.set", ["stateconf"], True]
TEXTS = ["{{ params.port }}", "{{ params.nosuch }}", "{{ x is defined }}", "{{ params | default('none') | string }}", "{{ sls_dir }}", "{{ params['port'] }}", "{{ params['nosuch'] | default(1) }}",
         "{{ sls }}", "{{ params.l | json }}", "{{ params | yaml }}", "{{ params.items() | list | length }}", "{{ (params | default({})).get('port') }}"]


def flow(value):
    return json.dumps(value)


def requisite(r, wild):
    kind = r.choice(["pkg", "file", "cmd", "service", "sls", "stateconf"])
    what = r.choice(IDS + ["z.w", "...q"])
    if wild and r.random() < 0.1:
        return r.choice([5, None, {}, {kind: 5}, what, {kind: None}, [what]])
    return {kind: what}


def arg(r, wild):
    roll = r.random()
    if roll < 0.55:
        name = r.choice(REQUISITES)
        if name in ("port", "name"):
            return {name: r.choice([80, "n", r.choice(TEXTS)])}
        made = [requisite(r, wild) for _ in range(r.randrange(3))]
        return {name: r.choice([made, made, made, "text", None]) if wild else made}
    if roll < 0.75:
        return {r.choice(["port", "host", "l", "user"]): r.choice([8080, "h", [1, {"a": "b"}], None, r.choice(TEXTS)])}
    if roll < 0.9 or not wild:
        return r.choice(["installed", "running"])
    return r.choice(ODD)


def state(r, wild):
    roll = r.random()
    if roll < 0.12:
        return r.choice(["pkg.installed", "stateconf.set"])
    if wild and roll < 0.2:
        return r.choice(ODD)
    made = {}
    for name in r.sample(FUNCTIONS, r.choice([1, 1, 1, 2])):
        made[name] = r.choice(["a", "d.e"]) if name == "__sls__" else [arg(r, wild) for _ in range(r.randrange(3))]
        if wild and r.random() < 0.08:
            made[name] = r.choice(ODD)
    return made


def states(r, wild, extends=True):
    made = {}
    if r.random() < 0.25:
        made["include"] = [r.choice(INCLUDES if wild else INCLUDES[:5]) for _ in range(r.randrange(1, 3))]
    if r.random() < 0.1:
        made["exclude"] = [r.choice(EXCLUDES if wild else EXCLUDES[:5]) for _ in range(r.randrange(1, 3))]
    if wild and r.random() < 0.04:
        made[r.choice(["include", "exclude", "extend"])] = r.choice(ODD)
    if extends and r.random() < 0.25:
        made["extend"] = {r.choice(["b::params", "d.e::params", ".x", "a::x", "params", "x"]): state(r, wild) for _ in range(r.randrange(1, 3))}
    for _ in range(r.randrange(4)):
        made[r.choice(IDS[:8] if not wild else IDS)] = state(r, wild)
    return made


def text_of(r, made):
    """The states as YAML, some of them by aliases."""
    lines = []
    anchored = None
    for id_, value in made.items():
        shown = flow(value)
        if anchored and r.random() < 0.1:
            shown = "*one"
        elif not anchored and isinstance(value, dict) and r.random() < 0.1:
            shown, anchored = "&one " + shown, id_
        lines.append(f"{flow(id_)}: {shown}\n")
    return "".join(lines)


def sls(r, wild):
    roll = r.random()
    if roll < 0.12:
        return "".join(f"{flow(id_)}: {flow(value)}\n" for id_, value in {"k": {"v": 1}, "users": [1]}.items())
    if roll < 0.2:
        return f"#!jinja|yaml|stateconf {r.choice(OPTIONS)} -p\n" + text_of(r, states(r, wild))
    line = r.choice(ODD_OPTIONS) if wild and r.random() < 0.15 else r.choice(OPTIONS)
    text = f"#!stateconf {line}\n"
    if r.random() < 0.5:
        set_ = {r.choice([".params", ".params", "params", ".x"]): {"stateconf.set": [{"port": 80}, {"l": [1, {"a": "b"}]}, r.choice([{"host": "h"}, arg(r, wild)])]}}
        text += text_of(r, set_) + r.choice(["# --- end of state config ---\n", "#-end of state config-\n", "# end of state config\n"])
    return text + text_of(r, states(r, wild))


def one(r):
    wild = r.random() < 0.4
    files = {f"base/{name.replace('.', '/')}{r.choice(['.sls', '.sls', '/init.sls'])}": sls(r, wild) for name in SLS if name == "a" or r.random() < 0.6}
    names = ["a"] + [name for name in SLS[1:] if r.random() < 0.4]
    files["base/top.sls"] = f"base: {{'*': {flow(names)}}}\n"
    master = 'pillar_roots: {base: ["<DIR>/base"]}\nfile_roots: {base: ["<DIR>/served"]}\nid: master\n'
    if r.random() < 0.1:
        master += r.choice(["renderer: stateconf -G\n", "renderer_blacklist: [jinja]\n", "renderer_whitelist: [jinja, yaml]\n"])
    files["served/x"] = ""
    return {"files": files, "master": master, "minion_id": "web1", "grains": {"id": "web1", "os": "Debian"}}
