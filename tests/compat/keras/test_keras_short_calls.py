"""Layers, models, losses and operations of Keras that are called with eager tensors: as Keras's own code does it."""

import contextlib
import importlib
import warnings

import numpy as np
import pytest

import headrace as tf
from headrace._src.compat.keras import layer_calls, loss_calls, model_calls, short_operations
from headrace._src.compat.keras.replacements import REPLACEMENTS

_SHORT = [row for row in REPLACEMENTS if getattr(row.by, "__module__", "") in {
    module.__name__ for module in (layer_calls, loss_calls, model_calls, short_operations)
}]  # fmt: skip


@contextlib.contextmanager
def keras_own_way():
    """Keras's functions are in their places again."""
    _ = tf.keras
    before = []
    for row in _SHORT:
        folder, _, name = row.name.rpartition(".")
        owner = importlib.import_module(row.module)
        owner = getattr(owner, folder) if folder else owner
        short = vars(owner)[name]
        before.append((owner, name, short))
        if isinstance(short, short_operations.ShortValue):
            setattr(owner, name, property(short.fget.__closure__[0].cell_contents.fget))
        else:
            original = short.__wrapped__
            while getattr(original, "__module__", "").startswith("headrace."):
                original = original.__wrapped__
            setattr(owner, name, original if row.name != "Loss.__call__" else original.__wrapped__)
    try:
        yield
    finally:
        for owner, name, short in before:
            setattr(owner, name, short)


def shown(value):
    """Something that can be compared: values, dtypes, masks, types."""
    if isinstance(value, tf.Tensor):
        mask = getattr(value, "_keras_mask", None)
        return value.dtype.name, tuple(value.shape), repr(value.numpy().tolist()), None if mask is None else shown(mask)
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [shown(each) for each in value]
    if isinstance(value, dict):
        return {key: shown(each) for key, each in value.items()}
    if isinstance(value, BaseException):
        return type(value).__name__, str(value), getattr(value, "__notes__", None)
    return value


def outcome(program):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = program()
        except Exception as error:
            result = error
    return shown(result), sorted(str(warning.message) for warning in caught)


def compare(program):
    """Twice each way: forms are made in the first call."""
    with keras_own_way():
        wanted = [outcome(program), outcome(program)]
    assert [outcome(program), outcome(program)] == wanted
    return wanted[1]


def some(*shape, dtype="float32"):
    return tf.constant(np.random.default_rng(1).standard_normal(shape).astype(dtype))


def built(layer, *args, **kwargs):
    layer(*args, **kwargs)
    return layer


def layers():
    k = tf.keras.layers
    x, image, steps = some(4, 6), some(2, 8, 8, 3), some(2, 5, 6)
    numbers = tf.constant([[1, 2, 0], [3, 0, 0]])
    return [
        (k.Dense(3, activation="relu"), x), (k.Dense(3, use_bias=False), steps), (k.Dense(2, dtype="float64"), x),
        (k.Dense(2, activity_regularizer="l2"), x), (k.Dense(2, autocast=False), x), (k.Activation("softmax"), x),
        (k.BatchNormalization(), x), (k.LayerNormalization(), x), (k.Conv2D(4, 3), image), (k.MaxPool2D(), image),
        (k.Flatten(), image), (k.GlobalAveragePooling2D(), image), (k.LSTM(3), steps), (k.GRU(3, stateful=True), steps),
        (k.LSTM(3, return_state=True, return_sequences=True), steps), (k.Bidirectional(k.LSTM(2)), steps),
        (k.TimeDistributed(k.Dense(2)), steps), (k.Embedding(5, 2), numbers), (k.Dropout(0.5), x),
        (k.Embedding(5, 2, mask_zero=True), numbers), (k.Reshape([3, 2]), x), (k.Rescaling(2.0), x), (k.ReLU(), x),
        (k.Lambda(lambda x: x + 1), x),
        (k.UnitNormalization(), x), (k.EinsumDense("ab,bc->ac", 3), x), (k.Masking(0.0), steps), (k.Identity(), x),
    ]  # fmt: skip


