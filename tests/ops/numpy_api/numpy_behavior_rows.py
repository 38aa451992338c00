"""Expressions with `experimental_enable_numpy_behavior`, whose values TensorFlow recorded, and a table of promotions.

python tests/ops/numpy_api/record_numpy_behavior.py    # with TensorFlow; writes a file in tests/golden
"""

import numpy as np

# `x` is a 3x4 matrix, `v` a vector of five, `c` a 2x3x4 array, `i` a tensor of indices; `n` is NumPy's `x`.
EXPRESSIONS = [
    # Boolean tuples, lists, arrays and tensors as indices.
    "x[True]",
    "x[(True, False, True),]",
    "x[[True, False, True]]",
    "x[tf.constant([True, False, True])]",
    "x[np.array([True, False, True])]",
    "x[x > 4]",
    "x[n > 4]",
    "x[:, [True, False, False, True]]",
    "x[(True, False, True), (True, False, True, False)]",
    "x[[True, False, True], 1]",
    "v[v > 2]",
    "v[(v > 1) & (v < 4)]",
    "c[c > 20]",
    "c[[True, False]]",
    "c[:, [True, False, True]]",
    "c[..., [True, False, True, False]]",
    "c[0, [True, False, True]]",
    "c[:, x > 4]",
    "v[[False] * 5]",
    "x[False]",
    # Arrays of positions.
    "v[[0, 2]]",
    "v[[-1, -2]]",
    "v[i]",
    "v[[[0, 1], [2, 3]]]",
    "x[[0, 2]]",
    "x[[0, 2], [1, 3]]",
    "x[[0, 2], 1]",
    "x[:, [1, 3]]",
    "x[1, [0, 2]]",
    "x[1:, [0, 2]]",
    "x[..., [0, 2]]",
    "x[[[0], [2]], [1, 3]]",
    "x[None, [0, 1]]",
    "x[[0, 1], None]",
    "c[:, [0, 2], 1]",
    "c[[0, 1], :, [2, 3]]",
    "c[0, :, [0, 1]]",
    "c[[0, 1], [0, 2]]",
    "c[:, 1, [0, 3]]",
    "c[..., [0, 1], [2, 3]]",
    "c[1, [0, 1], 1:3]",
    "x[tf.constant(1)]",
    "x[np.int64(1), 2]",
    "x[i[:2], i[:2]]",
    "v[np.array([[1, 2], [3, 4]])]",
    "v[tf.range(2)]",
    "x[-1]",
    "x[::2, ::-1]",
    "x[1, ...]",
    "x[[], :]",
    "v[::-1][:2]",
    "x[:, None, 1]",
    # Methods and attributes.
    "x.T",
    "c.T",
    "x.reshape(4, 3)",
    "x.reshape((2, 6))",
    "x.reshape(-1)",
    "x.reshape([3, -1], order='C')",
    "x.reshape((4, 3), order='F')",
    "x.transpose()",
    "c.transpose(2, 0, 1)",
    "c.transpose((1, 0, 2))",
    "x.ravel()",
    "x.flatten()",
    "x.astype(tnp.float32)",
    "x.astype('int8')",
    "x.astype(bool)",
    "x.clip(3, 7)",
    "x.max()",
    "x.min()",
    "x.max(axis=0)",
    "x.min(1)",
    "x.mean()",
    "x.mean(axis=1)",
    "x.mean(axis=0, keepdims=True)",
    "x.size",
    "x.shape",
    "x.ndim",
    "x.tolist()",
    "v.tolist()",
    "x.data",
    "x.max(axis=(0, 1))",
    # Operators.
    "x + 1",
    "x + 1.5",
    "x / 2",
    "1 / (x + 1)",
    "x // 2",
    "x % 3",
    "x ** 2",
    "2 ** v",
    "x @ x.T",
    "x + v[:4]",
    "-x",
    "x == n",
    "x != 3",
    "x > 2.5",
    "x + n",
    "n + x",
    "n * x",
    "np.float32(2) * x",
    "x * np.ones([4])",
    "x + [1, 2, 3, 4]",
    "(x > 3) & (x < 8)",
    "(x > 3) | (x < 1)",
    "~(x > 3)",
    "(x > 3) ^ (x > 5)",
    "x is None",
    "x == None",
    "tf.constant(1.5) + v",
    "v + tf.constant(1, tf.int8)",
    # Functions.
    "tnp.sum(x)",
    "tnp.mean(x, axis=0)",
    "tnp.concatenate([x, n], axis=0)",
    "tnp.stack([v, v])",
    "tnp.where(x > 3, x, 0)",
    "tnp.where(x > 3, x, 0.5)",
    "tnp.dot(x, v[:4])",
    "tnp.arange(3)",
    "tnp.arange(3.0)",
    "tnp.linspace(0, 1, 3)",
    "tnp.ones([2])",
    "tnp.zeros([2], dtype=int)",
    "tnp.array([1, 2])",
    "tnp.array([1.5])",
    "tnp.array(np.ones(2))",
    "tnp.asarray([1, 2.5])",
    "tnp.array([True])",
    "tnp.full([2], 3)",
    "tnp.full([2], 3.5)",
    "tnp.eye(2)",
    "tnp.sqrt(x)",
    "tnp.exp(tnp.array([1, 2]))",
    "tnp.sin(1)",
    "tnp.maximum(x, 3.5)",
    "tnp.add(1, 2.5)",
    "tnp.outer(v, v)",
    "tnp.var(x)",
    "tnp.std(x)",
    "tnp.argmax(x, axis=1)",
    "tnp.cumsum(v)",
    "tnp.sort(v)",
    "tnp.take_along_axis(x, tnp.argmax(x, axis=1)[:, None], axis=1)",
    "tnp.take(v, [0, 2])",
    "tnp.mean(tnp.array([1, 2]))",
    "tnp.result_type(x, 1.5)",
    "tnp.promote_types(tnp.int8, tnp.float16)",
    "tnp.isscalar(1)",
    "tnp.ndim(x)",
    "tnp.divide(x, 2)",
    "tnp.float_power(v, 2)",
    "tnp.logaddexp(1, 2)",
    "tnp.average(v, weights=v)",
    "tnp.meshgrid(v, v)[0]",
]

