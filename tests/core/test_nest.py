"""Nested structures, against what TensorFlow 2.21 answers. Composite tensors are in test_specs."""

import collections
import dataclasses
import types
import typing
from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, defaultdict, deque, namedtuple

import attrs
import numpy as np
import pytest
from tables import check

import headrace as tf
from headrace._src.core import nest, nest_nodes
from headrace._src.core.shapes import TensorShape

Pair = namedtuple("Pair", "a b")
SamePair = namedtuple("Pair", "a b")
OtherPair = namedtuple("OtherPair", "a b")


class SubPair(Pair):
    pass


class SubList(list):
    pass


class SubTuple(tuple):
    pass


class SubDict(dict):
    pass


class Typed(typing.NamedTuple):
    x: int
    y: int


@attrs.define
class Attrs:
    b: object
    a: object


@dataclasses.dataclass
class Plain:
    a: object


@dataclasses.dataclass
class Custom:
    a: object
    b: object
    tag: str = "tag"

    def __tf_flatten__(self):
        return (self.tag,), (self.a, self.b)

    @classmethod
    def __tf_unflatten__(cls, metadata, leaves):
        return cls(*leaves, *metadata)


class Map(collections.abc.Mapping):
    def __init__(self, pairs):
        self._items = dict(pairs)

    def __getitem__(self, key):
        return self._items[key]

    def __iter__(self):
        return iter(self._items)

    def __len__(self):
        return len(self._items)

    def __repr__(self):
        return f"Map({self._items})"


class Bare(Map):
    def __init__(self, **items):
        super().__init__(items)


class Seq(collections.abc.Sequence):
    def __init__(self, items):
        self._items = list(items)

    def __getitem__(self, index):
        return self._items[index]

    def __len__(self):
        return len(self._items)

    def __repr__(self):
        return f"Seq({self._items})"


proxy = types.MappingProxyType({"b": 1, "a": 2})


NAMES = {
    "nest": nest,
    "np": np,
    "Shape": TensorShape,
    **{cls.__name__: cls for cls in (ChainMap, Counter, OrderedDict, UserDict, UserList, defaultdict, deque)},
    **{cls.__name__: cls for cls in (SubPair, SubList, SubTuple, SubDict, Typed, Attrs, Plain, Custom)},
    **{cls.__name__: cls for cls in (Map, Bare, Seq, OtherPair)},
    "Pair": Pair,
    "SamePair": SamePair,
    "proxy": proxy,
}

