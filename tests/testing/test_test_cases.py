"""Tests of `tf.test`: which assertions hold and which fail is as in TensorFlow."""

import collections
import os
import subprocess
import sys
import textwrap
import threading
import unittest

import numpy as np
import pytest

import headrace as tf
from headrace._src.testing import decorators, layouts

Pair = collections.namedtuple("Pair", "left right")
c = tf.constant


class Case(tf.test.TestCase):
    __test__ = False

    def runTest(self):
        pass


@pytest.fixture
def case():
    case = Case()
    case.setUp()
    yield case
    case.tearDown()
    case.doCleanups()


HOLD = {
    "close": lambda t: t.assertAllClose(c([0.5, 7.0]), [0.5, 7.000001]),
    "close_nan": lambda t: t.assertAllClose([np.nan, np.inf], [np.nan, np.inf]),
    "close_dicts": lambda t: t.assertAllClose({"x": c([0.5])}, {"x": [0.5]}),
    "close_pairs": lambda t: t.assertAllClose(Pair(1.0, [2.0]), Pair(1.0, c([2.0]))),
    "close_lists": lambda t: t.assertAllClose([c([0.5]), c([2.0, 3.0])], [[0.5], [2.0, 3.0]]),
    "close_ragged": lambda t: t.assertAllClose(tf.ragged.constant([[0.5], []]), [[0.5], []]),
    "close_nested": lambda t: t.assertAllClose((0.5, {"y": c(2.5)}), (0.5, {"y": 2.5})),
    "not_close": lambda t: t.assertNotAllClose([1.0], [1.5]),
    "by_type": lambda t: t.assertAllCloseAccordingToType(c([3.0], tf.bfloat16), [3.01]),
    "equal": lambda t: t.assertAllEqual(c([[4, 5]]), np.array([[4.0, 5.0]])),
    "equal_texts": lambda t: t.assertAllEqual(c(["ab", "c"]), ["ab", b"c"]),
    "equal_nan": lambda t: t.assertAllEqual([np.nan], [np.nan]),
    "equal_ragged": lambda t: t.assertAllEqual(tf.ragged.constant([[4], [5, 6]]), [[4], [5, 6]]),
    "equal_sparse": lambda t: t.assertAllEqual(tf.sparse.eye(2), tf.sparse.eye(2)),
    "not_equal": lambda t: t.assertNotAllEqual([4], [5]),
    "greater": lambda t: t.assertAllGreater(c([4, 5]), 3),
    "at_most": lambda t: t.assertAllLessEqual(c([4, 5]), 5),
    "range": lambda t: t.assertAllInRange(c([4, 5]), 4, 5),
    "set": lambda t: t.assertAllInSet(c([4, 5]), {4, 5, 6}),
    "near": lambda t: t.assertNear(2.0, 2.04, 0.05),
    "array_near": lambda t: t.assertArrayNear([2.0], [2.04], 0.05),
    "norm": lambda t: t.assertNDArrayNear(np.zeros(4), np.full(4, 0.01), 0.05),
    "dtype": lambda t: t.assertDTypeEqual(c([0.5]), "float32"),
    "shape": lambda t: t.assertShapeEqual(np.ones((3, 1)), tf.ones([3, 1])),
    "device": lambda t: t.assertDeviceEqual("/CPU:0", "/device:CPU:0"),
    "message": lambda t: t.assertProtoEquals("features { }", tf.train.Example(features=tf.train.Features())),
    "length": lambda t: t.assertLen([4, 5], 2),
}
FAIL = {
    "close": lambda t: t.assertAllClose(c([0.5, 7.0]), [0.5, 7.1]),
    "close_shapes": lambda t: t.assertAllClose(c([0.5, 0.5]), 0.5),
    "close_keys": lambda t: t.assertAllClose({"x": 0.5}, {"y": 0.5}),
    "close_lists": lambda t: t.assertAllClose([c([0.5]), c([2.0, 3.0])], [[0.5], [2.0, 3.5]]),
    "not_close": lambda t: t.assertNotAllClose([1.0], [1.0]),
    "half": lambda t: t.assertAllClose(c([3.0], tf.float16), [3.001]),
    "equal": lambda t: t.assertAllEqual(c([4, 5]), [4, 6]),
    "equal_shapes": lambda t: t.assertAllEqual(c([4, 4]), 4),
    "equal_ragged": lambda t: t.assertAllEqual(tf.ragged.constant([[4], [5, 6]]), [[4], [5, 7]]),
    "greater": lambda t: t.assertAllGreater(c([4, 5]), 4),
    "range": lambda t: t.assertAllInRange(c([4, 5]), 4, 5, open_lower_bound=True),
    "set": lambda t: t.assertAllInSet(c([4, 5]), {4}),
    "dtype": lambda t: t.assertDTypeEqual(c([0.5]), "float64"),
    "shape": lambda t: t.assertShapeEqual(np.ones((3, 1)), tf.ones([1, 3])),
    "message": lambda t: t.assertProtoEquals("features { }", tf.train.Example()),
}


