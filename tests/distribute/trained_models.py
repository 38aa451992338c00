"""Trainings that must end with the same weights however they are spread; `scripts/same_result` compares them.

Each is a function of the package and of a strategy, None for none, and returns arrays by name. It runs with any of the
dtypes that `use_dtype` sets, on TensorFlow as well. As a program, it runs them and leaves the arrays in a file:

    trained_models.py OUTPUT [NAME:DTYPE ...] [--devices 0,1,2,4] [--compiled] [--package tensorflow]

0 devices: no strategy. Without `--devices` it is one of several workers that `headrace launch` has started.
"""

import argparse
import contextlib
import importlib

import numpy as np

STEPS, BATCH, SEED = 20, 16, 1
SAME_AS_ONE_DEVICE, AS_RECORDED = {}, {}


def as_on_one_device(function):
    """A training whose weights do not depend on how it is spread."""
    SAME_AS_ONE_DEVICE[function.__name__] = function
    return function


def as_recorded(function):
    """A training in which replicas do something else than one device; TensorFlow's result is recorded."""
    AS_RECORDED[function.__name__] = function
    return function


def use_dtype(tf, dtype):
    """Let Keras use a dtype, or a policy such as mixed_bfloat16."""
    tf.keras.config.set_floatx("float32" if dtype.startswith("mixed") else dtype)
    tf.keras.config.set_dtype_policy(dtype)


def scope_of(strategy):
    return contextlib.nullcontext() if strategy is None else strategy.scope()


def numbers(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).normal(size=shape)


def indices(below, *shape):
    return np.random.default_rng([1, *shape]).integers(0, below, shape)


def fitted(tf, strategy, make, x, y, loss="mse", metrics=("mae",), batch=BATCH, optimizer=None, compiled=None, **fit):
    """The weights and losses of a Keras model after `fit`, in order.

    Args:
        tf: the package.
        strategy: of the training.
        make: what makes the model.
        x, y: the data.
        loss, metrics: of the model.
        batch: the size of batches for all replicas.
        optimizer: keywords of it.
        compiled: keywords of `compile`.
        fit: keywords of `fit`.
    """
    with scope_of(strategy):
        model = make()
        model.compile(
            tf.keras.optimizers.SGD(0.05, momentum=0.9, **(optimizer or {})), loss, metrics=list(metrics),
            **(compiled or {}),
        )  # fmt: skip
    dtype = tf.keras.config.floatx()
    x, y = tf.nest.map_structure(lambda a: a.astype(dtype) if a.dtype.kind == "f" else a, (x, y))
    model.evaluate(x, y, batch_size=batch, verbose=0)  # which makes all weights
    model.set_weights([_beginning(i, weight) for i, weight in enumerate(model.get_weights())])
    epochs = -(-STEPS * batch // len(y))
    history = model.fit(x, y, batch_size=batch, epochs=epochs, shuffle=False, verbose=0, **fit).history
    found = {f"weight {i}": weight for i, weight in enumerate(model.get_weights())}
    found |= {f"history of {name}": np.array(values) for name, values in history.items()}
    found["evaluated"] = np.array(model.evaluate(x, y, batch_size=batch, verbose=0))
    found["predicted"] = np.asarray(model.predict(x, batch_size=batch, verbose=0))
    return found


def _beginning(number, weight):
    """What a weight begins with; what is all zeros or ones, such as a bias, stays so."""
    return weight if np.ptp(weight) == 0 else (numbers(*weight.shape, seed=number) * 0.3).astype(weight.dtype)


# Keras.


@as_on_one_device
def dense(tf, strategy):
    layers = tf.keras.layers

    def make():
        return tf.keras.Sequential([
            layers.Dense(16, "relu", kernel_regularizer=tf.keras.regularizers.L2(0.01)), layers.Dense(1),
        ])  # fmt: skip

    return fitted(tf, strategy, make, numbers(80, 5), numbers(80, 1))


@as_on_one_device
def images(tf, strategy):
    layers = tf.keras.layers

    def make():
        return tf.keras.Sequential([
            layers.Conv2D(4, 3, activation="tanh"), layers.MaxPooling2D(), layers.Conv2D(3, 2, strides=2),
            layers.Flatten(), layers.Dense(3),
        ])  # fmt: skip

    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    return fitted(tf, strategy, make, numbers(80, 8, 8, 2), indices(3, 80), loss, ["accuracy"])


@as_on_one_device
def sequences(tf, strategy):
    layers = tf.keras.layers

    def make():
        return tf.keras.Sequential([layers.Masking(9.0), layers.LSTM(6, return_sequences=True), layers.GRU(5),
                                    layers.Dense(1)])  # fmt: skip

    x = numbers(80, 6, 3)
    x[::3, 4:] = 9.0
    return fitted(tf, strategy, make, x, numbers(80, 1))


@as_on_one_device
def embedded_words(tf, strategy):
    layers = tf.keras.layers

    def make():
        return tf.keras.Sequential([layers.Embedding(30, 6), layers.GlobalAveragePooling1D(),
                                    layers.Dense(1, "sigmoid")])  # fmt: skip

    return fitted(tf, strategy, make, indices(30, 80, 7), indices(2, 80, 1), "binary_crossentropy", ["AUC"])


@as_on_one_device
def attention(tf, strategy):
    layers = tf.keras.layers

    def make():
        inputs = tf.keras.Input([5, 4])
        x = layers.LayerNormalization()(inputs)
        x = layers.Add()([inputs, layers.MultiHeadAttention(2, 3)(x, x)])
        return tf.keras.Model(inputs, layers.Dense(1)(layers.Flatten()(x)))

    return fitted(tf, strategy, make, numbers(80, 5, 4), numbers(80, 1))


@as_on_one_device
def two_inputs(tf, strategy):
    layers = tf.keras.layers

    def make():
        left, right = tf.keras.Input([3], name="left"), tf.keras.Input([4], name="right")
        joined = layers.Concatenate()([layers.Dense(5, "tanh")(left), right])
        return tf.keras.Model({"left": left, "right": right}, [layers.Dense(1)(joined), layers.Dense(2)(joined)])

    x = {"left": numbers(80, 3), "right": numbers(80, 4)}
    with scope_of(strategy):
        model = make()
        model.compile(tf.keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True), ["mse", "mae"], [1.0, 0.3])
    dtype = tf.keras.config.floatx()
    model.set_weights([_beginning(i, weight) for i, weight in enumerate(model.get_weights())])
    rows = (x, (numbers(80, 1), numbers(80, 2)), np.abs(numbers(80)))
    rows = tf.nest.map_structure(lambda a: a.astype(dtype), rows)
    model.fit(tf.data.Dataset.from_tensor_slices(rows).batch(BATCH), epochs=4, verbose=0)
    return {f"weight {i}": weight for i, weight in enumerate(model.get_weights())}


