"""Kernels that take many strings together, against what they give for one string at a time."""

import numpy as np
import pytest

import headrace as tf


def strings(items):
    array = np.empty(len(items), object)
    array[:] = items
    return array


def one_by_one(function, items):
    return [function(strings([item])).numpy()[0] for item in items]


PLAIN = [b"0", b"-0", b"7", b"-12", b"3.5", b".5", b"-.25", b"8.", b"000012", b"1.10", b"123456789012345", b"0.1"]
PLAIN += [b"16777217", b"16777217.0000001", b"0.000000000000001", b"-9007199254.740993", b"33554434.9999"]
OTHER = [b"1e3", b" 4 ", b"+5", b"inf", b"nan", b"0x10", b"12345678901234567890", b"1.0000000596046448", b"-inf"]


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
@pytest.mark.parametrize("more", [[], *([item] for item in OTHER)])
def test_numbers_with_a_point(dtype, more):
    items = PLAIN * 10 + more
    found = tf.strings.to_number(strings(items), dtype).numpy()
    want = np.array(one_by_one(lambda item: tf.strings.to_number(item, dtype), items))
    np.testing.assert_array_equal(found, want)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(want))


def test_decimals_are_rounded_once():
    rng = np.random.default_rng(0)
    digits, numbers = rng.integers(0, 9, 5000).tolist(), rng.normal(0, 99, 5000).tolist()
    items = [b"%.*f" % pair for pair in zip(digits, numbers)]
    found = tf.strings.to_number(strings(items), tf.float64).numpy()
    np.testing.assert_array_equal(found, [float(item) for item in items])


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64, tf.uint32, tf.uint64])
def test_integers(dtype):
    items = [b"0", b"7", b"000123", b"2147483647", b" 8", b"+9"] * 20
    items += [b"-5", b"-0"] * 20 if not dtype.is_unsigned else []
    found = tf.strings.to_number(strings(items), dtype).numpy()
    assert found.dtype == dtype.as_numpy_dtype
    assert found.tolist() == [int(item) for item in items]
    assert tf.strings.to_number(strings(items[:4] * 30), dtype).numpy().tolist() == [int(i) for i in items[:4] * 30]


@pytest.mark.parametrize(
    ("item", "dtype"),
    [(b"", tf.float32), (b"-", tf.float32), (b".", tf.float32), (b"1.2.3", tf.float32), (b"1-2", tf.float32)]
    + [(b"a", tf.float32), (b"--1", tf.float64), (b"1\n2", tf.float32), (b"1.5", tf.int32), (b"-", tf.int64)]
    + [(b"2147483648", tf.int32), (b"-2147483649", tf.int32), (b"-1", tf.uint32), (b"9" * 20, tf.int64)],
)
def test_what_is_no_number_is_refused(item, dtype):
    with pytest.raises(tf.errors.InvalidArgumentError, match="StringToNumber"):
        tf.strings.to_number(strings([b"1"] * 100 + [item]), dtype)


@pytest.mark.parametrize("items", [[b"ab", "é€😀".encode(), b"", b"x"], [b"ab", b"c"], [b"", b""], ["é".encode()]])
@pytest.mark.parametrize("more", [[], [b"\xff"], [b"\xc3", b"\xa9"], [b"a\x01b"], [b""]])
@pytest.mark.parametrize("policy", ["replace", "ignore"])
@pytest.mark.parametrize("control", [False, True])
def test_decoding_together(items, more, policy, control):
    items = items + more
    options = {"errors": policy, "replace_control_characters": control}
    codes, offsets = tf.strings.unicode_decode_with_offsets(strings(items), "UTF-8", **options)
    for item, row, starts in zip(items, codes.to_list(), offsets.to_list()):
        alone, alone_starts = tf.strings.unicode_decode_with_offsets(item, "UTF-8", **options)
        assert row == alone.numpy().tolist()
        assert starts == alone_starts.numpy().tolist()


def test_decoding_strictly_refuses_a_character_in_two_strings():
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.strings.unicode_decode(strings([b"\xc3", b"\xa9"]), "UTF-8", errors="strict")


@pytest.mark.parametrize("pos", [0, 1, 3, -1, -3])
@pytest.mark.parametrize("size", [0, 1, 3, 100, -1])
def test_substrings_at_one_place(pos, size):
    items = [b"abc", b"defgh", b"\x00\x01\x02\x03"]
    found = tf.strings.substr(strings(items), pos, size).numpy().tolist()
    want = tf.strings.substr(strings(items), [pos] * 3, [size] * 3).numpy().tolist()
    assert found == want


