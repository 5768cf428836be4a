"""The C locale."""

LC_CTYPE, LC_NUMERIC, LC_TIME, LC_COLLATE, LC_MONETARY, LC_MESSAGES, LC_ALL = range(7)


class Error(Exception):
    """No other locale."""


def setlocale(category, locale=None):
    if locale not in (None, "", "C", (None, None)):
        raise Error("unsupported locale setting")
    return "C"


def getlocale(category=LC_CTYPE):
    return None, None


def _getlocale(category=LC_CTYPE):
    return None, None
