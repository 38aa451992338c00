"""Lists of tensors beyond what rows can say: persistence, constant time, threads, and how they lower."""

import gc
import pickle
import threading
import time

import jax
import numpy as np
import pytest
from rules import LoweringContext, applications

import headrace as tf
from headrace._src.op.lowering import NotLowerable
from headrace._src.op.registry import lookup
from headrace._src.ops.tensor_lists.lowering import LoweredList, alike
from headrace._src.ops.tensor_lists.values import TensorList

R = tf.raw_ops
FLOAT = tf.float32


def reserve(count, shape=-1, dtype=FLOAT):
    return R.TensorListReserve(element_shape=shape, num_elements=count, element_dtype=dtype)


def empty(shape=-1, limit=-1, dtype=FLOAT):
    return R.EmptyTensorList(element_shape=shape, max_num_elements=limit, element_dtype=dtype)


def put(handle, index, item):
    return R.TensorListSetItem(input_handle=handle, index=index, item=item)


def get(handle, index, shape=-1, dtype=FLOAT):
    return R.TensorListGetItem(input_handle=handle, index=index, element_shape=shape, element_dtype=dtype)


def push(handle, item):
    return R.TensorListPushBack(input_handle=handle, tensor=item)


def pop(handle, shape=-1, dtype=FLOAT):
    return R.TensorListPopBack(input_handle=handle, element_shape=shape, element_dtype=dtype)


def whole(handle, shape=-1, dtype=FLOAT):
    return R.TensorListStack(input_handle=handle, element_shape=shape, element_dtype=dtype)


def rows_of(tensor, shape=-1):
    return R.TensorListFromTensor(tensor=tensor, element_shape=shape)


def pick(handle, indices, shape=-1):
    return R.TensorListGather(input_handle=handle, indices=indices, element_shape=shape, element_dtype=FLOAT)


# Values.


def test_every_version_keeps_its_contents():
    rng = np.random.default_rng(0)
    model, versions = [], []
    handle = empty(shape=np.zeros(0, np.int32), dtype=tf.int32)
    versions.append((handle, []))
    for step in range(600):
        # Mostly go on from the newest version, sometimes from any.
        handle, model = versions[-1] if rng.random() < 0.8 else versions[rng.integers(len(versions))]
        action = rng.integers(4)
        if action == 0 or not model:
            handle, model = push(handle, np.int32(step)), [*model, step]
        elif action == 1:
            (handle, last), expected = pop(handle, dtype=tf.int32), model[-1]
            assert int(last) == expected
            model = model[:-1]
        else:
            index = int(rng.integers(len(model)))
            handle, model = put(handle, index, np.int32(-step)), [*model[:index], -step, *model[index + 1 :]]
        versions.append((handle, model))
        other, known = versions[rng.integers(len(versions))]
        assert whole(other, dtype=tf.int32).numpy().tolist() == known
    for other, known in versions:
        assert whole(other, dtype=tf.int32).numpy().tolist() == known


def seconds(function, n):
    """The least of three times of this thread: others may take any of the machine's."""
    times = []
    for _ in range(3):
        start = time.thread_time()
        function(n)
        times.append(time.thread_time() - start)
    return min(times)


def write_all(n):
    handle = reserve(n, np.zeros(0, np.int32))
    for i in range(n):
        handle = put(handle, i, 1.0)


def read_one_and_write_another(n):
    first = handle = rows_of(tf.zeros([n]))
    for i in range(n):
        handle = put(handle, i, get(first, i))


def gradient_of_reads(n):
    x = tf.zeros([n])
    with tf.GradientTape() as tape:
        tape.watch(x)
        handle = rows_of(x)
        total = tf.add_n([get(handle, i) for i in range(n)])
    assert tape.gradient(total, x).shape == (n,)


def sweep_over_versions(n):
    versions = [rows_of(tf.zeros([n]))]
    for i in range(n):
        versions.append(put(versions[-1], i, 1.0))
    for i in reversed(range(n)):
        get(versions[i], i)


