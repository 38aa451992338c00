"""What the documents of TensorFlow 2.0 promise of Keras, and Keras 3 by itself no longer does."""

import hashlib
import os
import warnings

import numpy as np
import pytest

import headrace as tf

tf.install_as_tensorflow()
keras = pytest.importorskip("keras")
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation")
v1 = tf.compat.v1


# Names.


def test_reset_states_of_metrics():
    metric = tf.keras.metrics.Mean()
    metric.update_state([1.0, 3.0])
    assert float(metric.result()) == 2
    metric.reset_states()
    metric.update_state([5.0])
    assert float(metric.result()) == 5

    class Own(tf.keras.metrics.Metric):
        def __init__(self):
            super().__init__(name="own")
            self.total = self.add_weight(name="total", shape=(), initializer="zeros")

        def update_state(self, y_true, y_pred, sample_weight=None):
            self.total.assign_add(tf.reduce_sum(tf.cast(y_true, tf.float32)))

        def result(self):
            return self.total

    own = Own()
    own.update_state([2.0], [1.0])
    own.reset_states()
    assert float(own.result()) == 0


def test_add_variable():
    class Linear(tf.keras.layers.Layer):
        def __init__(self, units):
            super().__init__()
            self.units = units

        def build(self, input_shape):
            self.w = self.add_variable(name="w", shape=[input_shape[-1], self.units], initializer=tf.ones_initializer())
            self.b = self.add_variable("b", [self.units], initializer=tf.zeros_initializer(), trainable=False)

        def call(self, inputs):
            return inputs @ self.w + self.b

    layer = Linear(2)
    np.testing.assert_array_equal(layer(tf.ones((1, 3))).numpy(), [[3, 3]])
    assert [v.name for v in layer.trainable_variables] == ["w"]
    assert [v.name for v in layer.variables] == ["w", "b"]


@pytest.mark.parametrize("kind", ["LSTMCell", "GRUCell", "SimpleRNNCell"])
def test_initial_states_of_cells(kind):
    cell = getattr(tf.keras.layers, kind)(4)
    states = tf.nest.flatten(cell.get_initial_state(batch_size=3, dtype=tf.float32))
    assert [tuple(s.shape) for s in states] == [(3, 4)] * (2 if kind == "LSTMCell" else 1)
    assert all(s.dtype == tf.float32 for s in states)
    assert tf.nest.flatten(cell.get_initial_state(batch_size=3, dtype=tf.float16))[0].dtype == tf.float16
    assert tf.nest.flatten(cell.get_initial_state(inputs=tf.ones((5, 2))))[0].shape == (5, 4)
    assert tf.nest.flatten(cell.get_initial_state(batch_size=3))[0].shape == (3, 4)
    out, _ = cell(tf.ones((3, 2)), states)
    assert out.shape == (3, 4)


def test_losses_by_their_long_names():
    y, p = tf.constant([[0.0, 1.0]]), tf.constant([[0.5, 0.5]])
    for name in (
        "mean_squared_error", "mean_absolute_error", "mean_absolute_percentage_error", "mean_squared_logarithmic_error",
        "kl_divergence", "log_cosh", "mse", "mae", "MSE", "kld", "binary_crossentropy", "categorical_crossentropy",
        "cosine_similarity", "hinge", "huber", "poisson", "squared_hinge",
    ):  # fmt: skip
        assert getattr(tf.keras.losses, name)(y, p).shape == (1,)
    assert tf.losses.mean_squared_error is tf.keras.losses.mse is tf.keras.metrics.mean_squared_error
    assert float(tf.keras.losses.mean_squared_error(y, p)[0]) == 0.25
    assert tf.keras.losses.sparse_categorical_crossentropy(y_true=tf.constant([1]), y_pred=p).shape == (1,)


def test_initializers_of_the_first_version():
    values = tf.glorot_uniform_initializer()(shape=(100, 100))
    assert abs(float(tf.reduce_max(values))) <= np.sqrt(6 / 200)
    layer = tf.keras.layers.Dense(2, kernel_initializer=tf.zeros_initializer(), bias_initializer=tf.ones_initializer)
    np.testing.assert_array_equal(layer(tf.ones((1, 3))).numpy(), [[1, 1]])
    layer = tf.keras.layers.Dense(2, kernel_initializer=tf.glorot_uniform_initializer())
    assert layer(tf.ones((1, 3))).shape == (1, 2)


def test_saving_needs_no_import():
    assert callable(tf.keras.saving.load_model)


# Models.


