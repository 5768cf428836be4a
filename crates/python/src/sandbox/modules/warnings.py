"""Warnings go nowhere."""


def warn(*args, **kwargs):
    """The warning is dropped."""


def _deprecated(*args, **kwargs):
    """The warning is dropped."""


def simplefilter(*args, **kwargs):
    """There is nothing to filter."""


filterwarnings = simplefilter


class catch_warnings:
    def __init__(self, **options):
        pass

    def __enter__(self):
        return []

    def __exit__(self, *error):
        return None
