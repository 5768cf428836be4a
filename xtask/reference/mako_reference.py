"""What Mako prints for a template, or what it raises; and what Salt's `py` renderer returns."""
import copy
import posixpath


def render(record, defaults):
    from mako.exceptions import CompileException, SyntaxException, TopLevelLookupException
    from mako.lookup import TemplateLookup
    from mako.template import Template

    strict = record.get("strict", True)
    lookup = TemplateLookup(strict_undefined=strict)
    lookup.filesystem_checks = False
    context = copy.deepcopy(record.get("context", defaults))
    try:
        for uri, text in record.get("files", {}).items():
            # Compiled when asked for, as from files.
            lookup._collection[uri] = _Later(lookup, uri, text, strict)
        lookup.get_template = lambda uri: _get(lookup, uri, TopLevelLookupException)
        known = lookup if record.get("lookup", True) else None
        template = Template(record["template"], lookup=known, uri=record.get("uri", "/main.mako"), strict_undefined=strict)
        out = {"output": template.render(**context)}
    except (SyntaxException, CompileException) as error:
        return {"error": type(error).__name__, "line": error.lineno}
    except Exception as error:
        message = str(error)
        return {"error": type(error).__name__, "message": message[:200]}
    if context != record.get("context", defaults):
        out["changed"] = {name: value for name, value in context.items() if value != defaults.get(name)}
    return out


class _Later:
    def __init__(self, lookup, uri, text, strict):
        self.make = lambda: __import__("mako.template").template.Template(
            text, lookup=lookup, uri=uri, strict_undefined=strict)
        self.made = None


def _get(lookup, uri, missing):
    below = "/" + posixpath.normpath(uri.replace("\\", "/")).lstrip("/")
    later = lookup._collection.get(uri) or lookup._collection.get(below)
    if later is None:
        raise missing(f"Can't locate template for uri {uri!r}")
    if later.made is None:
        later.made = later.make()
    return later.made