# Weak types: only for the modes "safe" and "all".
WEAK = [
    "tf.constant(5) + tf.constant(5, tf.int8)",
    "tf.constant(5) + 1",
    "tf.constant(1.5) + tf.constant(1, tf.int32)",
    "tf.constant([1, 2]) * tf.constant([1, 2], tf.uint8)",
    "tf.constant(2.0) * tf.constant(1, tf.bfloat16)",
    "tf.abs(tf.constant(-3)) + tf.constant(1, tf.int16)",
    "tf.reduce_sum(tf.constant([1, 2])) + tf.constant(1, tf.int8)",
    "tf.constant(1, tf.int32) + tf.constant(1, tf.int8)",
    "tf.add(tf.constant(1, tf.int8), 300)",
    "tf.constant(3) / 2",
    "tf.constant(1) + 2.5",
    "tf.constant(1.5) + 2j",
    "tf.zeros([2]) + tf.constant([1, 2], tf.int32)",
    "tf.Variable(1.0) + tf.constant(2, tf.int32)",
    "tf.Variable(1.0, dtype=tf.float16) + 2.5",
    "tf.function(lambda a: a + 1.5)(tf.constant(1, tf.int8))",
    "tf.function(lambda a, b: a * b)(tf.ones([2]), tf.ones([2], tf.int8))",
    "tf.function(lambda: tf.constant(1) + tf.constant(1, tf.int8))()",
    "tf.reshape(tf.constant([1, 2]), [2, 1]) + tf.ones([1], tf.int8)",
    "tf.matmul(tf.ones([1, 1]), tf.ones([1, 1], tf.float64))",
    "tf.maximum(tf.constant(1, tf.int8), tf.constant(2, tf.int16))",
    "tf.constant(True) + 1",
    "tf.constant(True) + tf.constant(1, tf.uint8)",
    "tf.add(x=1, y=tf.constant(1, tf.int8))",
    "1 - tf.constant(1, tf.int8)",
    "2.0 ** tf.constant(3, tf.float16)",
    "tf.pow(tf.constant(2, tf.int8), tf.constant(2, tf.int16))",
    "tf.constant([1.0]) + tf.constant([1.0], tf.float64)",
    "tf.divide(tf.constant(1, tf.int8), tf.constant(2, tf.float32))",
    "tf.subtract([1, 2], tf.constant([1, 2], tf.int16))",
    "np.float64(1) + tf.constant(1, tf.float32)",
]