@pytest.mark.parametrize("function", [write_all, read_one_and_write_another, gradient_of_reads, sweep_over_versions])
def test_takes_linear_time(function):
    function(100)
    gc.freeze()  # what the tests before have left is not looked through again and again
    few, many = seconds(function, 500), seconds(function, 4000)
    gc.unfreeze()
    assert many < 24 * few  # 8 times the steps: 8 times the time, and not 64 times


def test_threads_may_share_versions():
    base = rows_of(tf.range(200, dtype=tf.float32))
    failures = []

    def work(seed):
        handle = base
        for i in range(200):
            handle = put(handle, i, float(seed))
            if float(get(base, i)) != i or float(get(handle, i)) != seed:
                failures.append((seed, i))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_pickles():
    array = np.ones(2, np.float32)
    old = TensorList(array.dtype, (2,), {1: array}, 3)
    old.with_item(0, array)
    copy = pickle.loads(pickle.dumps(old))
    assert (copy.length, copy.shape, copy.get(0)) == (3, (2,), None)
    assert copy.get(1).tolist() == [1, 1]


def test_gradient_of_repeated_indices():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = pick(rows_of(x), [0, 0, 1]) * [[1.0], [10.0], [100.0]]
    assert tape.gradient(y, x).numpy().tolist() == [[11, 11], [100, 100]]
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = whole(R.TensorListScatter(tensor=x, indices=[0, 0], element_shape=-1))
    assert tape.gradient(y, x).numpy().tolist() == [[0, 0], [1, 1]]


def test_gradient_of_a_list_that_grew():
    a, b = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        handle = R.TensorListSetItem(
            input_handle=push(empty(), a), index=2, item=b, resize_if_index_out_of_bounds=True
        )
        y = whole(handle) * [1.0, 10.0, 100.0]
    assert [float(g) for g in tape.gradient(y, [a, b])] == [1, 100]


# Lowerings: what a program did, done again with the ops' lowerings, compiled as a whole.


def lowered_again(program, *arrays):
    """Run the program, then all its ops with their lowerings; returns pairs of results."""
    tensors = [tf.constant(array) for array in arrays]
    with applications() as seen:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([t for t in tensors if t.dtype.is_floating])
            y = program(*tensors)
        tape.gradient(y, [t for t in tensors if t.dtype.is_floating])
    ctx = LoweringContext()
    given, wanted = [], []
    for _, inputs, _, _ in seen:
        for value in inputs:
            for array in value if isinstance(value, list) else [value]:
                if array.dtype != object and not any(array is other for other in given):
                    given.append(array)

    def run(*values):
        known = {id(array): value for array, value in zip(given, values)}
        results = []
        for op, inputs, attrs, outputs in seen:
            if op.lower is None:
                raise NotLowerable(op.name)
            arguments = []
            for argument, value in zip(op.signature.inputs, inputs):
                if isinstance(value, list):
                    arguments.append([known[id(array)] for array in value])
                elif argument.name in op.static:
                    found = known[id(value)]
                    arguments.append(found if isinstance(found, np.ndarray) else value)
                else:
                    arguments.append(known[id(value)])
            lowered = op.lower(ctx, *arguments, **attrs)
            outputs = outputs if isinstance(outputs, tuple) else (outputs,)
            for array, value in zip(outputs, lowered if isinstance(lowered, tuple) else (lowered,)):
                known[id(array)] = value
                if getattr(array, "dtype", None) != object:
                    wanted.append(array)
                    results.append(value)
        return results, ctx.checks

    with jax.enable_x64(True):
        results, checks = jax.jit(run)(*given)
    return list(zip(results, wanted)), [bool(np.all(ok)) for ok in checks]


def grown(x):
    handle = empty(limit=8)
    for i in range(4):
        handle = push(handle, x[i] * x[0])
    handle, last = pop(handle)
    return whole(handle) * last


