"""Three things follow the instructions of a plan: step by step, as written code, and measured. They do the same.

Each row of the tables is a small program. For each way of running it: the same results, or the same error; and inputs
and results in between are freed at the same moments.
"""

import weakref

import numpy as np
import pytest

import headrace as tf
from headrace._src.core.context import context, run_quietly
from headrace._src.graph.compiling.compilation import set_background_compilation
from headrace._src.op.definition import Op

# What is alive whenever a kernel of `watch` runs: places in the list of inputs, and of earlier results of such kernels.
_watched: list = []
_seen: list = []


def _watch(x):
    _seen.append([i for i, reference in enumerate(_watched) if reference() is not None])
    result = np.array(x, copy=True)
    _watched.append(weakref.ref(result))
    return result


def _copied(infer_to, kernel):
    return dict(infer=lambda x: infer_to(x.shape), kernel=kernel, lower=None, grad=None, stateful=True)


WATCH = Op("TestExecutorsWatch", "x: T -> y: T", **_copied(lambda shape: shape, _watch))
WRONG = Op("TestExecutorsWrong", "x: T -> y: T", **_copied(lambda shape: shape, lambda x: x.astype(np.float64)))
TWO = Op(
    "TestExecutorsTwo", "x: T -> y: T, z: T",
    **_copied(lambda shape: (shape, shape), lambda x: (_watch(x), _watch(x + 1))),
)  # fmt: skip


class _Interruption(BaseException):
    """Not an `Exception`: passes everything, as Ctrl-C does."""


def _interrupt(x):
    raise _Interruption("stopped")


INTERRUPT = Op("TestExecutorsInterrupt", "x: T -> y: T", **_copied(lambda shape: shape, _interrupt))


def _stepwise(plan, arrays):
    return plan.run(arrays)


def _measured(plan, arrays):
    results, notes = plan.profile(arrays)
    assert all(step.record.name != "Const" and seconds >= 0 and size >= 0 for step, seconds, size in notes)
    assert len(notes) == len(plan._program.instructions)
    return results


EXECUTORS = {"step by step": (10**9, _stepwise), "written": (0, _stepwise), "measured": (10**9, _measured)}


@pytest.fixture(autouse=True)
def interpreter_only():
    set_background_compilation(False)
    yield
    set_background_compilation(True)


def outcome(way, program, arguments, monkeypatch):
    """What a program gives in one of the ways: arrays or an error as text, and what was alive when."""
    runs, execute = EXECUTORS[way]
    monkeypatch.setattr("headrace._src.graph.running.plan._INTERPRETED_RUNS", runs)
    tf.random.set_seed(7)
    tensors = [tf.constant(argument) for argument in arguments]
    concrete = tf.function(program, autograph=False).get_concrete_function(*tensors)
    plan = concrete.graph.plan()
    captured = [x._a for x in concrete.captured_inputs]
    texts, alive = [], []
    for _ in range(2):
        arrays = [tensor._a.copy() for tensor in tensors]
        _watched[:], _seen[:] = [weakref.ref(array) for array in arrays], []
        arrays += captured
        try:
            results = run_quietly(execute, plan, arrays)
        except BaseException as error:
            texts.append(told(error))
            del error
        else:
            texts.append([(x.dtype.name, x.shape, repr(x.tolist())) for x in results])
            assert all(type(x) is np.ndarray for x in results)
        del arrays
        alive.append(list(_seen))
        assert context.random_node is None
    return texts, alive


def told(error):
    op = getattr(error, "op", None)
    return type(error).__name__, str(error), None if op is None else op.name, error.__cause__


def same_in_all_ways(program, arguments, monkeypatch):
    """The outcome, which must be the same in all ways."""
    outcomes = {way: outcome(way, program, arguments, monkeypatch) for way in EXECUTORS}
    first = outcomes.pop("step by step")
    for way, other in outcomes.items():
        assert other == first, way
    return first


NUMBERS = np.arange(1.0, 7.0, dtype=np.float32).reshape(2, 3)
LONG = np.ones(5000, np.float32)  # long enough to be written over


def _loop(x):
    return tf.while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, WATCH(x) * 1.5), [0, x])


def _array(x):
    array = tf.TensorArray(tf.float32, 3)
    for i in range(3):
        array = array.write(i, x * float(i))
    return array.stack()


INNER = tf.function(lambda x, y: (x * y, WATCH(x) - y), autograph=False)

