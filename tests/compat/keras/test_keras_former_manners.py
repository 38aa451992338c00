"""What programs of TensorFlow 2.0 to 2.4 do with Keras, where Keras 3 by itself refuses or means something else."""

import numpy as np
import pytest

import headrace as tf

keras = tf.keras
layers = keras.layers
K = keras.backend
X = np.linspace(0, 1, 32, dtype="float32").reshape(8, 4)
Y = np.array([0, 1] * 4, dtype="float32")


def functional(outputs=1):
    inputs = keras.Input((4,), name="in")
    hidden = layers.Dense(3, kernel_initializer="ones", name="hidden")(inputs)
    return inputs, hidden, layers.Dense(outputs, kernel_initializer="ones", name="out")(hidden)


def sequential(**options):
    return keras.Sequential([layers.Dense(1, input_shape=(4,), kernel_initializer="ones", **options)])


# Losses and metrics.


def test_symbolic_losses_are_trained():
    inputs, hidden, outputs = functional()
    model = keras.Model(inputs, outputs)
    model.add_loss(tf.reduce_mean(hidden) * 2.0)
    model.compile(keras.optimizers.SGD(0.0), "mse")
    expected = np.mean((X @ np.ones((4, 1)) * 3 - Y[:, None]) ** 2) + 2 * np.mean(X.sum(1))
    assert model.evaluate(X, Y, verbose=0) == pytest.approx(expected, rel=1e-5)
    assert model.fit(X, Y, batch_size=8, verbose=0).history["loss"][0] == pytest.approx(expected, rel=1e-5)
    model(X)
    assert [float(loss) for loss in model.losses] == [pytest.approx(2 * np.mean(X.sum(1)), rel=1e-5)]


def test_symbolic_losses_alone():
    """An autoencoder without targets; the loss of each sample counts by its mean, in models inside of models too."""
    inputs, _, outputs = functional(4)
    model = keras.Model(inputs, outputs)
    model.add_loss(keras.losses.mean_squared_error(inputs, outputs))
    model.compile("adam")
    before = model.evaluate(X, verbose=0)
    assert before == pytest.approx(np.mean((X @ np.full((4, 4), 3.0) - X) ** 2), rel=1e-5)
    model.fit(X, epochs=3, verbose=0)
    assert model.evaluate(X, verbose=0) < before
    outer = keras.Sequential([keras.Input((4,)), model])
    outer(X)
    assert len(outer.losses) == 1


def test_a_layer_that_only_a_loss_needs_is_trained():
    inputs, hidden, outputs = functional()
    model = keras.Model(inputs, outputs)
    critic = layers.Dense(1, name="critic")
    model.add_loss(tf.reduce_mean(tf.square(critic(hidden) - 1.0)))
    assert len(model.trainable_variables) == 6
    model.compile("adam", "mse")
    before = critic.get_weights()[0]
    model.fit(X, Y, verbose=0)
    assert not np.array_equal(before, critic.get_weights()[0])


def test_losses_of_functions():
    model = sequential()
    model.add_loss(lambda: tf.reduce_sum(model.layers[0].kernel))
    model.layers[0].add_loss(lambda: 2.0 * tf.reduce_sum(model.layers[0].kernel))
    assert sorted(map(float, model.losses)) == [4.0, 8.0]
    model.compile(keras.optimizers.SGD(0.0), "mse")
    assert model.evaluate(X, X.sum(1), verbose=0) == pytest.approx(12.0, abs=1e-4)
    model.compile(keras.optimizers.SGD(0.1), "mse")
    model.fit(X, X.sum(1), batch_size=8, verbose=0)
    assert (model.get_weights()[0] < 1.0).all()


@pytest.mark.parametrize("mean", [tf.reduce_mean, K.mean])
def test_symbolic_metrics(mean):
    inputs, hidden, outputs = functional()
    model = keras.Model(inputs, outputs)
    model.add_metric(mean(hidden), name="activity", aggregation="mean")
    model.compile("sgd", "mse", metrics=["mae"])
    logs = model.evaluate(X, Y, verbose=0, return_dict=True)
    assert logs["activity"] == pytest.approx(np.mean(X.sum(1)), rel=1e-5)
    assert set(model.fit(X, Y, verbose=0).history) == {"loss", "mae", "activity"}
    with pytest.raises(ValueError, match="expected a name"):
        model.add_metric(mean(outputs))


