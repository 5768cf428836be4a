# Plain functions of packages that Salt has with it: `jinja2`, as far as templates are texts, and `dateutil`, as far as
# texts are whole dates. What else is in them is missing, until it is used.


def _rest(package):
    def attribute(name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Missing("import", f"{package}.{name}", False)

    _provided[package].__getattr__ = attribute


# --- jinja2 -----------------------------------------------------------------------------------------------------------


def _jinja2():
    """`jinja2` as modules."""

    class TemplateError(Exception):
        __module__ = "jinja2.exceptions"

        def __init__(self, message=None):
            super().__init__(message)

        @property
        def message(self):
            return self.args[0] if self.args else None

    class TemplateNotFound(IOError, LookupError, TemplateError):
        __module__ = "jinja2.exceptions"

        def __init__(self, name, message=None):
            IOError.__init__(self, name)
            self.name, self.templates, self._message = name, [name], message or name

        message = property(lambda self: self._message)

        def __str__(self):
            return str(self._message)

    class TemplateSyntaxError(TemplateError):
        __module__ = "jinja2.exceptions"

        def __init__(self, message, lineno, name=None, filename=None):
            super().__init__(message)
            self.lineno, self.name, self.filename, self.source, self.translated = lineno, name, filename, None, True

    class TemplateAssertionError(TemplateSyntaxError):
        __module__ = "jinja2.exceptions"

    class TemplateRuntimeError(TemplateError):
        __module__ = "jinja2.exceptions"

    class UndefinedError(TemplateRuntimeError):
        __module__ = "jinja2.exceptions"

    class SecurityError(TemplateRuntimeError):
        __module__ = "jinja2.exceptions"

    class FilterArgumentError(TemplateRuntimeError):
        __module__ = "jinja2.exceptions"

    _JINJA_ERRORS = {
        error.__name__: error
        for error in (
            TemplateError,
            TemplateNotFound,
            TemplateSyntaxError,
            TemplateAssertionError,
            TemplateRuntimeError,
            UndefinedError,
            SecurityError,
            FilterArgumentError,
        )
    }

    class _JinjaUndefined:
        """The class of variables that are not set. No object of it reaches Python here."""

        __module__ = "jinja2.runtime"
        __name__ = __qualname__ = "Undefined"

        def __init__(self, *args, **kwargs):
            _unavailable_at("an undefined variable of jinja2 as an object")

    class _JinjaStrictUndefined(_JinjaUndefined):
        __name__ = __qualname__ = "StrictUndefined"

    _JINJA_MARKS = {
        "block_start_string": "{%",
        "block_end_string": "%}",
        "variable_start_string": "{{",
        "variable_end_string": "}}",
        "comment_start_string": "{#",
        "comment_end_string": "#}",
    }
    _JINJA_FLAGS = ("trim_blocks", "lstrip_blocks", "keep_trailing_newline")
    _JINJA_SAME = {
        "line_statement_prefix": None,
        "line_comment_prefix": None,
        "newline_sequence": "\n",
        "loader": None,
        "extensions": (),
        "optimized": True,
        "finalize": None,
        "autoescape": False,
        "cache_size": 400,
        "auto_reload": True,
        "bytecode_cache": None,
        "enable_async": False,
    }

    class _JinjaEnvironment:
        __module__ = "jinja2.environment"

        def __init__(self, undefined=_JinjaUndefined, **options):
            for name, usual in _JINJA_SAME.items():
                given = options.pop(name, usual)
                if name not in ("optimized", "cache_size", "auto_reload") and (given or None) != (usual or None):
                    _unavailable_at(f"jinja2 with {name}={given!r}")
            if undefined not in (_JinjaUndefined, _JinjaStrictUndefined):
                _unavailable_at(f"jinja2 with undefined={getattr(undefined, '__name__', undefined)}")
            self.globals, self._strict = {}, undefined is _JinjaStrictUndefined
            self._marks = [options.pop(name, usual) for name, usual in _JINJA_MARKS.items()]
            self._flags = [bool(options.pop(name, False)) for name in _JINJA_FLAGS]
            for name in options:
                raise TypeError(f"Environment.__init__() got an unexpected keyword argument '{name}'")

        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(name)
            _unavailable_at(f"jinja2's Environment.{name}")

        def from_string(self, source, globals=None, template_class=None):
            return _template(self, source, {**self.globals, **(globals or {})})

    def _made(kind, made, line):
        if kind == "made":
            return made
        error = _JINJA_ERRORS.get(kind) or getattr(_real, kind, None)
        if not (isinstance(error, type) and issubclass(error, Exception)):
            _unavailable_at(f"a template of jinja2 that fails: {made}")
        if issubclass(error, TemplateSyntaxError):
            raise error(made, line)
        raise error(made)

    def _template(environment, source, globals):
        template = object.__new__(_JinjaTemplate)
        flags = [*environment._flags, environment._strict]
        settings = [*environment._marks, *("1" if flag else "0" for flag in flags)]
        template.globals, template._source, template._settings = globals, source, settings
        # Jinja2 parses a template when it is made.
        _made(*native["jinja2_check"](source, settings))
        return template

    class _JinjaTemplate:
        __module__ = "jinja2.environment"

        def __new__(cls, source, **options):
            return _template(_JinjaEnvironment(**options), source, {})

        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(name)
            _unavailable_at(f"jinja2's Template.{name}")

        def render(self, *args, **kwargs):
            variables = {**self.globals, **dict(*args, **kwargs)}
            return _made(*native["jinja2_render"](self._source, self._settings, variables))

    for _class, _name in ((_JinjaEnvironment, "Environment"), (_JinjaTemplate, "Template")):
        _class.__name__ = _class.__qualname__ = _name

    _provide("jinja2.exceptions", _JINJA_ERRORS)
    _provide("jinja2.runtime", {"Undefined": _JinjaUndefined, "StrictUndefined": _JinjaStrictUndefined})
    _provide("jinja2.environment", {"Environment": _JinjaEnvironment, "Template": _JinjaTemplate})
    _JINJA_PARTS = ("exceptions", "runtime", "environment")
    _provide(
        "jinja2",
        {
            **{part: _provided[f"jinja2.{part}"] for part in _JINJA_PARTS},
            **_JINJA_ERRORS,
            "Environment": _JinjaEnvironment,
            "Template": _JinjaTemplate,
            "Undefined": _JinjaUndefined,
            "StrictUndefined": _JinjaStrictUndefined,
        },
    )
    for _part in ("jinja2", *(f"jinja2.{part}" for part in _JINJA_PARTS)):
        _rest(_part)


# --- dateutil ---------------------------------------------------------------------------------------------------------

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_ZONE = r"(?P<zone>Z|UTC|GMT|[+-]\d\d:?\d\d|)"
_TIME = r"(?P<hour>\d\d?):(?P<minute>\d\d)(:(?P<second>\d\d)([.,](?P<part>\d{1,6}))?)?( ?(?P<half>[AaPp][Mm]))?"
_DAY_NAME = r"((mon|tues?|wed(nes)?|thu(rs)?|fri|sat(ur)?|sun)(day)?,? )?"
_MONTH_NAME = rf"(?P<name>{'|'.join(_MONTHS)})[a-z]*\.?"
_WHOLE_DATES = (
    r"(?P<year>\d{4})-(?P<month>\d\d?)-(?P<day>\d\d?)",
    r"(?P<year>\d{4})/(?P<month>\d\d?)/(?P<day>\d\d?)",
    r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)",
    r"(?P<month>\d\d?)/(?P<day>\d\d?)/(?P<year>\d{4})",
    rf"{_DAY_NAME}(?P<day>\d\d?)[ -]{_MONTH_NAME}[ -](?P<year>\d{{4}})",
    rf"{_DAY_NAME}{_MONTH_NAME} (?P<day>\d\d?),? (?P<year>\d{{4}})",
)
_DATE_FORMS = [rf"{date}([ T]{_TIME} ?{_ZONE})?" for date in _WHOLE_DATES] + [
    rf"{_DAY_NAME}{_MONTH_NAME}  ?(?P<day>\d\d?) {_TIME} (?P<year>\d{{4}}) ?{_ZONE}",
    rf"(?P<year>\d{{4}})(?P<month>\d\d)(?P<day>\d\d)T?(?P<hour>\d\d)(?P<minute>\d\d)(?P<second>\d\d)? ?{_ZONE}",
]
_FULL_MONTHS = "january february march april may june july august september october november december".split()


