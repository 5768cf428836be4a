# What the generated module of a Mako template calls while it runs.
#
# This runs in the prelude's namespace: `native` and `BUILTINS` are those of the prelude.

from _functools import partial as _partial


class MakoException(Exception):
    """Anything that Mako itself raises."""


class RuntimeException(MakoException):
    pass


class TemplateLookupException(MakoException):
    pass


class NameConflictError(MakoException):
    pass


class SyntaxException(MakoException):
    pass


class CompileException(MakoException):
    pass


class UnsupportedError(MakoException):
    pass


class _Undefined:
    """The value of a name that was never assigned."""

    def __str__(self):
        raise NameError("Undefined")

    def __bool__(self):
        return False


UNDEFINED = _Undefined()


class _Buffer:
    """Text being printed, with the marks of where it came from."""

    __slots__ = ("parts", "marks")

    def __init__(self):
        self.parts = []
        self.marks = []

    def write(self, text, mark=-1):
        native["written"](text)
        self.parts.append(text)
        self.marks.append(mark)

    def getvalue(self):
        return "".join(self.parts)


class _Callers(list):
    """Who called the defs that are running, innermost last."""

    def __init__(self):
        self.nextcaller = None

    def __bool__(self):
        return len(self) > 0 and bool(self[-1])

    def __getattr__(self, name):
        return getattr(self[-1], name)

    def _push_frame(self):
        frame = self.nextcaller or None
        self.append(frame)
        self.nextcaller = None
        return frame

    def _pop_frame(self):
        self.nextcaller = self.pop()


class Context:
    """The names of a render, and where it prints to."""

    def __init__(self, buffer, data):
        self._buffers = [buffer]
        self._data = data
        self._kwargs = dict(data)
        self._with_template = None
        self.namespaces = {}
        self._data["capture"] = _partial(capture, self)
        self.caller_stack = self._data["caller"] = _Callers()

    @property
    def lookup(self):
        return self._with_template.lookup

    @property
    def kwargs(self):
        return dict(self._kwargs)

    def keys(self):
        return list(self._data)

    def __getitem__(self, key):
        if key in self._data:
            return self._data[key]
        return BUILTINS[key]

    def get(self, key, default=None):
        return self._data.get(key, BUILTINS.get(key, default))

    def push_caller(self, caller):
        self.caller_stack.append(caller)

    def pop_caller(self):
        del self.caller_stack[-1]

    def write(self, string):
        self._buffers[-1].write(string)

    def writer(self):
        return self._buffers[-1].write

    def _push_buffer(self):
        self._buffers.append(_Buffer())

    def _pop_buffer(self):
        return self._buffers.pop()

    def _push_writer(self):
        self._push_buffer()
        return self.writer()

    def _pop_buffer_and_writer(self):
        return self._buffers.pop(), self.writer()

    def _copy(self):
        other = Context.__new__(Context)
        other.__dict__.update(self.__dict__)
        other._data = dict(self._data)
        return other

    def _locals(self, names):
        if not names:
            return self
        other = self._copy()
        other._data.update(names)
        return other

    def _without_inheritance(self):
        other = self._copy()
        for name in ("self", "parent", "next"):
            other._data.pop(name, None)
        return other


def capture(context, callable_, *args, **kwargs):
    if not callable(callable_):
        raise RuntimeException("capture() function expects a callable as its argument "
                               "(i.e. capture(func, *args, **kwargs))")
    context._push_buffer()
    try:
        callable_(*args, **kwargs)
    finally:
        buffer = context._pop_buffer()
    return buffer.getvalue()


def supports_caller(function):
    """Let a function of a module see `caller`, as defs do."""

    def call(context, *args, **kwargs):
        context.caller_stack._push_frame()
        try:
            return function(context, *args, **kwargs)
        finally:
            context.caller_stack._pop_frame()

    call.__name__ = function.__name__
    return call


class LoopStack:
    """The loops that are running, which is `loop` outside of all of them."""

    def __init__(self):
        self.stack = []

    def _enter(self, iterable):
        self.stack.append(LoopContext(iterable, self.stack[-1] if self.stack else None))
        return self.stack[-1]

    def _exit(self):
        self.stack.pop()
        return self.stack[-1] if self.stack else self

    def __getattr__(self, name):
        raise RuntimeException("No loop context is established")

    def __iter__(self):
        raise RuntimeException("No loop context is established")