def test_compiled_loss_and_metrics_in_a_train_step():
    class Model(keras.Model):
        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                y_pred = self(x, training=True)
                loss = self.compiled_loss(y, y_pred, regularization_losses=self.losses)
            self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))
            self.compiled_metrics.update_state(y, y_pred)
            return {metric.name: metric.result() for metric in self.metrics}

    inputs, _, outputs = functional()
    model = Model(inputs, outputs)
    model.compile(keras.optimizers.SGD(0.0), "mse", metrics=["mae"])
    error = X @ np.full((4, 1), 3.0) - Y[:, None]
    history = model.fit(X, Y, batch_size=8, verbose=0).history
    assert history["loss"][0] == pytest.approx(np.mean(error**2), rel=1e-5)
    assert history["mae"][0] == pytest.approx(np.mean(np.abs(error)), rel=1e-5)


# Arguments.


def test_names_by_position():
    inputs, _, outputs = functional()

    class Model(keras.Model):
        def __init__(self, name):
            super().__init__(name)

    class Named(keras.Model):
        pass

    assert keras.Model(inputs, outputs, "first").name == "first"
    assert Named(inputs, outputs, "second").name == "second"
    assert keras.Sequential([layers.Dense(1)], "third").name == "third"
    assert Model("fourth").name == "fourth"


def test_metrics_come_third():
    model = sequential()
    model.compile("sgd", "mse", ["mae"], [1.0])
    model.fit(X, Y, verbose=0)
    assert model.metrics_names == ["loss", "mae"]
    model = sequential()
    model.compile("sgd", "mse", 2.0)  # numbers are the weights of losses, as in Keras 3
    assert model.fit(X, Y, verbose=0).history.keys() == {"loss"}


def test_arguments_of_compile():
    model = sequential()
    model.compile("sgd", "mse", sample_weight_mode=None, target_tensors=None, experimental_run_tf_function=False)
    with pytest.raises(ValueError, match="target_tensors"):
        model.compile("sgd", "mse", target_tensors=[X])


@pytest.mark.parametrize("loss", ["mse", {"out": "mse"}])
@pytest.mark.parametrize("metrics", [None, ["mae"], {"out": ["mae"]}])
def test_targets_by_name(loss, metrics):
    inputs, _, outputs = functional()
    model = keras.Model(inputs, outputs)
    model.compile(keras.optimizers.SGD(0.0), loss, metrics=metrics)
    by_name = model.evaluate(X, {"out": Y}, verbose=0)
    np.testing.assert_allclose(by_name, model.evaluate(X, Y, verbose=0))


def test_decay():
    optimizer = keras.optimizers.SGD(lr=0.1, decay=0.5)
    variable = tf.Variable(1.0)
    for _ in range(3):
        optimizer.apply_gradients([(tf.constant(1.0), variable)], name="step")
    # TF: 0.1 / (1 + 0.5 * step)
    assert variable.numpy() == pytest.approx(1 - 0.1 * (1 + 1 / 1.5 + 1 / 2))
    assert optimizer.decay == 0.5
    assert K.get_value(optimizer.lr) == pytest.approx(0.1)
    K.set_value(optimizer.lr, 0.4)
    assert float(optimizer.learning_rate) == pytest.approx(0.4 / 2.5)
    again = keras.optimizers.SGD.from_config(optimizer.get_config())
    assert float(again.learning_rate) == pytest.approx(0.4)
    assert keras.optimizers.Adam().decay == 0.0


def test_optimizer_methods():
    optimizer, variable = keras.optimizers.Adam(), tf.Variable([1.0])
    optimizer.apply_gradients([(tf.ones(1), variable)])
    assert len(optimizer.variables()) == len(optimizer.variables) == len(optimizer.get_weights())
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, [2])
        (gradient,) = optimizer.get_gradients(tf.reduce_sum(x * x), [x])
        assert session.run(gradient, {x: [1.0, 2.0]}).tolist() == [2.0, 4.0]
        with pytest.raises(ValueError, match="has no gradient"):
            optimizer.get_gradients(tf.constant(1.0), [x])


