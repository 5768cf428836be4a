"""States of the module `file` over small trees of files, and what Salt would write.

    python managed_files.py SEED COUNT

writes the files, and then records with results, one a line. The states are Salt's own; the function that writes is replaced, so nothing is written.
"""
import base64
import copy
import json
import os
import random
import shutil
import sys
import tempfile

import high_data
import salt_reference as reference
import state_run

GRAINS = {"os": "Debian", "motd": "be kind\nplease", "list": ["a", 1, None], "none": None, "deep": {"x": "y"}}
PILLAR = {"text": "one\r\ntwo", "deep": {"key": "-----\nkey\n-----\n", "n": 5, "list": ["x", "y"]}, "empty": "", "map": {"b": [1, {"c": None}], "a": "é"}, "yes": True, "a/b": {"c": "slash"}}
FILES = {
    "base": {
        "f/plain.txt": "plain {{ x }}\r\nend",
        "f/empty": "",
        "f/vars.j": "{{ name }}|{{ source }}|{{ user }}|{{ group }}|{{ mode }}|{{ attrs }}|{{ saltenv }}|{{ x|default('no x') }}|{{ y|default('no y') }}\n",
        "f/tpl.j": "{{ sls|default('-') }} {{ slspath|default('-') }} {{ tpldir|default('-') }} {{ tplfile|default('-') }} {{ slsdotpath|default('-') }} {{ context|default('-') }}\n\n",
        "f/acc.j": "{% for k, v in (accumulator|default({})).items() %}{{ k }}={{ v|join(',') }};{% endfor %}",
        "f/pillar.j": "{{ pillar['deep']|yaml(false) }}{{ salt['pillar.get']('map:a') }}\n",
        "f/bad.j": "ok\n{{ nosuch.attribute }}\n",
        "f/import.j": "{% from 'f/lib.j' import m %}{{ m(x|default(1)) }}",
        "f/lib.j": "{% macro m(a) %}[{{ a }}]{% endmacro %}",
        "f/dir/a.txt": "a",
        "f/dir/b/c.j": "{{ name }} {{ source }} {{ x|default(0) }}",
        "f/dir/b/d.md": "d\n",
        "f/dir/b/e/f.txt": "deep",
        "f/two/a.txt": "other a",
        "f/two/g.txt": "g",
        "links/a.txt": "a {{ name }}",
        "links/in/b.txt": "b",
        "links/in/in2/x": "x",
        "web/bin": b"\x00\x01\x02{{ x }}",
        "web/latin": "caf\u00e9 {{ 1 }}".encode("latin-1"),
    },
    "dev": {"f/dev.txt": "of dev {{ saltenv }}", "f/plain.txt": "dev plain", "f/dir/dev.txt": "dev dir"},
}
MODES = {"f/plain.txt": 0o640, "f/vars.j": 0o755, "f/dir/a.txt": 0o600, "f/dir/b/d.md": 0o4711}
LINKS = {"links/l.txt": "a.txt", "links/up.txt": "../f/plain.txt", "links/d": "in", "links/o": "../f/dir", "links/gone": "nosuch", "links/in/back": "../a.txt", "links/abs": "/etc/hostname", "links/in/self": "in2/x"}
URLS = ["salt://f/plain.txt", "salt://f/vars.j", "salt://f/tpl.j", "salt://f/acc.j", "salt://f/pillar.j", "salt://f/bad.j", "salt://f/import.j", "salt://f/empty", "salt://f/dev.txt?saltenv=dev",
        "salt://f/plain.txt?saltenv=dev", "salt:///f/vars.j", "salt://f//vars.j", "salt://web/bin", "salt://web/latin", "salt://f/nosuch", "salt://f/dir", "salt://f/plain.txt?env=dev", "salt://../x", "SALT://f/plain.txt"]
TEXTS = ["text", "'two\n\n  lines'", '"a\\u2028b\\x0bc\\r\\nd\\n\\n"', "''", "[a, 1, true, null, 1.50, {b: 2}]", "{a: 1, b: [x]}", "5", "false", "[]", "null", "!!binary aGnDqQ==", "!!binary /wD+", "'caf\u00e9 \u20ac'", "[[a, b], 'x\ny']",
         "|\n      block\n        {{ x|default('-') }}\n"]