class LoopContext:
    """`loop` inside of a loop."""

    def __init__(self, iterable, parent):
        self._iterable = iterable
        self.parent = parent
        self.index = 0

    def __iter__(self):
        for item in self._iterable:
            yield item
            self.index += 1

    def __len__(self):
        return len(self._iterable)

    @property
    def reverse_index(self):
        return len(self) - self.index - 1

    @property
    def first(self):
        return self.index == 0

    @property
    def last(self):
        return self.index == len(self) - 1

    @property
    def even(self):
        return self.index % 2 == 0

    @property
    def odd(self):
        return self.index % 2 != 0

    def cycle(self, *values):
        if not values:
            raise ValueError("You must provide values to cycle through")
        return values[self.index % len(values)]


# --- templates and namespaces --------------------------------------------------------------------------------


def _names_of_module(names):
    """A template's module as an object; what is not for templates stays hidden."""

    class Module:
        def __getattr__(self, name):
            if name[:2] == "__" or name[:3] == "_mk" or name not in names:
                raise AttributeError(f"module has no attribute '{name}'")
            return names[name]

    return Module()


class _Lookup:
    """Finds templates by URI."""

    def __init__(self):
        self._found = {}

    def adjust_uri(self, uri, relativeto):
        return native["adjust_uri"](uri, relativeto)

    def get_template(self, uri):
        if uri not in self._found:
            self._found[uri] = _Template(*native["load"](uri))
            self._found[uri].lookup = self
        return self._found[uri]


class _Template:
    """A template that was compiled; `names` are the globals of its module."""

    lookup = None

    def __init__(self, uri, filename, names):
        self.uri = uri
        self.filename = filename
        self.module = _names_of_module(names)
        # Templates reach this; what else is in the module is not theirs.
        self._get = lambda name: names.get(name) if name.startswith(("render_", "_mako_")) else None
        self.callable_ = names["render_body"]

    def has_def(self, name):
        return self._get(f"render_{name}") is not None

    def _def(self, name):
        return self._get(f"render_{name}")

    def get_def(self, name):
        return self._def(name)


class _Attributes:
    """`namespace.attr`: module-level names along the chain of inheritance."""

    def __init__(self, namespace):
        self._namespace = namespace

    def __getattr__(self, name):
        namespace = self._namespace
        while namespace:
            if hasattr(namespace.module, name):
                return getattr(namespace.module, name)
            namespace = namespace.inherits
        raise AttributeError(name)


class Namespace:
    """Defs that can be called, from wherever they come."""

    module = None
    template = None
    filename = None
    uri = None
    _templateuri = None

    def __init__(self, name, context, callables=None, inherits=None):
        self.name = name
        self.context = context
        self.inherits = inherits
        self.callables = {function.__name__: function for function in callables or ()}

    @property
    def attr(self):
        if "_attributes" not in self.__dict__:
            self.__dict__["_attributes"] = _Attributes(self)
        return self.__dict__["_attributes"]

    def get_namespace(self, uri):
        key = (id(self), uri)
        if key not in self.context.namespaces:
            self.context.namespaces[key] = _of_template(uri, self.context._copy(), uri, None, self._templateuri)
        return self.context.namespaces[key]

    def get_template(self, uri):
        return _template(self.context, uri, self._templateuri)

    def include_file(self, uri, **kwargs):
        include_file(self.context, uri, self._templateuri, **kwargs)

    def _populate(self, names, wanted):
        for name in wanted:
            if name == "*":
                names.update(self._all())
            else:
                names[name] = getattr(self, name)

    def _all(self):
        return dict(self.callables)

    def _own(self, name):
        return None

    def __getattr__(self, name):
        if name[:2] == "__" or name in ("callables", "inherits", "context", "name"):
            raise AttributeError(name)
        found = self.callables.get(name) or self._own(name)
        if found is None and self.inherits:
            found = getattr(self.inherits, name)
        if found is None:
            raise AttributeError(f"Namespace '{self.name}' has no member '{name}'")
        self.__dict__[name] = found
        return found


class TemplateNamespace(Namespace):
    def __init__(self, name, context, template, callables=None):
        super().__init__(name, context, callables)
        self.template = template
        self._templateuri = template.uri
        self.module = template.module
        self.filename = template.filename
        self.uri = template.uri

    def _all(self):
        return {**self.callables, **{name: self._own(name) for name in self.module._exports}}

    def _own(self, name):
        function = self.template._def(name)
        return function and _partial(function, self.context)