@pytest.mark.parametrize("index", range(len(layers())))
def test_layers(index):
    layer, x = layers()[index]
    built(layer, x)

    def program(**options):
        if getattr(layer, "stateful", False):
            layer.reset_states()
        return layer(x, **options)

    compare(lambda: program(training=False))
    if "Dropout" not in type(layer).__name__:
        compare(program)


def test_the_short_way_is_taken():
    layer, model = tf.keras.layers.Dense(2), tf.keras.Sequential([tf.keras.Input([6]), tf.keras.layers.Dense(2)])
    x = some(4, 6)
    model(x, training=True)
    layer(x)
    assert "_headrace_form" not in vars(layer)  # it was built in this call
    layer(x)
    assert "_headrace_form" in vars(layer)
    assert "_headrace_form" in vars(model)
    assert vars(model._functional)["_headrace_steps"]


def inputs():
    good = some(4, 6)
    return {
        "good": lambda: good, "array": lambda: good.numpy(), "float64": lambda: tf.cast(good, tf.float64),
        "float16": lambda: tf.cast(good, tf.float16), "int": lambda: tf.ones([4, 6], tf.int32),
        "axis": lambda: some(4, 5), "rank": lambda: some(6), "list": lambda: [good], "none": lambda: None,
        "ragged": lambda: tf.ragged.constant([[1.0]]),
        "empty": lambda: some(0, 6), "variable": lambda: tf.Variable(good), "text": lambda: tf.constant(["a"]),
    }  # fmt: skip


@pytest.mark.parametrize("name", inputs())
@pytest.mark.parametrize("policy", ["float32", "mixed_bfloat16", "float64"])
def test_inputs(name, policy):
    x = inputs()[name]
    dense = tf.keras.layers.Dense(3, dtype=policy, name="dense")
    model = tf.keras.Sequential([tf.keras.Input([6]), tf.keras.layers.Dense(3, dtype=policy), dense], name="model")
    alone = built(tf.keras.layers.Dense(2, dtype=policy, name="alone"), some(4, 6))
    for target in (model, alone):
        compare(lambda target=target: target(x()))
        compare(lambda target=target: target(x(), training=True))
    compare(lambda: alone(x(), mask=1))
    compare(lambda: alone())
    compare(lambda: alone(x(), some(4, 6)))


def test_training_goes_down():
    seen = []

    class Inner(tf.keras.layers.Layer):
        def call(self, x, training=None):
            seen.append(training)
            return x

    class Eager(Inner):
        def call(self, x, training=True):
            seen.append(("default", training))
            return x

    class Outer(tf.keras.layers.Layer):
        def __init__(self):
            super().__init__(name="outer")
            self.inner, self.eager = Inner(name="inner"), Eager(name="eager")

        def call(self, x):
            return self.eager(self.inner(x)) + self.inner(x, training=False)

    outer, x = Outer(), some(2, 3)
    outer(x)

    def program():
        seen.clear()
        for options in ({}, {"training": True}, {"training": False}, {"training": None}, {"training": 1}):
            outer(x, **options)
        outer.eager(x)
        outer.eager(x, training=False)
        return list(seen)

    (result, _) = compare(program)
    assert ("list", [None, ("tuple", ["default", True]), False]) != result  # something was seen
    tf.keras.backend.set_learning_phase(1)
    try:
        compare(program)
    finally:
        tf.keras.backend.clear_session()
        importlib.import_module("headrace._src.compat.keras.former_backend")._phase["value"] = None


def test_masks():
    k = tf.keras.layers
    numbers = tf.constant([[1, 2, 0], [3, 0, 0]])
    model = tf.keras.Sequential([k.Embedding(5, 2, mask_zero=True), k.Dense(3), k.LSTM(2)])
    model(numbers)
    embedding, dense = model.layers[:2]
    compare(lambda: model(numbers))
    compare(lambda: [embedding(numbers), dense(embedding(numbers))])
    flatten = built(k.Reshape([-1]), tf.identity(embedding(numbers)))
    flatten.supports_masking = False
    compare(lambda: flatten(embedding(numbers)))

    class Own(k.Layer):
        def compute_mask(self, inputs, previous_mask):
            return tf.constant([True, False])

        def call(self, x, mask=None):
            return x if mask is None else x + tf.cast(mask, x.dtype)[..., None]

    own = built(Own(), embedding(numbers))
    compare(lambda: own(embedding(numbers)))
    compare(lambda: own(some(2, 3, 2)))


