"""TensorShape, Dimension and static broadcasting, against what TensorFlow 2.21 answers."""

import copy
import pickle
import threading

import numpy as np
import pytest
from tables import check

from headrace._src.core import shapes
from headrace._src.core.shapes import Dimension, TensorShape, broadcast_dims, broadcast_shapes

NAMES = {
    "Shape": TensorShape,
    "D": Dimension,
    "U": TensorShape(None),
    "P": TensorShape([2, None]),
    "F": TensorShape([2, 3]),
    "SC": TensorShape([]),
    "broadcast": shapes.broadcast_static_shape,
    "dimension_value": shapes.dimension_value,
    "dimension_at_index": shapes.dimension_at_index,
    "np": np,
    "pickle": pickle,
    "copy": copy,
}

SHAPES = [
    # construction
    ("Shape(None)", "TensorShape(None)"),
    ("Shape(3)", "TensorShape([3])"),
    ("Shape([])", "TensorShape([])"),
    ("Shape([2, None])", "TensorShape([2, None])"),
    ("Shape((2, 3))", "TensorShape([2, 3])"),
    ("Shape([2, -1])", ValueError),
    ("Shape([1.0])", TypeError),
    ('Shape(["a"])', TypeError),
    ('Shape("abc")', TypeError),
    ("Shape(np.array([1, 2]))", "TensorShape([1, 2])"),
    ("Shape(np.int64(3))", "TensorShape([3])"),
    ("Shape([np.int32(3)])[0]", "3"),
    ("Shape([D(2), None])", "TensorShape([2, None])"),
    ("Shape(D(2))", "TensorShape([2])"),
    ("Shape(F)", "TensorShape([2, 3])"),
    ("Shape(range(3))", "TensorShape([0, 1, 2])"),
    ("Shape({1: 2})", "TensorShape([1])"),
    ("Shape(iter([1, 2]))", "TensorShape([1, 2])"),
    ("Shape([[1]])", TypeError),
    ("Shape(object())", TypeError),
    ("Shape(2.5)", TypeError),
    ("Shape(P.as_proto())", "TensorShape([2, None])"),
    ("Shape(U.as_proto())", "TensorShape(None)"),
    ("Shape.experimental_from_proto(P.experimental_as_proto())", "TensorShape([2, None])"),
    ("pickle.loads(pickle.dumps(P))", "TensorShape([2, None])"),
    ("pickle.loads(pickle.dumps(U))", "TensorShape(None)"),
    ("copy.deepcopy(P)", "TensorShape([2, None])"),
    ("copy.copy(U)", "TensorShape(None)"),
    # reading
    ("str(U)", "'<unknown>'"),
    ("str(P)", "'(2, None)'"),
    ("str(SC)", "'()'"),
    ("str(Shape([2]))", "'(2,)'"),
    ('f"{F}"', "'(2, 3)'"),
    ("F.rank, U.rank, SC.ndims, U.ndims", "(2, None, 0, None)"),
    ("F.dims", "[Dimension(2), Dimension(3)]"),
    ("U.dims", "None"),
    ("P.dims", "[Dimension(2), Dimension(None)]"),
    ("F.as_list()", "[2, 3]"),
    ("P.as_list()", "[2, None]"),
    ("U.as_list()", ValueError),
    ("len(F)", "2"),
    ("len(U)", ValueError),
    ("bool(U)", "False"),
    ("bool(SC)", "True"),
    ("bool(Shape([0]))", "True"),
    ("list(P)", "[2, None]"),
    ("list(U)", ValueError),
    ("tuple(F)", "(2, 3)"),
    ("2 in F", "True"),
    ("None in P", "True"),
    ("F.num_elements()", "6"),
    ("P.num_elements()", "None"),
    ("U.num_elements()", "None"),
    ("SC.num_elements()", "1"),
    ("Shape([0, None]).num_elements()", "None"),
    ("Shape([2**40, 2**40]).num_elements()", "1208925819614629174706176"),
    ("F.is_fully_defined()", "True"),
    ("P.is_fully_defined()", "False"),
    ("U.is_fully_defined()", "False"),
    ("SC.is_fully_defined()", "True"),
    ("np.zeros(F).shape", "(2, 3)"),
    ("np.zeros(P)", TypeError),
    ("[dim.size for dim in P.as_proto().dim]", "[2, -1]"),
    ("U.as_proto().unknown_rank", "True"),
    # indexing
    ("F[0]", "2"),
    ("P[1]", "None"),
    ("F[-1]", "3"),
    ("F[5]", IndexError),
    ("F[np.int64(1)]", "3"),
    ("F[0:1]", "TensorShape([2])"),
    ("F[:]", "TensorShape([2, 3])"),
    ("F[::-1]", "TensorShape([3, 2])"),
    ("P[1:]", "TensorShape([None])"),
    ('F["a"]', TypeError),
    ("F[0.0]", TypeError),
    ("U[0]", "None"),
    ("U[0:2]", "TensorShape([None, None])"),
    ("U[2:1]", "TensorShape([])"),
    ("U[1:]", "TensorShape(None)"),
    ("U[:]", "TensorShape(None)"),
    ("U[:3]", "TensorShape([None, None, None])"),
    ("U[-2:]", "TensorShape(None)"),
    ("U[:-1]", "TensorShape(None)"),
    ("U[0:4:2]", ValueError),
    # comparison
    ("F == [2, 3]", "True"),
    ("F == (2, 3)", "True"),
    ("F == P", "False"),
    ("P == [2, None]", "True"),
    ("F == None", "False"),
    ("U == None", "True"),
    ("U == U", "True"),
    ("U == F", "False"),
    ('F == "x"', "False"),
    ("F == 5", "False"),
    ("Shape([5]) == 5", "True"),
    ("F != [2, 3]", "False"),
    ("F != P", "True"),
    ('F != "x"', "True"),
    ("F != U", "True"),
    ("U != U", "False"),
    ("hash(F) == hash(Shape((2, 3)))", "True"),
    ("hash(F) == hash((2, 3))", "True"),
    ("len({F, Shape([2, 3]), P, U})", "3"),
    ("F < F", TypeError),
    # combination
    ("F.merge_with(P)", "TensorShape([2, 3])"),
    ("F.merge_with([3, 3])", ValueError),
    ("F.merge_with([2])", ValueError),
    ("F.merge_with(U)", "TensorShape([2, 3])"),
    ("F.merge_with(None)", "TensorShape([2, 3])"),
    ("U.merge_with(F)", "TensorShape([2, 3])"),
    ("P.merge_with([None, None])", "TensorShape([2, None])"),
    ("Shape([None, 3]).merge_with([2, None])", "TensorShape([2, 3])"),
    ("F.concatenate(P)", "TensorShape([2, 3, 2, None])"),
    ("F.concatenate(U)", "TensorShape(None)"),
    ("U.concatenate(F)", "TensorShape(None)"),
    ("F.concatenate(3)", "TensorShape([2, 3, 3])"),
    ("F.concatenate([None])", "TensorShape([2, 3, None])"),
    ("F + [1]", "TensorShape([2, 3, 1])"),
    ("[1] + F", "TensorShape([1, 2, 3])"),
    ("(1,) + F", "TensorShape([1, 2, 3])"),
    ("F + 1", "TensorShape([2, 3, 1])"),
    ("1 + F", "TensorShape([1, 2, 3])"),
    ("F + U", "TensorShape(None)"),
    ("F + None", "TensorShape(None)"),
    ('F + "a"', TypeError),
    ("F.is_compatible_with(P)", "True"),
    ("F.is_compatible_with([2])", "False"),
    ("F.is_compatible_with(None)", "True"),
    ("F.is_compatible_with([3, 3])", "False"),
    ("F.assert_is_compatible_with(P)", "None"),
    ("F.assert_is_compatible_with([3, 3])", ValueError),
    ("F.most_specific_compatible_shape(P)", "TensorShape([2, None])"),
    ("F.most_specific_compatible_shape([2])", "TensorShape(None)"),
    ("F.most_specific_compatible_shape([3, 3])", "TensorShape([None, 3])"),
    ("F.most_specific_compatible_shape(F)", "TensorShape([2, 3])"),
    ("U.most_specific_compatible_shape(F)", "TensorShape(None)"),
    ("F.assert_has_rank(2)", "None"),
    ("F.assert_has_rank(3)", ValueError),
    ("U.assert_has_rank(2)", "None"),
    ("F.assert_same_rank(P)", "None"),
    ("F.assert_same_rank([1])", ValueError),
    ("F.assert_same_rank(U)", "None"),
    ("F.assert_is_fully_defined()", "None"),
    ("P.assert_is_fully_defined()", ValueError),
    ("U.assert_is_fully_defined()", ValueError),
    ("F.with_rank(2)", "TensorShape([2, 3])"),
    ("F.with_rank(3)", ValueError),
    ("U.with_rank(3)", "TensorShape([None, None, None])"),
    ("F.with_rank_at_least(2)", "TensorShape([2, 3])"),
    ("F.with_rank_at_least(3)", ValueError),
    ("U.with_rank_at_least(2)", "TensorShape(None)"),
    ("F.with_rank_at_most(2)", "TensorShape([2, 3])"),
    ("F.with_rank_at_most(1)", ValueError),
    ("U.with_rank_at_most(2)", "TensorShape(None)"),
    # tracing
    ("F.is_subtype_of(P)", "True"),
    ("P.is_subtype_of(F)", "False"),
    ("F.is_subtype_of(U)", "True"),
    ("U.is_subtype_of(F)", "False"),
    ("U.is_subtype_of(U)", "True"),
    ("F.is_subtype_of([2, 3])", "False"),
    ("F.is_subtype_of(Shape([2]))", "False"),
    ("F.most_specific_common_supertype([P])", "TensorShape([2, None])"),
    ("F.most_specific_common_supertype([Shape([1])])", "TensorShape(None)"),
    ("F.most_specific_common_supertype([Shape([2, 4]), Shape([1, 3])])", "TensorShape([None, None])"),
    ("F.most_specific_common_supertype([])", "TensorShape([2, 3])"),
    ("F.most_specific_common_supertype([3])", "None"),
    ("F.most_specific_common_supertype([U])", "TensorShape(None)"),
    ("U.most_specific_common_supertype([F])", "TensorShape(None)"),
    ("F.placeholder_value(None)", "None"),
    ("F.flatten()", "[]"),
    ("F.to_tensors(F)", "[]"),
    ("F.from_tensors([1])", "None"),
    ("F.cast([2, 3], None)", AssertionError),
]  # fmt: skip