@pytest.mark.parametrize("name", HOLD)
def test_what_holds(case, name):
    HOLD[name](case)


@pytest.mark.parametrize("name", FAIL)
def test_what_fails(case, name):
    with pytest.raises(AssertionError):
        FAIL[name](case)


def test_what_cannot_be_compared(case):
    with pytest.raises(ValueError, match="dictionary"):
        case.assertAllClose({"x": 0.5}, [0.5])
    with pytest.raises(TypeError):
        case.assertShapeEqual([1], tf.ones([1]))


def test_errors(case):
    with case.assertRaisesOpError("matmul|MatMul"):
        tf.matmul(tf.ones([1, 2]), tf.ones([3, 1]))
    with case.assertRaisesIncompatibleShapesError():
        _ = tf.ones([2]) + tf.ones([3])
    with case.assertRaisesWithPredicateMatch(KeyError, lambda error: error.args == (4,)):
        raise KeyError(4)
    with pytest.raises(AssertionError, match="does not fit"), case.assertRaisesWithPredicateMatch(KeyError, "five"):
        raise KeyError("four")
    with pytest.raises(AssertionError, match="not raised"), case.assertRaisesOpError("x"):
        pass


def test_seeds_are_the_same_in_each_test(case):
    first = tf.random.uniform([3]).numpy().tolist(), np.random.rand()
    case.setUp()
    assert (tf.random.uniform([3]).numpy().tolist(), np.random.rand()) == first


def test_values_of_graphs_and_sessions(case):
    with tf.Graph().as_default():
        x = c([0.5, 2.0]) * 2
        case.assertAllClose(x, [1.0, 4.0])
        with case.cached_session() as first, case.cached_session() as second:
            assert first is second
            assert case.evaluate(x).tolist() == [1.0, 4.0]
        with tf.Graph().as_default(), pytest.raises(ValueError, match="different"), case.cached_session():
            pass
        with case.session() as session:
            assert session.run(x).tolist() == [1.0, 4.0]
    with case.session() as session:
        assert session.run([c(3)]) == [3]
        with pytest.raises(RuntimeError, match="fed"):
            session.run(c(3), {"number:0": 2})
    found = case.evaluate({"a": c(4), "s": tf.sparse.eye(1), "n": 3})
    assert (found["a"], found["s"].values.tolist(), found["n"]) == (4, [1.0], 3)


def test_files_streams_and_threads():
    case = Case()
    case.setUp()
    folder = case.get_temp_dir()
    assert os.path.isdir(folder)
    assert case.get_temp_dir() == folder
    with case.captureWritesToStream(sys.__stderr__) as captured:
        print("kept", file=sys.__stderr__, flush=True)
    assert captured.contents() == "kept\n"
    done = threading.Event()
    thread = case.checkedThread(done.set)
    thread.start()
    thread.join()
    assert done.is_set()
    thread = case.checkedThread(lambda: 1 / 0)
    thread.start()
    with pytest.raises(AssertionError, match="division by zero"):
        thread.join()
    case.checkedThread(print)
    with pytest.raises(AssertionError, match="not joined"):
        case.tearDown()
    case.doCleanups()
    assert not os.path.exists(folder)


