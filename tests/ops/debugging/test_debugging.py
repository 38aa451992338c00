"""Debugging aids: logs, dumps and prints, which write rather than return."""

import glob
import io
import logging
import os
import struct
import sys
import threading

import numpy as np
import pytest

import headrace as tf
from headrace._src.core.tracebacks import outside_frames
from headrace._src.formats import checksums
from headrace._src.op.definition import REGISTRY
from headrace._src.op.observers import _observers


@pytest.fixture(autouse=True)
def _no_observer_stays():
    yield
    assert not _observers
    assert not any(hasattr(op.kernel, "observed") for op in REGISTRY.values())


def test_placement_is_logged(capsys):
    assert not tf.debugging.get_log_device_placement()
    tf.debugging.set_log_device_placement(True)
    try:
        assert tf.debugging.get_log_device_placement()
        tf.constant([1.0]) + 1.0
    finally:
        tf.debugging.set_log_device_placement(False)
    tf.constant([1.0]) * 2.0
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["Executing op AddV2 in device /job:localhost/replica:0/task:0/device:CPU:0"]


def test_placement_of_graphs_is_logged_when_they_first_run(capsys):
    @tf.function
    def f(x):
        with tf.device("/GPU:7"):  # which is not there
            return tf.tanh(x, name="here")

    tf.debugging.set_log_device_placement(True)
    try:
        f(tf.constant(1.0))
        f(tf.constant(1.0))
    finally:
        tf.debugging.set_log_device_placement(False)
    lines = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("Executing op")]
    assert lines == ["here: (Tanh): /job:localhost/replica:0/task:0/device:CPU:0"]


def test_a_session_logs_placement(capsys):
    v1 = tf.compat.v1
    with v1.Graph().as_default(), v1.Session(config=v1.ConfigProto(log_device_placement=True)) as session:
        y = tf.tanh(v1.placeholder(tf.float32, [], "x"), name="y")
        assert [session.run(y, {"x:0": 0.0}) for _ in range(2)] == [0.0, 0.0]
    assert capsys.readouterr().err == "y: (Tanh): /job:localhost/replica:0/task:0/device:CPU:0\n"


def test_check_numerics_names_the_op():
    tf.debugging.enable_check_numerics()
    try:
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"output 0 of op Log: 1 -Inf, 1 NaN among 3"):
            tf.math.log([1.0, 0.0, -1.0])
        with pytest.raises(tf.errors.InvalidArgumentError, match="float16"):
            tf.constant([6e4], tf.float16) * 10
        with pytest.raises(tf.errors.InvalidArgumentError, match="complex"):
            tf.constant([1j], tf.complex64) / 0
    finally:
        tf.debugging.disable_check_numerics()
    assert np.isneginf(tf.math.log(0.0).numpy())


def test_check_numerics_is_of_one_thread():
    found = []
    tf.debugging.enable_check_numerics()
    try:
        thread = threading.Thread(target=lambda: found.append(tf.math.log(0.0).numpy()))
        thread.start()
        thread.join()
    finally:
        tf.debugging.disable_check_numerics()
    assert np.isneginf(found).all()