BROADCASTS = [
    ("broadcast(P, Shape([1, 3]))", "TensorShape([2, 3])"),
    ("broadcast(F, Shape([2, 1, 1]))", "TensorShape([2, 2, 3])"),
    ("broadcast(F, SC)", "TensorShape([2, 3])"),
    ("broadcast(F, F)", "TensorShape([2, 3])"),
    ("broadcast(P, P)", "TensorShape([2, None])"),
    ("broadcast(F, Shape([3, 3]))", ValueError),
    ("broadcast(F, Shape([2]))", ValueError),
    ("broadcast(U, F)", "TensorShape(None)"),
    ("broadcast(F, U)", "TensorShape(None)"),
    ("broadcast(U, U)", "TensorShape(None)"),
    ("broadcast(Shape([None]), Shape([None]))", "TensorShape([None])"),
    ("broadcast(Shape([None]), Shape([1]))", "TensorShape([None])"),
    ("broadcast(Shape([1]), Shape([None]))", "TensorShape([None])"),
    ("broadcast(Shape([None]), Shape([3]))", "TensorShape([3])"),
    ("broadcast(Shape([0]), Shape([1]))", "TensorShape([0])"),
    ("broadcast(Shape([0]), Shape([None]))", "TensorShape([None])"),
    ("broadcast(Shape([0]), Shape([2]))", ValueError),
    ("broadcast(Shape([None, 1, 5]), Shape([4, 1]))", "TensorShape([None, 4, 5])"),
    ("broadcast(Shape([4, 1]), Shape([None, 1, 5]))", "TensorShape([None, 4, 5])"),
]  # fmt: skip

