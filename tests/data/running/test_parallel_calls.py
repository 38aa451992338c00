"""`Dataset.map` in threads: several elements for a thread at a time, and results made in the memory of batches."""

import re
import threading
import time
import types

import numpy as np
import pytest

import headrace as tf
from headrace._src.core import operating_system
from headrace._src.data.running import batch_rows, parallel_calls
from headrace._src.data.running.batch_rows import Row, batch_of, put, rows_for
from headrace._src.data.transformations import batching


def _strings(count):
    return tf.data.Dataset.from_tensor_slices([tf.io.serialize_tensor(n).numpy() for n in range(count)])


def _number(text):
    """An op that is called for each element: it has no form for whole blocks."""
    return tf.ensure_shape(tf.io.parse_tensor(text, tf.int32), [])


def _image(text):
    """Large enough for a row of its own."""
    return tf.fill([80, 80], tf.cast(_number(text), tf.float32)), _number(text)


@pytest.mark.parametrize("parallel", [1, 2, 7, tf.data.AUTOTUNE])
@pytest.mark.parametrize("order", [True, False])
def test_each_element_once(parallel, order):
    dataset = _strings(3000).map(_number, num_parallel_calls=parallel, deterministic=order)
    for _ in range(2):
        found = [int(x) for x in dataset]
        assert (found if order else sorted(found)) == list(range(3000))


@pytest.fixture
def sizes(monkeypatch):
    """How many elements threads are given at a time."""
    found = []
    together = parallel_calls._all_of

    def noted(calls):
        found.append(len(calls))
        return together(calls)

    monkeypatch.setattr(parallel_calls, "_all_of", noted)
    return found


def test_short_calls_are_made_together(sizes, monkeypatch):
    clock = types.SimpleNamespace(perf_counter=lambda: 0.0, thread_time=lambda: 0.0)
    monkeypatch.setattr(parallel_calls, "time", clock)  # on a busy machine, any call may take long
    assert sum(1 for _ in _strings(3000).map(_number, num_parallel_calls=2)) == 3000
    assert sizes[0] == 1
    assert max(sizes) > 8


def test_elements_of_a_slow_input_are_handed_over_at_once(sizes):
    def slowly():
        for n in range(60):
            time.sleep(0 if n < 40 else 2 * parallel_calls._SECONDS_TOGETHER)
            yield tf.io.serialize_tensor(n).numpy()

    dataset = tf.data.Dataset.from_generator(slowly, output_signature=tf.TensorSpec([], tf.string))
    assert [int(x) for x in dataset.map(_number, num_parallel_calls=2)] == list(range(60))
    assert set(sizes[-10:]) == {1}


def test_an_error_concerns_its_element_alone():
    def checked(text):
        number = _number(text)
        tf.debugging.Assert(number % 100 != 50, ["wrong"])
        return number

    iterator = iter(_strings(1000).map(checked, num_parallel_calls=2))
    found, wrong = [], []
    while True:
        try:
            found.append(int(next(iterator)))
        except StopIteration:
            break
        except tf.errors.InvalidArgumentError as error:
            wrong.append(int(re.search(r"element (\d+)", str(error))[1]))
    assert wrong == list(range(50, 1000, 100))
    assert found == [n for n in range(1000) if n % 100 != 50]


@pytest.mark.parametrize("at", [0, 1, 5, 300, 999])
def test_resumes_among_elements_that_were_made_together(at):
    dataset = _strings(1000).map(_number, num_parallel_calls=3)
    iterator = iter(dataset)
    found = [int(next(iterator)) for _ in range(at)]
    state = iterator.state_dict()
    assert found + [int(x) for x in iterator] == list(range(1000))
    resumed = iter(dataset)
    resumed.load_state_dict(state)
    assert [int(x) for x in resumed] == list(range(at, 1000))


def test_calls_with_effects_are_not_made_early():
    """TF: with effects, no more calls are begun than may run at the same time."""
    count = tf.Variable(0)
    lock = threading.Lock()

    def counted(text):
        def add():
            with lock:
                count.assign_add(1)

        tf.py_function(add, [], [])
        return _number(text)

    iterator = iter(_strings(1000).map(counted, num_parallel_calls=2))
    for _ in range(10):
        next(iterator)
    assert int(count) <= 13
    del iterator


