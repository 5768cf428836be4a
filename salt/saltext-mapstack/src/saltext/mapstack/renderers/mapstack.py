"""
Jinja by Rust: ``#!mapstack|yaml``.

The renderer takes the place of ``jinja`` in a pipe, and renders to the same text, in a fraction of the time. It can be
named in the first line of an sls, or for all of them in the configuration of a minion or a master:

.. code-block:: yaml

    renderer: mapstack|yaml

Managed files name it as ``template: mapstack``.

Functions of Salt are called in the running minion, apart from those that follow from grains, pillar and options alone.
Templates that need something else than data (the proxy module, for one) are rendered by Salt's own ``jinja``.
"""

from io import StringIO

from salt.exceptions import SaltRenderError

from saltext.mapstack import native

if native.missing is None:
    from saltext.mapstack import templates

__virtualname__ = "mapstack"


def __virtual__():
    return native.missing or __virtualname__


def render(
    template_file,
    saltenv="base",
    sls="",
    argline="",
    context=None,
    tmplpath=None,
    **kws,
):
    """
    Render a template in Salt's Jinja.

    :rtype: string
    """
    from_str = argline == "-s"
    if not from_str and argline:
        raise SaltRenderError(f"Unknown renderer option: {argline}")
    rendered = templates.render(
        template_file,
        to_str=True,
        salt=__salt__,
        grains=__grains__,
        opts=__opts__,
        pillar=__pillar__,
        saltenv=saltenv,
        sls=sls,
        context=context,
        tmplpath=tmplpath,
        proxy=__proxy__,
        from_str=from_str,
        **kws,
    )
    if not rendered.get("result", False):
        raise SaltRenderError(rendered.get("data", "Unknown error in the renderer mapstack"))
    return StringIO(rendered["data"])