class ModuleNamespace(Namespace):
    def __init__(self, name, context, module, callables=None):
        super().__init__(name, context, callables)
        self.module = _import(module, fromlist=("*",))

    def _all(self):
        public = {name: self._own(name) for name in dir(self.module)
                  if name[0] != "_" and callable(getattr(self.module, name))}
        return {**self.callables, **public}

    def _own(self, name):
        if hasattr(self.module, name):
            return _partial(getattr(self.module, name), self.context)
        return None


def _template(context, uri, relativeto):
    lookup = context._with_template.lookup
    if lookup is None:
        raise TemplateLookupException(f"Template '{context._with_template.uri}' has no TemplateLookup associated")
    return lookup.get_template(lookup.adjust_uri(uri, relativeto))


def _with_self(context, template, namespace=None):
    """Give a template its `self`, and find the template to begin with: the root of what it inherits."""
    if namespace is None:
        namespace = TemplateNamespace(f"self:{template.uri}", context, template)
    context._data["self"] = context._data["local"] = namespace
    inherit = template._get("_mako_inherit")
    begun = inherit and inherit(template, context)
    return begun or (template.callable_, context)


def inherit_from(context, uri, calling_uri):
    if uri is None:
        return None
    template = _template(context, uri, calling_uri)
    last = context["self"]
    depth = 0
    while last.inherits is not None:
        last = last.inherits
        depth += 1
        if depth > 100:
            raise RecursionError("templates inherit from each other in a circle")
    inner = context._locals({"next": last})
    last.inherits = TemplateNamespace(f"self:{template.uri}", inner, template)
    context._data["parent"] = inner._data["local"] = last.inherits
    inherit = template._get("_mako_inherit")
    begun = inherit and inherit(template, inner)
    if begun:
        return begun
    generate = template._get("_mako_generate_namespaces")
    if generate is not None:
        generate(context)
    return template.callable_, inner


def include_file(context, uri, calling_uri, **kwargs):
    template = _template(context, uri, calling_uri)
    function, inner = _with_self(context._without_inheritance(), template)
    # The arguments are those of the template at the root of what it inherits.
    for name in function.__globals__["_mk_arguments"]:
        if name in context._data and name not in kwargs:
            kwargs[name] = context._data[name]
    function(inner, **kwargs)


def _of_template(name, context, uri, callables, calling_uri):
    template = _template(context, uri, calling_uri)
    namespace = TemplateNamespace(name, context, template, callables)
    _with_self(context, template, namespace)
    return namespace


def template_namespace(name, context, uri, callables, calling_uri):
    return _of_template(name, context._without_inheritance(), uri, callables, calling_uri)


def module_namespace(name, context, module, callables):
    return ModuleNamespace(name, context._without_inheritance(), module, callables)


def plain_namespace(name, context, callables):
    return Namespace(name, context._without_inheritance(), callables)


def look_up(context, name, imports, strict):
    if imports is not None and name in imports:
        return imports[name]
    if not strict:
        return context.get(name, UNDEFINED)
    try:
        return context[name]
    except KeyError:
        raise NameError(f"'{name}' is not defined") from None


def decorate_toplevel(decorator):
    def decorate(render):
        def go(context, *args, **kwargs):
            def function(*args, **kwargs):
                return render(context, *args, **kwargs)

            function.__name__ = render.__name__[len("render_"):]
            return decorator(function)(context, *args, **kwargs)

        return go

    return decorate


def decorate_inline(context, decorator):
    def decorate(render):
        decorated = decorator(render)

        def go(*args, **kwargs):
            return decorated(context, *args, **kwargs)

        go.__name__ = render.__name__
        return go

    return decorate


def text(value):
    return value if type(value) is str else str(native["unfold"](value))


# --- filters -------------------------------------------------------------------------------------------------

_XML = {"&": "&amp;", ">": "&gt;", "<": "&lt;", '"': "&#34;", "'": "&#39;"}


class Markup(str):
    """Text that is HTML: what is added to it is escaped."""

    def __html__(self):
        return self

    def __add__(self, other):
        if isinstance(other, str) or hasattr(other, "__html__"):
            return Markup(str.__add__(self, html_escape(other)))
        return NotImplemented

    def __radd__(self, other):
        if isinstance(other, str) or hasattr(other, "__html__"):
            return Markup(str.__add__(html_escape(other), self))
        return NotImplemented

    def __mul__(self, times):
        return Markup(str(self) * times)

    __rmul__ = __mul__

    def __repr__(self):
        return f"Markup({str.__repr__(self)})"

    def __str__(self):
        return str.__str__(self)

    def join(self, parts):
        return Markup(str.join(self, [html_escape(part) for part in parts]))

    def replace(self, old, new, count=-1, /):
        return Markup(str.replace(self, old, html_escape(new), count))