PROGRAMS = {
    "set and get": lambda x: get(put(put(reserve(3), 1, x[0]), 0, x[1]), 1) * x[2],
    "reserve with a shape": lambda x: whole(put(reserve(3, [2]), tf.constant(2), x[0] * x[1])),
    "unset": lambda x: whole(put(reserve(3), 1, x[0] * x[0])),
    "stack": lambda x: whole(rows_of(x * x)) * x,
    "push and pop": grown,
    "gather": lambda x: pick(rows_of(x), tf.constant([2, 0])),
    "gather twice": lambda x: pick(rows_of(x), tf.constant([2, 2, 0])) * x[1],
    "scatter": lambda x: whole(R.TensorListScatterV2(tensor=x, indices=[4, 0, 2, 1], element_shape=-1, num_elements=6)),
    "scatter onto one": lambda x: whole(
        R.TensorListScatterV2(tensor=x, indices=[1, 0, 1, 1], element_shape=-1, num_elements=3)
    ),
    "resize": lambda x: whole(R.TensorListResize(input_handle=rows_of(x), size=6)),
    "shrink": lambda x: whole(R.TensorListResize(input_handle=rows_of(x), size=2)),
    "concat": lambda x: R.TensorListConcat(input_handle=rows_of(x * x), element_dtype=FLOAT)[0],
    "split": lambda x: whole(R.TensorListSplit(tensor=x, element_shape=-1, lengths=tf.constant([2, 2], tf.int64))),
    "sum": lambda x: whole(tf.add_n([rows_of(x), put(reserve(4), 1, x[0]), reserve(4), rows_of(x * x)])),
    "zeros": lambda x: whole(tf.zeros_like(rows_of(x))) * x,
    "two reads": lambda x: (lambda handle: get(handle, 0) * get(handle, 1) + get(handle, 0))(rows_of(x)),
    "two lists": lambda x: whole(
        R.TensorListConcatLists(input_a=rows_of(x), input_b=rows_of(x), element_dtype=FLOAT)
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_lowerings_do_the_same(name):
    x = np.random.default_rng(0).normal(size=(4, 2)).astype(np.float32)
    pairs, checks = lowered_again(PROGRAMS[name], x)
    assert pairs
    for got, want in pairs:
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    assert all(checks)


@pytest.mark.parametrize(
    "program",
    [
        lambda x: whole(push(empty(), x)),
        lambda x: get(R.TensorListSplit(tensor=x, element_shape=-1, lengths=tf.constant([1, 3], tf.int64)), 0),
        lambda x: get(put(put(reserve(2), 0, x), 1, x[0]), 0),
        lambda x: whole(put(reserve(2, dtype=tf.string), 0, "a"), dtype=tf.string),
    ],
)
def test_what_is_not_lowered_says_so(program):
    with pytest.raises(NotLowerable):
        lowered_again(program, np.ones((4, 2), np.float32))


def test_index_out_of_bounds_is_checked():
    ctx = LoweringContext()
    def run(x, index):
        made = lookup("TensorListFromTensor").lower(ctx, x, np.array(-1, np.int32))
        item = lookup("TensorListGetItem").lower(ctx, made, index, np.array(-1, np.int32), element_dtype=FLOAT)
        return item, ctx.checks

    for index, ok in ((2, True), (3, False), (-1, False)):
        ctx.checks.clear()
        _, checks = jax.jit(run)(np.ones((3, 2), np.float32), np.int32(index))
        assert all(bool(c) for c in checks) is ok


def test_a_loop_may_carry_a_list_of_unknown_shape():
    start = LoweredList(np.dtype(np.float32), None, 4, 4)
    after = start.replace(change=(0, jax.numpy.ones(2)), written=True)
    first, second = alike(start, after)
    assert jax.tree_util.tree_structure(first) == jax.tree_util.tree_structure(second)
    assert first.array.shape == (4, 2)
    assert [bool(first.written), bool(second.written)] == [False, True]
    with pytest.raises(NotLowerable):
        alike(start, start.replace(capacity=5, length=5))