ROWS = [
    # flatten
    ("nest.flatten(1)", "[1]"),
    ("nest.flatten(None)", "[None]"),
    ("nest.flatten([])", "[]"),
    ("nest.flatten({})", "[]"),
    ('nest.flatten([1, (2, {"b": 3, "a": 4})])', "[1, 2, 4, 3]"),
    ('nest.flatten("abc")', "['abc']"),
    ('nest.flatten(b"ab")', "[b'ab']"),
    ("nest.flatten(np.zeros(2))", "[array([0., 0.])]"),
    ('nest.flatten({"b": 1, 2: 3})', TypeError),
    ("nest.flatten({(1, 2): 3, (0, 1): 4})", "[4, 3]"),
    ("nest.flatten({None: 1})", "[1]"),
    ('nest.flatten(OrderedDict([("b", 1), ("a", 2)]))', "[2, 1]"),
    ("nest.flatten(defaultdict(list, b=1, a=2))", "[2, 1]"),
    ('nest.flatten(Map({"b": 1, "a": 2}))', "[2, 1]"),
    ("nest.flatten(proxy)", "[2, 1]"),
    ('nest.flatten({"b": 1, "a": 2}.keys())', "['b', 'a']"),
    ('nest.flatten({"b": 1, "a": 2}.values())', "[1, 2]"),
    ('nest.flatten({"b": 1, "a": 2}.items())', "['b', 1, 'a', 2]"),
    ("nest.flatten({1})", "[{1}]"),
    ("nest.flatten(range(3))", "[0, 1, 2]"),
    ("nest.flatten(Pair(1, [2]))", "[1, 2]"),
    ("nest.flatten(Typed(1, 2))", "[1, 2]"),
    ("nest.flatten(SubPair(1, 2))", "[1, 2]"),
    ("nest.flatten(SubList([1, 2]))", "[1, 2]"),
    ("nest.flatten(SubTuple((1, 2)))", "[1, 2]"),
    ("nest.flatten(SubDict(b=1, a=2))", "[2, 1]"),
    ("nest.flatten(Seq([1, 2]))", "[1, 2]"),
    ("nest.flatten(deque([1, 2]))", "[1, 2]"),
    ('nest.flatten(bytearray(b"ab"))', "[97, 98]"),
    ('nest.flatten(ChainMap({"b": 1}, {"a": 2}))', "[2, 1]"),
    ('nest.flatten(UserDict({"b": 1, "a": 2}))', "[2, 1]"),
    ("nest.flatten(UserList([1, 2]))", "[1, 2]"),
    ('nest.flatten(Counter("aab"))', "[2, 1]"),
    ("nest.flatten(Custom(1, [2, 3]))", "[1, 2, 3]"),
    ("nest.flatten(Plain(1))", "[Plain(a=1)]"),
    ("nest.flatten(Attrs(1, [2, 3]))", "[1, 2, 3]"),
    ("nest.flatten(Shape([2, 3]))", "[TensorShape([2, 3])]"),
    ("nest.flatten([list, Pair, Custom, Attrs]) == [list, Pair, Custom, Attrs]", "True"),
    (
        '[nest.is_nested(x) for x in (1, None, "a", b"a", set(), np.zeros(2), Plain(1), Shape([1]), '
        'list)]',
        "[False, False, False, False, False, False, False, False, False]",
    ),
    (
        "[nest.is_nested(x) for x in ([], (), {}, Pair(1, 2), Custom(1, 2), Attrs(1, 2), range(2), "
        "proxy, {}.keys(), deque())]",
        "[True, True, True, True, True, True, True, True, True, True]",
    ),
    # map
    ('nest.map_structure(lambda x: x + 1, [1, (2, {"b": 3, "a": 4})])', "[2, (3, {'b': 4, 'a': 5})]"),
    ("nest.map_structure(lambda x, y: x + y, [1, 2], [3, 4])", "[4, 6]"),
    ("nest.map_structure(lambda x, y: x + y, [1, 2], (3, 4))", TypeError),
    ("nest.map_structure(lambda x, y: x + y, [1, 2], (3, 4), check_types=False)", "[4, 6]"),
    ("nest.map_structure(lambda x, y: x + y, [1, 2], [3, [4]])", ValueError),
    ("nest.map_structure(lambda x, y: x + y, [1, 2], [3])", ValueError),
    (
        'nest.map_structure(lambda x: x, OrderedDict([("b", 1), ("a", 2)]))',
        "OrderedDict([('b', 1), ('a', 2)])",
    ),
    (
        "nest.map_structure(lambda x: x, defaultdict(list, b=1, a=2))",
        "defaultdict(<class 'list'>, {'b': 1, 'a': 2})",
    ),
    ('nest.map_structure(lambda x: x, Map({"b": 1, "a": 2}))', "Map({'b': 1, 'a': 2})"),
    ("nest.map_structure(lambda x: x, Bare(b=1))", TypeError),
    ('nest.map_structure(lambda x: x, {"b": 1, "a": 2})', "{'b': 1, 'a': 2}"),
    ('nest.map_structure(lambda x: x, {"b": 1, "a": 2}.values())', "[1, 2]"),
    ("nest.map_structure(lambda x: x, Pair(1, 2))", "Pair(a=1, b=2)"),
    ("nest.map_structure(lambda x: x, SubPair(1, 2))", "SubPair(a=1, b=2)"),
    ("type(nest.map_structure(lambda x: x, SubList([1, 2]))).__name__", "'SubList'"),
    ("type(nest.map_structure(lambda x: x, SubTuple([1, 2]))).__name__", "'SubTuple'"),
    ("type(nest.map_structure(lambda x: x, SubDict(b=1))).__name__", "'SubDict'"),
    ("nest.map_structure(lambda x: x, Seq([1, 2]))", "Seq([1, 2])"),
    ("nest.map_structure(lambda x: x, deque([1, 2]))", "deque([1, 2])"),
    ("nest.map_structure(lambda x: x, range(3))", "[0, 1, 2]"),
    ('nest.map_structure(lambda x: x, Counter("aab"))', "Counter({'a': 2, 'b': 1})"),
    ('nest.map_structure(lambda x: x + 1, Custom(1, [2, 3], "other"))', "Custom(a=2, b=[3, 4], tag='other')"),
    (
        'nest.map_structure(lambda x, y: x + y, Custom(1, [2, 3]), Custom(1, [2, 3], "other"))',
        "Custom(a=2, b=[4, 6], tag='tag')",
    ),
    ("nest.map_structure(lambda x: x, Attrs(1, [2, 3]))", "Attrs(b=1, a=[2, 3])"),
    ("nest.map_structure(3, [1])", TypeError),
    ("nest.map_structure(lambda x: x)", ValueError),
    ("nest.map_structure(lambda x: x, [1], foo=1)", ValueError),
    ("nest.map_structure(lambda x: x, None)", "None"),
    ("nest.map_structure(lambda x: x, [])", "[]"),
    ('nest.map_structure(lambda x, y: (x, y), {"a": 1}, {"b": 1})', ValueError),
    ('nest.map_structure(lambda x, y: (x, y), {"a": 1}, {"a": [1]})', ValueError),
    ('nest.map_structure(lambda x, y: (x, y), {"a": 1}, OrderedDict(a=1))', "{'a': (1, 1)}"),
    ('nest.map_structure(lambda x, y: (x, y), {"a": 1}, Bare(a=1))', "{'a': (1, 1)}"),
    ('nest.map_structure(lambda x, y: (x, y), {"a": 1}, SubDict(a=1))', "{'a': (1, 1)}"),
    ('nest.map_structure(lambda x, y: (x, y), {"a": 1}, [1], check_types=False)', "{'a': (1, 1)}"),
    ("nest.map_structure(lambda x, y: (x, y), Pair(1, 2), SamePair(1, 2))", "Pair(a=(1, 1), b=(2, 2))"),
    ("nest.map_structure(lambda x, y: (x, y), Pair(1, 2), OtherPair(1, 2))", TypeError),
    ("nest.map_structure(lambda x, y: (x, y), Pair(1, 2), (1, 2))", TypeError),
    ("nest.map_structure(lambda x, y: (x, y), Pair(1, 2), SubPair(1, 2))", TypeError),
    ("nest.map_structure(lambda x, y: (x, y), [1, 2], SubList([1, 2]))", "[(1, 1), (2, 2)]"),
    # pack
    ("nest.pack_sequence_as([1, (2, 3)], [4, 5, 6])", "[4, (5, 6)]"),
    ("nest.pack_sequence_as([1, (2, 3)], [4, 5])", ValueError),
    ("nest.pack_sequence_as([1, (2, 3)], [4, 5, 6, 7])", ValueError),
    ("nest.pack_sequence_as(1, [4])", "4"),
    ("nest.pack_sequence_as(1, [4, 5])", ValueError),
    ("nest.pack_sequence_as(1, [])", ValueError),
    ("nest.pack_sequence_as([1], 5)", TypeError),
    ("nest.pack_sequence_as(1, 5)", TypeError),
    ('nest.pack_sequence_as({"b": 1, "a": 2}, [10, 20])', "{'b': 20, 'a': 10}"),
    (
        'nest.pack_sequence_as(OrderedDict([("b", 1), ("a", 2)]), [10, 20])',
        "OrderedDict([('b', 20), ('a', 10)])",
    ),
    (
        "nest.pack_sequence_as(defaultdict(list, b=1, a=2), [10, 20])",
        "defaultdict(<class 'list'>, {'b': 20, 'a': 10})",
    ),
    ("nest.pack_sequence_as(Bare(b=1), [10])", TypeError),
    ("nest.pack_sequence_as(Pair(1, 2), (10, 20))", "Pair(a=10, b=20)"),
    ("nest.pack_sequence_as([], [])", "[]"),
    ("nest.pack_sequence_as([], [1])", ValueError),
    ("nest.pack_sequence_as([1], iter([4]))", TypeError),
    ("nest.pack_sequence_as([1, 2], np.array([4, 5]))", TypeError),
    ('nest.pack_sequence_as([1, 2], "ab")', TypeError),
    ("nest.pack_sequence_as(None, [None])", "None"),
    ("nest.pack_sequence_as([[], [1]], [None])", "[[], [None]]"),
    # same
    ("nest.assert_same_structure([1], [2])", "None"),
    ("nest.assert_same_structure([1], (2,))", TypeError),
    ("nest.assert_same_structure([1], (2,), check_types=False)", "None"),
    ("nest.assert_same_structure([1], 2)", ValueError),
    ("nest.assert_same_structure(1, [2])", ValueError),
    ("nest.assert_same_structure([1, [2, 3]], [1, [2]])", ValueError),
    ("nest.assert_same_structure([1, [2, 3]], [1, 2])", ValueError),
    ('nest.assert_same_structure({"a": 1}, {"b": 1})', ValueError),
    ('nest.assert_same_structure({"a": 1}, {"b": 1}, check_types=False)', "None"),
    ('nest.assert_same_structure({"a": 1, "b": [2]}, [1, [2]], check_types=False)', "None"),
    ('nest.assert_same_structure({"a": [1]}, {"a": 1})', ValueError),
    ('nest.assert_same_structure({"a": 1}, {"a": 1, "b": 2})', ValueError),
    ("nest.assert_same_structure(Pair(1, 2), OtherPair(1, 2))", TypeError),
    ("nest.assert_same_structure(Pair(1, 2), SamePair(1, 2))", "None"),
    ("nest.assert_same_structure((1, 2), Pair(1, 2))", TypeError),
    ("nest.assert_same_structure((1, 2), Pair(1, 2), check_types=False)", "None"),
    ('nest.assert_same_structure({"a": 1}, OrderedDict(a=1))', "None"),
    ('nest.assert_same_structure({"a": 1}, Map({"a": 1}))', "None"),
    ('nest.assert_same_structure("a", 1)', "None"),
    ('nest.assert_same_structure("abc", ["a", "b", "c"])', ValueError),
    ("nest.assert_same_structure(1, None)", "None"),
    ("nest.assert_same_structure([], ())", TypeError),
    ("nest.assert_same_structure([], 1)", ValueError),
    ('nest.assert_same_structure(Custom(1, [2]), Custom(1, [3], "other"))', "None"),
    ("nest.assert_same_structure(Custom(1, [2]), Custom(1, 2))", ValueError),
    ("nest.assert_same_structure(Custom(1, [2]), 1)", ValueError),
    ("nest.assert_same_structure(SubList([1]), [1])", "None"),
    ("nest.assert_same_structure(SubTuple((1,)), (1,))", TypeError),
    ("nest.assert_same_structure(Attrs(1, [2, 3]), Attrs(1, [2, 4]))", "None"),
    ("nest.assert_same_structure(Attrs(1, [2, 3]), Attrs(1, [2]))", ValueError),
    ("nest.assert_same_structure([1, 2], range(2))", TypeError),
    ('nest.assert_same_structure({"a": 1}.values(), [1])', TypeError),
    ("nest.assert_same_structure({1: 1}, {1: 1})", "None"),
    ("nest.assert_same_structure([[1], 2], [1, [2]])", ValueError),
    # up to
    ("nest.flatten_up_to([1, 2], [[1, 2], [3]])", "[[1, 2], [3]]"),
    ("nest.flatten_up_to([1, [2]], [[1, 2], [3]])", "[[1, 2], 3]"),
    ("nest.flatten_up_to([1, 2], [1])", ValueError),
    ("nest.flatten_up_to([1, 2], [1, 2, 3])", ValueError),
    ("nest.flatten_up_to([1, 2], (1, 2))", TypeError),
    ("nest.flatten_up_to([1, 2], (1, 2), check_types=False)", "[1, 2]"),
    ("nest.flatten_up_to(1, [1, 2])", "[[1, 2]]"),
    ("nest.flatten_up_to([1], 1)", TypeError),
    ('nest.flatten_up_to({"a": 1}, {"a": [1, 2]})', "[[1, 2]]"),
    ('nest.flatten_up_to({"a": 1}, {"a": [1, 2], "b": 3})', ValueError),
    ('nest.flatten_up_to({"a": 1}, {"b": [1, 2]})', ValueError),
    ('nest.flatten_up_to({"a": [1]}, {"a": 1})', TypeError),
    ("nest.flatten_up_to([], [])", "[]"),
    ('nest.flatten_up_to(OrderedDict([("b", 1), ("a", 2)]), {"a": 1, "b": [2]})', "[1, [2]]"),
    ('nest.flatten_up_to({"a": 1}, OrderedDict(a=2))', "[2]"),
    ("nest.flatten_up_to(Pair(1, 2), Pair([1], 2))", "[[1], 2]"),
    ("nest.flatten_up_to(Pair(1, 2), (1, 2))", TypeError),
    ("nest.flatten_up_to([1, 2], SubList([1, 2]))", "[1, 2]"),
    ("nest.flatten_up_to(SubList([1, 2]), [1, 2])", "[1, 2]"),
    ("nest.flatten_up_to((1, 2), SubTuple([1, 2]))", "[1, 2]"),
    ("nest.flatten_up_to([1, 2], range(2))", TypeError),
    ("nest.map_structure_up_to([1, 2], len, [[1, 2], [3]])", "[2, 1]"),
    (
        "nest.map_structure_up_to([1, 2], lambda x, y: (x, y), [[1, 2], [3]], [3, 4])",
        "[([1, 2], 3), ([3], 4)]",
    ),
    ("nest.map_structure_up_to([1, 2], lambda x, y: (x, y), [[1, 2], [3]], [3])", ValueError),
    ("nest.map_structure_up_to([1], lambda x, y: x, [1], (2,))", TypeError),
    ("nest.map_structure_up_to([1], lambda x, y: x, [1], (2,), check_types=False)", "[1]"),
    ("nest.map_structure_up_to([1, 2], lambda x: x)", ValueError),
    ('nest.map_structure_up_to({"a": 1}, lambda x: x, {"a": [3]})', "{'a': [3]}"),
    ("nest.map_structure_up_to(1, lambda x: x, [1, 2])", "[1, 2]"),
    ("nest.assert_shallow_structure([1, 2], [[1], 2])", "None"),
    ("nest.assert_shallow_structure([1, 2], [1])", ValueError),
    ("nest.assert_shallow_structure([1, 2], 1)", TypeError),
    ("nest.assert_shallow_structure([1, [2]], [1, 2])", TypeError),
    ("nest.assert_shallow_structure(1, [1])", "None"),
    ('nest.assert_shallow_structure({"a": 1}, {"b": 2})', ValueError),
    ("nest.assert_shallow_structure([1, 2], (1, 2))", TypeError),
    ("nest.assert_shallow_structure(Pair(1, 2), OtherPair(1, 2))", TypeError),
    (
        "nest.get_traverse_shallow_structure(lambda s: isinstance(s, list), [1, (2, 3), [4]])",
        "[False, False, [False]]",
    ),
    ("nest.get_traverse_shallow_structure(lambda s: 5, [1, (2, 3), [4]])", TypeError),
    ("nest.get_traverse_shallow_structure(lambda s: [True, False], [1, (2, 3)])", TypeError),
    (
        "nest.get_traverse_shallow_structure(lambda s: [True, False] if isinstance(s, list) else True, "
        "[(1, 2), (3, 4)])",
        "[(True, True), False]",
    ),
    # paths
    (
        'nest.flatten_with_tuple_paths({"a": [1, 2], "b": (3, Pair(4, 5))})',
        "[(('a', 0), 1), (('a', 1), 2), (('b', 0), 3), (('b', 1, 'a'), 4), (('b', 1, 'b'), 5)]",
    ),
    ("nest.flatten_with_tuple_paths(Custom(1, [2, 3]))", "[((0,), 1), ((1, 0), 2), ((1, 1), 3)]"),
    ("nest.flatten_with_tuple_paths(Attrs(1, [2, 3]))", "[(('b',), 1), (('a', 0), 2), (('a', 1), 3)]"),
    ("nest.flatten_with_tuple_paths(1)", "[((), 1)]"),
    ('list(nest.yield_flat_paths({"a": [1, 2]}))', "[('a', 0), ('a', 1)]"),
    ("list(nest.yield_flat_paths(None))", "[()]"),
    ('nest.list_to_tuple([1, [2, {"a": [3]}]])', "(1, (2, {'a': (3,)}))"),
    ('nest.list_to_tuple({"a": [1], "b": (2, [3])})', "{'a': (1,), 'b': (2, (3,))}"),
    (
        "nest.is_mapping(proxy), nest.is_attrs(Attrs(1, 2)), nest.is_namedtuple(Pair(1, 2)), "
        "nest.is_namedtuple((1, 2))",
        "(True, True, True, False)",
    ),
    (
        "nest.same_namedtuples(Pair(1, 2), SamePair(1, 2)), nest.same_namedtuples(Pair(1, 2), "
        "SubPair(1, 2))",
        "(True, False)",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "expected"), ROWS)