MODE = ["644", "'0644'", "'644'", "0755", "'0o755'", "keep", "KEEP", "''", "null", "'\"0600\"'", "1777", "0", "'u+x'", "-1"]


def of(r, key, values, share):
    return [f"{key}: {r.choice(values)}"] if r.random() < share else []


def context(r):
    lines = of(r, "context", ["{x: 1}", "{x: {a: [1, 2]}, name: mine}", "{sls: a.b}", "[]", "null", "{}", "{context: c, y: '{{ x }}'}"], 0.4)
    lines += of(r, "defaults", ["{x: default, y: 2}", "{mode: m}", "null", "[a]", "{}"], 0.3)
    lines += of(r, "x", ["of state", "[1]", "null"], 0.2)
    return lines + of(r, "sls", ["c.d", "''"], 0.05) + of(r, "pillar", ["{a: 1}"], 0.02)


def owner(r):
    return of(r, "user", ["root", "0", "''", "null", "www-data"], 0.4) + of(r, "owner", ["other"], 0.08) + of(r, "group", ["root", "5", "null"], 0.3) + of(r, "mode", MODE, 0.4) + of(r, "attrs", ["i", "null"], 0.1)


def managed(r):
    lines = owner(r)
    roll = r.random()
    if roll < 0.35:
        lines += [f"source: {r.choice(URLS)}"]
    elif roll < 0.55:
        lines += [f"source: [{', '.join(r.sample(URLS, r.choice([1, 2, 3])))}]"]
    elif roll < 0.8:
        lines += [f"contents: {r.choice(TEXTS)}"]
    elif roll < 0.9:
        lines += [f"contents_pillar: {r.choice(['text', 'deep:key', 'deep:n', 'empty', 'nosuch', '[text, deep:key]', '[text, deep:n]', 'map', 'yes', 'deep:list', 'deep', 'a/b/c'])}"]
        lines += of(r, "contents_delimiter", ["/", "':'"], 0.2)
    elif roll < 0.97:
        lines += [f"contents_grains: {r.choice(['motd', 'list', 'none', 'nosuch', 'deep:x', '[motd, os]'])}"]
    lines += of(r, "contents", TEXTS, 0.04) + of(r, "contents_newline", ["false", "true"], 0.2) + of(r, "allow_empty", ["false"], 0.1)
    lines += of(r, "template", ["jinja", "jinja", "jinja", "jinja", "nosuch", "null", "''"], 0.6) + context(r) + of(r, "replace", ["false"], 0.1) + of(r, "encoding", ["utf-16", "latin-1", "ascii", "utf-8", "utf-16-le"], 0.15)
    lines += of(r, "encoding_errors", ["ignore", "replace", "strict"], 0.1) + of(r, "saltenv", ["dev", "nosuch"], 0.08)
    return "managed", lines


def recurse(r):
    lines = [f"source: {r.choice(['salt://f/dir', 'salt://f/dir/', 'salt://f/dir/b', 'salt://f', 'salt://f/nosuch', '[salt://f/nosuch, salt://f/two, salt://f/dir]', '[salt://f/two, salt://f/dir]', 'f/dir', 'salt://f/dir?saltenv=dev', 'salt://f/dir/a.txt', 'salt://links', 'salt://links', 'salt://links/in', '[salt://links/in, salt://links]'])}"]
    lines += of(r, "file_mode", MODE, 0.4) + of(r, "dir_mode", MODE, 0.2) + of(r, "user", ["root", "5"], 0.3) + of(r, "group", ["g"], 0.3) + of(r, "template", ["jinja"], 0.5) + context(r)
    lines += of(r, "include_pat", ["'*.txt'", "E@b/", "'E@^a'", "['*.md', 'E@c.j$']", "'E@('"], 0.3) + of(r, "exclude_pat", ["'*.txt'", "E@b/e", "[a.txt, '*/e/*']", "'b*'"], 0.3) + of(r, "maxdepth", ["0", "1", "2", "'1'"], 0.2)
    return "recurse", lines + of(r, "merge", ["true"], 0.3) + of(r, "clean", ["true"], 0.1) + of(r, "mode", ["644"], 0.05) + of(r, "keep_symlinks", ["true"], 0.4) + of(r, "sym_mode", ["777"], 0.1) + of(r, "saltenv", ["dev"], 0.1)