def test_gradients_against_differences():
    exact, near = tf.test.compute_gradient(lambda x, y: tf.einsum("i,j->ij", x, y), [c([3.0, 5.0]), c([7.0])])
    assert [x.tolist() for x in exact] == [[[7.0, 0.0], [0.0, 7.0]], [[3.0], [5.0]]]
    for a, b in zip(exact, near):
        np.testing.assert_allclose(a, b, 1e-3)
    (exact,), (near,) = tf.test.compute_gradient(lambda x: x * x, [c([3 + 1j], tf.complex64)])
    assert exact.tolist() == [[6.0, -2.0], [2.0, 6.0]]
    np.testing.assert_allclose(exact, near, 1e-3)
    (exact,), (near,) = tf.test.compute_gradient(lambda x: tf.gather(x, [1, 1]), [c([3.0, 5.0])], delta=0.5)
    assert exact.tolist() == near.tolist() == [[0.0, 1.0], [0.0, 1.0]]
    assert tf.test.compute_gradient(lambda x: tf.zeros([0]) * x, [tf.zeros([0])])[1][0].shape == (0, 0)
    with pytest.raises(ValueError, match="list"):
        tf.test.compute_gradient(tf.sin, c([1.0]))
    with pytest.raises(AssertionError, match="int32"):
        tf.test.compute_gradient(tf.abs, [c([1])])


def test_graphs_against_graphs():
    graphs = []
    for value in (3, 3, 4):
        with tf.Graph().as_default() as graph:
            tf.constant(value, name="number")
        graphs.append(graph.as_graph_def())
    tf.test.assert_equal_graph_def(*graphs[:2])
    with pytest.raises(AssertionError, match="number"):
        tf.test.assert_equal_graph_def(*graphs[1:])
    with pytest.raises(AssertionError, match="missing"):
        tf.test.assert_equal_graph_def(graphs[0], tf.Graph().as_graph_def())
    with pytest.raises(TypeError):
        tf.test.assert_equal_graph_def(graphs[0], 3)


def test_decorators_and_questions(case):
    @tf.test.disable_with_predicate(lambda: True, "not today")
    def skipped(self):
        raise AssertionError

    with pytest.raises(unittest.SkipTest, match="not today"):
        skipped(case)
    assert tf.test.disable_with_predicate(lambda: False, "")(lambda self: 5)(case) == 5
    assert tf.test.with_eager_op_as_function(Case) is Case
    assert tf.test.with_eager_op_as_function()(Case) is Case
    assert any(map(tf.test.is_cpu_target_available, ("x86_64", "aarch64", "ppc64le", "riscv64")))
    with pytest.raises(AssertionError):
        tf.test.is_cpu_target_available("abacus")
    assert tf.test.experimental.sync_devices() is None
    with pytest.raises(RuntimeError):
        tf.function(tf.test.experimental.sync_devices)()
    assert tf.test.benchmark_config().graph_options.rewrite_options.dependency_optimization == 2


def test_a_file_of_tests_runs_itself(tmp_path):
    file = tmp_path / "some_test.py"
    file.write_text(textwrap.dedent("""
        import headrace as tf

        class Sums(tf.test.TestCase):
            def test_right(self):
                self.assertAllEqual(tf.add(2, 3), 5)

            def test_wrong(self):
                self.assertAllEqual(tf.add(2, 3), 6)

        class Times(tf.test.Benchmark):
            def benchmark_sums(self):
                with tf.Graph().as_default(), tf.compat.v1.Session() as session:
                    self.run_op_benchmark(session, tf.add(2, 3), min_iters=3)
                self.report_benchmark(iters=4, extras={"size": 5}, name="mine")

        if __name__ == "__main__":
            tf.test.main()
    """))
    tests = subprocess.run([sys.executable, file], capture_output=True, text=True, check=False)
    assert tests.returncode == 1
    assert "FAILED (failures=1, skipped=1)" in tests.stderr
    assert "FAIL: test_wrong" in tests.stderr
    times = subprocess.run([sys.executable, file, "--benchmarks=Times"], capture_output=True, text=True, check=False)
    assert times.returncode == 0
    assert "benchmark Times.benchmark_sums: " in times.stdout
    assert 'benchmark mine: {"iters": 4, "extras": {"size": 5}}' in times.stdout


