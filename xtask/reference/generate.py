"""Make up questions for both sides: JSON lines on stdout.

    python generate.py SEED COUNT [KIND …]

COUNT YAML texts, COUNT of YAMLEX and of TOML, COUNT pairs of versions, COUNT merges, COUNT damaged templates, a fifth as many source definitions, a twentieth as many formulas,
a tenth as many whole pillars, whole pillars of YAMLEX, masters with other external pillars and inventories of saltclass and reclass (a fiftieth with `git`), and trees of external pillars: seven twentieths as many of PillarStack, three twentieths as many of MakoStack.
"""
import json
import pathlib
import random
import re
import sys

import external_trees
import formats
import git_trees
import pillar_trees
import reclass_trees
import saltclass_trees
import stacks
import stateconf_trees
import yaml

TOKENS = ["0", "1", "7", "8", "9", "12", "60", "0644", "0x1F", "0b10", "0o17", "_", ".", "-", "+", "e", "E", "e+", "1e3", ":",
          "30", ".5", ".inf", ".nan", ".NaN", "-.Inf", "yes", "No", "on", "OFF", "y", "n", "true", "TRUE", "tRue", "null",
          "Null", "~", "=", "<<", "2024-01-02", "2024-1-2", "T10:20:30", " 10:20:30", "Z", "a", "B", "x y", "é", "☃", "'", "''",
          '"', "\\n", "\\x41", "\\", "#", " #", ",", "?", "%", "@", "`", "&", "*", "!", "|", ">", "!!str ", "!!int ", "!!float ",
          "!!bool ", "!!null ", "!x ", "\t", "/", "1:30", "190:20:30.15", "12_3", "0_7", "1__2", "0777_", "08", "1.", "1.5", "-0"]
KEYS = ["a", "b", "c", "dir", "port"]
DEFINITION = ["Y!", "Y", "C", "G", "I", "M", "U", "P", "X", "g", ":", ":", ",", "@", "@", "|", "|", "SUB", "os", "roles", "a:b",
              "lookup", ".yaml", ".jinja", "/", "!", " ", "é", "@@", "::", "defaults.yaml", "G@os", "Y!G@os", "C:SUB@f", "P@x"]


def yaml_text(r):
    token = lambda: "".join(r.choice(TOKENS) for _ in range(r.choice((1, 1, 1, 2, 2, 3, 4))))
    shapes = [
        lambda: token(),
        lambda: token(),
        lambda: f"k: {token()}",
        lambda: f"{token()}: v",
        lambda: f"- {token()}\n- {token()}\n",
        lambda: f"[{token()}, {token()}]",
        lambda: f"{{{token()}: {token()}}}",
        lambda: f"'{token()}'",
        lambda: f'"{token()}"',
        lambda: f"k: {r.choice('|>')}{r.choice(['', '-', '+', '2'])}\n  {token()}\n  {token()}\n",
        lambda: f"a: {token()}\nb:\n  {token()}: {token()}\n",
    ]
    return r.choice(shapes)()


def scalar(r):
    return r.choice([None, True, False, 0, 1, 2, 22, -1, 1.0, 2.5, "", "x", "y", "1", "é", "yes", "0644"])


def tree(r, depth):
    roll = r.random()
    if depth and roll < 0.45:
        return {r.choice(KEYS): tree(r, depth - 1) for _ in range(r.randrange(4))}
    if depth and roll < 0.65:
        return [tree(r, depth - 1) for _ in range(r.randrange(4))]
    return scalar(r)


def mapping(r, depth):
    return {r.choice(KEYS): tree(r, depth - 1) for _ in range(r.randrange(1, 5))}


def strategy(r):
    return r.choice(["smart", "smart", "recurse", "recurse", "overwrite", "aggregate", "list", "none", "bogus", "", None, 1])


def merge(r):
    root = lambda: mapping(r, 3) if r.random() < 0.9 else tree(r, 1)
    return {"base": root(), "overlay": root(), "strategy": strategy(r), "merge_lists": r.choice([True, False, None, "no", 0])}


def definition(r):
    text = "".join(r.choice(DEFINITION) for _ in range(r.randrange(1, 8)))
    return {"definition": text, "for_paths": r.random() < 0.3}


