"""A recorder of what the tests of a template engine render."""
import functools
import json
import os
import sys


class NotComparable(Exception):
    """The reason is its text."""


class Recorder:
    """A plugin of pytest that notes what each test renders. `record` makes a record of one render."""

    def __init__(self):
        self.tests = 0
        self.renders = []
        self.records = {}
        self.wrappers = set()

    def pytest_runtest_teardown(self, item):
        self.tests += 1
        for render in self.renders:
            record = self.record(*render)
            self.records.setdefault(json.dumps(record, sort_keys=True), {"test": item.nodeid.split("/")[-1], **record})
        self.renders.clear()

    def is_nested(self):
        """Whether the call comes from a running template, or from inside another call that is watched."""
        frame = sys._getframe(2)
        while frame is not None:
            if frame.f_code in self.wrappers or self.is_template(frame):
                return True
            frame = frame.f_back
        return False

    def watch(self, cls, name, before):
        """Let `before` see each call that a test makes of a method."""
        original = getattr(cls, name)

        @functools.wraps(original)
        def watched(this, /, *args, **kwargs):
            if not self.is_nested():
                before(this, args, kwargs)
            return original(this, *args, **kwargs)

        self.wrappers.add(watched.__code__)
        setattr(cls, name, watched)

    def run(self, tests, path):
        """Run the tests that are in a directory, and write what they render, one record a line after the counts."""
        import pytest

        path = os.path.abspath(path)
        self.install()
        os.chdir(tests)
        status = pytest.main(["-q", "-p", "no:cacheprovider", "--no-header", *self.tests_in], plugins=[self])
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as out:
            for record in [{"tests": self.tests, "records": len(self.records)}, *self.records.values()]:
                out.write(json.dumps(record) + "\n")
        sys.exit(int(status))