def _dateutil():
    """`dateutil` as modules."""
    import datetime
    import re

    zero = datetime.timedelta(0)

    class tzutc(datetime.tzinfo):
        def utcoffset(self, dt):
            return zero

        dst = utcoffset

        def tzname(self, dt):
            return "UTC"

        def __eq__(self, other):
            return isinstance(other, tzutc) or (isinstance(other, tzoffset) and other._offset == zero)

        __hash__ = None

        def __repr__(self):
            return "tzutc()"

    class tzoffset(datetime.tzinfo):
        def __init__(self, name, offset):
            seconds = offset.total_seconds() if hasattr(offset, "total_seconds") else offset
            self._name, self._offset = name, datetime.timedelta(seconds=seconds)

        def utcoffset(self, dt):
            return self._offset

        def dst(self, dt):
            return zero

        def tzname(self, dt):
            return self._name

        def __eq__(self, other):
            return isinstance(other, tzoffset) and self._offset == other._offset

        __hash__ = None

        def __repr__(self):
            return f"tzoffset({self._name!r}, {int(self._offset.total_seconds())})"

    utc = tzutc()

    def zone(text):
        if not text:
            return None
        if text in ("Z", "UTC", "GMT"):
            return utc
        seconds = int(text[1:3]) * 3600 + int(text[-2:]) * 60
        return tzoffset(None, -seconds if text[0] == "-" else seconds) if seconds else utc

    def fields(found):
        parts = {name: text for name, text in found.groupdict().items() if text}
        if "name" in parts:
            spelt = re.search(r"[A-Za-z]{3,}", found.string[found.start("name") :]).group().lower()
            month = _MONTHS.index(parts["name"].lower())
            if spelt not in (parts["name"].lower(), _FULL_MONTHS[month], "sept" if month == 8 else None):
                return None
            parts["month"] = month + 1
        hour = int(parts.get("hour", 0))
        if "half" in parts:
            if not 1 <= hour <= 12:
                return None
            hour = hour % 12 + (12 if parts["half"].lower() == "pm" else 0)
        micro = int(parts.get("part", "0").ljust(6, "0"))
        date = [int(parts[name]) for name in ("year", "month", "day")]
        return [*date, hour, int(parts.get("minute", 0)), int(parts.get("second", 0)), micro], parts.get("zone")

    def parse(timestr, parserinfo=None, ignoretz=False, **options):
        if not isinstance(timestr, str) or parserinfo is not None or any(options.values()):
            _unavailable_at("dateutil.parser.parse with these arguments")
        for form in _DATE_FORMS:
            found = re.fullmatch(form, timestr.strip(" "), re.IGNORECASE if "name" in form else 0)
            made = fields(found) if found else None
            if made is not None:
                try:
                    return datetime.datetime(*made[0], tzinfo=None if ignoretz else zone(made[1]))
                except ValueError:
                    break
        _unavailable_at(f"dateutil.parser.parse of {timestr!r}")

    def isoparse(text):
        found = re.fullmatch(rf"{_WHOLE_DATES[0]}(T{_TIME}{_ZONE})?", text) if isinstance(text, str) else None
        if found is None or "half" in {name for name, part in found.groupdict().items() if part}:
            _unavailable_at(f"dateutil.parser.isoparse of {text!r}")
        return parse(text)

    def gettz(name=None):
        if name in ("UTC", "GMT", "Etc/UTC"):
            return utc
        _unavailable_at(f"dateutil.tz.gettz({name!r})")

    error = type("ParserError", (ValueError,), {"__module__": "dateutil.parser._parser"})
    _provide("dateutil.parser", {"parse": parse, "isoparse": isoparse, "ParserError": error})
    _provide("dateutil.tz", {"tzutc": lambda: utc, "tzoffset": tzoffset, "UTC": utc, "gettz": gettz})
    _provide("dateutil.relativedelta", {"relativedelta": _relativedelta(datetime)})
    parts = {part: _provided[f"dateutil.{part}"] for part in ("parser", "tz", "relativedelta")}
    _provide("dateutil", parts)
    for part in ("dateutil", *(f"dateutil.{part}" for part in parts)):
        _rest(part)