DTYPES = (
    "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 bfloat16 float16 float32 float64 complex64 complex128"
).split()
OTHERS = {"pyint": 2, "pyfloat": 2.5, "pycomplex": 2j, "nd_float64": np.ones(2), "nd_int64": np.ones(2, np.int64),
          "np_float32": np.float32(2)}  # fmt: skip
OPERATIONS = {
    "+": lambda tf, a, b: a + b, "reflected +": lambda tf, a, b: b + a, "/": lambda tf, a, b: a / b,
    "**": lambda tf, a, b: a**b, "*": lambda tf, a, b: a * b, "//": lambda tf, a, b: a // b,
    "tf.add": lambda tf, a, b: tf.add(a, b), "tf.maximum": lambda tf, a, b: tf.maximum(a, b),
    "tnp.add": lambda tf, a, b: tf.experimental.numpy.add(a, b),
    "tnp.true_divide": lambda tf, a, b: tf.experimental.numpy.true_divide(a, b),
    "tnp.result_type": lambda tf, a, b: tf.experimental.numpy.result_type(a, b),
}  # fmt: skip

# Mode and `prefer_float32`: each needs a process of its own.
SETTINGS = [("off", False), ("legacy", False), ("legacy", True), ("safe", False), ("all", False), ("all", True)]


def plain(value):
    """A value as JSON can hold it."""
    if hasattr(value, "numpy"):
        value = value.numpy()
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        name = array.dtype.name
        if name == "bfloat16":
            array = array.astype(np.float32)
        if array.dtype.kind == "c":
            array = np.stack([array.real, array.imag], -1)
        if array.dtype.kind == "f":
            array = np.round(array, 4)
        return [name, list(np.shape(value)), array.tolist()]
    if isinstance(value, (bool, int, float, str, list, type(None))):
        return value
    return str(getattr(value, "name", value))


def value_of(tf, code):
    """What an expression gives, or that it raises."""
    tnp = tf.experimental.numpy
    n = np.arange(12, dtype=np.int64).reshape(3, 4)
    names = {"x": tf.constant(n), "n": n, "v": tf.range(5, dtype=tf.int64), "i": tf.constant([0, 2, 1]), "tnp": tnp,
             "c": tf.reshape(tf.range(24, dtype=tf.int64), [2, 3, 4]), "tf": tf, "np": np}  # fmt: skip
    try:
        return plain(eval(code, names))
    except Exception:
        return "raises"


def dtype_of(tf, operation, a, b):
    try:
        result = OPERATIONS[operation](tf, a, b)
    except Exception:
        return "raises"
    dtype = getattr(result, "dtype", result)
    return getattr(dtype, "name", str(dtype))


def results(tf, mode, prefer_float32):
    """Everything for one setting: values by expression, and dtypes by operation, in the order of the operands."""
    tf.experimental.numpy.experimental_enable_numpy_behavior(prefer_float32, mode)
    operands = {name: tf.ones([2], getattr(tf, name)) for name in DTYPES}
    others = {**operands, **OTHERS}
    dtypes = {
        operation: {name: " ".join(dtype_of(tf, operation, value, other) for other in others.values())
                    for name, value in operands.items()}
        for operation in OPERATIONS
    }  # fmt: skip
    codes = [*EXPRESSIONS, *(WEAK if mode in ("safe", "all") else [])]
    return {"dtypes": dtypes, "values": {code: value_of(tf, code) for code in codes}}
