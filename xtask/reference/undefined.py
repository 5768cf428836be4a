"""Calls of Salt's functions with something undefined in the place of each argument.

    python undefined.py PROJECT      print the calls, one record a line, for `crates/mapstack/tests/data/functions.json`

Which functions there are is read from `docs/functions.md`, and their parameters from Salt. What each call comes to
is recorded by `record.py`, as for every other record of that file.
"""
import inspect
import json
import pathlib
import re
import sys

import salt_reference as reference

# For each function, arguments with which it works; several where what it looks at depends on what it finds.
EXAMPLES = {
    "config.backup_mode": [[], ["'minion'"]], "config.dot_vals": [["'x'"]], "config.get": [["'role'"], ["'nope'"]],
    "config.manage_mode": [["'0644'"]], "config.merge": [["'d'"]], "config.option": [["'txt'"], ["'nope'"]],
    "config.valid_fileproto": [["'salt://x'"]], "cp.cache_dir": [["'salt://f'"]], "cp.cache_file": [["'salt://nope'"]],
    "cp.cache_files": [["['salt://nope']"]], "cp.get_file_str": [["'salt://nope'"]], "cp.get_url": [["'salt://nope'"]],
    "cp.hash_file": [["'salt://nope'"]], "cp.is_cached": [["'salt://nope'"]],
    "defaults.deepcopy": [["{'a': 1}"]], "defaults.get": [["'nope'"], ["'nope:x'"]],
    "defaults.merge": [["{'a': 1}", "{'b': 2}"]], "defaults.update": [["{'a': {'x': 1}}", "{'b': 2}"]],
    "file.basename": [["'/a/b'"]], "file.dirname": [["'/a/b'"]], "file.join": [["'/a'", "'b'"]], "file.normpath": [["'/a/../b'"]],
    "grains.equals": [["'os'", "'Debian'"]], "grains.fetch": [["'os'"], ["'nope'"]],
    "grains.filter_by": [["{'Debian': {'a': 1}, 'x': {'b': 2}}", "'os'"], ["{'Arch': {'a': 1}, 'default': {'c': 3}}", "'os'"]],
    "grains.get": [["'os'"], ["'nope'"]], "grains.has_value": [["'os'"]], "grains.item": [["'os'"]],
    "hashutil.base64_b64decode": [["'YWJj'"]], "hashutil.base64_b64encode": [["'abc'"]],
    "hashutil.base64_decodestring": [["'YWJj'"]], "hashutil.base64_encodestring": [["'abc'"]],
    "hashutil.digest": [["'abc'", "'md5'"]], "hashutil.github_signature": [["'abc'", "'k'", "'sha1=x'"]],
    "hashutil.hmac_compute": [["'abc'", "'k'"]], "hashutil.hmac_signature": [["'abc'", "'k'", "'x'"]],
    "hashutil.md5_digest": [["'abc'"]], "hashutil.sha256_digest": [["'abc'"]], "hashutil.sha512_digest": [["'abc'"]],
    "jinja.import_json": [["'nope.json'"]], "jinja.import_yaml": [["'nope.yaml'"]], "jinja.load_map": [["'nope.jinja'", "'x'"]],
    **{f"log.{level}": [["'x'"]] for level in ("critical", "debug", "error", "exception", "info", "warning")},
    "map.data": [["'f'"]], "map.stack": [["'f'", "['defaults.yaml']"]], "map.tofs": [["'f'", "['x.conf']"]],
    "match.compound": [["'web*'"], ["'G@os:Debian'"]], "match.data": [["'x:y'"]],
    "match.filter_by": [["{'web*': {'a': 1}, 'db*': {'b': 1}}"], ["{'db*': {'b': 1}, 'default': {'a': 1}}"]],
    "match.glob": [["'web*'"]], "match.grain": [["'os:Debian'"]], "match.grain_pcre": [["'os:Deb.*'"]],
    "match.ifelse": [["'web*'", "{'a': 1}", "{'b': 2}"], ["'db*'", "{'a': 1}", "{'b': 2}"]], "match.ipcidr": [["'192.168.1.0/24'"]],
    "match.list": [["'web1.example.com,b'"], ["'b'"]], "match.pcre": [["'web.*'"]], "match.pillar": [["'role:web'"]],
    "match.pillar_pcre": [["'role:w.*'"]], "match.search_by": [["{'x': ['web*'], 'y': ['db*']}"]],
    "network.calc_net": [["'10.0.0.1/24'"], ["'10.0.0.1'", "'255.255.255.0'"]], "network.convert_cidr": [["'10.0.0.0/8'"]],
    "network.hw_addr": [["'eth0'"]], "network.hwaddr": [["'eth0'"]], "network.in_subnet": [["'10.0.0.0/8'"]],
    "network.interface_ip": [["'eth0'"]], "network.ip_in_subnet": [["'10.0.0.1'", "'10.0.0.0/8'"]],
    "network.is_loopback": [["'127.0.0.1'"]], "network.is_private": [["'10.0.0.1'"]], "network.reverse_ip": [["'10.0.0.1'"]],
    **{f"pillar.{name}": [["'role'"], ["'nope'"], ["'users'", "{'carol': 1}", "true"]] for name in ("fetch", "get")},
    "pillar.filter_by": [["{'web': {'a': 1}, 'x': {'b': 2}}", "'role'"], ["{'db': {'a': 1}, 'default': {'c': 3}}", "'role'"]],
    "pillar.item": [["'role'"], ["'nope'"]], "pillar.keys": [["'users'"]], "pillar.raw": [[], ["'role'"]],
    "random.get_str": [["4"]], "random.hash": [["'x'", "'md5'"]], "random.rand_int": [["1", "10", "5"]],
    "random.sample": [["['a', 'b']", "1", "5"]], "random.seed": [["10"]], "random.shuffle": [["['a', 'b']", "5"]],
    "random.str_encode": [["'abc'"]],
    "slsutil.boolstr": [["true"], ["false"]], "slsutil.deserialize": [["'json'", "'[1]'"]],
    "slsutil.dir_exists": [["'nope'"]], "slsutil.file_exists": [["'nope'"]], "slsutil.path_exists": [["'nope'"]],
    "slsutil.findup": [["'f'", "'nope'"]], "slsutil.merge": [["{'a': 1}", "{'a': 2}"], ["{'a': [1]}", "{'a': [2]}"]],
    "slsutil.merge_all": [["[{'a': 1}, {'a': 2}]"]], "slsutil.renderer": [["none", "'a: 1'"]],
    "slsutil.serialize": [["'json'", "[1]"], ["'yaml'", "[1]"]], "slsutil.update": [["{'a': {'x': 1}}", "{'a': {'y': 2}}"], ["{'a': [1]}", "{'a': [2]}"]],
    "state.sls_exists": [["'nope'"]], "test.arg": [["1"]], "test.arg_clean": [["1"]], "test.arg_repr": [["1"]],
    "test.arg_type": [["1"]], "test.assertion": [["true"]], "test.cross_test": [["'test.echo'", "['x']"]], "test.echo": [["'x'"]],
    "test.outputter": [["'x'"]], "test.rand_str": [["4"]], "test.random_hash": [["4"]], "test.raise_exception": [["'ValueError'"]],
    "test.retcode": [["1"]], "test.try": [["'test.echo'"]],
}
# Chance, the time, this machine, or too much to print: what counts is whether there is an error.
NOT_SHOWN = re.compile(r"random|test\.(rand|get_opts|opts_pkg|version|conf_test|tty|attr_call)|cp\.|config\.(items|merge)|network\.ip|"
                       r"pillar\.(data|items|obfuscate|ls)|grains\.(items|ls)|map\.")


