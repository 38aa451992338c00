"""Texts and keys of parts of tensors, against what TensorFlow writes and says."""

import pytest

import headrace as tf
from headrace._src.formats.tensor_slices import Slice, parse_part, parse_slice, part_text, slice_key, whole

# Keys that TensorFlow 2.21 wrote into index files.
KEYS = [
    (b"x", Slice((2,), (2,)), "0078000101018282"),
    (b"y", Slice((100, 0), (100, -1)), "007900010102c064c064807f"),
    (b"s", whole(0), "0073000100"),
    (b"b", whole(2), "00620001" + "0102807f807f"),
]


@pytest.mark.parametrize(("name", "part", "key"), KEYS)
def test_keys(name, part, key):
    assert slice_key(name, part).hex() == key


def test_keys_sort_as_starts_do():
    starts = [0, 1, 63, 64, 100, 8191, 8192, 2**20, 2**40, 2**56, 2**62, 2**63 - 1]
    keys = [slice_key(b"x", Slice((start,), (1,))) for start in starts]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys)


def test_names_with_the_bytes_that_end_strings():
    names = [b"", b"\x00", b"\x00\x01", b"\x00\xff", b"a", b"\xff", b"\xff\x00", b"\xff\x01"]
    keys = [slice_key(name, whole(1)) for name in names]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys)
    assert slice_key(b"\x00\x01", whole(0)).hex() == "00" + "00ff01" + "0001" + "00"


@pytest.mark.parametrize(
    ("text", "shape", "part"),
    [
        ("10 20 0,5:-", (10, 20), Slice((0, 0), (5, -1))),
        ("4 1,2", (4,), Slice((1,), (2,))),
        ("3 -", (3,), Slice((0,), (-1,))),
    ],
)
def test_texts(text, shape, part):
    assert parse_part(text) == (shape, part)
    assert part_text(shape, part) == text


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
        parse_part(text)
    assert message in str(caught.value)


def test_a_part_outside_of_the_tensor():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"shape = \[2\], slice = 0,5"):
        parse_slice("0,5").bounded((2,))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Mismatching ranks: shape = \[2\], slice = 0,1:-"):
        parse_slice("0,1:-").bounded((2,))


def test_overlaps():
    one, other = Slice((0, 0), (3, 4)), Slice((2, 1), (5, 2))
    assert one.overlap(other) == other.overlap(one) == Slice((2, 1), (1, 2))
    assert one.overlap(Slice((3, 0), (1, 4))) is None
    assert Slice((2, 1), (1, 2)).shifted((2, 1)).indices() == (slice(0, 1), slice(0, 2))
    assert whole(2).is_whole((3, 4))
    assert not one.is_whole((4, 4))
