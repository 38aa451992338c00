"""1.x graphs that TensorFlow trained and saved are taken over: equal predictions, equal further training.

`scripts/interop_v1` tries all programs, and the other way round.
"""

import pathlib
import shutil

import pytest
import v1_exchange

import headrace as tf

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden" / "v1_exchange"


@pytest.mark.parametrize("name", v1_exchange.RECORDED)
def test_taken_over(name, tmp_path):
    shutil.unpack_archive(GOLDEN / f"{name}.zip", tmp_path)
    assert v1_exchange.load(tf, name, tmp_path) == []


@pytest.mark.parametrize("name", ["adam_references", "embedded_adagrad", "looked_up", "scattered_references"])
def test_taken_over_from_headrace(name, tmp_path):
    v1_exchange.save(tf, name, tmp_path / name)
    assert v1_exchange.load(tf, name, tmp_path / name) == []


@pytest.mark.parametrize("name", ["adam_references", "scattered_references"])
def test_written_again(name, tmp_path):
    """What TensorFlow wrote is written as it was: the same nodes with the same inputs."""
    v1 = tf.compat.v1
    shutil.unpack_archive(GOLDEN / f"{name}.zip", tmp_path)
    original = v1.MetaGraphDef.FromString((tmp_path / "ck.meta").read_bytes())
    with tf.Graph().as_default():
        v1.train.import_meta_graph(original)
        again = v1.train.export_meta_graph()

    def described(message):
        return {node.name: (node.op, sorted(node.input)) for node in message.graph_def.node}

    assert described(again) == described(original)