def test_scopes_and_losses():
    current_path = importlib.import_module("keras.src.backend.common.name_scope").current_path

    class Inner(tf.keras.layers.Layer):
        def call(self, x):
            self.add_loss(tf.reduce_sum(x))
            seen.append((current_path(), tf.Variable(1.0, name="v").name))
            return x

    class Outer(tf.keras.layers.Layer):
        def __init__(self):
            super().__init__(name="outer", activity_regularizer=None)
            self.inner = Inner(name="inner")

        def call(self, x):
            return self.inner(self.inner(x))

    seen: list = []
    outer, x = Outer(), some(2, 3)
    outer(x)

    def program():
        seen.clear()
        with tf.name_scope("around"):
            outer(x)
        outer(x)
        return [*seen, *outer.losses, current_path()]

    (_, results), _ = compare(program)
    assert results[0] == ("tuple", ["outer/inner", "around/outer/inner/v:0"])


def test_errors():
    class Fails(tf.keras.layers.Layer):
        def call(self, x, training=None):
            if training == 7:
                return x
            return self.inner(x) if hasattr(self, "inner") else tf.matmul(x, tf.ones([9, 9]))

    state = importlib.import_module("keras.src.backend.common.global_state")
    layer, x = Fails(name="fails"), some(2, 3)
    layer(x, training=7)

    def program():
        try:
            return layer(x)
        finally:
            assert state.get_global_attribute("current_call_ctx") is None
            assert not state.get_global_attribute("name_scope_stack")

    (kind, text, _), _ = compare(program)
    assert kind == "InvalidArgumentError"
    assert "Exception encountered when calling Fails.call()" in text
    outer = Fails(name="outer")
    outer.inner = layer
    outer(x, training=7)
    compare(lambda: outer(x))
    tf.keras.config.disable_traceback_filtering()
    try:
        compare(lambda: layer(x))
    finally:
        tf.keras.config.enable_traceback_filtering()


def models():
    k, keras = tf.keras.layers, tf.keras
    a = keras.Input([6], name="a")
    hidden = k.Dense(4, activation="relu")(a)
    two = [k.Dense(2)(hidden), k.Dense(1)(hidden)]
    summed = k.Add()([hidden, k.Dense(4)(a)])
    yield keras.Model(a, two)
    yield keras.Model(a, {"x": two[0], "y": two[1]})
    yield keras.Model([a], [k.Dropout(0.5)(summed)])
    yield keras.Model(a, k.Dense(2)(keras.ops.concatenate([hidden, hidden * 2.0], axis=-1)))
    yield keras.Model({"a": a}, hidden)
    yield keras.Sequential([keras.Model(a, hidden), k.Dense(2)])
    yield keras.Model(a, a)


@pytest.mark.parametrize("index", range(7))
def test_models(index):
    model, x = list(models())[index], some(4, 6)
    for value in (x, some(4, 6, 1), some(24), tf.cast(x, tf.float64), {"a": x}, [x], some(4, 5)):
        compare(lambda value=value: model(value))
    if index != 2:
        compare(lambda: model(x, training=True))

    def gradients():
        with tf.GradientTape() as tape:
            total = tf.add_n([tf.reduce_sum(each) for each in tf.nest.flatten(model(x, training=False))])
        return tape.gradient(total, model.trainable_variables)

    compare(gradients)


def test_copies_have_forms_of_their_own():
    model, x = tf.keras.Sequential([tf.keras.Input([6]), tf.keras.layers.Dense(2, name="d")]), some(4, 6)
    model(x)
    model(x)
    copy = tf.keras.models.clone_model(model)
    copy.set_weights(model.get_weights())
    assert shown(copy(x)) == shown(model(x))
    other = tf.keras.layers.Dense(2)
    vars(other).update(vars(model.layers[0]))
    assert shown(other(x)) == shown(model(x))
    assert vars(other)["_headrace_form"].layer is other