@pytest.mark.parametrize("parallel", [2, tf.data.AUTOTUNE])
@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("size", [1, 8, 32])
def test_batches_of_large_elements(parallel, drop, size):
    dataset = _strings(101).map(_image, num_parallel_calls=parallel).batch(size, drop_remainder=drop).prefetch(2)
    for _ in range(2):
        batches = [(x.numpy(), y.numpy()) for x, y in dataset]
        count = 101 // size * size if drop else 101
        assert np.concatenate([y for _, y in batches]).tolist() == list(range(count))
        assert [len(x) for x, _ in batches[:-1]] == [size] * (len(batches) - 1)
        for x, y in batches:
            assert (x == y[:, None, None]).all()


def test_batches_are_not_copied(monkeypatch):
    stacked = []

    def noted(elements):
        stacked.append(len(elements))
        return original(elements)

    original = batching.stacked
    monkeypatch.setattr(batching, "stacked", noted)
    assert sum(1 for _ in _strings(64).map(_image, num_parallel_calls=2).batch(8)) == 8
    assert len(stacked) <= 3  # those that began before the form of elements was known


def test_elements_of_different_shapes():
    def growing(text):
        return tf.fill([80, 80 + tf.cast(_number(text) == 37, tf.int32)], 1.0)

    iterator = iter(_strings(64).map(growing, num_parallel_calls=2).batch(8))
    assert [next(iterator).shape[0] for _ in range(4)] == [8] * 4
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"element 5 had shape \[80, 81\]"):
        next(iterator)
    dataset = _strings(64).map(growing, num_parallel_calls=2).padded_batch(8)
    assert [x.shape[2] for x in dataset] == [80] * 4 + [81] + [80] * 3


def test_batches_go_on_after_an_error_and_after_resuming():
    def checked(text):
        tf.debugging.Assert(_number(text) != 21, ["wrong"])
        return _image(text)

    dataset = _strings(80).map(checked, num_parallel_calls=2).batch(8)
    iterator = iter(dataset)
    for n in range(2):
        assert next(iterator)[1].numpy().tolist() == list(range(8 * n, 8 * n + 8))
    with pytest.raises(tf.errors.InvalidArgumentError, match="wrong"):
        next(iterator)
    rest = np.concatenate([y.numpy() for _, y in iterator])
    assert rest.tolist() == list(range(22, 80))

    dataset = _strings(80).map(_image, num_parallel_calls=2).batch(8)
    iterator = iter(dataset)
    for _ in range(3):
        next(iterator)
    state = iterator.state_dict()
    expected = [(x.numpy(), y.numpy()) for x, y in iterator]
    resumed = iter(dataset)
    resumed.load_state_dict(state)
    found = [(x.numpy(), y.numpy()) for x, y in resumed]
    assert [y.tolist() for _, y in found] == [y.tolist() for _, y in expected]
    assert all((x == z).all() for (x, _), (z, _) in zip(found, expected))


def test_a_batch_that_is_kept_is_not_written_over():
    dataset = _strings(96).map(_image, num_parallel_calls=2).batch(8).map(lambda x, y: (x + 1.0, y))
    batches = list(dataset)
    for x, y in batches:
        assert (x.numpy() == y.numpy()[:, None, None] + 1).all()


def test_rows():
    element = (np.ones((100, 100), np.float32), np.array(3))
    rows = rows_for(4, 10, element)
    made = [rows.row(number) for number in range(10, 16)]
    assert all(put(row, element) for row in made)
    first, numbers = batch_of(made[:4])
    assert first.shape == (4, 100, 100)
    assert numbers.tolist() == [3] * 4
    part, _ = batch_of(made[4:])
    assert part.shape == (2, 100, 100)
    assert batch_of(made[:2])[0].base is first
    assert batch_of(made[1:3]) is None  # not the first rows
    assert batch_of(made[3:5]) is None  # of two batches
    assert batch_of([made[0], element]) is None
    assert batch_of([element]) is None
    assert not put(made[0], (np.ones((100, 101), np.float32), np.array(3)))
    assert not put(made[0], (np.ones((100, 100)), np.array(3)))
    assert isinstance(made[0], Row)
    assert rows_for(4, 0, (np.ones(3),)) is None
    assert rows_for(4, 0, (np.array([b"x"] * batch_rows._SMALLEST, object),)) is None