def _relativedelta(datetime):
    import calendar

    relative = ("years", "months", "days", "hours", "minutes", "seconds", "microseconds")
    absolute = ("year", "month", "day", "hour", "minute", "second", "microsecond")

    class relativedelta:
        def __init__(self, dt1=None, dt2=None, weeks=0, weekday=None, yearday=None, nlyearday=None, leapdays=0, **parts):
            if weekday is not None or yearday or nlyearday or leapdays:
                _unavailable_at("dateutil's relativedelta with a day of a week or a year")
            for name in parts:
                if name not in relative + absolute:
                    raise TypeError(f"relativedelta.__init__() got an unexpected keyword argument '{name}'")
            for name in relative:
                setattr(self, name, parts.get(name, 0))
            for name in absolute:
                setattr(self, name, parts.get(name))
            if self.years != int(self.years) or self.months != int(self.months):
                raise ValueError("Non-integer years and months are ambiguous and not currently supported.")
            self.years, self.months = int(self.years), int(self.months)
            self.days += weeks * 7
            if dt1 is not None and dt2 is not None:
                self._between(dt1, dt2)
            self._fix()

        def _between(self, dt1, dt2):
            if not (isinstance(dt1, datetime.date) and isinstance(dt2, datetime.date)):
                raise TypeError("relativedelta only diffs datetime/date")
            if isinstance(dt1, datetime.datetime) != isinstance(dt2, datetime.datetime):
                dt1, dt2 = map(_at_midnight, (dt1, dt2))
            months = (dt1.year - dt2.year) * 12 + dt1.month - dt2.month
            start, step = _months_later(dt2, months), 1 if dt1 < dt2 else -1
            # A month that is not over does not count.
            while start < dt1 if step > 0 else dt1 < start:
                months += step
                start = _months_later(dt2, months)
            rest = dt1 - start
            self.months = months
            self.seconds, self.microseconds = rest.seconds + rest.days * 86400, rest.microseconds

        def _fix(self):
            for unit, larger, size in (
                ("microseconds", "seconds", 1_000_000),
                ("seconds", "minutes", 60),
                ("minutes", "hours", 60),
                ("hours", "days", 24),
                ("months", "years", 12),
            ):
                amount = getattr(self, unit)
                if abs(amount) >= size:
                    sign = -1 if amount < 0 else 1
                    carried, left = divmod(amount * sign, size)
                    setattr(self, unit, left * sign)
                    setattr(self, larger, getattr(self, larger) + carried * sign)

        weeks = property(lambda self: int(self.days / 7.0))

        def _parts(self, sign=1):
            parts = {name: getattr(self, name) * sign for name in relative}
            return {**parts, **{name: getattr(self, name) for name in absolute}}

        @staticmethod
        def _with(first, second):
            """The sum. What is absolute comes from the first, if it is there."""
            made = {name: first[name] + second[name] for name in relative}
            for name in absolute:
                made[name] = first[name] if first[name] is not None else second[name]
            return relativedelta(**made)

        def __radd__(self, other):
            if not isinstance(other, datetime.date):
                return NotImplemented
            set_parts = {name: getattr(self, name) for name in absolute if getattr(self, name) is not None}
            day = set_parts.pop("day", None) or other.day
            year = (set_parts.pop("year", None) or other.year) + self.years
            month = (set_parts.pop("month", None) or other.month) + self.months
            if month > 12:
                year, month = year + 1, month - 12
            elif month < 1:
                year, month = year - 1, month + 12
            day = min(calendar.monthrange(year, month)[1], day)
            if not isinstance(other, datetime.datetime) and (set_parts or self.hours or self.minutes or self.seconds or self.microseconds):
                other = _at_midnight(other)
            moved = other.replace(year=year, month=month, day=day, **set_parts)
            names = ("days", "hours", "minutes", "seconds", "microseconds")
            return moved + datetime.timedelta(**{name: getattr(self, name) for name in names})

        def __add__(self, other):
            if isinstance(other, relativedelta):
                return self._with(other._parts(), self._parts())
            if isinstance(other, datetime.timedelta):
                parts = self._parts()
                for name in ("days", "seconds", "microseconds"):
                    parts[name] += getattr(other, name)
                return relativedelta(**parts)
            return self.__radd__(other)

        def __rsub__(self, other):
            return (-self).__radd__(other)

        def __sub__(self, other):
            return self._with(self._parts(), other._parts(-1)) if isinstance(other, relativedelta) else NotImplemented

        def __neg__(self):
            return relativedelta(**self._parts(-1))

        def __mul__(self, factor):
            parts = self._parts()
            return relativedelta(**{name: int(parts[name] * factor) if name in relative else parts[name] for name in parts})

        __rmul__ = __mul__

        def __bool__(self):
            return any(getattr(self, name) for name in relative) or any(getattr(self, name) is not None for name in absolute)

        def __eq__(self, other):
            return self._parts() == other._parts() if isinstance(other, relativedelta) else NotImplemented

        def __repr__(self):
            parts = [f"{name}={getattr(self, name):+g}" for name in relative if getattr(self, name)]
            parts += [f"{name}={getattr(self, name)!r}" for name in absolute if getattr(self, name) is not None]
            return f"relativedelta({', '.join(parts)})"

    def _at_midnight(date):
        if isinstance(date, datetime.datetime):
            return date
        return datetime.datetime(date.year, date.month, date.day)

    def _months_later(date, months):
        return date + relativedelta(months=months)

    return relativedelta


_on_demand.update(jinja2=_jinja2, dateutil=_dateutil)
