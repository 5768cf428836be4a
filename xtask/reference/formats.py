"""Questions about data formats and versions for both sides, and the reference's answers: `generate.py`, `answer.py`, `record.py`."""
import io

TAGS = ["", "", "", "", "!aggregate ", "!aggregate ", "!aggregate ", "!reset ", "!!map ", "!!set ", "!!omap ", "!!str ", "!x "]
SCALARS = ["1", "2", "x", "y", "'1'", '"x"', "0x1F", "010", "-007", "1_000", "1:30", "1.5", ".nan", "true", "1", "yes", "null", "~", "",
           "2001-12-14", "2001-12-14 21:59:43.10 -5", "2001-13-01", "x y", "=", "!!binary aGk=", "+0_7", "00"]


class Writer:
    """Random documents in which keys repeat and aggregates meet."""

    def __init__(self, r):
        self.r, self.anchors = r, []

    def scalar(self):
        return self.r.choice(SCALARS[:6]) if self.r.random() < 0.7 else self.r.choice(SCALARS)

    def tag(self, *names):
        return self.r.choice(names) if self.r.random() < 0.5 else ""

    def value(self, depth):
        r = self.r
        roll = r.random()
        if self.anchors and roll < 0.06:
            return "*" + r.choice(self.anchors)
        name = f"n{len(self.anchors)}" if r.random() < 0.1 else None
        if depth and roll < 0.4:
            tag = self.tag("!aggregate ", "!aggregate ", "!aggregate ", "!reset ", "!!map ", "!!omap ", "!!seq " if r.random() < 0.1 else "")
            text = tag + self.mapping(depth - 1)
        elif depth and roll < 0.65:
            tag = self.tag("!aggregate ", "!aggregate ", "!aggregate ", "!reset ", "!!seq ", "!x " if r.random() < 0.1 else "")
            text = tag + "[" + ", ".join(self.value(depth - 1) for _ in range(r.randrange(4))) + "]"
        elif depth and roll < 0.69:
            text = r.choice(["!!set ", "!!pairs ", "!!omap "])
            if text == "!!set ":
                text += "{" + ", ".join(f"{self.scalar()}: null" for _ in range(r.randrange(3))) + "}"
            else:
                text += "[" + ", ".join("{%s: %s}" % (self.key(), self.value(depth - 1)) for _ in range(r.randrange(3))) + "]"
        else:
            text = self.tag("!aggregate ", "!aggregate ", "!reset ", "!!str ", "!!int " if r.random() < 0.2 else "") + self.scalar()
        if name:
            self.anchors.append(name)
            return f"&{name} {text}"
        return text

    def key(self):
        roll = self.r.random()
        if roll < 0.05:
            return "!reset " + self.r.choice("abc")
        if roll < 0.08:
            return "!aggregate " + self.r.choice(["a", "b", "1"])
        if roll < 0.1:
            return self.r.choice(["1", "true", "1.0", "null", "~", "[x]", "{x: 1}", "2001-12-14", "!!str 1"])
        return self.r.choice("abc")

    def entry(self, depth):
        if self.anchors and self.r.random() < 0.08:
            names = ["*" + self.r.choice(self.anchors) for _ in range(self.r.randrange(1, 3))]
            return ("<<", names[0] if len(names) == 1 else "[" + ", ".join(names) + "]")
        return (self.key(), self.value(depth))

    def mapping(self, depth):
        return "{" + ", ".join("%s: %s" % self.entry(depth) for _ in range(self.r.randrange(4))) + "}"

    def document(self):
        r = self.r
        if r.random() < 0.04:
            return self.value(2)
        lines = []
        for _ in range(r.randrange(1, 7)):
            key, value = self.entry(3)
            lines.append(f"{key}: {value}\n")
        return "".join(lines)


def yamlex_text(r):
    return {"text": Writer(r).document()}


def marked(value):
    """A value on one line, in which the types of mappings and lists show."""
    import salt.utils.aggregation as aggregation
    from collections import OrderedDict

    if isinstance(value, dict):
        mark = "+" if isinstance(value, aggregation.Map) else "*" if isinstance(value, OrderedDict) else ""
        return mark + "{" + ", ".join(f"{marked(k)}: {marked(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        mark = "+" if isinstance(value, aggregation.Sequence) else ""
        return mark + "[" + ", ".join(map(marked, value)) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(marked, value)) + ")"
    if isinstance(value, (set, frozenset)):
        return "set(" + ", ".join(sorted(map(marked, value))) + ")"
    for kind in (bool, int, float, bytes):
        if isinstance(value, kind):
            return repr(value)
    if value is None:
        return "None"
    return repr(str.__str__(value) if isinstance(value, str) else str(value))


def yamlex(question):
    import salt.renderers.yamlex

    return marked(salt.renderers.yamlex.render(io.StringIO(question["text"])))


