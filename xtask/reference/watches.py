"""Which state modules do something about what they watch: `crates/states/src/watches.txt`.

    python watches.py DIRECTORY …

Each directory has state modules, such as `salt/states` of this Salt, of an older one, and of packages of extensions.
"""
import ast
import pathlib
import sys


def watches(path):
    """The name under which a module with `mod_watch` is loaded."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    name, found = path.stem, False
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found |= node.name == "mod_watch"
        elif isinstance(node, ast.ImportFrom):
            found |= any((alias.asname or alias.name) == "mod_watch" for alias in node.names)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found |= node.targets[0].id == "mod_watch"
            if node.targets[0].id == "__virtualname__" and isinstance(node.value, ast.Constant):
                name = node.value.value
    return name if found else None


def main():
    paths = [path for directory in sys.argv[1:] for path in pathlib.Path(directory).rglob("*.py")]
    print("\n".join(sorted({name for name in map(watches, paths) if name})))


if __name__ == "__main__":
    main()