def _widths(rates, rate_of, share, count, load=1.0):
    """The numbers of calls that are chosen when each gives such a rate."""
    found = []
    for _ in range(count):
        width = rates.next_width()
        found.append(width)
        rates.note_time(width, 1.0, share)
        rates.note(width, rate_of(width))
        rates.note_use(width, load, 4.0)
    return found


@pytest.fixture
def rates(monkeypatch):
    monkeypatch.setattr(operating_system, "processor_count", lambda: 4)
    return parallel_calls._Rates()


def test_autotune_keeps_the_processors_busy(rates):
    found = _widths(rates, lambda width: width, 0.9, 50)
    assert found[0] == 1  # which shows whether there is anything to gain
    assert set(found[1:]) == {4}


def test_autotune_makes_one_call_at_a_time_for_a_reader_that_is_slower(rates):
    """Until the reader is faster."""
    assert set(_widths(rates, lambda width: 100, 0.9, 50, load=0.1)) == {1}
    assert set(_widths(rates, lambda width: width, 0.9, 50, load=0.5)[2:]) == {4}


def test_few_calls_are_made_at_once_while_the_reader_waits():
    """In threads, ever more of them; in the thread of the reader, as many as take half a millisecond."""
    together = parallel_calls._Together(64)
    assert together.count(here=True) == 1
    together.note(1, 50e-6)
    assert together.count(here=True) == 10
    assert [together.count(here=False) for _ in range(8)] == [1, 2, 4, 8, 16, 32, 64, 64]
    together.note(64, 64e-3)
    assert [together.count(here=False) for _ in range(2)] == [5, 5]
    assert together.count(here=True) == 1
    assert together.count(here=False) == 1


def test_autotune_prefers_one_call_when_calls_wait_for_each_other(rates):
    found = _widths(rates, lambda width: 100, 0.3, 300)
    assert found[-50:].count(1) > 45
    assert set(found[:100]) == {1, 4, 8, 16}  # which it cannot know without trying


def test_autotune_prefers_one_call_when_only_one_is_made_at_a_time(rates):
    """Each may be quick once it has begun: then it is waited before."""

    def widths(count):
        found = []
        for _ in range(count):
            found.append(rates.next_width())
            rates.note_time(found[-1], 1.0, 0.98)
            rates.note_use(found[-1], 1.0, 1.0)
            rates.note(found[-1], 100 if found[-1] > 1 else 170)
        return found

    assert widths(100)[-50:].count(1) > 40


def test_autotune_takes_more_calls_than_processors_when_calls_wait(rates):
    found = _widths(rates, lambda width: width, 0.01, 300)
    assert found[-50:].count(16) > 45


def test_autotune_notices_changes(rates):
    assert _widths(rates, lambda width: width, 0.01, 100)[-5:].count(16) >= 4
    assert _widths(rates, lambda width: 1 / width, 0.3, 400)[-50:].count(1) > 45


def test_calls_of_another_width_do_not_count(rates):
    stage = type("Stage", (), {})()
    stage.measured_rates = rates
    width = parallel_calls._MeasuredWidth(stage)
    width._begin(100)
    for number in range(100):
        width.note(number, 100 + number)
    assert width._count == 0
    width.note(100, 200)
    assert width._count == 1


@pytest.mark.parametrize("parallel", [None, 2])
def test_errors_name_the_file(tmp_path, parallel):
    path = str(tmp_path / "photo.jpg")
    for contents in (b"", b"\xff\xd8\xff\xe0", b"no image"):
        tf.io.write_file(path, contents)
        files = tf.data.Dataset.from_tensor_slices([path])
        images = files.map(lambda name: tf.io.decode_jpeg(tf.io.read_file(name)), num_parallel_calls=parallel)
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"element 0, '{re.escape(path)}'"):
            list(images.batch(2))
