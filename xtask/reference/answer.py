"""The reference's answers to the questions of generate.py: JSON lines in, JSON lines out."""
import copy
import json
import sys

import salt_reference as reference


def plain(value):
    """A value of Python's own types; those that Salt derives from them print differently."""
    if isinstance(value, dict):
        return {plain(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return (list if isinstance(value, list) else tuple)(plain(v) for v in value)
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


def data(question):
    minion = {name: question[name] for name in ("grains", "pillar", "opts")}
    with reference.reference(question["files"], **minion) as salt_minion:
        return copy.deepcopy(salt_minion.call("map.data", question["formula"]))


def main():
    answers = {"yaml": yaml_text, "merge": merge, "parse": parse, "data": data}
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answer = {"ok": repr(plain(answers[question["op"]](question)))}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
