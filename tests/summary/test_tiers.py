"""Summaries in every way in which a function runs: order, steps, conditions, several writers and threads."""

import glob
import threading

import pytest
from summary_programs import events_of

import headrace as tf
from headrace._src.formats import event_messages
from headrace._src.graph.compiling import compilation


def _read(folder):
    """(tag, step, value) of the scalars in a folder."""
    found = []
    for path in sorted(glob.glob(f"{folder}/*")):
        for data in events_of(path)[1:]:
            event = event_messages.Event.FromString(data)
            for value in event.summary.value:
                number = tf.io.parse_tensor(value.tensor.SerializeToString(), tf.float32)
                found.append((value.tag, event.step, float(number)))
    return found


def _chain(x):
    for _ in range(30):
        x = tf.tanh(x + 0.1) * 1.1
    return x


def _programs(executable):
    if not isinstance(executable, compilation.Executable):
        return 0
    if executable.segmented is not None:
        return sum(_programs(piece.executable) for piece in executable.segmented.pieces)
    return sum(entry.program is not None for entry in executable._entries.values())


def _steps(writer, other):
    counter = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def step(x):
        with writer.as_default():
            x = _chain(x)
            tf.summary.scalar("first", x, step=counter)
            counter.assign_add(1)
            x = _chain(x)
            with tf.summary.record_if(counter % 2 == 0):
                tf.summary.scalar("even", x, step=counter)
            with other.as_default():
                tf.summary.scalar("other", counter, step=counter)
            if x > 0:
                tf.summary.scalar("positive", x, step=counter)
            for i in tf.range(2):
                tf.summary.scalar("loop", i, step=counter)
        return x

    return step


@pytest.mark.parametrize("tier", ["eager", "interpreted", "compiled"])
def test_order(tier, tmp_path, monkeypatch):
    monkeypatch.setattr(compilation.random_state, "deterministic", tier == "compiled")
    writer, other = (tf.summary.create_file_writer(str(tmp_path / name)) for name in "ab")
    step = _steps(writer, other)
    x = tf.constant(0.5)
    if tier == "eager":
        tf.config.run_functions_eagerly(True)
    try:
        for _ in range(3):
            step(x)
    finally:
        tf.config.run_functions_eagerly(False)
    if tier != "eager":
        count = _programs(step.get_concrete_function(x).graph.executable())
        assert count == 0 if tier == "interpreted" else count >= 2
    once, twice = (pytest.approx(float(value), rel=1e-5) for value in (_chain(x), _chain(_chain(x))))
    scopes = ("", "") if tier == "eager" else ("cond/", "while/")
    expected = []
    for number in range(3):
        expected.append(("first", number, once))
        if number % 2:
            expected.append(("even", number + 1, twice))
        expected.append((scopes[0] + "positive", number + 1, twice))
        expected += [(scopes[1] + "loop", number + 1, float(i)) for i in range(2)]
    assert _read(tmp_path / "a") == expected
    assert _read(tmp_path / "b") == [("other", number + 1, number + 1.0) for number in range(3)]


def test_what_must_be_compiled_is_refused(tmp_path):
    with tf.summary.create_file_writer(str(tmp_path)).as_default():

        @tf.function(jit_compile=True)
        def step(x):
            tf.summary.scalar("a", x, step=1)
            return x

        with pytest.raises(tf.errors.InvalidArgumentError, match="WriteSummary"):
            step(tf.constant(1.0))


def test_elements_that_are_computed_at_once_have_no_order(tmp_path):
    def element(x):
        tf.summary.scalar("a", x, step=1)
        return x * 2

    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        with pytest.raises(ValueError, match=r"WriteSummary .* Use tf\.map_fn"):
            tf.vectorized_map(element, tf.constant([1.0, 2.0]))
        assert tf.map_fn(element, tf.constant([1.0, 2.0])).numpy().tolist() == [2.0, 4.0]
    assert [value for *_, value in _read(tmp_path)] == [1.0, 2.0]


def test_threads_have_writers_of_their_own(tmp_path):
    def work(name):
        with tf.summary.create_file_writer(str(tmp_path / name)).as_default(step=7):
            for value in range(20):
                tf.summary.scalar(name, value)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name in "abcd":
        assert _read(tmp_path / name) == [(name, 7, float(value)) for value in range(20)]
    assert tf.summary.experimental.get_step() is None
    assert not tf.summary.should_record_summaries()


def test_a_writer_in_a_module(tmp_path):
    class Logged(tf.Module):
        def __init__(self):
            super().__init__()
            self.writer = tf.summary.create_file_writer(str(tmp_path), experimental_trackable=True)

        @tf.function
        def __call__(self, x):
            with self.writer.as_default(step=3):
                tf.summary.scalar("x", x)
            return x

    module = Logged()
    module(tf.constant(2.0))
    assert "writer" in module._trackable_children()
    assert _read(tmp_path) == [("x", 3, 2.0)]  # leaving the context has flushed it


def test_set_as_default(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))
    writer.set_as_default(step=4)
    try:
        assert bool(tf.summary.should_record_summaries())
        tf.summary.scalar("a", 1.0)
        tf.summary.flush()
    finally:
        tf.summary.create_noop_writer().set_as_default()
        context = writer.as_default()
        context.__enter__()
        context._before = (None, None)
        context.__exit__()
        tf.summary.experimental.set_step(None)
    assert _read(tmp_path) == [("a", 4, 1.0)]