PROGRAMS = {
    "an input": (lambda x: x, [NUMBERS]),
    "an input twice": (lambda x: [x, x], [NUMBERS]),
    "an input that is not read": (lambda x, y: WATCH(y) + 1.0, [NUMBERS, NUMBERS]),
    "constants": (lambda: [tf.constant(1.0), tf.constant([1, 2])], []),
    "one operand": (lambda x: tf.abs(tf.nn.relu(-x)), [NUMBERS]),
    "two operands": (lambda x, y: (x + y) * (x - y), [NUMBERS, NUMBERS]),
    "an operand twice": (lambda x: x * x + x, [NUMBERS]),
    "attributes": (lambda x: tf.reduce_max(tf.transpose(x), axis=1, keepdims=True), [NUMBERS]),
    "results without dimensions": (lambda x: tf.reduce_sum(x) / tf.cast(tf.size(x), tf.float32), [NUMBERS]),
    "numbers of NumPy": (lambda x: tf.sqrt(tf.abs(x)) + 1.0, [np.float32(-2)]),
    "lists of inputs": (lambda x, y: tf.concat([x, y, x], 0), [NUMBERS, NUMBERS]),
    "several outputs": (lambda x: tf.split(x, 3, axis=1), [NUMBERS]),
    "several outputs, one read": (lambda x: TWO(WATCH(x)).z + 1.0, [NUMBERS]),
    "outputs that nobody reads": (lambda x: [TWO(x), WATCH(x + 1.0), x][2], [NUMBERS]),
    "two kinds of outputs": (lambda x: tf.math.top_k(x, 2), [NUMBERS]),
    "no outputs": (lambda x: [tf.debugging.assert_positive(x), WATCH(x)][1], [NUMBERS]),
    "constant bounds": (lambda x: tf.reshape(x[1:, ::2], [-1]), [NUMBERS]),
    "text": (lambda x: tf.strings.join([x, "!"]), [np.array([b"a", b"bc"], object)]),
    "written over": (lambda x, y: tf.exp(WATCH(x * 2.0) + y) * y, [LONG, LONG]),
    "kept and written over": (lambda x: [x * 2.0, WATCH(x * 2.0) + 1.0], [LONG]),
    "freed one by one": (lambda x: WATCH(WATCH(WATCH(x) + 1.0) * WATCH(x * 2.0)), [NUMBERS]),
    "random numbers": (lambda: [tf.random.normal([2]), tf.random.uniform([2], seed=3)], []),
    "a shuffle": (lambda x: tf.random.shuffle(x), [NUMBERS]),
    "a call": (lambda x: INNER(WATCH(x), x + 1.0), [NUMBERS]),
    "a branch": (lambda x: tf.cond(x[0, 0] > 0.0, lambda: WATCH(x) + 1.0, lambda: x - 1.0), [NUMBERS]),
    "a switch": (lambda x: tf.switch_case(tf.cast(x[0, 1], tf.int32), [lambda: x, lambda: -x, lambda: WATCH(x)]),
                 [NUMBERS]),
    "a loop": (_loop, [NUMBERS]),
    "a list of tensors": (_array, [NUMBERS]),
    "Python code": (lambda x: tf.numpy_function(lambda x: x + 1, [WATCH(x)], tf.float32), [NUMBERS]),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_results_and_frees(name, monkeypatch):
    texts, _ = same_in_all_ways(*PROGRAMS[name], monkeypatch)
    assert all(isinstance(text, list) for text in texts), texts


def test_frees_are_seen(monkeypatch):
    """The table above would not notice if nothing were ever freed."""
    _, (alive, _) = same_in_all_ways(*PROGRAMS["freed one by one"], monkeypatch)
    assert alive[0] == [0]  # the input
    assert 0 not in alive[-1]


def test_variables(monkeypatch):
    before = tf.Variable(NUMBERS)

    def program(x):
        before.assign_add(WATCH(x))
        return before * 2.0

    states = []
    for way in EXECUTORS:
        before.assign(NUMBERS)
        states.append((outcome(way, program, [NUMBERS], monkeypatch), before.numpy().tolist()))
    assert states[0] == states[1] == states[2]


ERRORS = {
    "that passes everything": (lambda x: INTERRUPT(x) + 1.0, [NUMBERS], "_Interruption"),
    "of a wrong kernel": (lambda x: WRONG(x) + 1.0, [NUMBERS], "InternalError"),
    "of a singular matrix": (lambda x: tf.linalg.inv(x - x), [np.eye(2, dtype=np.float32)],
                                     "InvalidArgumentError"),
    "of shapes": (lambda x, y: x + tf.repeat(y, tf.cast(x[0, 0], tf.int32) + 1), [NUMBERS, np.ones(4, np.float32)],
                  "InvalidArgumentError"),
    "in an index": (lambda x: tf.gather(WATCH(x), tf.cast(x[0], tf.int32)), [NUMBERS], "InvalidArgumentError"),
    "after effects": (lambda x: [WATCH(x), tf.debugging.assert_less(x, 2.0, "too large"), WATCH(x)][2], [NUMBERS],
                      "InvalidArgumentError"),
    "in a call": (lambda x: INNER(WATCH(x), WRONG(x)), [NUMBERS], "InternalError"),
    "in a branch": (lambda x: tf.cond(x[0, 0] > 0.0, lambda: WRONG(x), lambda: x), [NUMBERS], "InternalError"),
    "in a loop": (lambda x: tf.while_loop(lambda x: True, lambda x: WRONG(WATCH(x)), [x]), [NUMBERS], "InternalError"),
    "while random numbers are drawn": (lambda x: tf.random.normal(tf.cast(-x[0], tf.int32)), [NUMBERS],
                                       "InvalidArgumentError"),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_the_same_errors(name, monkeypatch):
    program, arguments, kind = ERRORS[name]
    texts, _ = same_in_all_ways(program, arguments, monkeypatch)
    assert [text[0] for text in texts] == [kind, kind]