def test_input_shape_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = tf.keras.Sequential([
            tf.keras.layers.Flatten(input_shape=(2, 2)),
            tf.keras.layers.Dense(3, input_dim=4),
            tf.keras.layers.Dense(1, input_shape=[3]),
        ])  # fmt: skip
    assert model.output_shape == (None, 1)
    assert model.count_params() == 15 + 4


def test_own_output_and_input():
    class Generator(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.input = tf.keras.layers.Dense(3)
            self.output = tf.keras.layers.Dense(2)

        def call(self, x):
            return self.output(self.input(x))

    model = Generator()
    assert model(tf.ones((1, 4))).shape == (1, 2)
    assert len(model.trainable_variables) == 4
    assert isinstance(model.output, tf.keras.layers.Dense)
    model.compile("sgd", "mse")
    before = model.output.kernel.numpy()
    model.fit(np.ones((4, 4)), np.ones((4, 2)), verbose=0)
    assert not np.array_equal(before, model.output.kernel.numpy())
    inputs = tf.keras.Input((2,))
    functional = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(inputs))
    assert functional.output.shape == (None, 1)
    assert functional.input.shape == (None, 2)


def test_output_of_a_sequential_model():
    model = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=(2,)), tf.keras.layers.Dense(1)])
    part = tf.keras.Model(model.input, [model.layers[0].output, model.output])
    assert [tuple(t.shape) for t in part(tf.ones((5, 2)))] == [(5, 3), (5, 1)]
    with pytest.raises(AttributeError, match="output"):
        tf.keras.Sequential([tf.keras.layers.Dense(3)]).output


class Decorated(tf.keras.Model):
    """A model whose `call` is a `tf.function`."""

    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(1, kernel_initializer="zeros")

    @tf.function
    def call(self, x):
        if tf.reduce_sum(x) > 1e6:
            x = x * 0.0
        return self.dense(x)


def test_a_function_on_call_keeps_the_model_trainable():
    model = Decorated()
    x = tf.ones((2, 3))
    assert model(x).numpy().tolist() == [[0], [0]]
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x))
    gradients = tape.gradient(loss, model.trainable_variables)
    np.testing.assert_array_equal(gradients[0].numpy(), np.full((3, 1), 2))
    tf.keras.optimizers.SGD(1.0).apply_gradients(zip(gradients, model.trainable_variables))
    assert model(x).numpy().tolist() == [[-8], [-8]]  # three kernels of -2 and a bias of -2
    model.dense.kernel.assign(np.ones((3, 1)))
    assert model(x).numpy().tolist() == [[1], [1]]


def test_a_function_on_call_in_fit():
    tf.keras.utils.set_random_seed(1)  # how much is left to learn depends on the first weights
    model = Decorated()
    model.compile(tf.keras.optimizers.SGD(0.1), "mse")
    x = np.random.default_rng(0).normal(size=(32, 3)).astype("float32")
    y = x.sum(1, keepdims=True)
    losses = model.fit(x, y, batch_size=8, epochs=10, verbose=0).history["loss"]
    assert losses[-1] < 0.1 * losses[0]
    np.testing.assert_allclose(model.predict(x, verbose=0), model(x).numpy(), rtol=1e-4, atol=1e-5)


def test_predict_with_other_arguments():
    class Text(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = tf.keras.layers.Dense(4)

        def call(self, inputs, from_logits=False):
            logits = self.dense(inputs)
            return logits if from_logits else tf.nn.softmax(logits)

        def predict(self, inputs, temperature=1.0):
            logits = self(inputs, from_logits=True)
            prob = tf.nn.softmax(logits / temperature).numpy()
            return np.array([np.argmax(row) for row in prob])

    assert Text().predict(np.ones((3, 2), "float32"), temperature=0.5).shape == (3,)


def test_variables_are_shown_by_layer_and_name():
    class Linear(tf.keras.Model):
        def __init__(self):
            super().__init__(name="linear")
            self.dense = tf.keras.layers.Dense(1, kernel_initializer="zeros", name="dense")

        def call(self, x):
            return self.dense(x)

    model = Linear()
    model(tf.ones((1, 2)))
    assert str(model.variables) == (
        "[<tf.Variable 'linear/dense/kernel:0' shape=(2, 1) dtype=float32, numpy=\narray([[0.],\n       [0.]], "
        "dtype=float32)>, <tf.Variable 'linear/dense/bias:0' shape=(1,) dtype=float32, numpy=array([0.], "
        "dtype=float32)>]"
    )
    assert [v.name for v in model.variables] == ["kernel", "bias"]  # the rest of Keras knows them so
    assert repr(tf.keras.Variable([1.0], name="own")).startswith("<Variable path=own")


def test_eager_loop_of_the_documents():
    x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    y = tf.constant([[10.0], [20.0]])
    dense = tf.keras.layers.Dense(1, kernel_initializer=tf.zeros_initializer(), bias_initializer=tf.zeros_initializer())
    optimizer = tf.keras.optimizers.SGD(learning_rate=0.01)
    for _ in range(100):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(dense(x) - y))
        grads = tape.gradient(loss, dense.variables)
        optimizer.apply_gradients(grads_and_vars=zip(grads, dense.variables))
    np.testing.assert_allclose(dense.kernel.numpy()[:, 0], [0.40784496, 1.191065, 1.9742855], atol=2e-5)
    np.testing.assert_allclose(dense.bias.numpy(), [0.78322077], atol=2e-5)


