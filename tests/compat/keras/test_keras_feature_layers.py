"""Layers over feature columns, and wrappers of cells, which Keras 3 has no more."""

import warnings

import numpy as np
import pytest

import headrace as tf

F = tf.feature_column
keras = tf.keras
FEATURES = {"age": np.array([1.0, 2.0, 3.0, 4.0], "float32"), "word": np.array(["a", "b", "x", "a"])}


def columns():
    words = F.categorical_column_with_vocabulary_list("word", ["a", "b"])
    return [F.embedding_column(words, 3, initializer=tf.compat.v1.initializers.ones()), F.numeric_column("age"),
            F.indicator_column(words)]


def tensors():
    return {name: tf.constant(value) for name, value in FEATURES.items()}


def test_dense_features_is_input_layer():
    layer = keras.layers.DenseFeatures(columns())
    parts = {}
    value = layer(tensors(), cols_to_output_tensors=parts)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        wanted = tf.compat.v1.feature_column.input_layer(tensors(), columns())
        session.run([tf.compat.v1.global_variables_initializer(), tf.compat.v1.tables_initializer()])
        np.testing.assert_array_equal(value, session.run(wanted))
    assert [weight.shape for weight in layer.weights] == [(2, 3)]
    assert sorted(column.name for column in parts) == ["age", "word_embedding", "word_indicator"]
    assert layer.compute_output_shape({"age": (4, 1)}) == (4, 6)


def test_dense_features_in_models():
    data = tf.data.Dataset.from_tensor_slices((FEATURES, np.arange(4.0))).batch(2)
    model = keras.Sequential([keras.layers.DenseFeatures(columns()), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    before = model.evaluate(data, verbose=0)
    table = model.layers[0].weights[0].numpy().copy()
    model.fit(data, epochs=3, shuffle=False, verbose=0)
    assert model.evaluate(data, verbose=0) < before
    assert (model.layers[0].weights[0].numpy() != table).any()
    inputs = {"age": keras.Input((1,), name="age"), "word": keras.Input((1,), name="word", dtype="string")}
    functional = keras.Model(inputs, keras.layers.DenseFeatures(columns())(inputs))
    assert functional({"age": tf.constant([[1.0]]), "word": tf.constant([["a"]])}).shape == (1, 6)


def test_dense_features_in_files(tmp_path):
    words = F.categorical_column_with_vocabulary_list("word", ["a", "b"], num_oov_buckets=1)
    buckets = F.bucketized_column(F.numeric_column("age"), [2, 3])
    listed = [F.embedding_column(words, 2), F.indicator_column(F.crossed_column([buckets, words], 5)), buckets]
    model = keras.Sequential([keras.layers.DenseFeatures(listed), keras.layers.Dense(1)])
    wanted = model(tensors())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Keras's own, of NumPy 2
        model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(again(tensors()), wanted)
    assert buckets in again.layers[0]._feature_columns
    layer = keras.layers.DenseFeatures([F.numeric_column("age", normalizer_fn=lambda x: x / 10)])
    with pytest.raises(NotImplementedError, match="age: normalizer_fn"):
        layer.get_config()


def test_sequence_features():
    numbers = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([3, 1, 2], tf.int64), [2, 2])
    sizes = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [0.5, 1.5, 2.5], [2, 2])
    column = F.sequence_categorical_column_with_identity("numbers", 4)
    layer = keras.experimental.SequenceFeatures([F.indicator_column(column), F.sequence_numeric_column("sizes")])
    values, lengths = layer({"numbers": numbers, "sizes": sizes})
    assert values.numpy().tolist() == [[[0, 0, 0, 1, 0.5], [0, 1, 0, 0, 1.5]], [[0, 0, 1, 0, 2.5], [0, 0, 0, 0, 0]]]
    assert lengths.numpy().tolist() == [2, 1]


@pytest.mark.parametrize(("make", "message"), [
    (lambda: keras.layers.DenseFeatures([F.categorical_column_with_identity("a", 3)]), "indicator_column or embedding"),
    (lambda: keras.layers.DenseFeatures([F.numeric_column("a")])(tf.constant([1.0])), "dictionary of tensors"),
    (lambda: keras.layers.DenseFeatures([F.indicator_column(F.sequence_categorical_column_with_identity("a", 3))])(
        {"a": tf.constant([[1]])}), "SequenceFeatures"),
    (lambda: keras.experimental.SequenceFeatures([F.indicator_column(F.categorical_column_with_identity("a", 3))])(
        {"a": tf.constant([[1]])}), "not of sequences"),
])  # fmt: skip
def test_what_is_wrong_is_said(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_names_that_are_not_there_are_told_as_before():
    with pytest.raises(AttributeError, match="Keras 2"):
        keras.layers.LocallyConnected1D


X = np.ones((2, 4, 3), "float32")


def test_residual_wrapper():
    cell = keras.layers.GRUCell(3)
    wrapped = tf.nn.RNNCellResidualWrapper(cell)
    np.testing.assert_allclose(wrapped(X[:, 0], [tf.zeros([2, 3])])[0],
                               cell(X[:, 0], [tf.zeros([2, 3])])[0] + X[:, 0])
    assert keras.layers.RNN(wrapped)(X).shape == (2, 3)
    other = tf.nn.RNNCellResidualWrapper(cell, residual_fn=lambda inputs, outputs: outputs)
    np.testing.assert_array_equal(keras.layers.RNN(other)(X), keras.layers.RNN(cell)(X))
    assert type(wrapped).from_config(wrapped.get_config()).state_size == 3


def test_dropout_wrapper():
    cell = keras.layers.GRUCell(3)
    same = tf.nn.RNNCellDropoutWrapper(cell)
    np.testing.assert_array_equal(keras.layers.RNN(same)(X), keras.layers.RNN(cell)(X))
    large = np.ones((64, 3), "float32")
    dropping = tf.nn.RNNCellDropoutWrapper(cell, output_keep_prob=0.5, seed=7)
    output, state = dropping(large, [tf.zeros([64, 3])])
    dropped = output.numpy() == 0
    assert 0.2 < dropped.mean() < 0.8
    np.testing.assert_allclose(output.numpy()[~dropped], 2 * state[0].numpy()[~dropped], rtol=1e-5)
    steps = tf.nn.RNNCellDropoutWrapper(cell, input_keep_prob=0.5, variational_recurrent=True, input_size=3,
                                        dtype="float32")
    first, second = (steps(large, [tf.zeros([64, 3])])[0].numpy() for _ in range(2))
    np.testing.assert_array_equal(first, second)
    with pytest.raises(ValueError, match="between 0 and 1"):
        tf.nn.RNNCellDropoutWrapper(cell, input_keep_prob=2.0)
    with pytest.raises(ValueError, match="dtype must be given"):
        tf.nn.RNNCellDropoutWrapper(cell, variational_recurrent=True)


def test_device_wrapper():
    cell = keras.layers.LSTMCell(3)
    np.testing.assert_array_equal(
        keras.layers.RNN(tf.nn.RNNCellDeviceWrapper(cell, "/cpu:0"))(X), keras.layers.RNN(cell)(X)
    )
    assert [part.shape for part in tf.nn.RNNCellDeviceWrapper(cell, "/cpu:0").zero_state(5, "float32")] == [(5, 3)] * 2
    with pytest.raises(TypeError, match="state_size"):
        tf.nn.RNNCellDeviceWrapper(3, "/cpu:0")
