"""The reference's answers to the questions of generate.py: JSON lines in, JSON lines out.

    python answer.py DIRECTORY

The files of external pillars are written to `here` in the directory.
"""
import copy
import json
import os
import shutil
import sys

import salt.version

import formats
import record
import salt_reference as reference
import whole_pillar


def plain(value):
    """A value of Python's own types; those that Salt derives from them print differently."""
    if isinstance(value, dict):
        return {plain(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return (list if isinstance(value, list) else tuple)(plain(v) for v in value)
    if isinstance(value, (set, frozenset)):
        return whole_pillar.Sorted(plain(v) for v in value)
    for kind in (bool, int, float, str, bytes):
        if isinstance(value, kind):
            return kind(value)
    return value


def yaml_text(question):
    import salt.utils.yaml

    return salt.utils.yaml.safe_load(question["text"])


def merge(question):
    from salt.utils.dictupdate import merge

    return merge(*(question[name] for name in ("base", "overlay", "strategy")), merge_lists=question["merge_lists"])


def parse(question):
    import saltext.formula.modules.map as module

    module.__salt__ = dict.fromkeys(("config.get", "grains.get", "pillar.get"))
    context = module.RenderContext(stack={}, base_dirs=("p",), tpldir="f", tplroot="f")
    letters = {cls: letter for letter, cls in module.TYP_CLS_MAP.items()}
    renderer = module._render_matcher_chain(question["definition"], context, question["for_paths"])
    matchers = [[letters[type(m)], m.query, list(m.options), m.delimiter] for m in renderer._matchers]
    return [isinstance(renderer, module.YAMLRenderer), matchers, renderer.chain_finished]


def syntax(question):
    """The words of a syntax error and the line it is on."""
    import jinja_tree

    made = jinja_tree.parse(question["template"], {})
    return [made["message"], made["line"]] if "message" in made else "a template"


def data(question):
    minion = {name: question[name] for name in ("grains", "pillar", "opts")}
    with reference.reference(question["files"], **minion) as salt_minion:
        return copy.deepcopy(salt_minion.call("map.data", question["formula"]))


def stack(question):
    """What an external pillar returns, and what it would return if no two places ever held one object."""
    import salt.utils.yaml

    module = {"stack": record.stack_module, "makostack": record.makostack_module}[question["module"]]()
    shared = stacked(module, question)
    merge, module._merge_dict = module._merge_dict, lambda *sides: merge(*map(unshared, sides))
    load, salt.utils.yaml.safe_load = salt.utils.yaml.safe_load, lambda text: unshared(load(text))
    # The module calls itself by its name for what is further inside, where nothing is shared any more.
    try:
        return shared, stacked(module, question)
    finally:
        module._merge_dict, salt.utils.yaml.safe_load = merge, load


def stacked(module, question):
    root = os.path.join(sys.argv[1], "here")
    try:
        put = lambda text: text.replace("<DIR>", root)
        reference.write_files(root, {name: put(text) for name, text in question["files"].items()})
        here = json.loads(json.dumps(question).replace("<DIR>", root))
        try:
            return {"ok": repr(plain(record.ext_pillar(module, here)["result"])).replace(root, "<DIR>")}
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}".replace(root, "<DIR>")}
    finally:
        shutil.rmtree(root, ignore_errors=True)


def pillar(question):
    made = whole_pillar.compiled(question, os.path.join(sys.argv[1], "here"))
    return {"ok": made["result"]} if "result" in made else {"error": "{error}: {message}".format(**made)}


def pillar_of_values(question):
    """What a pillar would be if what external pillars return shared no object with anything."""
    import salt.pillar

    data = salt.pillar.Pillar._external_pillar_data
    salt.pillar.Pillar._external_pillar_data = lambda *args: unshared(data(*args))
    try:
        return pillar(question)
    finally:
        salt.pillar.Pillar._external_pillar_data = data


def pillar_without_anchors(question):
    """What a pillar would be if no two places of a rendered file were one object."""
    import salt.pillar

    render = salt.pillar.compile_template
    salt.pillar.compile_template = lambda *args, **more: unshared(render(*args, **more))
    try:
        return pillar(question)
    finally:
        salt.pillar.compile_template = render


def pillar_of_own_classes(question):
    """What a pillar would be if reclass did not give the objects of one class to several nodes, which change them."""
    import reclass

    storage, reclass.MemcacheProxy = reclass.MemcacheProxy, lambda storage: storage
    try:
        return pillar(question)
    finally:
        reclass.MemcacheProxy = storage


def unwrapped_pillar(question):
    """What a pillar would be if Salt 3006 had no object of its own around the pillar and the grains of templates."""
    import salt.utils.context

    wrapper = salt.utils.context.NamespacedDictWrapper
    salt.utils.context.NamespacedDictWrapper = lambda context, key: context[key]
    try:
        return pillar(question)
    finally:
        salt.utils.context.NamespacedDictWrapper = wrapper


def unshared(value):
    """The same data, in which every place has an object of its own."""
    if isinstance(value, tuple):
        return tuple(map(unshared, value))
    if isinstance(value, dict):
        return type(value)((key, unshared(inner)) for key, inner in value.items())
    if isinstance(value, list):
        return [unshared(inner) for inner in value]
    return value


def main():
    answers = {"yaml": yaml_text, "yamlex": formats.yamlex, "toml": formats.toml, "version": formats.version_order, "merge": merge, "parse": parse, "data": data, "syntax": syntax}
    for line in sys.stdin:
        question = json.loads(line)
        try:
            if question["op"] in ("stack", "makostack"):
                answer, values = stack(question)
                answer["values"] = values.get("ok")
            elif question["op"] in ("pillar", "joined", "external", "git", "reclass", "saltclass", "stateconf"):
                answer = pillar(question)
                if question["master"].count("saltclass\":") > 1:
                    answer["values"] = pillar_of_values(question).get("ok")
                if question["op"] in ("pillar", "stateconf") and any(": &" in text for text in question["files"].values()):
                    answer["values"] = pillar_without_anchors(question).get("ok")
                if question["op"] == "reclass":
                    answer["values"] = pillar_of_own_classes(question).get("ok")
                if salt.version.__version__.startswith("3006."):
                    answer["unwrapped"] = unwrapped_pillar(question).get("ok")
            else:
                answer = {"ok": repr(plain(answers[question["op"]](question)))}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