def variants(parameters, example):
    """The calls with `u` in each place: among the arguments, by name, and beyond what the function names."""
    for at in range(len(example)):
        yield [*example[:at], "u", *example[at + 1:]]
    named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    takes_any = any(p.kind == p.VAR_POSITIONAL for p in parameters)
    for at, parameter in enumerate(named):
        if at < len(example) and not takes_any:
            rest = [f"{p.name}={value}" for p, value in zip(named[at + 1:], example[at + 1:])]
            yield [*example[:at], f"{parameter.name}=u", *rest]
        else:
            yield [*example, f"{parameter.name}=u"]
    if takes_any:
        yield [*example, "u"]
    if any(p.kind == p.VAR_KEYWORD for p in parameters):
        yield [*example, "other=u"]


def main():
    handbook = pathlib.Path(sys.argv[1], "docs/functions.md").read_text(encoding="utf-8")
    functions = reference.Reference("/nonexistent").functions
    seen = set()
    for name in re.findall(r"^\| `([a-z_]+\.[a-z_0-9]+)` \| done", handbook, re.M):
        function = functions[name]
        parameters = list(inspect.signature(getattr(function, "func", function)).parameters.values())
        for example in EXAMPLES.get(name, [[]]):
            for arguments in variants(parameters, example):
                call = f"salt['{name}']({', '.join(arguments)})"
                template = f"{{% set r = {call} %}}ok" if NOT_SHOWN.search(name) else f"{{{{ [{call}] }}}}"
                if template not in seen:
                    seen.add(template)
                    print(json.dumps({"template": template, "fresh": True} if name == "config.merge" else {"template": template}))


if __name__ == "__main__":
    main()