def test_weights_that_a_layer_begins_with():
    model = keras.Sequential([layers.Dense(1, weights=[np.full((4, 1), 2.0), np.ones(1)], input_shape=(4,))])
    np.testing.assert_allclose(model.predict(X, verbose=0), X.sum(1, keepdims=True) * 2 + 1, rtol=1e-5)


def test_add_weight():
    class Layer(layers.Layer):
        def build(self, shape):
            self.kernel = self.add_weight(
                "kernel", shape=(shape[-1], 2), initializer="ones", use_resource=True,
                synchronization=tf.VariableSynchronization.AUTO, aggregation=tf.VariableAggregation.MEAN,
            )  # fmt: skip

        def call(self, x):
            return tf.matmul(x, self.kernel)

    layer = Layer()
    assert layer(X).shape == (8, 2)
    assert layer.weights[0].name == "kernel"


def test_batches_that_go_on():
    model = sequential()
    model.compile("sgd", keras.losses.MeanSquaredError(reduction=keras.losses.Reduction.AUTO), metrics=["mae"])
    model.compile(keras.optimizers.SGD(0.0), "mse", metrics=["mae"])
    first = model.train_on_batch(X[:4], Y[:4])[1]
    second = model.train_on_batch(X[4:], Y[4:])[1]
    model.train_on_batch(X[:4], Y[:4])
    assert model.train_on_batch(X[4:], Y[4:], reset_metrics=False)[1] == pytest.approx((first + second) / 2, rel=1e-5)


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # of Keras's variables
def test_arguments_of_callbacks(tmp_path):
    model = sequential()
    model.compile(keras.optimizers.SGD(0.1), "mse")
    callbacks = [
        keras.callbacks.LearningRateScheduler(lambda epoch, lr: lr * 0.5),
        keras.callbacks.ReduceLROnPlateau(monitor="loss", patience=10, epsilon=1e-3),
        keras.callbacks.TensorBoard(str(tmp_path), write_grads=True, batch_size=4),
    ]
    history = model.fit(X, Y, epochs=2, verbose=0, callbacks=callbacks).history
    np.testing.assert_allclose(history["lr"], [0.05, 0.025], rtol=1e-5)
    assert abs(callbacks[1].min_delta) == 1e-3


@pytest.mark.parametrize(
    ("former", "name"),
    [
        ("kullback_leibler_divergence", "kl_divergence"),
        ("logcosh", "log_cosh"),
        ("cosine_proximity", "cosine_similarity"),
    ],
)
def test_names_of_losses(former, name):
    assert keras.losses.get(former) is keras.losses.get(name)


def test_former_names_of_arguments():
    assert keras.regularizers.l2(l=0.5)(tf.constant([2.0])).numpy() == pytest.approx(2.0)
    assert keras.regularizers.l1(l=0.5)(tf.constant([2.0])).numpy() == pytest.approx(1.0)


# Attributes.


def test_calls_of_a_layer():
    inputs, hidden, outputs = functional()
    model = keras.Model(inputs, outputs)
    layer = model.get_layer("hidden")
    assert layer.get_input_at(0) is inputs
    assert layer.get_output_at(0) is hidden
    assert (layer.get_input_shape_at(0), layer.get_output_shape_at(0)) == ((None, 4), (None, 3))
    assert len(layer.inbound_nodes) == len(layer.outbound_nodes) == 1
    assert (model.output.op.name, model.input.op.type) == ("out", "InputLayer")
    with pytest.raises(ValueError, match="only 1 nodes"):
        layer.get_output_at(1)
    assert (model.updates, model.state_updates, layer.get_updates_for(inputs), model.get_losses_for(None)) == ([],) * 4
    assert not model.stateful
    assert not layer.dynamic
    assert keras.Sequential([layers.LSTM(2, stateful=True, batch_input_shape=(1, 3, 2))]).stateful


