"""
The layered configuration of formulas, computed by Rust.

The functions are those of ``saltext-formula``, with the same arguments and results. Where that extension is installed
as well, this module steps aside, unless the minion's configuration disables the file named ``map``, which is the other
extension's. Salt's loader asks a file of the module's own name first, so no module can take its place by itself.

.. code-block:: yaml

    disable_modules:
      - map
"""

import importlib.metadata
import pickle

try:
    # Salt 3008 changes the option `test` in the options of modules that do not import them from here.
    from salt.loader.dunder import __opts__
except ImportError:
    # Salt 3006 has none there, and gives them to each module.
    pass

from saltext.mapstack import native

if native.missing is None:
    from saltext.mapstack.sessions import Session

__virtualname__ = "map"

#: Where results are kept for the other templates of a state run.
CKEY = "_formula_mapdata"

DEFAULT_MATCHERS = (
    "Y!G@osarch",
    "Y!G@os_family",
    "Y!G@os",
    "Y!G@osfinger",
    "C@{tplroot}",
    "Y!G@id",
)


def stands_in(opts, option):
    """What ``__virtual__`` returns: the name of the module, unless saltext-formula has one that is not disabled."""
    if __virtualname__ in (opts.get(option) or ()):
        return __virtualname__
    others = importlib.metadata.entry_points(group="salt.loader")
    if any(entry.value.split(":")[0] == "saltext.formula" for entry in others):
        return False, f"saltext-formula is installed, and `{option}` does not name its `map`"
    return __virtualname__


def __virtual__():
    return native.missing or stands_in(__opts__, "disable_modules")


def _session():
    return Session(globals())


def data(
    tpldir,
    sources=None,
    parameter_dirs=None,
    config_get_strategy=None,
    default_merge_strategy=None,
    default_merge_lists=False,
    post_map="post-map.jinja",
    post_map_template="jinja",
    cache=True,
    custom_data=None,
):
    """
    Return the configuration of a formula: its layers, merged in order, and changed by its post-map template.

    Apart from the first argument, all are defaults, which ``map_jinja.yaml`` files override.

    CLI Example:

    .. code-block:: bash

        salt '*' map.data openssh

    tpldir
        The directory of the template that asks. Its first part is the formula.

    sources
        The definitions of the layers; later ones are merged over earlier ones. ``defaults.yaml`` comes first in any
        case. Default: the parameter files for ``osarch``, ``os_family``, ``os`` and ``osfinger``, then the
        configuration of the formula (``C@`` and its name), then the parameter file for the minion's id.

    parameter_dirs
        The directories with parameter files. Default: ``parameters`` in the formula.

    config_get_strategy
        How ``config.get`` merges what it finds in options, grains and pillar. Default: it takes the first.

    default_merge_strategy
        The merge strategy of layers that name none. Default: ``smart``.

    default_merge_lists
        Whether lists are appended in layers that do not say so. Default: false.

    post_map
        The template that changes the result, relative to the formula; false for none.

    post_map_template
        The engine of that template.

    cache
        Whether the same call in this state run gets the same result.

    custom_data
        What ``U@`` definitions look into, and the variable ``custom_data`` of templates. Must be picklable.
    """
    tplroot = tpldir.split("/")[0]
    if sources is None:
        sources = [definition.format(tplroot=tplroot) for definition in DEFAULT_MATCHERS]
    if parameter_dirs is None:
        parameter_dirs = [f"{tplroot}/parameters"]
    key = (
        tplroot,
        tuple(sources),
        tuple(parameter_dirs),
        config_get_strategy,
        default_merge_strategy,
        default_merge_lists,
        post_map,
        pickle.dumps(custom_data),
    )
    if cache:
        known = __context__.setdefault(CKEY, {})
        if key in known:
            return known[key]
    session = _session()
    result = session(
        "data",
        tpldir,
        hide=session.hide,
        sources=list(sources),
        parameter_dirs=list(parameter_dirs),
        config_get_strategy=config_get_strategy,
        default_merge_strategy=default_merge_strategy,
        default_merge_lists=default_merge_lists,
        post_map=post_map,
        post_map_template=post_map_template,
        cache=cache,
        custom_data=custom_data,
    )
    if cache and result["map_jinja"]["cache"]:
        known[key] = result
    return result


def stack(
    tpldir,
    sources,
    parameter_dirs=None,
    default_values=None,
    default_merge_strategy=None,
    default_merge_lists=None,
    config_get_strategy=None,
    custom_data=None,
):
    """
    Merge the layers of a list of definitions.

    CLI Example:

    .. code-block:: bash

        salt '*' map.stack openssh '[defaults.yaml, "Y!G@os"]'

    tpldir
        The directory of the template that asks. Its first part is the formula.

    sources
        The definitions of the layers.

    parameter_dirs
        The directories with parameter files. Default: ``parameters`` at the root and in the formula.

    default_values
        The data that the layers are merged over.

    default_merge_strategy
        The merge strategy of layers that name none. Default: ``smart``.

    default_merge_lists
        Whether lists are appended in layers that do not say so. Default: false.

    config_get_strategy
        How ``config.get`` merges what it finds in options, grains and pillar. Default: it takes the first.

    custom_data
        What ``U@`` definitions look into, and the variable ``custom_data`` of templates.
    """
    session = _session()
    return session(
        "stack",
        tpldir,
        sources,
        hide=session.hide,
        parameter_dirs=parameter_dirs,
        default_values=default_values,
        default_merge_strategy=default_merge_strategy,
        default_merge_lists=default_merge_lists,
        config_get_strategy=config_get_strategy,
        custom_data=custom_data,
    )


def tofs(
    tpldir,
    source_files,
    lookup=None,
    default_matchers=None,
    use_subpath=False,
    include_query=True,
    path_prefix=None,
    files_dir="files",
    default_dir="default",
    config=None,
    custom_data=None,
):
    """
    List the candidates for the ``source`` of a managed file, the most specific first.

    CLI Example:

    .. code-block:: bash

        salt '*' map.tofs openssh '[salt.conf, salt.conf.jinja]'

    tpldir
        The directory of the template that asks. Its first part is the formula.

    source_files
        Paths below each of the directories; earlier ones come first.

    lookup
        A key of ``tofs:source_files`` in the formula's configuration, with paths that come before these.

    default_matchers
        The definitions that name the directories, unless ``tofs:files_switch`` or the ``files_switch`` of a subpath
        does.

    use_subpath
        Whether each directory between the template and the formula is looked into as well. Default: false.

    include_query
        Whether paths contain the query (``files/os/Debian/x``) or its values alone (``files/Debian/x``).

    path_prefix
        The directory of ``files_dir``. Default: the formula.

    files_dir
        The directory of the files. Default: ``files``.

    default_dir
        The directory with the files for all minions. Default: ``default``.

    config
        The formula's configuration, if it is known. Default: that of :py:func:`data`.

    custom_data
        What ``U@`` definitions look into.
    """
    if config is None:
        config = data(tpldir)
    return _session()(
        "tofs",
        tpldir,
        source_files,
        lookup=lookup,
        default_matchers=default_matchers,
        use_subpath=use_subpath,
        include_query=include_query,
        path_prefix=path_prefix,
        files_dir=files_dir,
        default_dir=default_dir,
        config=config,
        custom_data=custom_data,
    )