def record_yamlex(record):
    """What the serializer makes of a text, or the exception below its own, and the line it names."""
    from salt.serializers import DeserializationError
    from salt.serializers.yamlex import deserialize

    try:
        return {"result": marked(deserialize(record["input"]))}
    except DeserializationError as error:
        cause = error.__context__
        mark = getattr(cause, "problem_mark", None) or getattr(cause, "context_mark", None)
        return {"error": type(cause).__name__, **({"line": mark.line + 1} if mark else {})}


class Toml:
    """Random TOML documents, most of them good, without what Python's `toml` is known to misread."""

    def __init__(self, r):
        self.r = r

    def key(self):
        first = self.r.choice(["a", "b", "c", "d-1", "e_2", "9", '"q k"', "'lit'"])
        return first if self.r.random() < 0.8 else first + "." + self.r.choice(["a", "b", "d-1"])

    def text(self):
        r = self.r
        words = ["x", "Y z", "é", "☃", "1", "#no", "a=b", "[x]", "{", ",", "", "it's", "tab\\t", "q\\\"q", "\\\\", "\\u00e9", "\\U0001F600", "nl\\n"]
        inner = "".join(r.choice(words) for _ in range(r.randrange(3)))
        if r.random() < 0.3:
            return "'" + inner.replace("'", "").replace("\\", "/") + "'"
        return '"' + inner + '"'

    def number(self):
        return self.r.choice(["0", "1", "-7", "+5", "1_000", "0xFF", "0o17", "0b101", "1.5", "-0.25", "1e5", "6.02e23", "1E-3", "inf", "-inf",
                              "9223372036854775807", "99", "3.0", "1_0.5"])

    def date(self):
        return self.r.choice(["1979-05-27", "1979-05-27T07:32:00Z", "1979-05-27T00:32:00-07:00", "1979-05-27T00:32:00.999999-07:00",
                              "1979-05-27T07:32:00", "1979-05-27 07:32:00.5", "07:32:00", "1979-05-27T07:32:00.123456"])

    def scalar(self):
        roll = self.r.random()
        return self.text() if roll < 0.4 else self.number() if roll < 0.8 else self.r.choice(["true", "false"]) if roll < 0.9 else self.date()

    def value(self, depth):
        r = self.r
        roll = r.random()
        if depth and roll < 0.2:
            kind = r.choice([self.number_of_one, lambda: '"' + r.choice(["x", "y z", "é"]) + '"', lambda: r.choice(["true", "false"])])
            items = [kind() for _ in range(r.randrange(5))]
            gap = r.choice([", ", ",", ",\n  "])
            return "[" + gap.join(items) + r.choice(["", ",", "\n", " "] if items else [""]) + "]"
        if depth and roll < 0.25:
            return "[" + ", ".join("[" + ", ".join(self.number_of_one() for _ in range(r.randrange(1, 3))) + "]" for _ in range(r.randrange(1, 3))) + "]"
        if depth and roll < 0.35:
            return "{ " + ", ".join(f"{k} = {self.r.choice(['1', 'true', '-2.5', chr(34) + 'x' + chr(34)])}" for k in r.sample("abc", r.randrange(1, 3))) + " }"
        return self.scalar()

    def number_of_one(self):
        return self.r.choice(["0", "1", "-7", "1_000", "99"])

    def document(self):
        r, lines = self.r, []
        for _ in range(r.randrange(1, 5)):
            if r.random() < 0.6:
                name = ".".join(r.choice(["a", "b", "c", "s", "t", "q-1", '"x y"']) for _ in range(r.randrange(1, 4)))
                lines.append(r.choice([f"[{name}]", f"[{name}]", f"[ {name} ] # c", f"[[{name}]]"]))
            known = set()
            for _ in range(r.randrange(4)):
                key = self.key()
                if key.partition(".")[0] in known:
                    continue
                known.add(key.partition(".")[0])
                lines.append(r.choice(["", "", "  "]) + f"{key} {r.choice(['=', '= ', ' ='])} {self.value(2)}" + r.choice(["", "", " # comment"]))
            if r.random() < 0.05:
                lines.append("m = " + '"""' + r.choice(["", "\n"]) + "one\ntwo  \n" + r.choice(["three", "a \\\n   b"]) + '"""')
            if r.random() < 0.1:
                lines.append(r.choice(["# comment", "", "x", "= 1", "a = ", "[", "[a", "n = 'x", 'n = "\\x"', "n = 01", "n = tru", "n = 1\nn = 2"]))
        return "\n".join(lines) + "\n"


def toml_text(r):
    return {"text": Toml(r).document()}


def toml(question):
    import salt.renderers.tomlmod

    return marked(salt.renderers.tomlmod.render(io.StringIO(question["text"])))