DIMENSIONS = [
    ("D(2)", "Dimension(2)"),
    ("D(None)", "Dimension(None)"),
    ("D(D(3))", "Dimension(3)"),
    ("D(np.int32(2))", "Dimension(2)"),
    ("D(-1)", ValueError),
    ('D("a")', TypeError),
    ("D(2.0)", TypeError),
    ("str(D(2)), str(D(None))", "('2', '?')"),
    ("D(2).value, D(None).value", "(2, None)"),
    ("D(2) == 2", "True"),
    ("D(2) == 3", "False"),
    ("D(2) == D(None)", "None"),
    ("D(None) == None", "None"),
    ('D(2) == "a"', "False"),
    ("D(2) != 3", "True"),
    ("D(2) != None", "None"),
    ("D(2) < 3, D(2) <= 2, D(2) > 1, D(2) >= 3", "(True, True, True, False)"),
    ("D(2) < D(None)", "None"),
    ("D(2) >= None", "None"),
    ('D(2) < "a"', TypeError),
    ("D(2) + 3, 3 + D(2), D(7) - 3, 5 - D(2)", "(Dimension(5), Dimension(5), Dimension(4), Dimension(3))"),
    ("D(2) - 3", ValueError),
    (
        "D(2) * 3, 3 * D(2), D(7) // 2, 7 // D(2), D(7) % 3, 7 % D(3)",
        "(Dimension(6), Dimension(6), Dimension(3), Dimension(3), Dimension(1), Dimension(1))",
    ),
    ("D(2) + None", "Dimension(None)"),
    ("D(None) * 2", "Dimension(None)"),
    ('D(2) + "a"', TypeError),
    ("D(7) / 2", TypeError),
    ("7 / D(2)", TypeError),
    ("D(2) // 0", ZeroDivisionError),
    ("int(D(2))", "2"),
    ("int(D(None))", TypeError),
    ("bool(D(0)), bool(D(1)), bool(D(None))", "(False, True, False)"),
    ("list(range(3))[D(1)]", "1"),
    ("hash(D(2))", TypeError),
    ("D(2).is_compatible_with(3)", "False"),
    ("D(2).is_compatible_with(None)", "True"),
    ("D(2).assert_is_compatible_with(3)", ValueError),
    ("D(2).merge_with(None)", "Dimension(2)"),
    ("D(None).merge_with(4)", "Dimension(4)"),
    ("D(2).merge_with(3)", ValueError),
    ("pickle.loads(pickle.dumps(D(3)))", "Dimension(3)"),
    ("dimension_value(D(2)), dimension_value(3), dimension_value(D(None))", "(2, 3, None)"),
    ("dimension_at_index(F, 0)", "Dimension(2)"),
    ("dimension_at_index(U, 0)", "Dimension(None)"),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "expected"), SHAPES + BROADCASTS + DIMENSIONS)
