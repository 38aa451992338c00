"""Functions on accelerators, with stand-ins: where they run, what stays there, and what goes to the host and back."""

import gc
import pathlib
import sys

import numpy as np
import pytest

import headrace as tf

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "devices"))

import stand_in

GPU = "/job:localhost/replica:0/task:0/device:GPU:{}"
CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((32, 8)).astype("f4"), RNG.standard_normal(32).astype("f4")


@pytest.fixture
def gpus():
    with stand_in.offered() as source:
        yield source


class Training:
    """A step with a tape, dropout, Adam and a metric: what Keras makes of `fit`."""

    def __init__(self):
        shapes = (8, 16), (16,), (16, 1)
        self.weights = [tf.Variable(0.1 * RNG.standard_normal(shape).astype("f4")) for shape in shapes]
        self.moments = [[tf.Variable(tf.zeros_like(w)) for w in self.weights] for _ in range(2)]
        self.count, self.total = tf.Variable(0, dtype=tf.int64), tf.Variable(0.0)
        self.step = tf.function(self._step)

    @property
    def variables(self):
        return [*self.weights, *self.moments[0], *self.moments[1], self.count, self.total]

    def _step(self, x, y):
        a, b, c = self.weights
        with tf.GradientTape() as tape:
            h = tf.nn.dropout(tf.nn.relu(x @ a + b), 0.25)
            loss = tf.reduce_mean(tf.square(tf.squeeze(h @ c, -1) - y))
        self.count.assign_add(1)
        t = tf.cast(self.count, tf.float32)
        rate = 0.01 * tf.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        for w, g, m, v in zip(self.weights, tape.gradient(loss, self.weights), *self.moments):
            m.assign_add(0.1 * (g - m))
            v.assign_add(0.001 * (g * g - v))
            w.assign_sub(rate * m / (tf.sqrt(v) + 1e-7))
        self.total.assign_add(loss)
        return loss


def test_a_training_loop_moves_only_its_inputs(gpus):
    training, transfers = Training(), gpus.transfers
    training.step(X, Y)
    first = sum(np.prod(v.shape.as_list(), dtype=int) * v.dtype.size for v in training.variables)
    assert sum(transfers.there) >= first + X.nbytes + Y.nbytes  # the variables go there once
    transfers.forget()
    losses = [training.step(X, Y) for _ in range(5)]
    assert transfers.back == []
    # Its inputs, and where its random numbers begin: two seeds and a count.
    assert transfers.there == [X.nbytes, Y.nbytes, 24] * 5
    assert transfers.programs == 5
    # Each variable that a step changes is changed in its memory.
    assert transfers.donated == transfers.reused == 5 * len(training.variables)
    assert [loss.device for loss in losses] == [GPU.format(0)] * 5
    assert all(v.device == GPU.format(0) for v in training.variables)
    float(losses[0]), losses[0].numpy()
    assert transfers.back == [4]  # what is read comes back once
    assert int(training.count) == 6


def test_a_training_is_the_same_as_on_the_host():
    def trained():
        tf.random.set_seed(3)
        global RNG
        RNG = np.random.default_rng(1)
        training = Training()
        losses = [float(training.step(X, Y)) for _ in range(6)]
        return losses, [v.numpy() for v in training.variables]

    on_host = trained()
    with stand_in.offered() as source:
        there = trained()
        assert source.transfers.programs == 6
    np.testing.assert_allclose(there[0], on_host[0], rtol=1e-5)
    for mine, its in zip(there[1], on_host[1]):
        np.testing.assert_allclose(mine, its, rtol=1e-4, atol=1e-6)


def test_values_go_from_function_to_function_without_the_host(gpus):
    double = tf.function(lambda x: x * 2.0)
    add = tf.function(lambda x, y: x + y)
    x = double(tf.constant(X))
    gpus.transfers.forget()
    y = add(double(x), x)
    assert (gpus.transfers.there, gpus.transfers.back) == ([], [])
    np.testing.assert_allclose(y.numpy(), 6 * X, rtol=1e-6)


def test_residuals_of_a_tape_stay_there(gpus):
    @tf.function
    def f(x):
        return tf.reduce_sum(tf.tanh(x) ** 3)

    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    gradient = tape.gradient(y, x)
    assert gradient.device == GPU.format(0)
    # The inputs of the two functions, one of them the number one; nothing is read.
    assert gpus.transfers.back == []
    np.testing.assert_allclose(gradient, 3 * np.tanh(X) ** 2 * (1 - np.tanh(X) ** 2), rtol=1e-4, atol=1e-6)


def test_where_a_function_runs(gpus):
    f = tf.function(lambda x: x * 2.0 + 1.0)
    assert f(tf.constant(1.0)).device == GPU.format(0)
    with tf.device("/GPU:1"):
        assert f(tf.constant(1.0)).device == GPU.format(1)
    with tf.device("/CPU:0"):
        there = f(tf.constant(1.0))
    assert (there.device, float(there)) == (CPU, 3.0)

    @tf.function
    def placed(x):
        with tf.device("/GPU:1"):
            return x + 1.0

    assert placed(tf.constant(1.0)).device == GPU.format(1)

    @tf.function
    def mixed(x):
        y = tf.sin(x) * 2.0
        with tf.device("/CPU:0"):
            z = tf.cos(y)
        return z + y

    gpus.transfers.forget()
    result = mixed(tf.constant(X))
    assert gpus.transfers.programs == 2  # before and after what is placed on the host
    np.testing.assert_allclose(result, np.cos(2 * np.sin(X)) + 2 * np.sin(X), rtol=1e-5)