def test_substrings_of_a_string_that_is_too_short():
    for pos in (2, -2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="index 1"):
            tf.strings.substr(strings([b"abc", b"a"]), pos, 1)
    assert tf.strings.substr(strings([]), 5, 1).shape == (0,)


def test_hashes_of_all_lengths_in_any_order():
    rng = np.random.default_rng(0)
    items = [rng.bytes(int(length)) for length in rng.permutation(np.repeat(np.arange(150), 2))]
    for function in (
        lambda item: tf.strings.to_hash_bucket_fast(item, 10**6),
        lambda item: tf.strings.to_hash_bucket_strong(item, 10**6, [3, 4]),
    ):
        assert function(strings(items)).numpy().tolist() == one_by_one(function, items)
    assert tf.strings.to_hash_bucket_fast(strings([]), 5).shape == (0,)


@pytest.mark.parametrize(
    ("pattern", "rewrite"),
    [("[aeiou]", "_"), ("(a)(b)?", r"<\2\1\0>"), ("a*", "-"), ("^", ">"), (r"\bx", "é"), ("é+", r"\\"), ("a", r"b\q")],
)
def test_replacing_agrees_with_replacing_the_first_again_and_again(pattern, rewrite):
    items = [b"", b"aab abc xax", "éé a é".encode(), b"\xff a \xfe", b"bcd"]
    found = tf.strings.regex_replace(strings(items), pattern, rewrite).numpy().tolist()
    assert found == one_by_one(lambda item: tf.strings.regex_replace(item, pattern, rewrite), items)


def test_replacing():
    found = tf.strings.regex_replace(["banana", "xyz", "aé"], "a(n?)", r"[\1]").numpy().tolist()
    assert found == [b"b[n][n][]", b"xyz", "[]é".encode()]


@pytest.mark.parametrize("options", [{}, {"width": 8}, {"width": 8, "fill": "0"}, {"width": 6, "fill": "-"}])
def test_writing_numbers(options):
    whole = np.array([0, -5, 123456, 7], np.int32)
    found = tf.strings.as_string(whole, **options).numpy().tolist()
    assert found == [tf.strings.as_string(x, **options).numpy() for x in whole]
    for numbers in (np.array([0.5, -1e10, 3.0], np.float32), np.array([0.5, np.nan, -np.inf], np.float32)):
        found = tf.strings.as_string(numbers, **options).numpy().tolist()
        assert found == [tf.strings.as_string(x, **options).numpy() for x in numbers]
    assert tf.strings.as_string(np.zeros((0, 3), np.int32)).shape == (0, 3)


TEXTS = [b"a b", b"", b"  lead", b"trail \t", b" ", b"\x0b\x0c\r\nx\n", b"one", b"a,b,,c", b","]
TEXTS += [b"\x00 \x85\xa0", b"a\xffb"]


@pytest.mark.parametrize("separator", ["", ",", " ", "ab", "\n"])
@pytest.mark.parametrize(
    "items", [TEXTS * 3, TEXTS[::-1] * 3, [b"", b""] * 20, [b" ", b"  "] * 20, [b",", b""] * 20, [b"x"], []]
)
def test_splitting_together(separator, items):
    found = tf.strings.split(strings(items), separator or None)
    assert found.to_list() == [item.split(separator.encode() or None) for item in items]
    parts = tf.raw_ops.StringSplitV2(input=strings(items), sep=separator)
    rows = [item.split(separator.encode() or None) for item in items]
    assert parts.values.numpy().tolist() == [part for row in rows for part in row]
    assert parts.shape.numpy().tolist() == [len(items), max(map(len, rows), default=0)]
    assert parts.indices.numpy().tolist() == [[i, j] for i, row in enumerate(rows) for j in range(len(row))]


@pytest.mark.parametrize("items", [TEXTS, [b"", b""], []])
def test_single_bytes(items):
    found = tf.strings.bytes_split(strings(items)).to_list()
    assert found == [[bytes([byte]) for byte in item] for item in items]


@pytest.mark.parametrize("count", [1, 100])
def test_lengths_in_characters(count):
    items = ["é€😀a".encode(), b"", b"abc", b"\x80\xc3", b"\xff"] * count
    found = tf.strings.length(strings(items).reshape(5, count), unit="UTF8_CHAR").numpy()
    assert found.tolist() == np.array([4, 0, 3, 1, 1] * count).reshape(5, count).tolist()
