"""Running a random program in one of the tiers, with any `tf`: what it returns or raises, and the variables after."""

import numpy as np
from generator import arguments_of, function_of


def outcome(tf, seed, tier, errors=True, calls=1) -> dict:
    """Run a program.

    Args:
        tf: headrace or TensorFlow.
        seed: the program's number.
        tier: "eager", or a dictionary of options for tf.function.
        errors: whether the program may fail.
        calls: how often it is called, with the same arguments and the variables as they then are.
    """
    program, given = function_of(seed, errors), arguments_of(seed)
    v, w = (tf.Variable(given[name], dtype=tf.float32) for name in "vw")
    x, y = (tf.constant(given[name], tf.float32) for name in "xy")
    i, n = (tf.constant(given[name], tf.int32) for name in "in")

    def body(x, y, i, n):
        return program(tf, x, y, i, n, v, w)

    run = body if tier == "eager" else tf.function(body, **tier)
    result: dict = {}
    try:
        for _ in range(calls):
            returned = run(x, y, i, n)
        result["values"] = [np.asarray(value) for value in returned]
    except Exception as error:
        result["error"] = error_kind(tf, error)
        result["message"] = str(error)[:300]
        result["exception"] = error
    result["variables"] = [np.asarray(v), np.asarray(w)]
    return result


def error_kind(tf, error) -> str:
    """The class of an error as far as tiers must agree on it."""
    if isinstance(error, (tf.errors.InvalidArgumentError, tf.errors.OutOfRangeError)):
        return "InvalidArgumentError"
    return type(error).__name__


def difference(a, b, rtol=1e-4, atol=1e-5) -> str:
    """What differs between two outcomes; empty when they agree."""
    if a.get("error") != b.get("error"):
        return f"{a.get('error')} ({a.get('message')}) against {b.get('error')} ({b.get('message')})"
    for part in ("values", "variables"):
        for k, (p, q) in enumerate(zip(a.get(part, ()), b.get(part, ()), strict=True)):
            if p.dtype != q.dtype or p.shape != q.shape:
                return f"{part}[{k}]: {p.dtype} {p.shape} against {q.dtype} {q.shape}"
            if not np.allclose(p, q, rtol, atol, equal_nan=True):
                return f"{part}[{k}]: {p} against {q}"
    return ""
