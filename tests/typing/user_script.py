"""An ordinary program: what type checkers say about it is what users see.

`scripts/check` runs mypy over it with every check on, and pyright where it is installed; `test_user_script.py` runs it.
"""

from typing import Any, assert_type

import numpy as np

import headrace as tf

# Tensors: operators both ways, comparison, indexing, casts, shapes.
a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
b = tf.random.normal([2, 2], seed=1)
assert_type(a, tf.Tensor)
assert_type(2 * a + b / 3 - 1, tf.Tensor)
assert_type(-a @ b, tf.Tensor)
assert_type(np.float32(2) ** tf.abs(a) % 5, tf.Tensor)
assert_type((a > 0) & ~(a == b) | (1 <= a), tf.Tensor)
assert_type(a[0, 1:], tf.Tensor)
assert_type(a[..., tf.newaxis], tf.Tensor)
assert_type(tf.cast(a, tf.int32), tf.Tensor)
assert_type(a.shape, tf.TensorShape)
assert_type(a.dtype, tf.DType)
assert_type(tf.shape(a), tf.Tensor)
assert_type(tf.reduce_mean(a, axis=0, keepdims=True), tf.Tensor)
assert_type(list(a), list[tf.Tensor])
assert_type(tf.unstack(a), list[tf.Tensor])
largest, places = tf.math.top_k(a, k=1)
assert_type(largest, tf.Tensor)
total = float(tf.reduce_sum(a)) + a.numpy().sum() + len(a)

# Variables and gradients, also of gradients.
w = tf.Variable(tf.ones([2, 2]), name="w")
assert_type(w, tf.Variable)
assert_type(w * 2 + 1, tf.Tensor)
assert_type(1 - w[0], tf.Tensor)
w.assign(a).assign_add(b)
w.assign_sub(0.1 * a)
with tf.GradientTape(persistent=True) as outer:
    outer.watch(a)
    with tf.GradientTape() as inner:
        loss = tf.reduce_sum(tf.square(a @ w))
    slope = inner.gradient(loss, w)
    penalty = tf.reduce_sum(slope**2)
assert_type(slope, tf.Tensor)
assert_type(outer.gradient(penalty, [w, a]), list[tf.Tensor])
assert_type(outer.jacobian(slope, a), tf.Tensor)


# Functions and modules.
@tf.function
def power(x: tf.Tensor, n: int = 2) -> tf.Tensor:
    result = tf.ones_like(x)
    for _ in tf.range(n):
        result *= x
    return result


@tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
def rows(x: tf.Tensor) -> tf.Tensor:
    return tf.shape(x)[0]


class Dense(tf.Module):
    def __init__(self, inputs: int, outputs: int, name: str | None = None) -> None:
        super().__init__(name=name)
        self.weights = tf.Variable(tf.random.truncated_normal([inputs, outputs]), name="weights")
        self.bias = tf.Variable(tf.zeros(outputs), name="bias")

    @tf.function
    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return tf.nn.relu(x @ self.weights + self.bias)


assert_type(power(a, 3), tf.Tensor)
assert_type(rows(a), tf.Tensor)
concrete = power.get_concrete_function(tf.TensorSpec([None], tf.float32))
print(concrete.structured_outputs, concrete(tf.constant([2.0])))
dense = Dense(2, 3)
assert_type(dense(a), tf.Tensor)
for variable in dense.trainable_variables:
    assert_type(variable, tf.Variable)

# Datasets.
dataset = tf.data.Dataset.from_tensor_slices({"x": np.arange(10.0), "y": np.arange(10)})
dataset = dataset.map(lambda row: (row["x"] * 2, row["y"]), num_parallel_calls=tf.data.AUTOTUNE)
batches = dataset.shuffle(10, seed=1).repeat(2).batch(4, drop_remainder=True).prefetch(1)
assert_type(batches, tf.data.Dataset)
for step, (x, y) in enumerate(batches.take(2)):
    print(step, tf.reduce_mean(x), y.shape, batches.element_spec)
first: Any = next(iter(tf.data.Dataset.zip(tf.data.Dataset.range(3), batches)))
sums = tf.data.Dataset.range(5).reduce(tf.constant(0, tf.int64), lambda state, x: state + x)

# Ragged and sparse tensors, arrays of tensors.
ragged = tf.ragged.constant([[1, 2, 3], [], [4]])
assert_type(ragged, tf.RaggedTensor)
assert_type(ragged + 1, tf.RaggedTensor)
assert_type(ragged.row_lengths(), tf.Tensor)
assert_type(ragged.to_tensor(default_value=0), tf.Tensor)
sparse = tf.sparse.from_dense([[0.0, 1.0], [2.0, 0.0]])
assert_type(sparse, tf.SparseTensor)
assert_type(tf.sparse.sparse_dense_matmul(sparse, a), tf.Tensor)
array = tf.TensorArray(tf.float32, size=2).write(0, 1.0).write(1, 2.0)
assert_type(array, tf.TensorArray)
assert_type(array.stack(), tf.Tensor)

# Libraries of functions, errors, control flow, Keras.
q, r = tf.linalg.qr(a)
assert_type(q @ r, tf.Tensor)
assert_type(tf.nn.softmax_cross_entropy_with_logits(labels=[[0.0, 1.0]], logits=a[:1]), tf.Tensor)
assert_type(tf.strings.split(["a b", "c"]), tf.RaggedTensor)
assert_type(tf.strings.to_number(tf.strings.join(["1", "2"])), tf.Tensor)
assert_type(tf.io.decode_raw(tf.io.serialize_tensor(a), tf.uint8), tf.Tensor)
assert_type(tf.where(a > 2, a, 0.0), tf.Tensor)
assert_type(tf.concat([a, b], axis=0), tf.Tensor)
assert_type(tf.split(a, 2, axis=1), list[tf.Tensor])
print(tf.nest.map_structure(lambda x: x + 1, {"a": a}), tf.while_loop(lambda i: i < 3, lambda i: (i + 1,), (0,)))
try:
    tf.reshape(a, [3])
except tf.errors.InvalidArgumentError as error:
    assert_type(error.message, str)
if tf.executing_eagerly() and tf.float32.is_floating:
    model: Any = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    print(model(a).shape)