def test_as_tensorflow(expression, expected):
    check(expression, expected, NAMES)


def test_a_mismatch_names_its_path():
    with pytest.raises(ValueError, match=r"at \[1\]\['x'\]\[0\]: 2 \(int\) is a leaf, while \[2\]"):
        nest.assert_same_structure([1, {"x": (2, 3)}], [1, {"x": ([2], 3)}])
    with pytest.raises(TypeError, match=r"at \['a'\]: one is a list, the other a tuple"):
        nest.assert_same_structure({"a": []}, {"a": ()})
    with pytest.raises(ValueError, match=r"one has the keys \['a'\], the other \['b'\]"):
        nest.assert_same_structure({"a": 1}, {"b": 1})
    with pytest.raises(TypeError, match=r"Input has type: int \(at \['a'\]\)"):
        nest.flatten_up_to({"a": [1]}, {"a": 1})


def test_the_outline_hides_leaves():
    with pytest.raises(ValueError, match=r"First structure: Pair\(a=\., b=\{'k': \(\.,\)\}\)"):
        nest.assert_same_structure(Pair(1, {"k": (2,)}), Pair(1, 2))


def test_beyond_tensorflow():
    # TensorFlow fails on these by accident.
    assert nest.map_structure(lambda x: x, proxy) == proxy
    assert nest.flatten_up_to(Custom(1, 2), Custom([5], [6])) == [[5], [6]]
    with pytest.raises(TypeError, match="flat_sequence must be a list"):
        nest.pack_sequence_as([1, 2], {"a": 1, "b": 2})


