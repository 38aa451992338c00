"""Variables that are divided into parts: made, used and saved as TensorFlow does."""

import json
import pathlib

import numpy as np
import pytest
import v1_saving_programs as programs

import headrace as tf

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden" / "v1_saving.json"
RECORDED = json.loads(GOLDEN.read_text())["partitioned"]
v1 = tf.compat.v1


@pytest.mark.parametrize("name", sorted(programs.PARTITIONED))
def test_programs(name):
    programs.compare(name, programs.result_of(tf, programs.PARTITIONED[name]), RECORDED[name])


@pytest.mark.parametrize("lookup", [tf.nn.embedding_lookup, v1.nn.embedding_lookup])
def test_rows_of_parts(lookup):
    keywords = {} if lookup is tf.nn.embedding_lookup else {"partition_strategy": "div"}
    with tf.Graph().as_default(), v1.Session() as sess:
        p = v1.get_variable("p", [5, 2], partitioner=v1.fixed_size_partitioner(3))
        sess.run(p.assign(np.arange(10, dtype=np.float32).reshape(5, 2)))
        assert sess.run(lookup(p, [4, 0, 2], **keywords)).tolist() == [[8.0, 9.0], [0.0, 1.0], [4.0, 5.0]]


def test_scale_of_parts_is_that_of_the_whole():
    with tf.Graph().as_default(), v1.Session() as sess:
        p = v1.get_variable("p", [400, 3], partitioner=v1.fixed_size_partitioner(100))
        sess.run(v1.global_variables_initializer())
        assert np.abs(sess.run(tf.convert_to_tensor(p))).max() <= np.sqrt(6 / 403)
