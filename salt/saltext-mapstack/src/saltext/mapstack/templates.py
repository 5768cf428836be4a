"""Jinja by the engine, in place of Salt's own: for the renderer, and for ``template: mapstack`` of managed files.

What a renderer of Salt does around a template (reading the file, the variables that describe an sls, the secrets of the
pillar) is left to Salt: ``wrap_tmpl_func`` makes a renderer of the engine as it does of Jinja2.
"""

import functools
import logging
import os
import traceback

import jinja2
import mapstack
import salt.utils.files
import salt.utils.stringutils
import salt.utils.templates
from salt.exceptions import CommandExecutionError, SaltInvocationError, SaltRenderError

from saltext.mapstack import sessions
from saltext.mapstack.files import Files, packed_client
from saltext.mapstack.live import Live, plain

log = logging.getLogger(__name__)

MARKER = "    <======================"

#: Variables that the engine has itself.
_OWN = frozenset({"salt", "grains", "pillar", "opts", "saltenv"})

#: What Salt gives to templates and is not data. A template that names one of them is rendered by Salt.
_OBJECTS = frozenset({"renderers", "proxy", "fileclient", "show_full_context"})


#: What ``salt`` is in templates of Salt.
_LOADER = "salt.utils.templates.AliasedLoader"


class Rendering(Live):
    """Salt's functions and files for one template."""

    def __init__(self, context, opts):
        client = context.get("fileclient", packed_client())
        super().__init__(context.get("salt", {}), Files(sessions.served(opts), client))

    def cache_file(self, path, saltenv):
        """The path on disk of a file of the master, which is asked for each, as by Salt: its list can be older."""
        return self._files.cached(path, saltenv)

    def close(self):
        """Give up the file client."""
        self._files.close()


def _value(dunder):
    """The value of one of Salt's dunders."""
    return dunder.value() if type(dunder).__name__ == "NamedLoaderContext" else dunder


def _raw(facts):
    """A dict without what protects it, which only costs time where it is read."""
    return plain(getattr(facts, "_target", facts))


def _needs_salt(tmplstr, context):
    """Why Salt itself has to render a template, if it does."""
    if not context.get("saltenv"):
        return "it has no saltenv"
    named = {name for name in _OBJECTS if name in tmplstr}
    if named and not _has_own_syntax(tmplstr, context):
        named &= _names(tmplstr)
    return f"it names {named.pop()}, which is not data" if named else None


def _has_own_syntax(tmplstr, context):
    """Whether there are settings of Jinja2, which can make names of what is otherwise text."""
    opts = _value(context["opts"])
    return "#jinja2:" in tmplstr or any(opts.get(name) for name in ("jinja_env", "jinja_sls_env"))


def _names(tmplstr):
    """The names in the expressions and tags of a template, those of attributes included."""
    try:
        return {text for _, kind, text in jinja2.Environment().lex(tmplstr) if kind == "name"}
    except jinja2.TemplateSyntaxError:
        # The engine has Salt's message about it.
        return set()


def _render_or_leave(minion, given, tmplstr, context, tmplpath=None):
    """Render a template by the engine, or have Salt do it where it uses objects of Python."""
    if isinstance(tmplstr, bytes):
        tmplstr = tmplstr.decode("utf-8")
    reason = _needs_salt(tmplstr, context)
    if not reason:
        try:
            return _render(minion, given, tmplstr, context)
        except mapstack.NotData as err:
            reason = str(err)
    log.debug("Salt renders %s itself: %s", tmplpath or "a template", reason)
    return salt.utils.templates.render_jinja_tmpl(tmplstr, context, tmplpath)


def _render(minion, given, tmplstr, context):
    """Render a template by the engine."""
    opts, grains, pillar = (_value(minion.get(name)) for name in ("opts", "grains", "pillar"))
    opts = plain(opts)
    facts = sessions.facts(_raw(grains), _raw(pillar), opts)
    variables = {
        name: _value(value)
        for name, value in context.items()
        if name not in _OBJECTS and (name in given or name not in _OWN)
    }
    caller = Rendering(context, opts)
    engine = sessions.engine(opts, of_pillar=context.get("_pillar_rend", False))
    try:
        text, *changes = engine.jinja(
            facts, tmplstr, variables, caller=caller, saltenv=context["saltenv"]
        )
    except mapstack.TemplateError as err:
        raise _as_salt_says(err, tmplstr, context) from err
    finally:
        caller.close()
    for part, changed in zip((grains, pillar), changes):
        sessions.apply(part, changed)
    return text


def _excerpt(err, context, opts):
    """The line of the text that failed; or for another file, its place with the lines around it."""
    if err.file is None:
        return err.line, ""
    if context.get("_pillar_rend"):
        roots = opts["pillar_roots"].get(context["saltenv"], [])
    else:
        cachedir = opts.get("_caller_cachedir", opts["cachedir"])
        roots = [os.path.join(cachedir, "files", context["saltenv"])]
        roots.extend(opts["file_roots"].get(context["saltenv"], []))
    for root in roots:
        path = os.path.join(root, err.file)
        if os.path.isfile(path):
            with salt.utils.files.fopen(path) as file:
                text = salt.utils.stringutils.to_unicode(file.read())
            lines = salt.utils.stringutils.get_context(text, err.line, marker=MARKER)
            return 0, f"\n{path}({err.line}):\n{lines}"
    return 0, f"\n{err.file}({err.line}):\n"


def _wanted(name, tmplstr, context):
    """What a template looked for in ``salt``: the function, or its module for ``salt.module.function``."""
    module = name.split(".")[0]
    is_quoted = f"'{name}'" in tmplstr or f'"{name}"' in tmplstr
    return name if is_quoted or Live(context.get("salt", {}), None).has_module(module) else module


def _as_salt_says(err, tmplstr, context):
    """The error as Salt's own renderer raises it."""
    if err.help:
        log.debug("%s: %s", err, err.help)
    line, out = _excerpt(err, context, _value(context["opts"]))
    text = tmplstr if line else ""
    cause = err.__cause__
    if err.missing_function is not None:
        wanted = _wanted(err.missing_function, tmplstr, context)
        message = f"'{_LOADER} object' has no attribute '{wanted}'"
        return SaltRenderError(f"Jinja variable {message}{out}", line, text)
    if cause is None:
        return SaltRenderError(f"{err}{out}", line, text)
    if isinstance(cause, (SaltInvocationError, CommandExecutionError)):
        message = f"Problem running salt function in Jinja template: {cause}{out}"
        return SaltRenderError(message, line, text)
    trace = "".join(traceback.format_exception(type(cause), cause, cause.__traceback__))
    if text:
        text += f"\n{trace}"
    return SaltRenderError(f"Jinja error: {cause}{out}", line, text, trace=trace)


def render(tmplsrc, from_str=False, to_str=False, context=None, tmplpath=None, **kws):
    """A renderer as those in Salt's registry of templates."""
    given = _OWN.intersection(context or ())
    own = salt.utils.templates.wrap_tmpl_func(functools.partial(_render_or_leave, kws, given))
    return own(tmplsrc, from_str, to_str, context, tmplpath, **kws)
