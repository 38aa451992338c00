"""Functions of `tf.py_function` and `tf.numpy_function` that `map` calls in processes of their own."""

import gc
import multiprocessing
import os
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import headrace as tf

pytestmark = pytest.mark.slow


def square(x):
    return x * x


def eager_square(x):
    return tf.reduce_sum(x * x)


def process_number(x):
    return np.int64(os.getpid())


def failing(x):
    if x == 3:
        raise KeyError("three is bad")
    return x


def dying(x):
    if x == 2:
        os._exit(3)
    return x


def grown(x):
    return np.full(400_000, x, np.float64)


def words(x):
    return np.array([b"w" * int(x), "é".encode()], object), np.float32(x) / 2


def ragged_lengths(x):
    return x.row_lengths(), tf.RaggedTensor.from_row_lengths(x.values * 2, x.row_lengths())


def sleeping(x):
    if x > 0:
        time.sleep(3600)
    return x


def wrong_type(x):
    return np.float32(1)


_seen = []


def counting(x):
    _seen.append(x)
    return np.int64(len(_seen))


class Scaled:
    """A function with a number of its own."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return x * self.factor


def asked(dataset, processes=2):
    options = tf.data.Options()
    options.headrace_worker_processes = processes
    return dataset.with_options(options)


def numpy_map(function, dtype, count=20, parallel=2, processes=2):
    dataset = tf.data.Dataset.range(count).map(
        lambda x: tf.numpy_function(function, [x], dtype), num_parallel_calls=parallel
    )
    return asked(dataset, processes)


def values(dataset):
    return [x.tolist() for x in dataset.as_numpy_iterator()]


@pytest.fixture(autouse=True)
def no_process_is_left():
    yield
    gc.collect()
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("parallel", [None, 1, 3, tf.data.AUTOTUNE])
def test_order_is_kept(parallel):
    assert values(numpy_map(square, tf.int64, 50, parallel)) == [i * i for i in range(50)]


def test_calls_are_made_elsewhere_and_in_as_many_processes_as_asked_for():
    numbers = set(values(numpy_map(process_number, tf.int64, 40, 4)))
    assert 1 <= len(numbers) <= 2
    assert os.getpid() not in numbers
    assert set(values(numpy_map(process_number, tf.int64, 5, processes=0))) == {os.getpid()}


def test_calls_one_after_another_are_made_by_one_process():
    assert values(numpy_map(counting, tf.int64, 10, None)) == list(range(1, 11))
    assert _seen == []


def test_eager_functions_strings_and_several_results():
    dataset = tf.data.Dataset.from_tensor_slices(np.arange(6.0).reshape(3, 2)).map(
        lambda x: tf.py_function(eager_square, [x], tf.float64) + 1, num_parallel_calls=2
    )
    assert values(asked(dataset)) == [2.0, 14.0, 42.0]
    dataset = tf.data.Dataset.range(3).map(lambda x: tf.numpy_function(words, [x], [tf.string, tf.float32]))
    found = list(asked(dataset).as_numpy_iterator())
    assert [list(x[0]) for x in found] == [[b"w" * i, b"\xc3\xa9"] for i in range(3)]
    assert [x[1] for x in found] == [0.0, 0.5, 1.0]


def test_ragged_arguments_and_results():
    ragged = tf.ragged.constant([[[1], [2, 3]], [[], [4]]])
    spec = tf.RaggedTensorSpec([None, None], tf.int32, 1)
    dataset = tf.data.Dataset.from_tensor_slices(ragged).map(
        lambda x: tf.py_function(ragged_lengths, [x], [tf.int64, spec]), num_parallel_calls=2
    )
    found = [(lengths.numpy().tolist(), values.to_list()) for lengths, values in asked(dataset)]
    assert found == [([1, 2], [[2], [4, 6]]), ([0, 1], [[], [8]])]


def test_functions_with_values_and_functions_within_functions():
    assert values(numpy_map(Scaled(5), tf.int64, 4)) == [0, 5, 10, 15]

    def sometimes(x):
        return tf.cond(x % 2 == 0, lambda: tf.numpy_function(process_number, [x], tf.int64), lambda: -x)

    found = values(asked(tf.data.Dataset.range(4).map(sometimes, num_parallel_calls=2)))
    assert found[1::2] == [-1, -3]
    assert os.getpid() not in found


def test_large_arguments_and_results():
    assert [x[-1] for x in values(numpy_map(grown, tf.float64, 3))] == [0.0, 1.0, 2.0]
    big = np.arange(600_000.0).reshape(2, 300_000)
    dataset = tf.data.Dataset.from_tensor_slices(big).map(
        lambda x: tf.numpy_function(square, [x], tf.float64), num_parallel_calls=2
    )
    np.testing.assert_array_equal(np.stack(list(asked(dataset).as_numpy_iterator())), big * big)


@pytest.mark.parametrize("parallel", [None, 2])
def test_errors_name_the_element_and_the_line(parallel):
    iterator = iter(numpy_map(failing, tf.int64, 6, parallel))
    assert [int(next(iterator)) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(tf.errors.UnknownError, match=r"(?s)KeyError.*three is bad.*in failing.*Dataset\.map .*el.* 3"):
        next(iterator)
    assert [int(x) for x in iterator] == [4, 5]


def test_errors_are_passed_over_and_types_are_checked():
    assert values(numpy_map(failing, tf.int64, 6, 2, 1).ignore_errors()) == [0, 1, 2, 4, 5]
    with pytest.raises(tf.errors.InvalidArgumentError, match="expects int64"):
        values(numpy_map(wrong_type, tf.int64, 6, 2, 1))


def test_a_process_that_dies_is_replaced():
    iterator = iter(numpy_map(dying, tf.int64, 5, None, 1))
    assert [int(next(iterator)) for _ in range(2)] == [0, 1]
    with pytest.raises(tf.errors.UnavailableError, match=r"(?s)exit code 3.*element 2"):
        next(iterator)
    assert [int(x) for x in iterator] == [3, 4]


def test_functions_that_cannot_be_sent_are_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)must be picklable.*at the top of a module"):
        values(numpy_map(lambda x: x, tf.int64))


def test_resume():
    for parallel in (None, 3):
        dataset = numpy_map(square, tf.int64, 30, parallel, 1)
        iterator = iter(dataset)
        for _ in range(11):
            next(iterator)
        other = iter(dataset)
        other.load_state_dict(iterator.state_dict())
        assert [int(x) for x in other] == [i * i for i in range(11, 30)]
        assert int(next(iterator)) == 121


def test_processes_end_with_the_iterator_also_within_a_call():
    for parallel in (None, 2):
        iterator = iter(numpy_map(process_number, tf.int64, 100, parallel))
        next(iterator)
        assert multiprocessing.active_children()
        del iterator
        gc.collect()
        assert multiprocessing.active_children() == []
    start = time.monotonic()
    iterator = iter(numpy_map(sleeping, tf.int64, 4, 2))
    assert int(next(iterator)) == 0  # the next ones sleep now, for an hour
    del iterator
    gc.collect()
    assert time.monotonic() - start < 600


def test_a_program_ends_within_a_call(tmp_path):
    (tmp_path / "slow_functions.py").write_text(
        textwrap.dedent(
            """
            import time

            def slow(x):
                if x > 0:
                    time.sleep(3600)
                return x
            """
        )
    )
    program = textwrap.dedent(
        """
        import headrace as tf
        from slow_functions import slow

        if __name__ == "__main__":
            options = tf.data.Options()
            options.headrace_worker_processes = 2
            dataset = tf.data.Dataset.range(9).map(
                lambda x: tf.numpy_function(slow, [x], tf.int64), num_parallel_calls=4).with_options(options)
            print(int(next(iter_ := iter(dataset))), flush=True)
        """
    )
    path = tmp_path / "program.py"
    path.write_text(program)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([p for p in sys.path if p])}
    found = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, timeout=600, env=environment, check=True
    )
    assert found.stdout == "0\n"
    assert found.stderr == ""


def test_a_numpy_function_without_state_moves_as_well():
    dataset = tf.data.Dataset.range(6).map(lambda x: tf.numpy_function(process_number, [x], tf.int64, stateful=False))
    assert os.getpid() not in set(values(asked(dataset.batch(2)))[0])
