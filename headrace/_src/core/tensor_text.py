"""How tensors print: `str` and `repr` in TensorFlow's formats."""

import numpy as np


def _printable(tensor):
    return tensor.dtype._kind not in "rv"


def array_text(tensor) -> str:
    """The value as NumPy prints it; scalars without their NumPy type."""
    if not _printable(tensor):
        return "<unprintable>"
    array = tensor._a
    if array.ndim == 0:
        return str(array[()])
    return np.array2string(array, threshold=1000)


def array_repr(tensor) -> str:
    if not _printable(tensor):
        return "<unprintable>"
    array = tensor._a
    if array.ndim == 0:
        return repr(array.item())  # TF: as a Python number, so float32 0.1 shows all its digits; str() does not
    return repr(array)


def tensor_str(tensor) -> str:
    text = array_text(tensor)
    if "\n" in text:
        text = "\n" + text
    return f"tf.Tensor({text}, shape={tensor._a.shape}, dtype={tensor.dtype.name})"


def tensor_repr(tensor) -> str:
    text = array_repr(tensor)
    if "\n" in text:
        text = "\n" + text
    return f"<tf.Tensor: shape={tensor._a.shape}, dtype={tensor.dtype.name}, numpy={text}>"
