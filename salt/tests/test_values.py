"""Values go both ways as Python's own objects."""

from collections import OrderedDict

import mapstack
import pytest


def there_and_back(engine, facts, value):
    return engine.stack(facts, "formula", [], default_values={"x": value})["x"]


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -(2**63),
        2**63,
        -(10**60),
        1.5,
        "",
        "ß€\U0001f600",
        b"\x00\xff",
        [],
        [1, [2, {"a": None}]],
        (1, ("a", b"b")),
        {1, 2},
        {"z": 1, "a": 2, "m": 3},
        {1: "int", 1.5: "float", None: "none", (1, "a"): "tuple", b"k": "bytes"},
        OrderedDict([("z", 1), ("a", OrderedDict(y=1))]),
    ],
)
def test_a_value_is_the_same_after_a_round_trip(engine, facts, value):
    back = there_and_back(engine, facts, value)
    assert back == value
    assert type(back) is type(value)
    assert repr(back) == repr(value)


def test_subclasses_count_as_their_types(engine, facts):
    class Elsewhere(dict):
        """Keeps its entries elsewhere, as the options of Salt 3008."""

        def items(self):
            return {"a": 1}.items()

    class Text(str):
        pass

    assert there_and_back(engine, facts, Elsewhere()) == {"a": 1}
    assert type(there_and_back(engine, facts, Text("x"))) is str
    assert there_and_back(engine, facts, frozenset({1})) == {1}


def test_masked_containers_are_read_as_they_are(engine, facts):
    secret = pytest.importorskip("salt.utils.secret")
    masked = secret.hide({"a": ["pw", {"b": "pw"}]})
    assert "pw" not in repr(masked)
    assert repr(there_and_back(engine, facts, masked)) == "{'a': ['pw', {'b': 'pw'}]}"


def test_what_is_not_data_is_refused_with_its_path(engine, facts):
    with pytest.raises(TypeError, match=r"default_values:x:0:a is of the type object, not data"):
        there_and_back(engine, facts, [{"a": object()}])


def test_facts_that_are_not_data_are_left_out_and_named():
    class Key:
        def __repr__(self):
            return "a key"

    facts = mapstack.Facts({"a": object(), "b": 1}, {}, {"c": [object()], Key(): 1})
    assert facts.left_out == ["grains:a", "opts:c:0", "opts:a key"]


def test_data_that_contains_itself_is_an_error(engine, facts):
    loop = []
    loop.append(loop)
    with pytest.raises(ValueError, match="contains itself"):
        there_and_back(engine, facts, loop)
