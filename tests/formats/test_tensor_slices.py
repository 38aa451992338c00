"""Texts and keys of parts of tensors, against what TensorFlow writes and says."""

import pytest

import headrace as tf
from headrace._src.formats.tensor_slices import (
    TensorSlice,
    parse_shape_and_slice,
    parse_slice,
    shape_and_slice_text,
    whole,
)

# Keys that TensorFlow 2.21 wrote into index files.
KEYS = [
    ("x", TensorSlice((2,), (2,)), "0078000101018282"),
    ("y", TensorSlice((100, 0), (100, -1)), "007900010102c064c064807f"),
    ("s", whole(0), "0073000100"),
    ("b", whole(2), "00620001" + "0102807f807f"),
]


@pytest.mark.parametrize(("name", "part", "key"), KEYS)
def test_keys(name, part, key):
    assert part.key(name).hex() == key


def test_keys_sort_as_starts_do():
    starts = [0, 1, 63, 64, 100, 8191, 8192, 2**20, 2**40, 2**56, 2**62, 2**63 - 1]
    keys = [TensorSlice((start,), (1,)).key("x") for start in starts]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys)


def test_names_with_the_bytes_that_end_strings():
    names = ["", "\x00", "\x00\x01", "\x00\udcff", "a", "\udcff", "\udcff\x00", "\udcff\x01"]
    keys = [whole(1).key(name) for name in names]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys)
    assert whole(0).key("\x00\x01").hex() == "00" + "00ff01" + "0001" + "00"


@pytest.mark.parametrize(
    ("text", "shape", "part"),
    [
        ("10 20 0,5:-", (10, 20), TensorSlice((0, 0), (5, -1))),
        ("4 1,2", (4,), TensorSlice((1,), (2,))),
        ("3 -", (3,), TensorSlice((0,), (-1,))),
    ],
)
def test_texts(text, shape, part):
    assert parse_shape_and_slice(text) == (shape, part)
    assert shape_and_slice_text(shape, part) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("junk", "Need least two elements in shape_and_slice specification: junk"),
        ("x 0,1", "Non numerical dimension in shape_and_slice: x 0,1"),
        ("2 junk", "Expected a pair of numbers or '-' but got 'junk': string = junk"),
        ("4 1,x", "Expected a pair of numbers or '-' but got '1,x': string = 1,x"),
        ("4 -1,2", "Expected a pair of numbers or '-' but got '-1,2'"),
        ("4 0,0", "Expected non-negative start and positive length"),
        ("4 0,99999999999999999999", "Expected a pair of numbers"),
        ("99999999999999999999 0,1", "Non numerical dimension"),
    ],
)
def test_bad_texts(text, message):
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        parse_shape_and_slice(text)
    assert message in str(caught.value)


def test_a_part_outside_of_the_tensor():
    with pytest.raises(ValueError, match=r"shape = \[2\], slice = 0,5"):
        parse_slice("0,5").resolved((2,))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Mismatching ranks: shape = \[2\], slice = 0,1:-"):
        parse_shape_and_slice("2 0,1:-")


def test_overlaps():
    one, other = TensorSlice((0, 0), (3, 4)), TensorSlice((2, 1), (5, 2))
    assert one.overlap(other) == other.overlap(one) == TensorSlice((2, 1), (1, 2))
    assert one.overlap(TensorSlice((3, 0), (1, 4))) is None
    assert TensorSlice((2, 1), (1, 2)).shifted((2, 1)).indices() == (slice(0, 1), slice(0, 2))
    assert whole(2).is_whole((3, 4))
    assert not one.is_whole((4, 4))
