"""What the functions of state modules take: `crates/states/src/functions.txt`.

    python state_functions.py SALT OLDER… PACKAGE=DIRECTORY…

SALT and OLDER are directories such as `salt/states`, of this Salt and of those before; the others have state modules of
extensions, by the name of the package. Modules that are in one of the older ones only have left Salt.

The result has a section for each module, `[NAME]`, `[NAME PACKAGE VERSION]` if an extension has it, or `[NAME -]` if it left
and no extension is known. Lines have a function, the arguments that it needs, and behind `|` those that it may have: `**` for any
more, and behind `~` those that an older one had.

For a new Salt, unpack the older ones (`pip download --no-deps --no-binary salt salt==3007.16`) and the wheel of each extension
(`pip download --no-deps saltext-mysql`, with `--python-version` and `--only-binary :all:` if it needs a newer Python). The
packages are those that the table has. Their sources are parsed and not run.
"""
import ast
import email
import pathlib
import sys


class Function:
    def __init__(self, args, required, is_open):
        self.args, self.required, self.is_open, self.left = args, required, is_open, []

    def joined(self, other):
        """What either takes."""
        args = self.args + [arg for arg in other.args if arg not in self.args]
        required = [arg for arg in self.required if arg in other.required]
        return Function(args, required, self.is_open or other.is_open)

    def line(self):
        words = [*self.required, "|", *(arg for arg in self.args if arg not in self.required)]
        words += ["**"] * self.is_open + (["~", *self.left] if self.left else [])
        return " ".join(words).removesuffix(" |")


def function(node):
    """As `salt.utils.args.get_function_argspec` sees it: the last arguments have the defaults."""
    given = node.args
    args = [arg.arg for arg in (*given.args, *given.kwonlyargs)]
    defaults = len(given.defaults) + sum(default is not None for default in given.kw_defaults)
    return Function(args, args[: len(args) - defaults], given.kwarg is not None)


def statements(body):
    for node in body:
        yield node
        for inner in ("body", "orelse", "finalbody"):
            if isinstance(node, (ast.If, ast.Try)):
                yield from statements(getattr(node, inner, []))


def texts(node):
    return [item.value for item in ast.walk(node) if isinstance(item, ast.Constant) and isinstance(item.value, str)]


def names(path, tree, constants):
    """The names under which Salt loads a module."""
    virtual = constants.get("__virtualname__")
    found = {virtual.value if isinstance(virtual, ast.Constant) else path.stem}
    for node in statements(tree.body):
        if isinstance(node, ast.FunctionDef) and node.name == "__virtual__":
            returned = (item.value for item in ast.walk(node) if isinstance(item, ast.Return))
            found |= {item.value for item in returned if isinstance(item, ast.Constant) and isinstance(item.value, str)}
    aliases = constants.get("__virtual_aliases__")
    return found | set(texts(aliases) if aliases else [])


# What makes a function of another.
MAKERS = ("namespaced_function", "alias_function", "partial")


def assigned(nodes):
    """The names that statements set, with what they are set to."""
    for node in nodes:
        for target in node.targets if isinstance(node, ast.Assign) else []:
            if isinstance(target, ast.Name):
                yield target.id, node.value


def functions(tree, constants):
    found = {}
    for node in statements(tree.body):
        if isinstance(node, ast.FunctionDef):
            found[node.name] = function(node)
        for name, value in assigned([node]):
            made = isinstance(value, ast.Call) and any(maker in ast.unparse(value.func) for maker in MAKERS)
            if isinstance(value, ast.Name) and value.id in found:
                found[name] = found[value.id]
            elif made and value.args:
                found[name] = found.get(ast.unparse(value.args[0]), Function([], [], True))
    for node in ast.walk(tree):
        # A module can set functions of itself when it is loaded.
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "setattr" and isinstance(node.args[1], ast.Constant):
            found[node.args[1].value] = Function([], [], True)
    aliases = constants.get("__func_alias__")
    if isinstance(aliases, ast.Dict):
        renamed = {key.value: value.value for key, value in zip(aliases.keys, aliases.values)}
        found = {renamed.get(name, name): made for name, made in found.items()}
    return {name: made for name, made in found.items() if not name.startswith("_")}


def modules(directory):
    """All state modules below a directory, by name."""
    found = {}
    for path in sorted(pathlib.Path(directory).rglob("*.py")):
        if path.name == "__init__.py" or path.parent.name != "states":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        constants = dict(assigned(statements(tree.body)))
        made = functions(tree, constants)
        for name in names(path, tree, constants):
            own = found.setdefault(name, {})
            for key, function in made.items():
                own[key] = own[key].joined(function) if key in own else function
    return found


def version(directory):
    """The version of an unpacked wheel."""
    [metadata] = pathlib.Path(directory).glob("*.dist-info/METADATA")
    return email.message_from_string(metadata.read_text(encoding="utf-8"))["Version"]


def main():
    plain = [modules(argument) for argument in sys.argv[1:] if "=" not in argument]
    packages = dict(argument.split("=") for argument in sys.argv[1:] if "=" in argument)
    sections = {(name, ""): made for name, made in plain[0].items()}
    for package, directory in packages.items():
        package = f"{package} {version(directory)}"
        for name, made in modules(directory).items():
            known = plain[0].get(name, {})
            more = {key: function for key, function in made.items() if key not in known}
            if more:
                sections[name, package] = more
    for old in plain[1:]:
        for name, made in old.items():
            for key, function in made.items():
                having = [section[key] for (own, _), section in sections.items() if own == name and key in section]
                for other in having:
                    # What an extension takes is its own affair.
                    known = {*other.args, *other.left}
                    other.left += [arg for arg in function.args if arg not in known]
                if not having:
                    sections.setdefault((name, "-"), {})[key] = function
    for (name, package), made in sorted(sections.items()):
        print(f"[{name} {package}".rstrip() + "]")
        for key, function in sorted(made.items()):
            print(f"{key} {function.line()}".rstrip())


if __name__ == "__main__":
    main()