def test_what_only_the_host_can_run_runs_between_programs(gpus):
    texts = []

    @tf.function
    def f(x):
        y = tf.sqrt(x) * 2.0
        tf.py_function(lambda y: texts.append(y.numpy().tolist()), [y], [])
        return tf.strings.length(tf.strings.as_string(tf.cast(y[0], tf.int32))), y + 1.0

    length, y = f(tf.constant([36.0, 4.0]))
    assert (int(length), y.numpy().tolist(), texts) == (2, [13.0, 5.0], [[12.0, 4.0]])
    assert y.device == GPU.format(0)


def test_loops_with_steps_of_the_host(gpus):
    dataset = iter(tf.data.Dataset.range(10).map(lambda i: tf.cast(i, tf.float32)))
    total = tf.Variable(0.0)

    @tf.function
    def epoch():
        for _ in tf.range(10):
            total.assign_add(tf.sin(next(dataset)))

    epoch()
    assert float(total) == pytest.approx(np.sin(np.arange(10)).sum(), rel=1e-5)


def test_a_failed_check_is_the_ops_own_error_and_changes_nothing(gpus):
    v = tf.Variable(1.0)

    @tf.function
    def f(x, i):
        v.assign_add(1.0)
        return tf.debugging.check_numerics(x / tf.cast(i, tf.float32), "broken")

    assert float(f(tf.constant(6.0), tf.constant(2))) == 3.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="broken"):
        f(tf.constant(6.0), tf.constant(0))
    assert float(v) == 3.0  # as on the host: the assignment came first


def test_variables_move_between_devices(gpus):
    v = tf.Variable([1.0, 2.0])
    add = tf.function(lambda: v.assign_add([1.0, 1.0]))
    add()
    assert v.device == GPU.format(0)
    with tf.device("/GPU:1"):
        add()
    assert (v.device, gpus.transfers.between, gpus.transfers.back) == (GPU.format(1), [8], [])
    with tf.device("/CPU:0"):
        add()
    assert v.numpy().tolist() == [4.0, 5.0]
    v.assign(v * 2.0)  # eagerly, on the host
    add()
    assert v.numpy().tolist() == [9.0, 11.0]


def test_a_tensor_given_to_a_variable_stays_as_it_was(gpus):
    x = tf.function(lambda x: x + 1.0)(tf.constant([1.0, 2.0]))
    v = tf.Variable(x)
    w = tf.Variable([0.0, 0.0])
    w.assign(x)
    tf.function(lambda: (v.assign_add([1.0, 1.0]), w.assign_add([2.0, 2.0])))()
    assert x.numpy().tolist() == [2.0, 3.0]
    assert v.numpy().tolist() == [3.0, 4.0]
    assert w.numpy().tolist() == [4.0, 5.0]


def test_random_numbers_are_those_of_the_host():
    def drawn():
        tf.random.set_seed(5)
        f = tf.function(lambda: (tf.random.normal([3]), tf.random.uniform([2], maxval=9, dtype=tf.int32)))
        return [x.numpy() for _ in range(3) for x in f()]

    on_host = drawn()
    with stand_in.offered():
        there = drawn()
    for mine, its in zip(there, on_host):
        np.testing.assert_allclose(mine, its, rtol=1e-6)


def test_jit_compile_and_explain(gpus):
    f = tf.function(lambda x: tf.tanh(x) + 1.0, jit_compile=True)
    assert float(f(tf.constant(0.0))) == 1.0
    assert "GPU:0" in str(f.explain(tf.constant(0.0)))


def test_memory_is_counted_and_given_back(gpus):
    f = tf.function(lambda x: x * 2.0)
    x = f(tf.zeros([256, 256]))
    info = tf.config.experimental.get_memory_info("GPU:0")
    assert info["current"] == 256 * 1024
    assert info["peak"] >= 2 * 256 * 1024
    del x
    gc.collect()
    assert tf.config.experimental.get_memory_info("GPU:0")["current"] == 0
    tf.config.experimental.reset_memory_stats("GPU:0")
    assert tf.config.experimental.get_memory_info("GPU:0") == {"current": 0, "peak": 0}


def test_nobody_looks_into_the_memory_of_a_device(gpus):
    x = tf.function(lambda x: x + 1.0)(tf.constant([1.0]))
    with pytest.raises(stand_in.HostView):
        np.asarray(x._a._raw)
    value = np.asarray(x)  # the way over the seam: a copy
    assert value.tolist() == [2.0]
    assert gpus.transfers.back == [4]


def test_compiling_for_the_host_does_not_start_jaxs_own_clients():
    code = (
        "import headrace as tf\n"
        "assert float(tf.function(tf.tanh, jit_compile=True, autograph=False)(tf.constant(0.0))) == 0\n"
        "from jax._src import xla_bridge\n"
        "assert not xla_bridge.backends_are_initialized()"
    )
    environment = stand_in.environment(HEADRACE_COMPILE_CACHE="0")
    assert stand_in.run(code, environment) == ""


def test_recurrent_layers_of_keras_need_no_cudnn(gpus):
    assert tf.config.list_logical_devices("GPU")
    assert tf.keras.layers.LSTM(3)(tf.ones([2, 4, 5])).shape == (2, 3)
