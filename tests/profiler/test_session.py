"""`tf.profiler.experimental`: what the file of a profile has in it."""

import os
import re
import socket
import sys
import threading

import numpy as np
import pytest
from profiles import events_of, files_in, plane_of, read_profile, recorded, stats_of

import headrace as tf
from headrace._src.data.running.iterators import IteratorResource
from headrace._src.data.running.stages import Stage
from headrace._src.graph.compiling import queue
from headrace._src.graph.compiling.blocks import BlockBuilder
from headrace._src.graph.compiling.programs import Program, Signature
from headrace._src.graph.running.plan import Plan
from headrace._src.op.definition import REGISTRY, Op
from headrace._src.profiler import timing
from headrace._src.profiler.recording import LIMIT, Recorder
from headrace._src.profiler.time_line import space_of
from headrace._src.tracing.function import Function

profiler = tf.profiler.experimental
X = np.ones((3, 3), np.float32)


def here(offset=0):
    """This file as profiles name it, and the line of the caller."""
    frame = sys._getframe(1)
    return f"{os.path.relpath(__file__)}:{frame.f_lineno + offset}"


def inside(outer, events):
    return [event for event in events if outer.start <= event.start and event.end <= outer.end and event is not outer]


def only(events, name):
    (event,) = [event for event in events if event.name == name]
    return event


def test_the_file_is_where_tensorboard_looks_for_it(tmp_path):
    with recorded(tmp_path):
        pass
    (path,) = files_in(tmp_path)
    assert re.fullmatch(
        r"plugins/profile/\d{4}(_\d\d){5}/" + re.escape(socket.gethostname()) + r"\.xplane\.pb",
        os.path.relpath(path, tmp_path),
    )
    space = read_profile(tmp_path)
    assert list(space.hostnames) == [socket.gethostname()]
    plane = plane_of(space, "Task Environment")
    stats = stats_of(plane, plane.stats)
    assert stats["profile_start_time"] < stats["profile_stop_time"]
    assert os.listdir(os.path.dirname(path)) == [os.path.basename(path)]


def test_two_profiles_in_a_second_are_both_kept(tmp_path):
    for _ in range(3):
        profiler.start(str(tmp_path))
        profiler.stop()
    assert len(files_in(tmp_path)) == 3


def test_nothing_is_written_unless_it_is_wanted(tmp_path):
    profiler.start(str(tmp_path))
    profiler.stop(save=False)
    assert files_in(tmp_path) == []


def test_starting_twice_and_stopping_without_a_start(tmp_path):
    with pytest.raises(tf.errors.UnavailableError, match="^Cannot export profiling results. No profiler is running.$"):
        profiler.stop()
    profiler.start(str(tmp_path))
    try:
        with pytest.raises(tf.errors.AlreadyExistsError, match="^Another profiler is running.$"):
            profiler.start(str(tmp_path))
    finally:
        profiler.stop(save=False)


def test_a_folder_that_cannot_be_written_to(tmp_path):
    (tmp_path / "file").write_text("")
    profiler.start(str(tmp_path / "file"))
    with pytest.raises(tf.errors.OpError, match="file"):
        profiler.stop()
    with pytest.raises(tf.errors.UnavailableError):
        profiler.stop()


def test_an_eager_op(tmp_path):
    x = tf.constant(X)
    with recorded(tmp_path) as spaces:
        x @ x
        line = here(-1)
    event = only(events_of(spaces[0], "python"), "MatMul:MatMul")
    assert event.stats == {"source": line}
    assert event.start < event.end


def test_ops_that_are_loaded_while_it_is_recorded(tmp_path):
    op = REGISTRY["Sinh"]
    with recorded(tmp_path) as spaces:
        del REGISTRY["Sinh"]
        try:
            again = Op("Sinh", op.text, infer=op.infer, kernel=op.kernel, lower=op.lower, grad=None, **op.types)
            again(tf.constant(X))
        finally:
            REGISTRY["Sinh"] = op
    only(events_of(spaces[0], "python"), "Sinh:Sinh")


def test_an_interpreted_function(tmp_path):
    @tf.function
    def twice(x):
        return tf.tanh(x) * 2.0

    line = here(-2)
    with recorded(tmp_path) as spaces:
        twice(X)
        twice(X)
    events = events_of(spaces[0], "python")
    first, second = [event for event in events if event.name == "twice"]
    assert first.stats["tf_function_call"] == "traced-nonXla"
    assert second.stats["tf_function_call"] == "notTraced-nonXla"
    assert second.stats["tracing_count"] == 1
    assert second.stats["tier"] == "interpreted"
    assert [event.name for event in inside(second, events)] == ["Tanh:Tanh", "mul:Mul"]
    assert inside(second, events)[0].stats == {"tier": "interpreted", "source": line}
    only(inside(first, events), "tf.function-graph_building")


def test_a_plan_that_is_written_as_code_is_timed_too(tmp_path):
    function = tf.function(lambda x: tf.tanh(x) + 1.0)
    for _ in range(100):
        function(X)
    with recorded(tmp_path) as spaces:
        function(X)
    assert [event.name for event in events_of(spaces[0], "python")] == ["lambda", "Tanh:Tanh", "add:AddV2"]


