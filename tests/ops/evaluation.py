"""Evaluating a row with any `tf`: values, gradients, or the exception, as plain NumPy data."""

import zlib

import numpy as np
from rows import Row


def run_code(tf, row: Row, tensors: dict):
    names = {"tf": tf, "np": np, **tensors}
    try:
        code = compile(row.code, "<row>", "eval")
    except SyntaxError:
        exec(compile(row.code, "<row>", "exec"), names)
        return names["result"]
    return eval(code, names)


def is_differentiable(dtype) -> bool:
    return dtype.is_floating or dtype.is_complex


def flat_tensors(tf, result) -> list:
    """All tensors of a result, composites as their components; other values as they are."""
    flat = tf.nest.flatten(result, expand_composites=True)
    return [leaf for leaf in flat if leaf is not None]


def weights_for(index: int, shape, dtype: np.dtype) -> np.ndarray:
    """A fixed output gradient, so that gradients are compared for more than sums."""
    rng = np.random.Generator(np.random.PCG64(zlib.crc32(f"{index}{tuple(shape)}".encode())))
    sample = rng.standard_normal(tuple(shape))
    if dtype.kind == "c":
        sample = sample + 1j * rng.standard_normal(tuple(shape))
    return np.asarray(sample).astype(dtype)


def as_numpy(leaf) -> np.ndarray:
    array = leaf.numpy() if hasattr(leaf, "numpy") else leaf
    if not isinstance(array, (bool, int, float, complex, str, bytes, np.ndarray, np.generic)):
        array = repr(array)  # classes and specs are compared by their text
    if isinstance(array, (str, bytes)):
        array = np.array(array if isinstance(array, bytes) else array.encode(), dtype=object)
    array = np.asarray(array)
    if array.dtype.names:  # quantized types come as one-field records
        array = array.view(array.dtype[0])
    return array


def dtype_name(leaf) -> str:
    dtype = getattr(leaf, "dtype", None)
    return getattr(dtype, "name", type(leaf).__name__)


def evaluate(tf, row: Row, arrays=None):
    """Run the row.

    Returns:
        {"error": [names of the exception's classes, most special first]}, or
        {"values": [(dtype name, array)], "grads": None or [array or None for each differentiable input]}.
    """
    arrays = row.arrays() if arrays is None else arrays
    try:
        tensors = {name: tf.constant(array) for name, array in arrays.items()}
        sources = [t for t in tensors.values() if is_differentiable(t.dtype)] if row.grad else []
        with tf.GradientTape(persistent=True) as tape:
            for source in sources:
                tape.watch(source)
            result = run_code(tf, row, tensors)
        flat = flat_tensors(tf, result)
        values = [(dtype_name(leaf), as_numpy(leaf)) for leaf in flat]
        grads = None
        targets = [leaf for leaf in flat if hasattr(leaf, "dtype") and hasattr(leaf, "numpy")
                   and getattr(leaf.dtype, "is_floating", False) | getattr(leaf.dtype, "is_complex", False)]
        if sources and targets:
            weights = [
                tf.constant(weights_for(i, t.shape, np.dtype(t.dtype.as_numpy_dtype)))
                for i, t in enumerate(targets)
            ]
            found = tape.gradient(targets, sources, output_gradients=weights)
            grads = [None if g is None else as_numpy(tf.convert_to_tensor(g)) for g in found]
        return {"values": values, "grads": grads}
    except Exception as error:  # whatever it is, it is what gets recorded
        names = [cls.__name__ for cls in type(error).__mro__]
        return {"error": names[: names.index("Exception") + 1], "message": str(error)[:300], "exception": error}
