"""Names of 1.x that stand by themselves do what TensorFlow's do: values, shapes, classes of errors."""

import json
import pathlib
import threading

import numpy as np
import pytest
import v1_rest_programs as programs

import headrace as tf

RECORDED = json.loads((pathlib.Path(__file__).resolve().parents[1] / "golden" / "compat_v1_rest.json").read_text())
v1 = tf.compat.v1


def alike(got, wanted):
    if isinstance(wanted, list):
        assert isinstance(got, list), (got, wanted)
        assert len(got) == len(wanted), (got, wanted)
        for a, b in zip(got, wanted):
            alike(a, b)
    elif isinstance(wanted, float):
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=2e-5)
    else:
        assert got == wanted


@pytest.mark.parametrize(("family", "name"), [(f, n) for f in programs.FAMILIES for n in sorted(RECORDED[f])])
def test_program(family, name, tmp_path):
    alike(programs.outcome(programs.FAMILIES[family][name], tf, str(tmp_path)), RECORDED[family][name])


def test_nothing_is_left_out():
    assert {f: set(members) for f, members in programs.FAMILIES.items()} == {f: set(r) for f, r in RECORDED.items()}


def test_taking_waits_for_other_threads():
    with tf.Graph().as_default(), v1.Session() as session:
        accumulator = v1.ConditionalAccumulator(tf.float32, [])
        add, take = accumulator.apply_grad(3.0), accumulator.take_grad(4)
        found = []
        taker = threading.Thread(target=lambda: found.append(session.run(take)))
        taker.start()
        for _ in range(4):
            session.run(add)
        taker.join()
        assert found == [3.0]
        assert session.run(accumulator.num_accumulated()) == 0


def test_sessions_have_accumulators_of_their_own():
    with tf.Graph().as_default():
        accumulator = v1.ConditionalAccumulator(tf.float32, [])
        add, count = accumulator.apply_grad(3.0), accumulator.num_accumulated()
        with v1.Session() as one, v1.Session() as other:
            one.run(add)
            assert (one.run(count), other.run(count)) == (1, 0)


def test_a_value_goes_with_its_handle():
    with tf.Graph().as_default(), v1.Session() as session:
        keep = v1.get_session_handle(tf.constant([1.0]))
        before = len(session._resources)
        kept = session.run(keep)
        assert len(session._resources) == before + 1
        kept.delete()
        assert len(session._resources) == before
        with pytest.raises(tf.errors.InvalidArgumentError, match="no tensor with the handle"):
            kept.kept()


def test_temporary_folder_and_sources(monkeypatch):
    folder = pathlib.Path(v1.test.get_temp_dir())
    assert folder.is_dir()
    assert v1.test.get_temp_dir() == str(folder)
    monkeypatch.setenv("TEST_SRCDIR", "/sources")
    assert v1.test.test_src_dir_path("a/b") == "/sources/tensorflow/a/b"


def test_files_of_the_package():
    assert b"TensorFlow" in v1.resource_loader.load_resource("__init__.py")