def test_a_compiled_function(tmp_path):
    @tf.function(jit_compile=True)
    def compiled(x):
        return tf.tanh(x) * 2.0

    with recorded(tmp_path) as spaces:
        compiled(X)
        compiled(X)
    events = events_of(spaces[0], "python")
    first, second = [event for event in events if event.name == "compiled"]
    assert first.stats["tf_function_call"] == "traced-xla"
    assert second.stats["tier"] == "compiled"
    assert [(event.name, event.stats) for event in inside(second, events)] == [
        ("compiled:XlaLaunch", {"tier": "compiled"})
    ]
    assert only(inside(first, events), "XLA compile here").stats == {"function": "compiled"}
    # XLA's own time line: jax is loaded by now.
    within = [event for event in inside(second, events_of(spaces[0])) if event not in events]
    assert any("Execut" in event.name for event in within), within


def test_what_the_compiling_process_does_has_a_line(tmp_path):
    graph = tf.function(lambda x: tf.tanh(x) + 1.0).get_concrete_function(tf.TensorSpec([2])).graph
    block = BlockBuilder().of_plan(graph.plan())
    owner = Recorder(0)
    with recorded(tmp_path) as spaces:
        job = queue.Job(owner, block, Signature(((2,),), []), lambda built: built, "stepper")
        queue.queue.submit(job)
        assert job.wait(120)
        assert isinstance(job.result, queue.Built)
    names = [event.name for event in events_of(spaces[0], "headrace compile worker (process)")]
    assert names in (["start and send", "lower", "XLA compile"], ["read a program, or none"])
    assert only(events_of(spaces[0], "headrace compiler"), "compile and load").stats == {"function": "stepper"}


def test_steps(tmp_path):
    x = tf.constant(X)
    with recorded(tmp_path) as spaces:
        for i in range(2):
            with profiler.Trace("train", step_num=i, _r=1) as step:
                x + x
                step.set_metadata(loss=tf.constant(0.5), name="a", rows=np.int32(3))
    events = events_of(spaces[0], "python")
    steps = [event for event in events if event.name == "train"]
    assert [step.stats for step in steps] == [
        {"step_num": i, "_r": 1, "loss": 0.5, "name": "a", "rows": 3} for i in range(2)
    ]
    assert [event.name for event in inside(steps[1], events)] == ["AddV2:AddV2"]


def test_a_trace_without_a_profile_costs_and_does_nothing(tmp_path):
    with profiler.Trace("train", step_num=1, _r=1) as step:
        step.set_metadata(rows=3)
        profiler.start(str(tmp_path))
    profiler.stop()
    assert events_of(read_profile(tmp_path), "python") == []


def test_input_pipelines(tmp_path, monkeypatch):
    monkeypatch.setattr(timing, "_SHORTEST_STEP", 0)
    iterator = iter(tf.data.Dataset.range(4).map(lambda x: x * x).filter(lambda x: x >= 0).batch(2))
    with recorded(tmp_path) as spaces:
        next(iterator)
        line = here(-1)
    events = events_of(spaces[0])
    element = only(events, "IteratorGetNextOp::DoCompute")
    assert element.stats == {"source": line}
    names = {event.name for event in inside(element, events)}
    assert {"Iterator::Batch", "Iterator::Filter", "mul:Mul"} <= names, names


def test_threads_have_lines_of_their_own(tmp_path):
    x = tf.constant(X)
    with recorded(tmp_path) as spaces:
        thread = threading.Thread(target=lambda: x * x, name="another")
        thread.start()
        thread.join()
    assert [event.name for event in events_of(spaces[0], "another")] == ["Mul:Mul"]


def test_levels(tmp_path):
    x, function = tf.constant(X), tf.function(lambda x: x + 1.0)
    function(x)
    for level, names in ((0, []), (1, ["train", "lambda"]), (2, ["train", "AddV2:AddV2", "lambda", "add:AddV2"])):
        with recorded(tmp_path / str(level), host_tracer_level=level, device_tracer_level=0) as spaces:
            with profiler.Trace("train"):
                x + x
                function(x)
        assert [event.name for event in events_of(spaces[0], "python")] == names


def test_calls_of_python_functions(tmp_path):
    def called():
        return tf.constant(X) + 1.0

    with recorded(tmp_path, python_tracer_level=1) as spaces:
        called()
    events = events_of(spaces[0], "python")
    call = only(events, f"$test_session.py:{called.__code__.co_firstlineno} called")
    only(inside(call, events), "AddV2:AddV2")


def test_afterwards_all_is_as_before(tmp_path):
    op, kernel = REGISTRY["AddV2"], REGISTRY["AddV2"].kernel
    places = [(Function, "__call__"), (Plan, "run"), (Program, "run"), (IteratorResource, "next"), (Stage, "cursor")]
    before = [owner.__dict__[name] for owner, name in places]
    with recorded(tmp_path):
        assert op.eager_kernel is not kernel
        assert op.kernel is kernel  # what graphs that are made now will keep
        function = tf.function(lambda x: x + 1.0)
        function(X)
    assert op.eager_kernel is kernel
    assert [owner.__dict__[name] for owner, name in places] == before
    assert all(op.eager_kernel is op.kernel for op in dict.values(REGISTRY))


def test_an_error_inside_is_the_same_as_without(tmp_path):
    reshaped = tf.function(lambda x: tf.reshape(x, [2, 2]), input_signature=[tf.TensorSpec([None])])

    def message():
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            reshaped(np.ones(5, np.float32))
        return str(caught.value)

    plain = message()
    with recorded(tmp_path):
        timed = message()
    assert timed == plain


def test_the_number_of_events_is_limited():
    recorder = Recorder(limit=5000)
    key = recorder.key("event")
    for i in range(7000):
        recorder.add(i, i + 1, key)
    recorder.stop()
    recorder.add(0, 1, key)
    space = space_of(recorder)
    assert len(events_of(space)) == 5000
    assert "2000 events" in space.warnings[0]
    assert LIMIT <= 1_000_000  # 32 bytes each
