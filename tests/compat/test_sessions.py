"""Sessions: feeds, fetches, partial graphs, what each session keeps, and the errors of TensorFlow."""

import collections
import threading

import numpy as np
import pytest

import headrace as tf

v1 = tf.compat.v1
Pair = collections.namedtuple("Pair", ["first", "second"])


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_fetches_keep_their_structure(graph):
    x = tf.constant(1)
    y = tf.constant([2.0, 3.0])
    with v1.Session() as sess:
        result = sess.run({"a": x, "b": [y, (x, Pair(x, y))], "c": collections.OrderedDict(k=x)})
    assert result["a"] == 1
    assert type(result["a"]) is np.int32
    assert isinstance(result["b"][1], tuple)
    assert isinstance(result["b"][1][1], Pair)
    np.testing.assert_array_equal(result["b"][1][1].second, [2, 3])
    assert type(result["c"]) is collections.OrderedDict


def test_fetch_by_name_operation_and_nothing(graph):
    tf.constant(5, name="five")
    with v1.Session() as sess:
        assert sess.run("five:0") == 5
        assert sess.run(["five", "five:0"]) == [None, 5]
        assert sess.run([]) == []
        assert sess.run(graph.get_operation_by_name("five")) is None


def test_feeds(graph):
    p = v1.placeholder(tf.float32, [None, 3], name="p")
    double = p * 2.0
    with v1.Session() as sess:
        np.testing.assert_array_equal(sess.run(double, {p: [[1, 2, 3]]}), [[2, 4, 6]])
        np.testing.assert_array_equal(sess.run(double, {"p:0": np.ones((2, 3))}), np.full((2, 3), 2))
        # Any tensor can be fed.
        np.testing.assert_array_equal(sess.run(double + 1.0, {double: [[0, 0, 0]]}), [[1, 1, 1]])
        with pytest.raises(ValueError, match=r"Cannot feed value of shape \(2,\) for Tensor p:0, which has shape"):
            sess.run(double, {p: [1.0, 2.0]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value for placeholder tensor 'p'"):
            sess.run(double)
        with pytest.raises(TypeError, match="feed cannot be a tf.Tensor"):
            sess.run(double, {p: tf.ones([1, 3])})
        with pytest.raises(TypeError, match="Cannot interpret feed_dict key"):
            sess.run(double, {3: 1})


def test_a_constant_that_is_fed_is_not_folded(graph):
    two = tf.constant(2.0)
    six = two * 3.0
    with v1.Session() as sess:
        assert [sess.run(six), sess.run(six, {two: 5.0}), sess.run(six)] == [6, 15, 6]


def test_placeholder_with_default(graph):
    p = v1.placeholder_with_default([1.0, 2.0], [None])
    assert p.shape.as_list() == [None]
    with v1.Session() as sess:
        np.testing.assert_array_equal(sess.run(p * 2.0), [2, 4])
        np.testing.assert_array_equal(sess.run(p * 2.0, {p: [5.0]}), [10])


def test_sparse_and_indexed_slices(graph):
    sparse = v1.sparse_placeholder(tf.float32)
    slices = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([4]))
    value = v1.SparseTensorValue([[0, 1]], [2.0], [2, 2])
    with v1.Session() as sess:
        got = sess.run(sparse, {sparse: value})
        assert type(got) is v1.SparseTensorValue
        np.testing.assert_array_equal(got.indices, [[0, 1]])
        np.testing.assert_array_equal(sess.run(tf.sparse.to_dense(sparse), {sparse: value}), [[0, 2], [0, 0]])
        got = sess.run(slices)
        assert got.indices.tolist() == [4]
        assert got.dense_shape is None


def test_ragged(graph):
    ragged = v1.ragged.placeholder(tf.float32, 1)
    total = tf.reduce_sum(ragged, axis=1)
    with v1.Session() as sess:
        got = sess.run(total, {ragged.flat_values: [1.0, 2.0, 3.0], ragged.row_splits: [0, 1, 3]})
    assert got.tolist() == [1.0, 5.0]


@pytest.mark.parametrize("fetch", [None, [None], {"a": None}])
def test_none_cannot_be_fetched(graph, fetch):
    tf.constant(1)
    with v1.Session() as sess, pytest.raises(TypeError, match="Cannot be None"):
        sess.run(fetch)


def test_other_fetches_that_are_refused(graph):
    tf.constant(1)
    with tf.Graph().as_default():
        other = tf.constant(2)
    with v1.Session() as sess:
        with pytest.raises(ValueError, match="cannot be interpreted as a Tensor"):
            sess.run("nope")
        with pytest.raises(ValueError, match="cannot be interpreted as a Tensor"):
            sess.run(other)
        with pytest.raises(TypeError, match='has invalid type "int"'):
            sess.run(3)


def test_only_what_is_fetched_runs(graph):
    calls = []

    def note(x):
        calls.append(float(x))
        return x

    a = tf.numpy_function(note, [1.0], tf.float32)
    tf.numpy_function(note, [2.0], tf.float32)
    with v1.Session() as sess:
        sess.run(a)
        assert calls == [1.0]
        sess.run(a * 2.0)
    assert calls == [1.0, 1.0]


def test_each_session_has_its_own_variables(graph):
    v = tf.Variable(1.0)
    add = v.assign_add(1.0)
    first, second = v1.Session(), v1.Session()
    first.run(v.initializer)
    first.run(add)
    with pytest.raises(tf.errors.FailedPreconditionError, match="Could not find variable"):
        second.run(v)
    second.run(v.initializer)
    assert (first.run(v), second.run(v)) == (2.0, 1.0)


def test_each_session_draws_the_same_random_numbers(graph):
    v1.set_random_seed(3)
    numbers = tf.random.normal([2])
    with v1.Session() as sess:
        first = [sess.run(numbers), sess.run(numbers)]
    with v1.Session() as sess:
        again = [sess.run(numbers), sess.run(numbers)]
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first[0], first[1])