FACTS = {"os": ["Debian", "Ubuntu", "Rocky"], "os_family": ["Debian", "RedHat"], "osarch": ["amd64", "arm64"],
         "osfinger": ["Debian-12", "Rocky-9"], "role": ["web", "db"]}
EXPRESSIONS = [
    "grains['os']", "grains.os_family", "grains.get('role', 'none')", "pillar.get('a', 'no a')", "salt['pillar.get']('b:c', 7)",
    "salt['grains.get']('os')", "salt['config.get']('f:port', 1)", "mapdata.get('port', 0)", "mapdata.a is defined", "tplroot",
    "1 + 2", "'x' ~ 3", "[1, 2] | length", "grains.os | lower", "'a,b'.split(',') | last", "2 ** 10", "7 // 2", "not grains.os",
    "grains.os in ['Debian', 'Rocky']", "mapdata | length", "none | default('d', true)", "pillar.a.b.c | default('deep')",
    "nosuch", "mapdata['nosuch']", "3.0 * 2", "{'k': 1} | yaml", "mapdata.a | json", "'%s-%d' % ('p', 4)", "(1, 2)", "true",
]


def template(r):
    lines = ["{% set v = " + r.choice(EXPRESSIONS) + " %}", "values:"]
    for key in r.sample(KEYS, r.randrange(1, 4)):
        shape = r.random()
        if shape < 0.4:
            lines.append(f"  {key}: {{{{ {r.choice(EXPRESSIONS)} }}}}")
        elif shape < 0.6:
            lines.append(f"  {key}: {{{{ v }}}}")
        elif shape < 0.8:
            test = f"grains.os == '{r.choice(FACTS['os'])}'"
            lines += ["{% if " + test + " %}", f"  {key}: yes", "{%- else %}", f"  {key}: {{b: {r.randrange(9)}}}", "{%- endif %}"]
        else:
            lines += [f"  {key}:", "{%- for i in range(" + str(r.randrange(1, 4)) + ") %}", "    - {{ i * 2 }}", "{%- endfor %}"]
    return "\n".join(lines) + "\n"


def post_map(r):
    return r.choice([
        "{% do mapdata.update({'port': 1}) %}", "{% do mapdata.pop('a', none) %}", "{% set x = mapdata.setdefault('dir', {}) %}",
        "{% for k in mapdata | list %}{% if mapdata[k] is none %}{% do mapdata.pop(k) %}{% endif %}{% endfor %}",
        "{% if mapdata.b is mapping %}{% do mapdata.b.update(a=grains.os) %}{% endif %}", "{{ nosuch }}", "nothing",
        "{% if mapdata.c is sequence and mapdata.c is not string %}{% do mapdata.c.append(tplroot) %}{% endif %}",
    ])


def layer(r):
    layer = {"values": mapping(r, 3)}
    if r.random() < 0.3:
        layer["strategy"] = strategy(r)
    if r.random() < 0.3:
        layer["merge_lists"] = r.choice([True, False])
    if r.random() < 0.03:
        layer["valeus"] = 1
    return yaml.safe_dump(layer, sort_keys=False, allow_unicode=True, default_flow_style=r.choice([None, False, True]))


def sources(r):
    pool = ["defaults.yaml", "Y!G@os", "Y!G@os_family", "G@role", "C@f", "C:SUB@f", "I@f", "Y!P@extra", "Y!G@os_family|G@os", "Y!M@dir",
            "os", "Y:G@osarch", "I:SUB@f:lookup", "M@b", "G@nosuch", "Y!I@a", "C@f|G@os", "Y!P@x/y.yaml"]
    return r.sample(pool, r.randrange(1, 7))