def _same_markup(name):
    method = getattr(str, name)

    def call(self, *args, **kwargs):
        return Markup(method(self, *args, **kwargs))

    call.__name__ = name
    return call


for _name in ("strip", "lstrip", "rstrip", "lower", "upper", "title", "capitalize", "swapcase", "casefold"):
    setattr(Markup, _name, _same_markup(_name))


def _escaped(value, table):
    out = []
    for sign in value:
        out.append(table.get(sign, sign))
    return "".join(out)


def html_escape(value):
    if hasattr(value, "__html__"):
        return Markup(value.__html__())
    return Markup(_escaped(text(value), _XML))


class _Decode:
    """`decode.utf8` and its like."""

    def __getattr__(self, encoding):
        def decode(value):
            if isinstance(value, str):
                return value
            if isinstance(value, bytes):
                return str(value, encoding=encoding)
            return text(value)

        return decode


_SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~")


class _Filters:
    __slots__ = ()

    html_escape = staticmethod(html_escape)
    decode = _Decode()

    @staticmethod
    def xml_escape(value):
        if not isinstance(value, str):
            raise TypeError(f"expected string or bytes-like object, got '{type(value).__name__}'")
        return _escaped(value, _XML)

    @staticmethod
    def url_escape(value):
        signs = {byte: chr(byte) if chr(byte) in _SAFE else f"%{byte:02X}" for byte in range(256)}
        signs[32] = "+"
        return "".join([signs[byte] for byte in value.encode("utf8")])

    @staticmethod
    def trim(value):
        return value.strip()

    @staticmethod
    def html_entities_escape(value):
        from html.entities import codepoint2name

        return "".join([f"&{codepoint2name[ord(c)]};" if ord(c) in codepoint2name else c for c in text(value)])


def _own_modules():
    """Parts of Mako that code at the level of the module has by name, and can import."""
    runtime = {"UNDEFINED": UNDEFINED, "capture": capture, "supports_caller": supports_caller, "LoopStack": LoopStack,
               "LoopContext": LoopContext, "Namespace": Namespace}
    filters = {name: getattr(_Mako.filters, name) for name in (
        "html_escape", "xml_escape", "url_escape", "trim", "html_entities_escape", "decode")}
    parts = {"runtime": _own_module("mako.runtime", runtime), "filters": _own_module("mako.filters", filters)}
    _own_module("mako", parts)


class _Mako:
    """What generated code calls, by the name `_mk`."""

    __slots__ = ()

    dict = staticmethod(dict)
    filters = _Filters()
    text = staticmethod(text)
    look_up = staticmethod(look_up)
    inherit_from = staticmethod(inherit_from)
    include_file = staticmethod(include_file)
    template_namespace = staticmethod(template_namespace)
    module_namespace = staticmethod(module_namespace)
    plain_namespace = staticmethod(plain_namespace)
    decorate_toplevel = staticmethod(decorate_toplevel)
    decorate_inline = staticmethod(decorate_inline)
    LoopStack = LoopStack

    @staticmethod
    def picked(names, wanted):
        return {name: names[name] for name in wanted if name in names}

    @staticmethod
    def has_parent_block(context, name):
        return "parent" in context._data and hasattr(context._data["parent"], name)

    @staticmethod
    def caller(context, callables):
        return Namespace("caller", context, callables)


mako = _Mako()
_own_modules()


def render_template(uri, filename, names, data, has_lookup, functions_as):
    """Render the main template; its text, and the marks of where it came from."""
    template = _Template(uri, filename, names)
    template.lookup = _Lookup() if has_lookup else None
    for name in functions_as:
        data[name] = functions
    reserved = [name for name in ("UNDEFINED", "context", "STOP_RENDERING", "loop") if name in data]
    if reserved:
        raise NameConflictError(f"Reserved words passed to render(): {', '.join(reserved)}")
    given = dict(data)
    buffer = _Buffer()
    context = Context(buffer, data)
    context._with_template = template
    function, inner = _with_self(context, template)
    function(inner, **given)
    return buffer.parts, buffer.marks