def serialize(r):
    data = ["{a: 1, b: [x, null, true], c: {d: 'caf\u00e9'}}", "[1, {a: b}]", "text", "{}", "null", "{s: {k: v, n: 5}, DEFAULT: {x: y}}", "{1: a, b: 0x10, c: 1.5}", "5", "{a: {b: 'multi\n\nline'}}", "{z: 1, a: {y: [], x: {}}}"]
    lines = of(r, "dataset", data, 0.9) + of(r, "dataset_pillar", ["map", "deep", "nosuch", "deep:n"], 0.15) + owner(r)
    lines += of(r, "formatter", ["yaml", "json", "configparser", "JSON", "msgpack", "nosuch", "python", "plist"], 0.7) + of(r, "serializer", ["json"], 0.1)
    return "serialize", lines + of(r, "serializer_opts", ["[{indent: 4}]", "{indent: 1}", "[{sort_keys: false}]", "[{width: 20}]", "[{default_flow_style: true}]", "[{ensure_ascii: true}]"], 0.2) + of(r, "encoding", ["utf-8", "latin-1"], 0.15)


def accumulated(r):
    lines = [f"filename: {r.choice(['/m/0', '/m/0', '/m/1'])}", f"text: {r.choice(['one', '[a, b, a]', '{k: v}', 'null', '5'])}", f"require_in: {r.choice(['[{file: s0}]', '[{file: s0}]', '[{pkg: x}]', '[]', '[file: s0]'])}"]
    return "accumulated", lines


def one(r):
    low = []
    number = 0
    for _ in range(r.choice([1, 1, 1, 2])):
        if r.random() < 0.15:
            fun, lines = accumulated(r)
            name = r.choice(["acc", "other"])
            low.append((fun, name, "acc", lines))
        fun, lines = r.choice([managed, managed, managed, recurse, serialize])(r)
        name = r.choice([f"/m/{number}"] * 12 + ["relative", "''"])
        low.append((fun, name, f"s{number}", lines))
        number += 1
    if r.random() < 0.12:
        low = [("accumulated", "acc", "acc", accumulated(r)[1]), ("managed", "/m/0", "s0", ["source: salt://f/acc.j", "template: jinja", *context(r)])]
    keys = lambda lines: list({line.partition(":")[0]: line for line in lines}.values())
    text = "".join("- " + "\n  ".join(["state: file", f"fun: {fun}", f"name: {name}", f"__id__: {id_}", "__sls__: a", "__env__: base", "order: 10000", *keys(lines)]) + "\n" for fun, name, id_, lines in low)
    return {"low": text}


