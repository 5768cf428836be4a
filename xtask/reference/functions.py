"""Record the execution functions that Salt has had: `module: function function …`, one module a line.

    python functions.py SALT/MODULES_DIRECTORY… > crates/functions/data/functions.txt

Give it `salt/modules` of a current release and of 3006, which still has the modules that later became extensions.
Nothing is imported: names are read from the source, so modules for other systems count as well. A name that is assigned
counts where the loader would offer it: for another name of a function, and for what makes functions of functions.
"""

import ast
import sys
from collections import defaultdict
from pathlib import Path


# What returns a function when it is called (Salt: `salt.utils.functools`).
FUNCTION_MAKERS = {"alias_function", "namespaced_function", "partial"}


def is_function(value, functions):
    """Whether an assigned value is a function."""
    if isinstance(value, ast.Name):
        return value.id in functions
    if isinstance(value, ast.Call):
        return ast.unparse(value.func).rpartition(".")[2] in FUNCTION_MAKERS
    return False


def names(tree):
    """The public names that a module defines at its top, also below `if` and `try`."""
    virtual, aliases, found, assigned = set(), {}, set(), []
    queue = list(tree.body)
    while queue:
        node = queue.pop(0)
        if isinstance(node, (ast.If, ast.Try)):
            queue += node.body + node.orelse + [s for h in getattr(node, "handlers", []) for s in h.body]
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.add(node.name)
            if node.name == "__virtual__":
                # Modules that stand in for others return the name they go by.
                for inner in ast.walk(node):
                    if isinstance(inner, ast.Return) and isinstance(inner.value, ast.Constant):
                        virtual |= {inner.value.value} if isinstance(inner.value.value, str) else set()
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if not isinstance(target, ast.Name):
                    continue
                if target.id == "__virtualname__" and isinstance(node.value, ast.Constant):
                    virtual.add(node.value.value)
                elif target.id == "__func_alias__" and isinstance(node.value, ast.Dict):
                    aliases = {k.value: v.value for k, v in zip(node.value.keys, node.value.values)}
                else:
                    assigned.append((target.id, node.value))
    for name, value in assigned:
        if is_function(value, found):
            found.add(name)
    public = {aliases.get(name, name) for name in found if not name.startswith("_") or name in aliases}
    return virtual, public


def modules_of(directories):
    """The functions of the modules in directories, by the names of the modules."""
    modules = defaultdict(set)
    for directory in map(Path, directories):
        for path in sorted(directory.rglob("*.py")):
            stem = path.parent.name if path.name == "__init__.py" else path.stem
            if path.parent == directory and path.name == "__init__.py":
                continue
            virtual, public = names(ast.parse(path.read_text()))
            for module in virtual or {stem}:
                modules[module] |= public
    return {module: public for module, public in sorted(modules.items()) if public}


if __name__ == "__main__":
    for module, public in modules_of(sys.argv[1:]).items():
        print(f"{module}: {' '.join(sorted(public))}")