def test_helpers_that_other_packages_call():
    case = tf.test.TestCase()
    for value in (tf.constant([1.0]), tf.Variable([1.0]), [1.0], np.array([1.0])):
        array = case._GetNdArray(value)
        assert isinstance(array, np.ndarray)
        assert array.tolist() == [1.0]
    assert case._eval_tensor(tf.constant(2)) == 2
    assert case._eval_tensor(None) is None
    case._assertArrayLikeAllClose([1.0], [1.0 + 1e-8])
    with pytest.raises(AssertionError):
        case._assertArrayLikeAllClose([1.0], [2.0])
    with pytest.raises(AssertionError, match=r"\['a'\]"):
        case._assertAllCloseRecursive({"a": 1.0}, {"a": 2.0})


class Decorated(tf.test.TestCase):
    """Tests as packages write them, with what `tensorflow.python.framework.test_util` has."""

    def test_as_a_function_too(self):
        modes = []
        decorators.also_run_as_tf_function(lambda: modes.append(tf.executing_eagerly()))()
        assert modes == [True, False]

    def test_in_both_kinds_of_graphs(self):
        kinds = []
        decorators.build_as_function_and_v1_graph(
            lambda self: kinds.append(tf.compat.v1.get_default_graph().building_function)
        )(self)
        assert kinds == [False, True]

    def test_skipping(self):
        with pytest.raises(unittest.SkipTest):
            decorators.skip_if(lambda: True)(lambda self: None)(self)
        decorators.skip_if(False)(lambda self: None)(self)
        with pytest.raises(unittest.SkipTest, match="too large"), decorators.skip_if_error(self, ValueError, "large"):
            raise ValueError("too large")
        with pytest.raises(ValueError, match="small"), decorators.skip_if_error(self, ValueError, ["large"]):
            raise ValueError("too small")

    def test_eager_functions(self):
        seen = []
        with decorators.functions_eagerly(True):
            tf.function(lambda: seen.append(tf.executing_eagerly()), autograph=False)()
        assert seen == [True]
        assert not tf.config.functions_run_eagerly()

    def test_python_code_of_functions(self):
        seen = []
        note = decorators.py_func_if_in_function(lambda x, to: to.append(float(x)))
        note(tf.constant(1.0), seen)
        tf.function(lambda x: note(x, seen), autograph=False)(tf.constant(2.0))
        assert seen == [1.0, 2.0]

    def test_all_tests_of_a_class(self):
        class Case(tf.test.TestCase):
            def test_one(self):
                pass

        decorators.for_all_test_methods(decorators.skip_if, True)(Case)
        with pytest.raises(unittest.SkipTest):
            Case("test_one").test_one()


def test_layouts():
    assert layouts.channels_first([1, 2, 3, 4]) == [1, 4, 2, 3]
    assert layouts.channels_last([1, 4, 2, 3]) == [1, 2, 3, 4]
    assert layouts.channels_first(tf.zeros([1, 2, 3, 4, 5])).shape == [1, 5, 2, 3, 4]
    with tf.Graph().as_default() as graph:
        tf.constant(1.0, name="a")
    assert layouts.assert_ops_in_graph({"a": "Const"}, graph)["a"].op == "Const"
    assert layouts.node_def_from_graph("b", graph.as_graph_def()) is None
    for expected in ({"a": "Add"}, {"b": "Const"}):
        with pytest.raises(ValueError):
            layouts.assert_ops_in_graph(expected, graph)
    named = layouts.combinations_with_names(mode=["a-b"], size=[1, 2])
    assert [one["testcase_name"] for one in named] == ["_test_mode_ab_size_1", "_test_mode_ab_size_2"]
    assert 0 < layouts.pick_unused_port() < 65536