def test_attrs_classes_with_private_and_keyword_only_fields():
    @attrs.define(kw_only=True)
    class Secret:
        _hidden: object
        shown: object = 2

    assert nest.map_structure(lambda x: x + 1, Secret(hidden=1)) == Secret(hidden=2, shown=3)


def test_keys_that_cannot_be_sorted_are_named():
    with pytest.raises(TypeError, match=r"must be sortable.*\['b', 2\]"):
        nest.flatten({"b": 1, 2: 3})


def test_order_of_calls_is_the_order_of_flatten():
    seen = []
    nest.map_structure(seen.append, {"b": 1, "a": [2, 3]})
    assert seen == [2, 3, 1]


def test_flatten_and_pack_are_inverse_on_random_structures():
    generator = np.random.default_rng(0)

    def structure(depth):
        if depth == 0:
            return int(generator.integers(0, 10))
        kind = generator.integers(0, 7)
        children = [structure(depth - 1) for _ in range(generator.integers(0, 4))]
        if kind == 0:
            return children
        if kind == 1:
            return tuple(children)
        if kind == 2:
            return {f"k{generator.integers(0, 100)}": child for child in children}
        if kind == 3:
            return Pair(structure(depth - 1), structure(depth - 1))
        if kind == 4:
            return Attrs(structure(depth - 1), None)
        if kind == 5:
            return Custom(structure(depth - 1), 1)
        return None

    for _ in range(200):
        one = structure(4)
        flat = nest.flatten(one)
        assert nest.pack_sequence_as(one, flat) == one
        nest.assert_same_structure(one, nest.map_structure(str, one))
        assert len(list(nest.yield_flat_paths(one))) == len(flat)


def test_classes_made_without_end_are_forgotten():
    for i in range(nest_nodes.PLAIN._LIMIT + 10):
        nest.flatten(type(f"Leaf{i}", (), {})())
    assert len(nest_nodes.PLAIN) <= nest_nodes.PLAIN._LIMIT


def test_dicts_by_reference():
    """TF: references have the order of their objects in memory."""
    first, second = sorted([tf.Variable(1.0), tf.Variable(2.0)], key=id)
    structure = {second.ref(): "b", first.ref(): "a"}
    assert tf.nest.flatten(structure) == ["a", "b"]
    assert tf.nest.map_structure(str.upper, structure) == {first.ref(): "A", second.ref(): "B"}