def losses():
    k = tf.keras.losses
    logits, classes, hot = some(4, 3), tf.constant([0, 2, 1, 1]), tf.one_hot([0, 2, 1, 1], 3)
    for reduction in ("sum_over_batch_size", "sum", "mean", "mean_with_sample_weight", "none", None):
        yield k.MeanSquaredError(reduction=reduction), hot, logits
        yield k.SparseCategoricalCrossentropy(True, reduction=reduction), classes, logits
    yield k.SparseCategoricalCrossentropy(True), classes[:, None], logits
    yield k.SparseCategoricalCrossentropy(True), classes[:2], logits
    yield k.SparseCategoricalCrossentropy(True, ignore_class=1), classes, logits
    yield k.SparseCategoricalCrossentropy(), classes, tf.nn.softmax(logits)
    yield k.SparseCategoricalCrossentropy(True), classes, tf.keras.activations.softmax(logits)
    yield k.CategoricalCrossentropy(True), hot, logits
    yield k.BinaryCrossentropy(), hot, tf.sigmoid(logits)
    yield k.MeanSquaredError(dtype="float16"), hot, logits
    yield k.MeanSquaredError(dtype="float64"), hot, logits
    yield k.Huber(), hot, some(4, 3, 1)
    yield k.MeanSquaredError(), tf.constant(1.0), tf.constant(2.0)
    yield k.MeanSquaredError(), some(0, 2), some(0, 2)
    yield k.CosineSimilarity(), hot, logits
    yield k.MeanSquaredError(), some(3, 2), some(4, 5)


@pytest.mark.parametrize("index", range(len(list(losses()))))
def test_losses(index):
    loss, y, prediction = list(losses())[index]
    compare(lambda: loss(y, prediction))
    compare(lambda: loss(y, prediction, sample_weight=tf.ones([4])))
    compare(lambda: loss([y], [prediction]))
    compare(lambda: loss(y.numpy(), prediction))

    def gradient():
        with tf.GradientTape() as tape:
            tape.watch(prediction)
            value = loss(y, prediction)
        return tape.gradient(value, prediction)

    compare(gradient)
    masked = tf.identity(prediction)
    masked._keras_mask = tf.ones([4], tf.bool)
    compare(lambda: loss(y, masked))


SHAPES = [(), (1,), (3,), (4,), (1, 3), (4, 1), (4, 3), (2, 4, 3), (3, 1, 1), (0,), (0, 3)]


@pytest.mark.parametrize("name", ["add", "matmul"])
def test_operations(name):
    operation = getattr(tf.keras.ops, name)
    for a in SHAPES:
        for b in SHAPES:
            x, y = some(*a), some(*b)
            compare(lambda x=x, y=y: operation(x, y))
    x = some(3, 3)
    variable = tf.keras.Variable(some(3, 3))
    for dtype in ("float16", "bfloat16", "float64", "int32", "int8"):
        y = tf.cast(x, dtype)
        compare(lambda y=y: [operation(y, y), operation(x, y), operation(y, x), operation(y, variable)])
    for y in (variable, tf.Variable(x), x.numpy(), 2.0, 3, [1.0, 2.0, 3.0], None):
        compare(lambda y=y: operation(x, y))
        compare(lambda y=y: operation(y, x))
    scope = importlib.import_module("keras.src.backend").AutocastScope

    def under_autocast():
        with scope("float16"):
            return [operation(x, variable), operation(tf.cast(x, tf.float16), variable)]

    compare(under_autocast)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "int64", "uint8", "bool"])
def test_changes_of_variables(dtype):
    tensors = some(2), tf.cast(some(2), dtype), some(3, 2), tf.constant(1)
    for value in (1, 2.5, True, -3, 2**40, np.ones(2), [1, 1], *tensors):

        def program(value=value):
            variable = tf.keras.Variable(tf.constant([1, 0], dtype), name="v")
            results = []
            for change in (variable.assign_add, variable.assign_sub):
                results += [change(value), variable.value.read_value()]
            return results

        compare(program)

    def stateless():
        variable = tf.keras.Variable(tf.constant([1, 0], dtype))
        with tf.keras.StatelessScope() as scope:
            variable.assign_add(tf.constant([1, 0], dtype))
        return scope.get_current_value(variable), variable.value.read_value()

    compare(stateless)