def formula(r):
    grains = {"id": r.choice(["m1", "m2.example.com"]), **{key: r.choice(values) for key, values in FACTS.items()}}
    if r.random() < 0.2:
        grains["role"] = r.sample(["web", "db", "a"], 2)
    places = ["defaults", *(f"{key}/{value}" for key, value in grains.items() if isinstance(value, str)), "id/" + grains["id"],
              "extra", "role/web", "os_family/{os_family}/os/{os}".format(**grains), "f", "x/y"]
    files = {}
    for place in r.sample(places, r.randrange(1, 7)):
        path = f"f/parameters/{place}.yaml"
        if r.random() < 0.6:
            files[path] = layer(r)
        if r.random() < 0.35:
            files[path + ".jinja"] = template(r)
    if r.random() < 0.5:
        meta = {"sources": sources(r)}
        if r.random() < 0.3:
            meta["default_merge_strategy"] = strategy(r)
        if r.random() < 0.3:
            meta["default_merge_lists"] = r.choice([True, False])
        if r.random() < 0.3:
            meta["config_get_strategy"] = r.choice([None, "recurse", "overwrite"])
        if r.random() < 0.2:
            meta["parameter_dirs"] = r.choice([["f/parameters"], ["f/parameters", "parameters"], ["parameters", "f/nosuch"]])
        files[r.choice(["f", "f", "f", ""]).rstrip("/") + "/parameters/map_jinja.yaml"] = yaml.safe_dump({"values": meta})
    if r.random() < 0.3:
        files["f/post-map.jinja"] = post_map(r)
    pillar = mapping(r, 3) if r.random() < 0.7 else {}
    if r.random() < 0.5:
        pillar["f"] = mapping(r, 3)
    opts = {"f": mapping(r, 2)} if r.random() < 0.2 else {}
    files = {path.lstrip("/"): text for path, text in files.items()}
    return {"files": files, "formula": "f", "grains": grains, "pillar": pillar, "opts": opts}


TEMPLATES = pathlib.Path(__file__).parents[2] / "crates/salt-jinja/tests/data"
TOKEN = re.compile(r"\s+|\w+|\{[{%#][-+]?|[-+]?[}%#]\}|.", re.DOTALL)


def templates(known=[]):
    """The recorded templates: of the parser, and those that are rendered."""
    if not known:
        syntax = json.loads((TEMPLATES / "jinja_syntax.json").read_text(encoding="utf-8"))
        rendered = json.loads((TEMPLATES / "jinja_render.json").read_text(encoding="utf-8"))["cases"]
        known += [record["template"] for record in (*syntax, *rendered) if not record.get("options")]
    return known


def damaged(r):
    """A recorded template that ends too early, or has a token too few, too many or elsewhere."""
    tokens = [token for _ in range(r.choice([1, 1, 2])) for token in (*TOKEN.findall(r.choice(templates())), "\n")]
    for _ in range(r.choice([1, 1, 1, 2])):
        at = r.randrange(len(tokens) + 1)
        damage = r.random()
        if damage < 0.5:
            tokens = tokens[:at]
        elif damage < 0.65:
            tokens[at:at + 1] = []
        elif damage < 0.8:
            tokens.insert(at, r.choice(tokens or [" "]))
        elif damage < 0.9:
            tokens.insert(at, "\n")
        else:
            tokens.insert(at, r.choice(["{{", "}}", "{%", "%}", "{#", "#}", "(", ")", "[", "]", "{", "}", "'", "|", "-", "if", ","]))
        tokens = tokens or [" "]
    return {"template": "".join(tokens)}


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    kinds = sys.argv[3:]
    makers = [("yaml", count, lambda r: {"text": yaml_text(r)}), ("yamlex", count, formats.yamlex_text),
              ("toml", count, formats.toml_text), ("version", count, formats.versions), ("joined", count // 10, formats.joined_pillar), ("merge", count, merge), ("syntax", count, damaged),
              ("parse", count // 5, definition),
              ("data", count // 20, formula), ("pillar", count // 10, pillar_trees.one), ("external", count // 10, external_trees.one), ("saltclass", count // 10, saltclass_trees.one), ("reclass", count // 10, reclass_trees.one), ("git", count // 50, git_trees.one), ("stateconf", count // 10, stateconf_trees.one), ("stack", count * 7 // 20, lambda r: stacks.one(r, stacks.Jinja)),
              ("makostack", count * 3 // 20, lambda r: stacks.one(r, stacks.Mako))]
    for op, number, make in makers:
        # Each kind has its own numbers, so that leaving one out does not change the others.
        r = random.Random(f"{seed} {op}")
        for _ in range(max(1, number) if op in kinds else 0):
            print(json.dumps({"op": op, **make(r)}))


if __name__ == "__main__":
    main()
