"""`tf.tpu.experimental.embedding` without a TPU."""

import numpy as np
import pytest

import headrace as tf

embedding = tf.tpu.experimental.embedding
ROWS = np.arange(12, dtype=np.float32).reshape(6, 2)


def _table(**settings):
    return embedding.TableConfig(6, 2, initializer=lambda shape, dtype: tf.constant(ROWS, dtype), **settings)


def _looked_up(ids, weights=None, table=None, **settings):
    feature = embedding.FeatureConfig(table or _table(), **settings)
    tables = embedding.TPUEmbeddingForServing({"f": feature}, embedding.SGD(0.1))
    return tables({"f": ids}, None if weights is None else {"f": weights})["f"].numpy().tolist()


SPARSE = tf.sparse.from_dense(tf.constant([[1, 2, 3], [5, 0, 0]]))
RAGGED = tf.ragged.constant([[1, 2], [], [5]])


@pytest.mark.parametrize(
    ("ids", "settings", "expected"),
    [
        (tf.constant([0, 5]), {}, [[0.0, 1.0], [10.0, 11.0]]),
        (SPARSE, {}, [[4.0, 5.0], [10.0, 11.0]]),
        (SPARSE, {"validate_weights_and_indices": False}, [[4.0, 5.0], [10.0, 11.0]]),
        (SPARSE, {"max_sequence_length": 2}, [[[2.0, 3.0], [4.0, 5.0]], [[10.0, 11.0], [0.0, 0.0]]]),
        (RAGGED, {}, [[3.0, 4.0], [0.0, 0.0], [10.0, 11.0]]),
        (RAGGED, {"max_sequence_length": 1}, [[[2.0, 3.0]], [[0.0, 0.0]], [[10.0, 11.0]]]),
        (RAGGED, {"output_shape": [3, 1]}, [[[3.0, 4.0]], [[0.0, 0.0]], [[10.0, 11.0]]]),
        (RAGGED, {"output_shape": [3, 2]},
         [[[2.0, 3.0], [4.0, 5.0]], [[0.0, 0.0], [0.0, 0.0]], [[10.0, 11.0], [0.0, 0.0]]]),
    ],
)  # fmt: skip
def test_lookups(ids, settings, expected):
    assert _looked_up(ids, **settings) == expected


@pytest.mark.parametrize(("combiner", "divisor"), [("sum", 1), ("mean", 5), ("sqrtn", 13**0.5)])
def test_combiners(combiner, divisor):
    ids, weights = tf.ragged.constant([[1, 2]]), tf.ragged.constant([[2.0, 3.0]])
    found = _looked_up(ids, weights, _table(combiner=combiner))
    np.testing.assert_allclose(found, [[16 / divisor, 21 / divisor]], rtol=1e-6)
    sparse = _looked_up(ids.to_sparse(), weights.to_sparse(), _table(combiner=combiner))
    np.testing.assert_allclose(sparse, found, rtol=1e-6)


@pytest.mark.parametrize(
    ("ids", "weights", "settings", "said"),
    [
        (tf.constant([1]), tf.constant([1.0]), {}, "dense, but it has weights"),
        (tf.constant([1]), None, {"max_sequence_length": 2}, "its input is dense"),
        (SPARSE, tf.constant([1.0]), {}, "its weights are"),
        (RAGGED, tf.ragged.constant([[1.0, 1.0], [], [1.0]]), {"max_sequence_length": 2}, "is a sequence"),
        (RAGGED, None, {"output_shape": [2]}, "no multiple"),
        (3, None, {}, "dense, sparse or ragged"),
    ],
)
def test_what_does_not_go_together(ids, weights, settings, said):
    with pytest.raises(ValueError, match=said):
        _looked_up(ids, weights, **settings)


def test_features_that_are_not_configured():
    tables = embedding.TPUEmbeddingForServing({"f": embedding.FeatureConfig(_table())}, None)
    with pytest.raises(ValueError, match="'g'"):
        tables({"g": tf.constant([0])})


def test_variables_and_checkpoints(tmp_path):
    def make():
        return embedding.TPUEmbedding({"f": embedding.FeatureConfig(_table(name="words"))}, embedding.Adam(0.1))

    tables = make()
    assert {key: v.shape.as_list() for key, v in tables.variables["words"].items()} == {
        "momenta": [6, 2], "velocities": [6, 2], "parameters": [6, 2],
    }  # fmt: skip
    (table,) = tables.embedding_tables.values()
    table.assign(table + 1.0)
    path = tf.train.Checkpoint(tables=tables).save(str(tmp_path / "ckpt"))
    again = make()
    again.build()
    tf.train.Checkpoint(tables=again).restore(path)
    np.testing.assert_array_equal(again.embedding_tables.popitem()[1], ROWS + 1)
    with pytest.raises(RuntimeError, match="needs a TPU"):
        tables.enqueue({"f": tf.constant([0])})


@pytest.mark.parametrize(
    ("make", "slots"),
    [
        (lambda: embedding.SGD(0.1), {}), (lambda: embedding.Adagrad(0.1, 0.5), {"accumulators": 0.5}),
        (lambda: embedding.AdagradMomentum(), {"accumulators": 0.0, "momenta": 0.0}),
        (lambda: embedding.FTRL(initial_accumulator_value=0.25), {"accumulators": 0.25, "linears": 0.0}),
        (lambda: embedding.Adam(), {"momenta": 0.0, "velocities": 0.0}),
    ],
)  # fmt: skip
def test_slots(make, slots):
    optimizer = make()
    made = optimizer._create_slots(None, lambda name, initializer: initializer([2], dtype=tf.float32))
    assert {name: value.numpy().tolist() for name, value in made.items()} == {n: [v, v] for n, v in slots.items()}
    assert optimizer == make()
    assert hash(optimizer) == hash(make())


@pytest.mark.parametrize(
    "make",
    [
        lambda: embedding.TableConfig(0, 2), lambda: embedding.TableConfig(2, 2, combiner="max"),
        lambda: embedding.TableConfig(2, 2, initializer=3), lambda: embedding.TableConfig(2, 2, dtype=tf.float16),
        lambda: embedding.FeatureConfig("table"), lambda: embedding.FeatureConfig(_table(), -1),
        lambda: embedding.SGD(clipvalue=1.0, use_gradient_accumulation=False), lambda: embedding.Adam(beta_1=1.0),
        lambda: embedding.Adagrad(initial_accumulator_value=0.0), lambda: embedding.QuantizationConfig(1, 0.0, 1.0),
        lambda: embedding.TPUEmbeddingForServing(embedding.FeatureConfig(_table(optimizer="sgd")), None),
        lambda: embedding.TPUEmbeddingForServing(
            [embedding.FeatureConfig(_table(name="a")), embedding.FeatureConfig(_table(name="a"))], None
        ),
    ],
)  # fmt: skip
def test_bad_settings(make):
    with pytest.raises(ValueError):
        make()


def test_rows_that_are_their_numbers():
    assert embedding.RowIdInitializer(3)([2, 2], tf.int32).numpy().tolist() == [[3, 3], [4, 4]]