def test_iterators_of_images():
    images = np.zeros((4, 2, 2, 3))
    batches = keras.preprocessing.image.ImageDataGenerator(rescale=1 / 255).flow(images, batch_size=2)
    assert batches.next().shape == (2, 2, 2, 3)


# The backend, and models that are gone.


def test_learning_phase():
    dropout = layers.Dropout(0.5)
    assert K.learning_phase() == 0
    with K.learning_phase_scope(1):
        assert K.learning_phase() == 1
        assert (dropout(tf.ones([100])).numpy() == 0).any()
        assert (dropout(tf.ones([100]), training=False).numpy() == 1).all()
        assert K.in_train_phase(lambda: "train", "test") == "train"
    assert (dropout(tf.ones([100])).numpy() == 1).all()
    assert K.in_test_phase("test", "train") == "test"
    with pytest.raises(ValueError, match="expected 0 or 1"):
        K.set_learning_phase(2)


def test_functions_of_the_backend(capsys):
    model = keras.Sequential([keras.Input((4,)), layers.Dropout(0.9), layers.Dense(1)])
    function = K.function([model.input, K.learning_phase()], [model.layers[0].output])
    np.testing.assert_array_equal(function([X, 0])[0], X)
    assert (function([X + 1, 1])[0] == 0).any()
    assert K.function(model.inputs, model.output)([X]).shape == (8, 1)
    assert K.is_keras_tensor(K.placeholder((None, 3)))
    assert not K.is_keras_tensor(X)
    assert K.logsumexp(tf.zeros([2])).numpy() == pytest.approx(np.log(2))
    K.print_tensor(tf.constant([1, 2]), "value:")
    assert "value: [1 2]" in capsys.readouterr().out
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, [2])
        gradient = K.gradients(K.sum(x * x), [x])[0]
        session = tf.compat.v1.Session()
        K.set_session(session)
        assert K.get_session().run(gradient, {x: [1.0, 2.0]}).tolist() == [2.0, 4.0]


def test_linear_models(tmp_path):
    model = keras.experimental.LinearModel()
    model.compile("sgd", "mse")
    before = model.evaluate(X, Y, verbose=0)
    model.fit(X, Y, epochs=2, verbose=0)
    assert model.evaluate(X, Y, verbose=0) < before
    both = keras.experimental.WideDeepModel(keras.experimental.LinearModel(), sequential())
    both.compile([keras.optimizers.SGD(0.0), keras.optimizers.SGD(0.1)], "mse", metrics=["mae"])
    history = both.fit([X, X], Y, epochs=2, verbose=0).history
    assert history["loss"][1] < history["loss"][0]
    assert not both.linear_model.get_weights()[0].any()  # its rate is 0
    assert both.dnn_model.get_weights()[0].any()


def test_mixed_precision_experimental():
    experimental = keras.mixed_precision.experimental
    assert experimental.Policy("mixed_float16").compute_dtype == "float16"
    assert experimental.global_policy().name == "float32"


@pytest.mark.parametrize("name", ["Adam", "Adadelta", "Adagrad", "Adamax", "Nadam", "RMSprop"])
def test_the_backends_epsilon(name):
    optimizer = getattr(keras.optimizers, name)(lr=0.1, epsilon=None, decay=0.0)
    assert optimizer.epsilon == keras.config.epsilon()
    model = sequential()
    model.compile(optimizer, "mse")
    assert np.isfinite(model.train_on_batch(X, Y))


def test_arguments_without_effect():
    assert layers.LSTM(2, time_major=False)(X.reshape(2, 4, 4)).shape == (2, 2)
    assert layers.BatchNormalization(fused=True, virtual_batch_size=None)(X).shape == X.shape
    assert layers.Layer(dynamic=False).built is False
    keras.callbacks.ModelCheckpoint("x.keras", load_weights_on_restart=False)
    sequential().compile("sgd", "mse", distribute=None)
    with pytest.raises(ValueError, match="time_major"):
        layers.LSTM(2, time_major=True)
    with pytest.raises(ValueError, match="BackupAndRestore"):
        keras.callbacks.ModelCheckpoint("x.keras", load_weights_on_restart=True)
