"""What an expression about a loaded object gives, in a form that can be written down and compared."""

import numpy as np
from saved_programs import Pair


def gradient(tf, f, x):
    x = tf.convert_to_tensor(x, tf.float32)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


def gradient_of_variable(tf, f, variable):
    with tf.GradientTape() as tape:
        y = f()
    return tape.gradient(y, variable)


def result_of(tf, loaded, text, folder):
    """The value as a structure of JSON, or the class of the exception."""
    names = {
        "tf": tf,
        "np": np,
        "m": loaded,
        "Pair": Pair,
        "S": tf.constant,
        "INSIDE": str(folder / "assets" / "inside.txt"),
        "g": lambda f, x: gradient(tf, f, x),
        "G": lambda f, v: gradient_of_variable(tf, f, v),
    }
    try:
        return plain(eval(text, names))
    except Exception as error:
        return {"error": type(error).__name__}


def plain(value):
    """Tensors and arrays with their dtype and elements in nested lists, everything else by its text."""
    if hasattr(value, "numpy"):
        return plain(value.numpy())
    if isinstance(value, bytes):
        value = np.array(value, object)
    if isinstance(value, np.ndarray | np.generic):
        return {
            "dtype": "string" if value.dtype.kind in "OSU" else value.dtype.name,
            "value": elements(np.asarray(value)),
        }
    if isinstance(value, dict):
        return {"dict": [[str(key), plain(value[key])] for key in sorted(value)]}
    if isinstance(value, list | tuple):
        return {"items": [plain(item) for item in value]}
    return repr(value)


def elements(array):
    if array.dtype.kind in "OSU":
        return np.vectorize(lambda x: x.hex() if isinstance(x, bytes) else x, otypes=[object])(array).tolist()
    if array.dtype.kind == "c":
        return np.stack([array.real, array.imag], -1).tolist()
    return array.astype("float64" if array.dtype.kind in "fV" else array.dtype).tolist()


def close(expected, actual):
    """Whether two such results are the same, floating-point numbers nearly."""
    if isinstance(expected, dict) and isinstance(actual, dict) and "dtype" in expected and "dtype" in actual:
        if expected["dtype"] != actual["dtype"] or np.shape(expected["value"]) != np.shape(actual["value"]):
            return False
        if expected["dtype"] == "string":
            return expected["value"] == actual["value"]
        return np.allclose(np.array(actual["value"], float), np.array(expected["value"], float), rtol=1e-6)
    if isinstance(expected, dict) and isinstance(actual, dict):
        return expected.keys() == actual.keys() and all(close(expected[key], actual[key]) for key in expected)
    if isinstance(expected, list) and isinstance(actual, list):
        return len(expected) == len(actual) and all(map(close, expected, actual))
    return expected == actual