@as_on_one_device
def own_train_step(tf, strategy):
    layers = tf.keras.layers

    class Model(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.hidden, self.out = layers.Dense(8, "tanh"), layers.Dense(1)
            self.mean_error = tf.keras.metrics.Mean(name="mean_error")

        def call(self, x):
            return self.out(self.hidden(x))

        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                predicted = self(x, training=True)
                loss = self.compute_loss(x, y, predicted)  # divided by the number of replicas
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
            self.mean_error.update_state(tf.abs(predicted - y))
            return {"mean_error": self.mean_error.result()}

    return fitted(tf, strategy, Model, numbers(80, 5), numbers(80, 1))


@as_on_one_device
def accumulated_gradients(tf, strategy):
    def make():
        return tf.keras.Sequential([tf.keras.layers.Dense(6, "tanh"), tf.keras.layers.Dense(1)])

    return fitted(tf, strategy, make, numbers(80, 5), numbers(80, 1), optimizer={"gradient_accumulation_steps": 2})


@as_on_one_device
def several_steps_at_once(tf, strategy):
    def make():
        return tf.keras.Sequential([tf.keras.layers.Dense(6, "tanh"), tf.keras.layers.Dense(1)])

    return fitted(tf, strategy, make, numbers(80, 5), numbers(80, 1), compiled={"steps_per_execution": 4})


@as_on_one_device
def batches_normalized_together(tf, strategy):
    layers = tf.keras.layers

    def make():
        return tf.keras.Sequential([
            layers.Dense(6, "tanh"), layers.BatchNormalization(synchronized=True, momentum=0.8), layers.Dense(1),
        ])  # fmt: skip

    return fitted(tf, strategy, make, numbers(80, 5), numbers(80, 1))


# Loops of the user's own.


def looped(tf, strategy, weights, error_of, rows, batch=BATCH, **optimizer):
    """Weights after steps of a loop with `strategy.run`, whose last batch may be a part of one, and the losses."""
    strategy = strategy or tf.distribute.get_strategy()
    dtype = tf.keras.config.floatx()
    with strategy.scope():
        variables = [tf.Variable(weight.astype(dtype)) for weight in weights]
        optimizer = tf.keras.optimizers.SGD(0.05, momentum=0.9, **optimizer)
        optimizer.build(variables)

    def step(*part):
        with tf.GradientTape() as tape:
            loss = tf.nn.compute_average_loss(error_of(variables, *part), global_batch_size=batch)
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    @tf.function
    def distributed(part):
        return strategy.reduce("SUM", strategy.run(step, args=part), axis=None)

    rows = [row.astype(dtype) if row.dtype.kind == "f" else row for row in rows]
    dataset = tf.data.Dataset.from_tensor_slices(tuple(rows)).batch(batch).repeat()
    batches = iter(strategy.experimental_distribute_dataset(dataset))
    losses = [distributed(next(batches)).numpy() for _ in range(STEPS)]
    return {**{f"weight {i}": v.numpy() for i, v in enumerate(variables)}, "losses": np.array(losses)}


@as_on_one_device
def own_loop(tf, strategy):
    def error(variables, x, y):
        return tf.reduce_sum((tf.tanh(x @ variables[0]) @ variables[1] - y) ** 2, 1)

    return looped(tf, strategy, [numbers(5, 6), numbers(6, 2)], error, [numbers(80, 5), numbers(80, 2)])


@as_on_one_device
def own_loop_with_a_partial_batch(tf, strategy):
    """Of the last batch, the last replicas may have nothing."""

    def error(variables, x, y):
        return tf.reduce_sum((tf.tanh(x @ variables[0]) @ variables[1] - y) ** 2, 1)

    return looped(tf, strategy, [numbers(5, 6), numbers(6, 2)], error, [numbers(69, 5), numbers(69, 2)])


@as_on_one_device
def own_loop_with_sparse_gradients(tf, strategy):
    def error(variables, x, y):
        rows = tf.nn.embedding_lookup(variables[0], x)
        return tf.reduce_sum((tf.reduce_mean(rows, 1) @ variables[1] - y) ** 2, 1)

    return looped(tf, strategy, [numbers(30, 4), numbers(4, 1)], error, [indices(30, 76, 5), numbers(76, 1)])


# What is TensorFlow's own.


@as_recorded
def batches_normalized_apart(tf, strategy):
    layers = tf.keras.layers

    def make():
        return tf.keras.Sequential([layers.Dense(6, "tanh"), layers.BatchNormalization(momentum=0.8), layers.Dense(1)])

    return fitted(tf, strategy, make, numbers(80, 5), numbers(80, 1))


@as_recorded
def fit_with_a_partial_batch(tf, strategy):
    def make():
        return tf.keras.Sequential([tf.keras.layers.Dense(6, "tanh"), tf.keras.layers.Dense(1)])

    return fitted(tf, strategy, make, numbers(69, 5), numbers(69, 1))


@as_recorded
def mixed_precision(tf, strategy):
    def make():
        return tf.keras.Sequential([
            tf.keras.layers.Dense(32, "relu"), tf.keras.layers.Dense(8, "tanh"),
            tf.keras.layers.Dense(1, dtype="float32"),
        ])  # fmt: skip

    return fitted(tf, strategy, make, numbers(80, 5), numbers(80, 1))


TRAININGS = {**SAME_AS_ONE_DEVICE, **AS_RECORDED}
RECORDED = [
    "batches_normalized_apart:float64", "fit_with_a_partial_batch:float64", "mixed_precision:mixed_bfloat16",
    "mixed_precision:mixed_float16",
]  # fmt: skip


def trained(tf, strategy, training):
    """The arrays that a training, such as `dense:float64`, ends with."""
    name, _, dtype = training.partition(":")
    tf.keras.utils.set_random_seed(SEED)
    use_dtype(tf, dtype)
    return TRAININGS[name](tf, strategy)


def _strategies(tf, devices):
    """The strategies to train with, by how many devices they have."""
    if devices is None:
        return {"workers": tf.distribute.MultiWorkerMirroredStrategy()}
    counts = [int(n) for n in devices.split(",")]
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * max(1, *counts))
    return {str(n): tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(n)]) if n else None for n in counts}


def main():
    """Run trainings on several numbers of devices of this process, or as one of several workers."""
    parser = argparse.ArgumentParser()
    parser.add_argument("output")
    parser.add_argument("trainings", nargs="*", default=RECORDED)
    parser.add_argument("--devices")
    parser.add_argument("--compiled", action="store_true", help="compile at the first call, not in the background")
    parser.add_argument("--package", default="headrace")
    options = parser.parse_args()
    tf = importlib.import_module(options.package)
    strategies = _strategies(tf, options.devices)
    if options.compiled:
        tf.random.set_seed(SEED)
        tf.config.experimental.enable_op_determinism()
    found = {}
    for training in options.trainings:
        for where, strategy in strategies.items():
            arrays = trained(tf, strategy, training)
            found |= {f"{training}|{where}|{key}": array for key, array in arrays.items()}
    if "workers" not in strategies or strategies["workers"].extended.should_checkpoint:
        np.savez(options.output, **found)


if __name__ == "__main__":
    main()