def test_as_tensorflow(expression, expected):
    check(expression, expected, NAMES)


def test_beyond_tensorflow():
    # TensorFlow takes the bytes for dimensions.
    with pytest.raises(TypeError, match="Failed to convert b'abc' to a shape"):
        TensorShape(b"abc")


def test_known_takes_the_tuple_as_it_is():
    dims = (2, None)
    assert TensorShape._known(dims)._dims is dims
    assert TensorShape._known(None) == TensorShape(None)


def test_errors_name_the_shapes():
    with pytest.raises(ValueError, match=r"\(2, 3\) and \(4,\)"):
        broadcast_shapes([2, 3], [4])
    with pytest.raises(ValueError, match=r"\(2, None\) is not fully defined"):
        TensorShape([2, None]).assert_is_fully_defined()
    with pytest.raises(TypeError, match="got value 1.5 with type"):
        TensorShape([1.5])


def test_broadcast_agrees_with_numpy():
    generator = np.random.default_rng(0)
    for _ in range(300):
        a = tuple(map(int, generator.integers(0, 4, generator.integers(0, 4))))
        b = tuple(map(int, generator.integers(0, 4, generator.integers(0, 4))))
        try:
            expected = np.broadcast_shapes(a, b)
        except ValueError:
            with pytest.raises(ValueError):
                broadcast_dims(a, b)
        else:
            assert broadcast_dims(a, b) == expected


def test_broadcast_with_unknown_dims_covers_every_completion():
    generator = np.random.default_rng(1)

    def erase(dims):
        return tuple(None if generator.random() < 0.4 else d for d in dims)

    for _ in range(300):
        a = tuple(map(int, generator.integers(1, 4, generator.integers(0, 4))))
        b = tuple(map(int, generator.integers(1, 4, generator.integers(0, 4))))
        try:
            full = np.broadcast_shapes(a, b)
        except ValueError:
            continue
        assert TensorShape(full).is_subtype_of(TensorShape(broadcast_dims(erase(a), erase(b))))


def test_shapes_can_be_used_by_several_threads():
    seen = []
    threads = [threading.Thread(target=lambda: seen.append(TensorShape([1, 2]) + [3])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [TensorShape([1, 2, 3])] * 4