class Written:
    """Salt's states with a writer that notes."""

    def __init__(self, home):
        import salt.state

        files = {env: {path: text for path, text in own.items() if isinstance(text, str)} for env, own in FILES.items()}
        minion = state_run.masterless(home, {"envs": files, "grains": GRAINS, "pillar": json.dumps(PILLAR)})
        for env, own in FILES.items():
            for path, content in own.items():
                if isinstance(content, bytes):
                    os.makedirs(os.path.dirname(os.path.join(home, "files", env, path)), exist_ok=True)
                    with open(os.path.join(home, "files", env, path), "wb") as file:
                        file.write(content)
        for path, target in LINKS.items():
            os.symlink(target, os.path.join(home, "files", "base", path))
        for path in (os.path.join(at, name) for at, _, names in os.walk(os.path.join(home, "files", "base")) for name in names if not os.path.islink(os.path.join(at, name))):
            os.chmod(path, 0o644)
        for path, mode in MODES.items():
            os.chmod(os.path.join(home, "files", "base", path), mode)
        minion.cmd("test.ping")
        opts = copy.deepcopy(minion.opts)
        opts["test"] = False
        opts["pillar"] = PILLAR
        self.state = salt.state.State(opts, initial_pillar=copy.deepcopy(PILLAR))
        self.home = home
        self.states = self.state.states
        self.states.get("file.managed")
        self.functions = self.states.pack["__salt__"]
        self.rows = []
        self.replace()

    def replace(self):
        import salt.utils.files

        functions = self.functions
        for name in ("file.manage_file", "file.get_managed", "file.user_to_uid", "cp.cache_file", "cp.stat_file"):
            functions.get(name)
        functions._dict["file.manage_file"] = self.manage_file
        for name in ("file.user_to_uid", "file.group_to_gid"):
            functions._dict[name] = lambda *_, **__: 0
        for name in ("file.makedirs_perms", "file.makedirs", "file.mkdir"):
            functions._dict[name] = lambda *_, **__: None
        functions._dict["file.check_perms"] = lambda path, ret, *_, **__: ({"name": path, "result": True, "comment": "", "changes": {}}, {})
        names = self.states._dict["file.managed"].__globals__

        def nothing(path, *_, **__):
            return {"name": path, "result": True, "comment": "", "changes": {}}

        names["directory"] = names["_makedirs"] = nothing
        def symlink(path, target, user=None, group=None, mode=None, **_):
            self.rows.append({"path": path, "user": user, "group": group, "mode": salt.utils.files.normalize_mode(mode), "target": target})
            return nothing(path)

        names["symlink"] = symlink
        names["_check_directory"] = lambda *_, **__: (True, "", {})
        names["_clean_dir"] = lambda *_, **__: []
        self.names = names

    def manage_file(self, name, sfn, ret, source, source_sum, user, group, mode, attrs, saltenv, *args, **kwargs):
        names = ["backup", "makedirs", "template", "show_changes", "contents", "dir_mode", "follow_symlinks", "skip_verify", "keep_mode"]
        given = {**dict(zip(names, args)), **kwargs}
        contents = given.get("contents")
        row = {"path": name, "user": user, "group": group, "mode": mode, "attrs": attrs}
        if source and given.get("keep_mode"):
            row["mode"] = self.functions["cp.stat_file"](source, saltenv=saltenv, octal=True)
        if source:
            row["source"] = source
        if contents is None:
            if not sfn and source:
                sfn = self.functions["cp.cache_file"](source, saltenv)
            with open(sfn, "rb") if sfn else tempfile.TemporaryFile() as file:
                data = file.read() if sfn else None
        elif isinstance(contents, str):
            data = contents.encode(given["encoding"], given["encoding_errors"]) if given.get("encoding") else contents.encode()
        else:
            data = contents
        if data is not None:
            row["base64"] = base64.b64encode(data).decode()
        self.rows.append(row)
        return {"name": name, "result": True, "comment": "", "changes": {}}

    def answer(self, record):
        import salt.state
        import salt.utils.args
        import salt.utils.immutabletypes as immutable
        import salt.utils.yaml

        shutil.rmtree(os.path.join(self.state.opts["cachedir"], "accumulator"), ignore_errors=True)
        low = salt.utils.yaml.safe_load(record["low"])
        results = []
        for chunk in low:
            self.rows = []
            full = f"file.{chunk['fun']}"
            try:
                call = salt.utils.args.format_call(self.states[full], copy.deepcopy(chunk), initial_ret={"full": full}, expected_extra_kws=salt.state.STATE_INTERNAL_KEYWORDS)
                self.states.inject_globals = {"__low__": immutable.freeze(chunk), "__running__": {}, "__instance_id__": "i", "__lowstate__": immutable.freeze(low), "__user__": "root",
                                              "__env__": str(chunk.get("saltenv") or chunk["__env__"])}
                ret = self.states[full](*call["args"], **call["kwargs"])
                failed = None if isinstance(ret, dict) and ret.get("result") is True else str(ret.get("comment"))
            except Exception as error:
                failed = f"{type(error).__name__}: {error}"
            finally:
                self.states.inject_globals = {}
            result = {"files": sorted(self.rows, key=lambda row: row["path"])}
            if failed is not None:
                result["fails"] = failed.replace(self.home, "<DIR>").split("\nTraceback")[0][:200]
            results.append(result)
        return {"results": results}


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    r = random.Random(seed)
    high_data.logging_off()
    with tempfile.TemporaryDirectory(prefix="mapstack-files-") as home:
        written = Written(home)
        files = {env: {path: base64.b64encode(text if isinstance(text, bytes) else text.encode()).decode() for path, text in own.items()} for env, own in FILES.items()}
        print(json.dumps({"files": files, "modes": MODES, "links": LINKS, "grains": GRAINS, "pillar": PILLAR}, ensure_ascii=False), flush=True)
        for _ in range(count):
            record = one(r)
            print(json.dumps({**record, **json.loads(json.dumps(written.answer(record), default=str))}, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