# Graphs and sessions.


def test_layers_in_a_graph():
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None, 3])
        layer = tf.keras.layers.Dense(2, kernel_initializer="ones")
        y = layer(x)
        assert [v.name.rpartition("/")[2] for v in v1.global_variables()] == ["kernel:0", "bias:0"]
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            np.testing.assert_array_equal(session.run(y, {x: np.ones((2, 3))}), np.full((2, 2), 3))


@pytest.mark.parametrize("style", ["sequential", "functional", "subclass"])
def test_models_train_in_a_session(style):
    def model():
        if style == "subclass":

            class Own(tf.keras.Model):
                def __init__(self):
                    super().__init__()
                    self.hidden, self.last = tf.keras.layers.Dense(4, "tanh"), tf.keras.layers.Dense(1)
                    self.norm = tf.keras.layers.BatchNormalization()

                def call(self, x, training=False):
                    return self.last(self.norm(self.hidden(x), training=training))

            return Own()
        if style == "functional":
            inputs = tf.keras.Input((3,))
            return tf.keras.Model(inputs, tf.keras.layers.Dense(1)(tf.keras.layers.Dense(4, "tanh")(inputs)))
        return tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(4, "tanh"), tf.keras.layers.Dense(1)])

    rng = np.random.default_rng(0)
    given = rng.normal(size=(32, 3))
    wanted = given.sum(1, keepdims=True)
    tf.keras.utils.set_random_seed(0)  # how much is left to learn depends on the first weights
    with tf.Graph().as_default():
        v1.set_random_seed(0)
        x, y = v1.placeholder(tf.float32, [None, 3]), v1.placeholder(tf.float32, [None, 1])
        network = model()
        predicted = network(x, training=True)
        loss = tf.reduce_mean(tf.keras.losses.mean_squared_error(y, predicted))
        step = v1.train.AdamOptimizer(0.05).minimize(loss)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            losses = [session.run([loss, step], {x: given, y: wanted})[0] for _ in range(60)]
            assert losses[-1] < 0.3 * losses[0]
            kernel = session.run(network.trainable_variables[0].value)
            assert kernel.shape == (3, 4)


# Files.


def test_a_file_put_into_the_cache_is_used(tmp_path):
    (tmp_path / "datasets").mkdir()
    place = tmp_path / "datasets" / "numbers.npz"
    np.savez(place, x=np.arange(3))
    digest = hashlib.sha256(place.read_bytes()).hexdigest()
    where = {"origin": "http://nowhere.invalid/numbers.npz", "cache_dir": str(tmp_path)}
    assert tf.keras.utils.get_file("numbers.npz", file_hash=digest, **where) == str(place)
    with pytest.warns(UserWarning, match="is not the file that Keras has published"):
        assert tf.keras.utils.get_file("numbers.npz", file_hash="0" * 64, **where) == str(place)
    assert place.exists()


def test_without_a_network_the_error_says_which_file_to_put_where(tmp_path):
    with pytest.raises(Exception, match=r"absent\.npz.*save it as") as raised:
        tf.keras.utils.get_file("absent.npz", origin="http://127.0.0.1:9/absent.npz", cache_dir=str(tmp_path))
    assert os.path.join(str(tmp_path), "datasets", "absent.npz") in str(raised.value)


def test_data_sets_come_from_the_cache(tmp_path, monkeypatch):
    folder = tmp_path / "datasets"
    folder.mkdir()
    images, labels = np.zeros((4, 28, 28), "uint8"), np.arange(4, dtype="uint8")
    np.savez(folder / "mnist.npz", x_train=images, y_train=labels, x_test=images[:1], y_test=labels[:1])
    monkeypatch.setattr(keras.src.backend.config, "keras_home", lambda: str(tmp_path))
    with pytest.warns(UserWarning, match="is not the file that Keras has published"):
        (x, y), (x_test, _) = tf.keras.datasets.mnist.load_data()
    assert (x.shape, y.tolist(), x_test.shape) == ((4, 28, 28), [0, 1, 2, 3], (1, 28, 28))
