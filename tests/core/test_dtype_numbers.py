"""Dtypes and the numbers that messages have for them."""

import pytest

import headrace as tf


@pytest.mark.parametrize(("dtype", "number"), [(tf.float32, 1), (tf.int32, 3), (tf.string, 7), (tf.bool, 10)])
def test_dictionaries_with_numbers_are_asked_with_dtypes(dtype, number):
    """TF: the hash of a dtype is its number."""
    assert hash(dtype) == number == dtype.as_datatype_enum
    assert {number: "found"}[dtype] == {dtype: "found"}[number] == "found"
    assert dtype == number
