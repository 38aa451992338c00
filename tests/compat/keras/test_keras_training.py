"""`fit`, `evaluate` and `predict` of Keras on headrace: all their ways give the numbers that plain NumPy gives."""

import numpy as np
import pytest

import headrace as tf
from headrace._src.graph.compiling import compilation, queue

tf.install_as_tensorflow()
keras = pytest.importorskip("keras")
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation", "ignore:Your input ran out of data")

RATE = 0.1
WAYS = {
    "plain": {},
    "eager": {"run_eagerly": True},
    "jit": {"jit_compile": True},
    "no jit": {"jit_compile": False},
    "several steps": {"steps_per_execution": 3},
    "several steps, eager": {"steps_per_execution": 3, "run_eagerly": True},
    "several steps, jit": {"steps_per_execution": 3, "jit_compile": True},
    "one long execution": {"steps_per_execution": 50},
}


def ways(*names):
    """The parameters of a test that is run in these ways; those that wait for the compiler are slow."""
    return [pytest.param(name, marks=pytest.mark.slow) if "jit" in name and name != "no jit" else name
            for name in names]  # fmt: skip


def data(rows=22, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 3)).astype("float32")
    y = (x @ np.array([[1.0], [-2.0], [0.5]]) + 0.25).astype("float32")
    return x, y


def linear():
    return keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, kernel_initializer="ones")])


def trained(x, y, batch, epochs, weight=None):
    """The kernel, bias and mean loss of each epoch of a linear regression by stochastic gradient descent."""
    kernel, bias, losses = np.ones((3, 1)), np.zeros(1), []
    weight = np.ones(len(x)) if weight is None else weight
    for _ in range(epochs):
        total = count = 0
        for start in range(0, len(x), batch):
            part = slice(start, start + batch)
            error = x[part] @ kernel + bias - y[part]
            w = weight[part, None]
            total += float((w * error**2).mean()) * len(error)
            count += len(error)
            step = 2 * w * error / len(error)
            kernel, bias = kernel - RATE * x[part].T @ step, bias - RATE * step.sum(0)
        losses.append(total / count)
    return kernel, bias, losses