def test_observers_see_gradients_and_lists():
    seen = []
    tf.debugging.enable_check_numerics()
    try:
        x = tf.constant([4.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            parts = tf.split(tf.concat([x, x], 0), 2)
            y = tf.sqrt(parts[0]) + parts[1]
        seen.append(tape.gradient(y, x).numpy().tolist())
    finally:
        tf.debugging.disable_check_numerics()
    assert seen == [[1.25]]


def test_frames_of_the_package_are_left_out():
    def user():
        tf.reshape([1, 2, 3], [2, 2])

    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        user()
    names = []
    frame = outside_frames(caught.value.__traceback__)
    while frame is not None:
        names.append(frame.tb_frame.f_code.co_name)
        frame = frame.tb_next
    assert names[-1] == "user"


def test_print_goes_to_streams_and_logs(capsys, caplog):
    tf.print("to stderr", tf.range(3))
    tf.print("to stdout", tf.constant(b"\xff"), output_stream=sys.stdout)
    with caplog.at_level(logging.INFO):
        tf.print("to the log", output_stream=logging.warning)
        tf.print("at a level", output_stream=logging.INFO)
    captured = capsys.readouterr()
    assert captured.err.startswith("to stderr [0 1 2]\n")
    assert captured.out == 'to stdout "\\xff"\n'
    assert [(r.levelname, r.getMessage()) for r in caplog.records] == [
        ("WARNING", "to the log"), ("INFO", "at a level"),
    ]  # fmt: skip


def test_print_follows_a_redirected_stream(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    tf.print("here", end="!")
    assert stream.getvalue() == "here!"


def test_print_to_a_file_that_cannot_be_written(tmp_path):
    with pytest.raises(tf.errors.NotFoundError):
        tf.print("x", output_stream=f"file://{tmp_path}/no/such/folder")
    with pytest.raises(tf.errors.UnknownError):
        tf.print("x", output_stream=f"file://{tmp_path}")


def read_records(path):
    with open(path, "rb") as file:
        data = file.read()
    found = []
    while data:
        (length,) = struct.unpack("<Q", data[:8])
        assert struct.unpack("<I", data[8:12])[0] == checksums.masked_crc32c(data[:8])
        body = data[12 : 12 + length]
        assert struct.unpack("<I", data[12 + length : 16 + length])[0] == checksums.masked_crc32c(body)
        found.append(body)
        data = data[16 + length :]
    return found


def dumped(folder, name):
    (path,) = glob.glob(os.path.join(folder, f"tfdbg_events.*.{name}"))
    return read_records(path)


MODES = ["NO_TENSOR", "CURT_HEALTH", "CONCISE_HEALTH", "FULL_HEALTH", "SHAPE", "FULL_TENSOR"]


@pytest.mark.parametrize("mode", MODES)
def test_dump_holds_every_op(tmp_path, mode):
    folder = str(tmp_path / mode)
    tf.debugging.experimental.enable_dump_debug_info(folder, tensor_debug_mode=mode, circular_buffer_size=-1)
    try:
        y = tf.math.log([1.0, 0.0])
        tf.strings.lower("ABC")
        tf.reduce_sum(y) + 1.0
    finally:
        tf.debugging.experimental.disable_dump_debug_info()
    tf.math.exp(1.0)  # after the end
    executions = dumped(folder, "execution")
    assert [name in event for name, event in zip((b"Log", b"StringLower", b"Sum", b"AddV2"), executions, strict=True)] \
        == [True] * 4  # fmt: skip
    assert b"debug.Event:1" in dumped(folder, "metadata")[0]
    assert b"device:CPU:0" in dumped(folder, "graphs")[0]
    assert any(b"test_dump_holds_every_op" in event for event in dumped(folder, "stack_frames"))
    assert any(__file__.encode() in event for event in dumped(folder, "source_files"))
    if mode == "FULL_TENSOR":
        assert b"abc" in executions[1]
    if mode == "CONCISE_HEALTH":
        assert np.array([-1, 2, 1, 0, 0], "<f8").tobytes() in executions[0]


def test_dump_keeps_the_last_ops(tmp_path):
    writer = tf.debugging.experimental.enable_dump_debug_info(str(tmp_path), circular_buffer_size=3)
    try:
        again = tf.debugging.experimental.enable_dump_debug_info(str(tmp_path), circular_buffer_size=3)
        assert again is writer
        for _ in range(10):
            tf.constant(1.0) + 1.0
        assert dumped(str(tmp_path), "execution") == []
        writer.FlushExecutionFiles()
        assert len(dumped(str(tmp_path), "execution")) == 3
        tf.constant(1.0) * 2.0
    finally:
        tf.debugging.experimental.disable_dump_debug_info()
    assert len(dumped(str(tmp_path), "execution")) == 4


def test_dump_of_some_ops_and_dtypes(tmp_path):
    tf.debugging.experimental.enable_dump_debug_info(
        str(tmp_path), "FULL_TENSOR", circular_buffer_size=0, op_regex="Add|Mul", tensor_dtypes=[tf.float32]
    )
    try:
        tf.constant([7.5]) + 1.0
        tf.constant([7.5]) - 1.25
        tf.constant([7], tf.int64) + 1
    finally:
        tf.debugging.experimental.disable_dump_debug_info()
    kept = [np.float32(8.5).tobytes() in event for event in dumped(str(tmp_path), "execution")]
    assert kept == [True, False, False]
    assert np.float32(6.25).tobytes() not in b"".join(dumped(str(tmp_path), "execution"))


def test_dump_refuses_what_makes_no_sense(tmp_path):
    for arguments in ({"tensor_debug_mode": "ALL"}, {"tensor_dtypes": 3}):
        with pytest.raises(ValueError):
            tf.debugging.experimental.enable_dump_debug_info(str(tmp_path), **arguments)
    with pytest.raises(TypeError):
        tf.debugging.experimental.enable_dump_debug_info(str(tmp_path), circular_buffer_size="x")
    tf.debugging.experimental.disable_dump_debug_info()


def test_check_numerics_is_built_into_functions():
    def compute(x):
        y = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.math.log(x), lambda: x)
        return tf.add_n(tf.unstack(y, 2))

    plain = tf.function(compute)
    assert np.isneginf(plain(tf.constant([0.0, 1.0])))
    tf.debugging.enable_check_numerics()
    try:
        checked = tf.function(compute)
        with tf.GradientTape() as tape:
            x = tf.constant([1.0, 2.0])
            tape.watch(x)
            y = checked(x)
        np.testing.assert_allclose(tape.gradient(y, x), [1.0, 0.5])
        with pytest.raises(tf.errors.InvalidArgumentError):
            checked(tf.constant([0.0, 1.0]))
    finally:
        tf.debugging.disable_check_numerics()
    with pytest.raises(tf.errors.InvalidArgumentError, match="output 0 of graph op Log"):
        checked(tf.constant([0.0, 1.0]))
    np.testing.assert_allclose(checked(tf.constant([-1.0, -2.0])), -3.0)


def test_levels_of_the_logger_tensorflow_hold_for_this_library(caplog):
    logger = logging.getLogger("tensorflow")
    assert tf.get_logger() is logger
    integer = tf.constant(1)
    for level, expected in ((logging.ERROR, 0), (logging.WARNING, 1)):
        with caplog.at_level(level, "tensorflow"), tf.GradientTape() as tape:
            tape.watch(integer)
        assert len(caplog.records) == expected