def test_what_is_fetched_belongs_to_the_caller(graph):
    v = tf.Variable([1.0, 2.0])
    with v1.Session() as sess:
        sess.run(v.initializer)
        got = sess.run(v)
        got[:] = 7
        np.testing.assert_array_equal(sess.run(v), [1, 2])
        fed = np.array([3.0, 4.0], np.float32)
        p = v1.placeholder(tf.float32, [2])
        sess.run(v.assign(p), {p: fed})
        fed[:] = 9
        np.testing.assert_array_equal(sess.run(v), [3, 4])


def test_make_callable(graph):
    p = v1.placeholder(tf.float32)
    call = v1.Session().make_callable([p + 1.0, "Placeholder:0"], [p])
    assert call(2.0) == [3.0, 2.0]
    with pytest.raises(TypeError, match="expected 1 values"):
        call()


def test_partial_run(graph):
    calls = []

    def note(x):
        calls.append(float(x))
        return x

    a, b = v1.placeholder(tf.float32, []), v1.placeholder(tf.float32, [])
    first = tf.numpy_function(note, [a + 1.0], tf.float32)
    second = first * b
    sess = v1.Session()
    handle = sess.partial_run_setup([first, second], [a, b])
    assert sess.partial_run(handle, first, {a: 1.0}) == 2.0
    assert sess.partial_run(handle, second, {b: 17.0}) == 34.0
    assert calls == [2.0]
    with pytest.raises(ValueError, match="has been fed or computed already"):
        sess.partial_run(handle, second, {a: 1.0})


def test_default_sessions(graph):
    x = tf.constant(3)
    with pytest.raises(ValueError, match="No default session is registered"):
        x.eval()
    sess = v1.Session()
    assert v1.get_default_session() is None
    with sess.as_default():
        assert v1.get_default_session() is sess
        assert x.eval() == 3
        x.op.run()
    assert x.eval(session=sess) == 3
    interactive = v1.InteractiveSession()
    assert x.eval() == 3
    interactive.close()
    assert v1.get_default_session() is None


def test_closed_session(graph):
    x = tf.constant(1)
    with v1.Session() as sess:
        assert sess.run(x) == 1
    with pytest.raises(RuntimeError, match="Attempted to use a closed Session"):
        sess.run(x)


def test_finalized_graph(graph):
    x = tf.constant(1)
    graph.finalize()
    with pytest.raises(RuntimeError, match="Graph is finalized and cannot be modified"):
        tf.constant(2)
    assert v1.Session().run(x) == 1


def test_empty_graph(graph):
    with pytest.raises(RuntimeError, match="graph is empty"):
        v1.Session().run([])


def test_threads_share_a_session(graph):
    v = tf.Variable(0)
    add = v.assign_add(1).op
    sess = v1.Session()
    sess.run(v.initializer)
    threads = [threading.Thread(target=lambda: [sess.run(add) for _ in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sess.run(v) == 200


def test_options_are_accepted(graph):
    config = v1.ConfigProto(allow_soft_placement=True, device_count={"CPU": 1})
    config.gpu_options.allow_growth = True
    config.graph_options.optimizer_options.global_jit_level = v1.OptimizerOptions.ON_1
    x = tf.constant(1)
    with v1.Session(config=config) as sess:
        options = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
        assert sess.run(x, options=options, run_metadata=v1.RunMetadata()) == 1
    with pytest.raises(ValueError, match="no .nope. field"):
        v1.ConfigProto(nope=1)
    with pytest.raises(AttributeError, match="Assignment not allowed"):
        config.gpu_options = v1.GPUOptions()
    with pytest.raises(TypeError, match="must be a tf.ConfigProto"):
        v1.Session(config={})


def test_functions_and_control_flow_run_in_sessions(graph):
    v = v1.get_variable("v", initializer=3.0)

    @tf.function
    def step(x):
        v.assign_add(1.0)
        return x * v

    y = step(tf.constant(2.0))
    branch = tf.cond(v > 3.5, lambda: v * 10.0, lambda: v)
    with v1.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(branch) == 3.0
        assert sess.run(y) == 8.0
        assert sess.run(branch) == 40.0