@pytest.mark.parametrize("way", ways(*WAYS))
def test_every_way_trains_alike(way):
    x, y = data()
    model = linear()
    model.compile(keras.optimizers.SGD(RATE), "mse", metrics=["mae"], **WAYS[way])
    history = model.fit(x, y, batch_size=4, epochs=3, shuffle=False, verbose=0)  # 6 batches, the last of 2 rows
    kernel, bias, losses = trained(x, y, 4, 3)
    np.testing.assert_allclose(model.get_weights()[0], kernel, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(model.get_weights()[1], bias, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(history.history["loss"], losses, rtol=1e-3)
    assert int(model.optimizer.iterations) == 18
    error = x @ kernel + bias - y
    loss, mae = model.evaluate(x, y, batch_size=5, verbose=0)  # 5 batches, the last of 2 rows
    np.testing.assert_allclose([loss, mae], [(error**2).mean(), np.abs(error).mean()], rtol=1e-3)
    np.testing.assert_allclose(model.predict(x, batch_size=5, verbose=0), x @ kernel + bias, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("way", ["plain", "several steps"])
@pytest.mark.parametrize("rows", [1, 3, 4, 12, 13])
def test_all_rows_are_used_once_however_they_divide(way, rows):
    x, y = data(rows)
    seen = []

    class Model(keras.Model):
        def call(self, x):
            return x[:, :1]

    model = Model()
    model.compile(loss="mse", **WAYS[way])

    class Note(keras.callbacks.Callback):
        def on_predict_batch_end(self, batch, logs=None):
            seen.append(len(logs["outputs"]))

        def on_test_batch_end(self, batch, logs=None):
            seen.append(batch)

    np.testing.assert_array_equal(model.predict(x, batch_size=4, verbose=0, callbacks=[Note()]), x[:, :1])
    assert sum(seen) == rows
    np.testing.assert_allclose(
        model.evaluate(x, y, batch_size=4, verbose=0, return_dict=True)["loss"], ((x[:, :1] - y) ** 2).mean(), rtol=1e-4
    )


@pytest.mark.parametrize("way", ["plain", "eager", "several steps"])
def test_datasets_generators_and_arrays(way):
    x, y = data(20)
    expected = trained(x, y, 4, 2)[0]
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(4)

    def batches():
        while True:
            for start in range(0, 20, 4):
                yield x[start : start + 4], y[start : start + 4]

    class Sequence(keras.utils.PyDataset):
        def __len__(self):
            return 5

        def __getitem__(self, index):
            return x[4 * index : 4 * index + 4], y[4 * index : 4 * index + 4]

    unknown = tf.data.Dataset.from_generator(
        lambda: ((a, b) for a, b in zip(x, y)),
        output_signature=(tf.TensorSpec([3], tf.float32), tf.TensorSpec([1], tf.float32)),
    ).batch(4)
    for given, arguments in (
        ((x, y), {"batch_size": 4}), ((tf.constant(x), tf.constant(y)), {"batch_size": 4}), ((dataset,), {}),
        ((unknown,), {}), ((Sequence(),), {}), ((dataset.repeat(),), {"steps_per_epoch": 5}),
        ((batches(),), {"steps_per_epoch": 5}),
    ):  # fmt: skip
        if "steps_per_epoch" in arguments and way == "several steps":
            continue  # TF: an execution is always of so many steps, here 6 in an epoch
        model = linear()
        model.compile(keras.optimizers.SGD(RATE), "mse", **WAYS[way])
        model.fit(*given, epochs=2, shuffle=False, verbose=0, **arguments)
        np.testing.assert_allclose(model.get_weights()[0], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("way", ways("plain", "eager", "jit", "several steps"))
def test_sample_weights(way):
    x, y = data()
    weight = np.linspace(0, 2, len(x)).astype("float32")
    model = linear()
    model.compile(keras.optimizers.SGD(RATE), "mse", weighted_metrics=["mse"], **WAYS[way])
    model.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0, sample_weight=weight)
    kernel, bias, _ = trained(x, y, 4, 2, weight)
    np.testing.assert_allclose(model.get_weights()[0], kernel, rtol=1e-4, atol=1e-5)
    squared = (x @ kernel + bias - y)[:, 0] ** 2
    loss, mse = model.evaluate(x, y, batch_size=22, sample_weight=weight, verbose=0)
    np.testing.assert_allclose(loss, (squared * weight).mean(), rtol=1e-3)
    np.testing.assert_allclose(mse, (squared * weight).sum() / weight.sum(), rtol=1e-3)


@pytest.mark.parametrize("way", ["plain", "eager", "several steps"])
def test_class_weights_are_sample_weights(way):
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(10, 3)).astype("float32"), np.array([0, 1, 2, 1, 0, 2, 2, 1, 0, 0])
    weights = {0: 1.0, 1: 3.0, 2: 0.5}
    results = []
    for arguments in ({"class_weight": weights}, {"sample_weight": np.array([weights[c] for c in y], "float32")}):
        keras.utils.set_random_seed(3)
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(3, activation="softmax")])
        model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"], **WAYS[way])
        history = model.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0, **arguments)
        results.append((history.history["loss"], *model.get_weights()))
    for one, other in zip(*results):
        np.testing.assert_allclose(one, other, rtol=1e-5)


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16", "float64"])
@pytest.mark.parametrize("way", ways("plain", "eager", "jit"))
def test_precision_policies(policy, way):
    keras.utils.set_random_seed(1)  # how much is left to learn depends on the first weights
    x, y = data(16)
    compute, variables = {"float64": ("float64", "float64")}.get(policy, (policy[6:], "float32"))
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(policy)
    try:
        model = keras.Sequential([
            keras.Input((3,)), keras.layers.Dense(4, activation="tanh"), keras.layers.Dense(1, dtype=variables),
        ])  # fmt: skip
        model.compile(keras.optimizers.SGD(0.05), "mse", **WAYS[way])
        losses = model.fit(x, y, batch_size=4, epochs=8, shuffle=False, verbose=0).history["loss"]
    finally:
        keras.config.set_dtype_policy(before)
    assert model.layers[0](x).dtype == compute
    assert all(v.dtype == variables for v in model.trainable_variables)
    assert losses[-1] < 0.8 * losses[0]
    assert isinstance(model.optimizer, keras.optimizers.LossScaleOptimizer) == (policy == "mixed_float16")
    assert model.predict(x, verbose=0).dtype == variables


def test_loss_scale_halves_when_gradients_overflow():
    optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(1.0), initial_scale=8.0)
    variable = keras.Variable([1.0])

    @tf.function
    def step(gradient):
        optimizer.apply([gradient], [variable])

    step(tf.constant([np.inf]))
    assert float(optimizer.dynamic_scale) == 4
    assert variable.numpy() == [1]
    step(tf.constant([4.0]))
    assert variable.numpy() == [0]