def joined_pillar(r):
    """A master whose sls are of YAMLEX, as a question of `whole_pillar`."""
    names = ["a", "b", "c", "d"][:r.randrange(2, 5)]
    options = ["pillar_roots: {base: [<DIR>/base]}", "id: master"]
    if r.random() < 0.75:
        options.append(f"renderer: {r.choice(['jinja|yamlex', 'yamlex', 'yamlex_jinja', 'jinja|yaml'])}")
    if r.random() < 0.6:
        options.append(f"pillar_source_merging_strategy: {r.choice(['smart', 'smart', 'recurse', 'aggregate', 'aggregate', 'overwrite', 'list', 'none'])}")
    if r.random() < 0.3:
        options.append(f"pillar_merge_lists: {r.choice(['true', 'false'])}")
    if r.random() < 0.2:
        options.append("pillar_includes_override_sls: true")
    files = {"base/top.sls": "base: {'*': [%s]}\n" % ", ".join(names)}
    for at, name in enumerate(names):
        text = Writer(r).document()
        # A set prints in any order, and bytes come as text to the minion.
        while "!!set" in text or "!!binary" in text:
            text = Writer(r).document()
        head = r.choice(["#!yamlex\n", "#!jinja|yamlex\n", ""])
        if r.random() < 0.2 and at + 1 < len(names):
            text = f"include: [{names[at + 1]}]\n{text}"
        files[f"base/{name}.sls"] = head + text
    return {"files": files, "master": "\n".join(options) + "\n", "minion_id": "web1", "grains": {"id": "web1", "os": "Debian"}}


def record_toml(record):
    from salt.serializers import DeserializationError
    from salt.serializers.tomlmod import deserialize

    try:
        return {"result": marked(deserialize(record["input"]))}
    except DeserializationError as error:
        return {"error": type(error.args[0]).__name__, "message": str(error)}


PARTS = ["0", "1", "2", "10", "01", "007", "a", "b", "Z", "rc", "~", "~", "^", "^", ".", ".", "-", "-", "+", "_", ":", "1.0", "2.4.1", "git", "~rc1", "ubuntu",
         "el8", "é", " ", "99999999999999999999"]


def one_version(r, packages):
    parts = [part for part in PARTS if part != "é" or packages == "dpkg"]
    text = "".join(r.choice(parts) for _ in range(r.choice((1, 2, 3, 4, 5, 6, 7))))
    roll = r.random()
    text = text.replace(":", "") if roll < 0.8 else text
    text = text.replace(" ", "") if roll < 0.95 else text
    head = r.choice(["", "", "", "0:", "1:", "2:", "x:", "-1:", "99999999999:"]) if roll < 0.3 else ""
    return head + text


def versions(r):
    """Two versions that often are alike."""
    packages = r.choice(["dpkg", "rpm"])
    first = one_version(r, packages)
    second = one_version(r, packages)
    if r.random() < 0.7 and first:
        at = r.randrange(len(first) + 1)
        second = first[:at] + r.choice([p for p in PARTS if p != "é" or packages == "dpkg"] + [""] * 8) + first[at + r.randrange(2):]
    return {"packages": packages, "first": first, "second": second}


def version_order(question):
    """The order of two versions by `dpkg` itself, or by Salt's own code for rpm."""
    import subprocess

    import salt.modules.aptpkg as aptpkg
    import salt.modules.rpm_lowpkg as lowpkg

    def retcode(command, **_):
        return subprocess.run(command, capture_output=True).returncode

    options = {"ignore_epoch": True} if question.get("ignore_epoch") else {}
    if question["packages"] == "dpkg":
        aptpkg.__salt__ = {"cmd.retcode": retcode}
        return aptpkg.version_cmp(question["first"], question["second"], **options)
    return lowpkg.version_cmp(question["first"], question["second"], **options)


def record_version(record):
    return {"result": version_order(record)}


def record_events(record):
    """The events of libyaml, each with its place, and the error behind them."""
    import yaml

    events, error = [], None
    try:
        for event in yaml.parse(record["text"], Loader=yaml.CSafeLoader):
            if not isinstance(event, (yaml.StreamStartEvent, yaml.StreamEndEvent)):
                events.append([*described(event), place(event.start_mark), place(event.end_mark)])
    except yaml.MarkedYAMLError as refusal:
        context = refusal.context and [refusal.context, place(refusal.context_mark)]
        error = [type(refusal).__name__, context, refusal.problem, place(refusal.problem_mark)]
    except yaml.reader.ReaderError:
        # libyaml reads in pieces, and the events before the piece in question depend on their size.
        events, error = [], ["ReaderError"]
    return {"events": events} if error is None else {"events": events, "error": error}


def place(mark):
    return f"{mark.line}:{mark.column}"


def described(event):
    """What an event is, in a few words."""
    import yaml

    if isinstance(event, yaml.DocumentStartEvent):
        return ["document", event.explicit]
    if isinstance(event, yaml.DocumentEndEvent):
        return ["end of document", event.explicit]
    if isinstance(event, yaml.AliasEvent):
        return ["alias", event.anchor]
    if isinstance(event, yaml.ScalarEvent):
        style = event.style or "plain"
        return ["scalar", event.anchor, event.tag, event.value, style, event.implicit[0]]
    if isinstance(event, yaml.CollectionStartEvent):
        kind = "list" if isinstance(event, yaml.SequenceStartEvent) else "mapping"
        return [kind, event.anchor, event.tag]
    return ["end of list" if isinstance(event, yaml.SequenceEndEvent) else "end of mapping"]
