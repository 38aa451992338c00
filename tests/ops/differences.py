"""Gradients against finite differences along a random direction, to second order."""

import numpy as np
from evaluation import flat_tensors, is_differentiable, run_code, weights_for


def _wide(row):
    """The row's inputs in double precision."""
    double = {"complex64": "complex128", "complex128": "complex128"}.get(row.dtype, "float64")
    arrays = row.arrays()
    if np.asarray(next(iter(arrays.values()), np.zeros(()))).dtype.kind not in "fcV" and row.dtype.startswith("int"):
        return arrays
    wide = row.arrays(dtype=double) if row.dtype in ("float16", "bfloat16", "float32", "complex64") else arrays
    for name, array in wide.items():
        if array.dtype.kind in "fV" and array.dtype != object:
            wide[name] = array.astype(np.float64)
        elif array.dtype.kind == "c":
            wide[name] = array.astype(np.complex128)
    return wide


def _inner(a, b):
    """The real inner product under which gradients are defined."""
    return float(np.sum(np.real(np.conj(a) * b)))


def _objective(tf, row, tensors):
    """A fixed linear function of the floating outputs."""
    targets = [t for t in flat_tensors(tf, run_code(tf, row, tensors)) if is_differentiable(t.dtype)]
    total = tf.zeros((), tf.float64)
    for i, t in enumerate(targets):
        weights = tf.constant(weights_for(i, t.shape, np.dtype(t.dtype.as_numpy_dtype)))
        product = tf.math.conj(weights) * t if t.dtype.is_complex else weights * t
        part = tf.reduce_sum(product)
        total = total + tf.cast(tf.math.real(part) if t.dtype.is_complex else part, tf.float64)
    return total


def check_gradients(tf, row, second=True):
    """First-order gradients of the row, and second-order ones through nested tapes."""
    arrays = _wide(row)
    names = [n for n, a in arrays.items() if a.dtype != object and a.dtype.kind in "fc"]
    rng = np.random.Generator(np.random.PCG64(7))
    direction = {n: weights_for(int(rng.integers(1000)), arrays[n].shape, arrays[n].dtype) for n in names}

    def tensors_at(step):
        moved = {n: a + step * direction[n] if n in direction else a for n, a in arrays.items()}
        return {n: tf.constant(a) for n, a in moved.items()}

    def first(step):
        tensors = tensors_at(step)
        with tf.GradientTape() as tape:
            for n in names:
                tape.watch(tensors[n])
            value = _objective(tf, row, tensors)
        grads = tape.gradient(value, [tensors[n] for n in names])
        found = []
        for n, g in zip(names, grads):
            found.append(np.zeros_like(arrays[n]) if g is None else tf.convert_to_tensor(g).numpy())
        return float(value), found

    step = 1e-6
    slope = sum(_inner(g, direction[n]) for n, g in zip(names, first(0.0)[1]))
    numeric = (first(step)[0] - first(-step)[0]) / (2 * step)
    scale = max(1.0, abs(slope), abs(numeric))
    assert abs(slope - numeric) < 2e-5 * scale, f"gradient {slope}, finite difference {numeric}"
    if not second:
        return
    # Second order: the gradient of <gradient, w> against differences of the gradient.
    other = {n: weights_for(int(rng.integers(1000)), arrays[n].shape, arrays[n].dtype) for n in names}
    tensors = tensors_at(0.0)
    with tf.GradientTape() as outer:
        for n in names:
            outer.watch(tensors[n])
        with tf.GradientTape() as inner:
            for n in names:
                inner.watch(tensors[n])
            value = _objective(tf, row, tensors)
        grads = inner.gradient(value, [tensors[n] for n in names])
        total = tf.zeros((), tf.float64)
        for n, g in zip(names, grads):
            if g is not None:
                w = tf.constant(other[n])
                product = tf.math.conj(w) * g if w.dtype.is_complex else w * g
                part = tf.reduce_sum(product)
                total = total + tf.cast(tf.math.real(part) if w.dtype.is_complex else part, tf.float64)
    seconds = outer.gradient(total, [tensors[n] for n in names])
    slope = sum(
        _inner(tf.convert_to_tensor(g).numpy(), direction[n]) for n, g in zip(names, seconds) if g is not None
    )
    plus, minus = first(step)[1], first(-step)[1]
    numeric = sum(_inner(p - m, other[n]) for n, p, m in zip(names, plus, minus)) / (2 * step)
    scale = max(1.0, abs(slope), abs(numeric))
    assert abs(slope - numeric) < 1e-4 * scale, f"second gradient {slope}, finite difference {numeric}"
