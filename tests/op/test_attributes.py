"""Type attributes of ops: which dtypes each may be, as TensorFlow records it for its ops; others are refused."""

import pathlib

import pytest

import headrace as tf
from headrace._src.op.definition import REGISTRY

# Op, attribute, the dtypes that TensorFlow 2.21 allows: its own records, for all type attributes that callers give.
TABLE = pathlib.Path(__file__).with_name("type_attributes.tsv")
RECORDED = [line.split("\t") for line in TABLE.read_text().splitlines()]
ELSEWHERE = {("MaxPoolWithArgmax", "Targmax")}  # its kernel refuses them


def test_type_attributes_may_be_what_tensorflow_allows():
    assert len(RECORDED) > 60
    wrong = [
        (name, attribute) for name, attribute, allowed in RECORDED
        if (name, attribute) not in ELSEWHERE
        and {dtype.name for dtype in REGISTRY[name].types.get(attribute, ())} != set(allowed.split())
    ]
    assert not wrong


MATRIX = tf.constant([[1.0, 2.0], [3.0, 4.0]])
REFUSED = [
    (lambda: tf.linalg.lu(MATRIX, output_idx_type=tf.float32), "linalg.lu: output_idx_type must be one of int32"),
    (lambda: tf.shape(MATRIX, out_type=tf.float32), "shape: out_type must be one of int32, int64, got float32."),
    (lambda: tf.size(MATRIX, out_type=tf.bool), "size: out_type must be one of int32, int64, got bool."),
    (lambda: tf.unique([1, 2], out_idx=tf.int8), "unique: out_idx must be one of int32, int64, got int8."),
    (lambda: tf.argmin([1, 2], output_type=tf.int16), "math.argmin: output_type must be one of int32, int64"),
    (lambda: tf.math.top_k([1, 2], index_type=tf.uint8), "math.top_k: index_type must be one of int16, int32, int64"),
    (lambda: tf.raw_ops.RandomUniform(shape=[2], dtype=tf.int32), "RandomUniform: dtype must be one of bfloat16"),
    (lambda: tf.raw_ops.RFFT(input=[1.0], fft_length=[1], Tcomplex=tf.float32), "RFFT: Tcomplex must be one of"),
    (lambda: tf.ragged.row_splits_to_segment_ids([0, 1], out_type=tf.float32), "out_type must be int32 or int64"),
    (lambda: tf.strings.to_number(["1"], tf.int8), "out_type"),
]


@pytest.mark.parametrize(("call", "text"), REFUSED)
def test_another_dtype_is_refused_eagerly_and_in_a_graph(call, text):
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        call()
    assert text in str(caught.value)
    with pytest.raises((tf.errors.InvalidArgumentError, TypeError, ValueError)):
        tf.function(call, autograph=False)()