@pytest.mark.parametrize("way", ["plain", "eager", "jit", "several steps"])
def test_own_train_step(way):
    class Model(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(1, kernel_initializer="ones")
            self.seen = keras.metrics.Mean(name="seen")

        def call(self, x, training=False):
            return self.dense(x)

        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(self(x, training=True) - y))
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
            self.seen.update_state(loss)
            return {"seen": self.seen.result(), "norm": tf.linalg.global_norm(gradients)}

        def test_step(self, data):
            return {"rows": tf.shape(data[0])[0]}

        def predict_step(self, data):
            return {"double": 2 * self(data), "shape": tf.shape(data)[1:] * tf.ones_like(data[:, :1], tf.int32)}

    x, y = data(20)
    model = Model()
    model.compile(keras.optimizers.SGD(RATE), **WAYS[way])
    history = model.fit(x, y, batch_size=5, epochs=2, shuffle=False, verbose=0).history
    kernel, bias, losses = trained(x, y, 5, 2)
    np.testing.assert_allclose(model.dense.kernel.numpy(), kernel, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(history["seen"], losses, rtol=1e-3)
    assert set(history) == {"seen", "norm"}
    assert model.evaluate(x, y, batch_size=8, verbose=0, return_dict=True)["rows"] == 4
    out = model.predict(x, batch_size=8, verbose=0)
    np.testing.assert_allclose(out["double"], 2 * (x @ kernel + bias), rtol=1e-4, atol=1e-4)
    assert out["shape"].shape == (20, 1)


def test_structures_of_inputs_and_outputs():
    a, b = keras.Input((2,), name="a"), keras.Input((2,), name="b")
    model = keras.Model({"a": a, "b": b}, {"sum": keras.layers.Add()([a, b]), "first": a * 1.0})
    losses, weights = {"sum": "mse", "first": "mae"}, {"sum": 2.0, "first": 1.0}
    model.compile("sgd", losses, metrics={"sum": ["mae"]}, loss_weights=weights)
    x = {"a": np.ones((6, 2), "float32"), "b": np.full((6, 2), 2, "float32")}
    y = {"sum": np.zeros((6, 2), "float32"), "first": np.zeros((6, 2), "float32")}
    result = model.evaluate(x, y, batch_size=4, verbose=0, return_dict=True)
    assert result["loss"] == pytest.approx(2 * 9 + 1)
    assert result["sum_mae"] == pytest.approx(3)
    out = model.predict(x, batch_size=4, verbose=0)
    np.testing.assert_array_equal(out["sum"], np.full((6, 2), 3))


def test_callbacks_see_every_batch_and_can_stop():
    x, y = data(16)
    calls = []

    class Note(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            calls.append(("epoch", epoch))

        def on_train_batch_end(self, batch, logs=None):
            calls.append((batch, round(float(logs["loss"]), 6)))

        def on_epoch_end(self, epoch, logs=None):
            assert set(logs) == {"loss", "val_loss"}
            if epoch == 1:
                self.model.stop_training = True

    model = linear()
    model.compile(keras.optimizers.SGD(RATE), "mse")
    history = model.fit(
        x, y, batch_size=4, epochs=5, shuffle=False, verbose=0, validation_data=(x, y), callbacks=[Note()]
    )
    assert history.epoch == [0, 1]
    assert [c[0] for c in calls] == ["epoch", 0, 1, 2, 3] * 2
    assert len({c[1] for c in calls}) == 10


@pytest.mark.slow
def test_seeded_training_is_equal_however_long_compiling_takes(monkeypatch):
    def at_once(job):
        job.complete(job.finish(queue.built_here(job.block, job.signature)))

    def trained(submit):
        monkeypatch.setattr(queue.queue, "submit", submit)
        tf.keras.utils.set_random_seed(1)
        x, y = data(160)
        model = keras.Sequential(
            [keras.layers.Dense(8, activation="gelu"), keras.layers.Dropout(0.3), keras.layers.Dense(1)]
        )
        model.compile("adam", "mse")
        losses = model.fit(x, y, epochs=2, batch_size=4, verbose=0).history["loss"]
        return losses, [weights.tobytes() for weights in model.get_weights()]

    monkeypatch.setattr(compilation, "_PATIENCE", 0.0)
    monkeypatch.setattr(compilation, "_PATIENCE_PER_OPERATION", 0.0)
    submitted = []
    assert trained(at_once) == trained(submitted.append)
    assert submitted


def test_rates_change_while_training():
    x, y = data(8)
    model = linear()
    model.compile(keras.optimizers.SGD(RATE), "mse")
    schedule = keras.callbacks.LearningRateScheduler(lambda epoch, rate: 0.0 if epoch else rate)
    weights = []
    note = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: weights.append(model.get_weights()[0]))
    model.fit(x, y, epochs=3, batch_size=4, verbose=0, callbacks=[schedule, note])
    assert not np.array_equal(weights[0], np.ones((3, 1)))
    np.testing.assert_array_equal(weights[0], weights[2])


def test_frozen_layers_after_compiling_again():
    x, y = data(8)
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(x, y, verbose=0)
    model.layers[0].trainable = False
    model.compile("sgd", "mse")
    before = model.get_weights()
    model.fit(x, y, verbose=0)
    after = model.get_weights()
    np.testing.assert_array_equal(before[0], after[0])
    assert not np.array_equal(before[2], after[2])


def test_weights_set_between_calls_are_used():
    x, y = data(8)
    model = linear()
    model.compile("sgd", "mse")
    for value in (0.0, 1.0, 2.0, 3.0):
        model.set_weights([np.full((3, 1), value), np.zeros(1)])
        np.testing.assert_allclose(model.predict(x, verbose=0)[:, 0], value * x.sum(1), rtol=1e-4, atol=1e-5)
        expected = ((value * x.sum(1, keepdims=True) - y) ** 2).mean()
        np.testing.assert_allclose(model.evaluate(x, y, verbose=0), expected, rtol=1e-4)


@pytest.mark.parametrize("way", ["plain", "eager", "several steps"])
def test_normalization_and_dropout_know_whether_they_train(way):
    keras.utils.set_random_seed(0)
    model = keras.Sequential([
        keras.Input((3,)), keras.layers.BatchNormalization(momentum=0.5), keras.layers.Dropout(0.5),
    ])  # fmt: skip
    model.compile("sgd", "mse", **WAYS[way])
    x = np.random.default_rng(0).normal(5, 2, size=(64, 3)).astype("float32")
    model.fit(x, x, batch_size=16, epochs=4, verbose=0)
    mean = model.layers[0].moving_mean.numpy()
    np.testing.assert_allclose(mean, [5, 5, 5], atol=1)
    one, two = model.predict(x, verbose=0), model.predict(x, verbose=0)
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(model.layers[0].moving_mean.numpy(), mean)
    assert (model(x, training=True).numpy() == 0).mean() > 0.3


@pytest.mark.parametrize("way", ["plain", "several steps"])
def test_two_seeded_runs_are_equal(way):
    results = []
    for _ in range(2):
        keras.utils.set_random_seed(7)
        model = keras.Sequential([
            keras.Input((3,)), keras.layers.Dense(8, "relu"), keras.layers.Dropout(0.3), keras.layers.Dense(1),
        ])  # fmt: skip
        model.compile("adam", "mse", **WAYS[way])
        x, y = data(32)
        history = model.fit(x, y, batch_size=4, epochs=3, verbose=0)
        results.append((history.history["loss"], *model.get_weights()))
    for one, other in zip(*results):
        np.testing.assert_array_equal(one, other)


def test_batches_one_by_one():
    x, y = data(4)
    model = linear()
    model.compile(keras.optimizers.SGD(RATE), "mse", metrics=["mae"])
    logs = model.train_on_batch(x, y, return_dict=True)
    kernel, bias, losses = trained(x, y, 4, 1)
    np.testing.assert_allclose(float(logs["loss"]), losses[0], rtol=1e-4)
    np.testing.assert_allclose(model.predict_on_batch(x), x @ kernel + bias, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(float(model.test_on_batch(x, y)[0]), ((x @ kernel + bias - y) ** 2).mean(), rtol=1e-3)


def test_gradients_accumulate_over_steps():
    x, y = data(16)
    whole, parts = linear(), linear()
    whole.compile(keras.optimizers.SGD(RATE), "mse")
    parts.compile(keras.optimizers.SGD(RATE, gradient_accumulation_steps=4), "mse")
    whole.fit(x, y, batch_size=16, epochs=2, shuffle=False, verbose=0)
    parts.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0)
    np.testing.assert_allclose(whole.get_weights()[0], parts.get_weights()[0], rtol=1e-4)


def test_errors_in_a_step_reach_the_caller():
    x = np.array([0, 1, 9])
    model = keras.Sequential([keras.Input(()), keras.layers.Embedding(5, 2)])
    with pytest.raises(tf.errors.InvalidArgumentError, match="9"):
        model.predict(x, verbose=0)
    with pytest.raises(ValueError, match="must call `compile"):
        model.fit(x, x, verbose=0)
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match="shape"):
        linear().predict(np.ones((2, 5)), verbose=0)


def test_progress_is_shown(capsys):
    x, y = data(8)
    model = linear()
    model.compile("sgd", "mse")
    model.fit(x, y, batch_size=4, epochs=1, verbose=2)
    shown = capsys.readouterr().out
    assert "Epoch 1/1" in shown or "2/2" in shown
    assert "loss" in shown


def test_predicting_often_traces_once():
    traces = []

    class Model(keras.Model):
        def call(self, x):
            traces.append(x.shape)
            return x + 1

    model = Model()
    model.predict(np.ones((4, 2), "float32"), verbose=0)
    count = len(traces)
    for _ in range(20):
        model.predict(np.ones((4, 2), "float32"), verbose=0)
    assert len(traces) == count
