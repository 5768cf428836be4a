"""The page about definitions, asked of Salt: its commands and the rows of its tables have Salt's answers."""
import argparse
import contextlib
import itertools
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile

import salt.utils.http
import salt.utils.yaml

import salt_reference as reference

FLAGS = ("--get", "--custom-data", "--config-get-strategy", "--stack", "--minions", "--minion", "--id", "--default-matchers",
         "--include-query")
NOT_SALTS = ("parse", "--trace", "--config ", "--makostack", "-o yaml")


def check(project):
    """Compare the page with Salt; MakoStack's answers are recorded with the other documented examples."""
    page = (project / "docs/definitions.md").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as directory:
        shutil.copytree(project / "examples", f"{directory}/examples", symlinks=True)
        os.chdir(f"{directory}/examples/definitions")
        counts = forms(page), strategies(page), stacks(page), transcripts(page)
    os.chdir(project)
    print("definitions: {} forms, {} strategies of layers, {} of stacks, {} commands".format(*counts), flush=True)


def load(text):
    return salt.utils.yaml.safe_load(text)


def same(place, given, expected):
    if json.dumps(given) != json.dumps(expected):
        raise SystemExit(f"{place}: the page has {expected!r}, and Salt {given!r}")


@contextlib.contextmanager
def minion(changes=()):
    facts = load(next(pathlib.Path("minions").glob("*")).read_text())
    for change in changes:
        path, _, value = change.partition("=")
        *above, last = path.split(".")
        at = facts
        for step in above:
            at = at.setdefault(step, {})
        at[last] = load(value)
    made = reference.Reference("salt", facts["grains"], facts["pillar"], facts.get("opts"))
    answers = {one["args"][0]: one["return"] for one in load(pathlib.Path("answers.yaml").read_text())["http.query"]}
    salt.utils.http.query = lambda url, **kwargs: answers[url]
    try:
        yield made
    finally:
        made.close()


def rows(page, header):
    """The code of the paragraph above each table, and of each cell."""
    paragraphs = page.split("\n\n")
    for above, table in zip(paragraphs, paragraphs[1:]):
        if table.startswith(header):
            for line in table.splitlines()[2:]:
                cells = re.split(r"(?<!\\)\|", line)[1:-1]
                yield [[code.replace("\\|", "|") for code in re.findall("`([^`]*)`", cell)] for cell in (above, *cells)]


def forms(page):
    count = 0
    custom = load(pathlib.Path("custom.yaml").read_text())
    for _, definitions, _, shown in rows(page, "| definition | gives |"):
        for definition in definitions:
            with minion() as made, reference.watched_requests() as (requested, _):
                without = made.call("map.stack", "backup", ["defaults.yaml"], custom_data=custom)
                parameters = len(requested) * 2
                with_it = made.call("map.stack", "backup", ["defaults.yaml", definition], custom_data=custom)
            if shown[0].startswith("{"):
                same(definition, {k: v for k, v in with_it.items() if without.get(k) != v}, load(shown[0]))
            else:
                prefix = "salt://backup/parameters/"
                paths = [url.removeprefix(prefix) for url in requested[parameters:] if url.startswith(prefix)]
                same(definition, paths, [f"{path}{suffix}" for path in shown for suffix in ("", ".jinja")])
            count += 1
    return count


def strategies(page):
    count = 0
    directory = pathlib.Path("salt/backup/parameters")
    for (layer, base), names, lists, (result,) in rows(page, "| `strategy` | `merge_lists` | result |"):
        for name, merge_lists in itertools.product(names, lists):
            (directory / "one.yaml").write_text(f"values: {base}")
            (directory / "two.yaml").write_text(f"strategy: {name}\nmerge_lists: {merge_lists}\nvalues: {layer}")
            with minion() as made:
                same(name, made.call("map.stack", "backup", ["one.yaml", "two.yaml"]), load(result))
            count += 1
    return count


def stacks(page):
    count = 0
    pathlib.Path("stack.cfg").write_text("before.yml\nafter.yml\n")
    for above, _, (file,), (result,) in rows(page, "| strategy | file | result |"):
        pathlib.Path("before.yml").write_text(f"it: {above[-1]}")
        pathlib.Path("after.yml").write_text(f"it: {file}")
        same(file, stack("stack.cfg", load(next(pathlib.Path("minions").glob("*")).read_text())), {"it": load(result)})
        count += 1
    return count


def stack(config, facts):
    import salt.pillar.stack as module

    module.__opts__ = {"pillarenv": None, "saltenv": "base"}
    module.__grains__, module.__salt__ = facts["grains"], {}
    return module.ext_pillar(facts["id"], facts["pillar"], config)


def transcripts(page):
    count = 0
    for block in re.findall(r"^```console\n(.*?)^```$", page, re.M | re.S):
        for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M):
            if command.startswith("cd "):
                os.chdir(command[3:])
            elif not command.startswith("mapstack "):
                subprocess.run(["sh", "-c", command], check=True, stdout=subprocess.DEVNULL)
            elif not any(word in command for word in NOT_SALTS):
                asked(command, shown)
                count += 1
    return count


def asked(command, shown):
    parser = argparse.ArgumentParser()
    parser.add_argument("verb")
    parser.add_argument("words", nargs="*")
    parser.add_argument("--sources", action="append")
    parser.add_argument("--set", action="append", default=[])
    for flag in FLAGS:
        parser.add_argument(flag)
    given = parser.parse_intermixed_args(shlex.split(command)[1:])
    if given.verb == "pillar":
        facts = load(pathlib.Path(given.minions, f"{given.id}.yaml").read_text())
        return same(command, stack(given.stack, facts), load(shown))
    kwargs = {}
    if given.custom_data:
        kwargs["custom_data"] = load(pathlib.Path(given.custom_data).read_text())
    if given.config_get_strategy:
        kwargs["config_get_strategy"] = given.config_get_strategy
    formula, *words = given.words
    with minion(given.set) as made, reference.watched_requests() as (requested, found):
        if given.verb == "tofs":
            if given.default_matchers:
                kwargs["default_matchers"] = [given.default_matchers]
            if given.include_query:
                kwargs["include_query"] = load(given.include_query)
            return same(command, made.call("map.tofs", formula, words, **kwargs), load(shown))
        if given.verb == "sources":
            made.call("map.data", formula, **({"sources": given.sources} if given.sources else {}))
            return paths(command, requested, found, shown)
        try:
            if given.verb == "stack":
                answer = made.call("map.stack", formula, words, **kwargs)
            else:
                answer = made.call("map.data", formula, **kwargs)
        except TypeError as error:
            if shown.startswith("error: "):
                return None
            raise error
    for step in given.get.split(":") if given.get else ():
        answer = answer[step]
    return same(command, answer, load(shown))


def paths(command, requested, found, shown):
    """The paths that are shown are asked for, in this order, and found or not as shown."""
    said = re.findall(r"^  (hit|miss) +(salt://\S+)", shown, re.M)
    elided = re.search(r"^\.\.\.$", shown, re.M)
    asked = [("hit" if url in found else "miss", url) for url in requested]
    if elided:
        asked = [one for one in asked if one in said]
    same(command, asked, said)
