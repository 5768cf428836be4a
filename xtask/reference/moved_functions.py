"""The execution functions that Salt no longer has, and the extensions that have them: `crates/functions/data/moved.txt`.

    python moved_functions.py SALT OLDER… PACKAGE=DIRECTORY… > crates/functions/data/moved.txt

SALT and OLDER are directories such as `salt/modules`, of this Salt and of those before; the others have the execution
modules of extensions, by the name of the package. Each line has a package, or `-` if none is known, and then modules, and
functions of modules that are otherwise somewhere else. Nothing is imported. For the directories see `state_functions.py`.
"""

import sys
from collections import defaultdict

from functions import modules_of

plain = [given for given in sys.argv[1:] if "=" not in given]
now, was = modules_of(plain[:1]), modules_of(plain[1:])
extensions = defaultdict(list)
for given in sys.argv[1:]:
    package, is_extension, directory = given.partition("=")
    if is_extension:
        extensions[package].append(directory)
extensions = {package: modules_of(directories) for package, directories in sorted(extensions.items())}


def home(module, functions):
    """The extension that has most of some functions of a module."""
    having = [(package, modules[module] & functions) for package, modules in extensions.items() if module in modules]
    return max(having, key=lambda one: len(one[1]), default=("-", set()))


moved = defaultdict(set)
for module, functions in was.items():
    left = functions - now.get(module, set())
    package, kept = home(module, left)
    if module in now:
        moved[package if kept else "-"] |= {f"{module}.{function}" for function in kept}
    else:
        moved[package].add(module)
        kept = kept if package != "-" else left
    moved["-"] |= {f"{module}.{function}" for function in left - kept}
for package, names in sorted(moved.items()):
    if names:
        print(f"{package}: {' '.join(sorted(names))}")
