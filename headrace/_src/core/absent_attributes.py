"""Attributes of arrays of NumPy and PyTorch that people try on tensors and variables, and what to use instead."""

from headrace._src.core.tracebacks import entrance


class Absent:
    """An attribute that is not there, and says why.

    Instead of `__getattr__`, which would make every read of every attribute slow in Python 3.11.
    """

    def __init__(self, message):
        self._message = message

    @entrance
    def __get__(self, instance, owner=None):
        raise AttributeError(self._message)


# What `tf.experimental.numpy.experimental_enable_numpy_behavior()` gives tensors, and what does the same without it.
OF_NUMPY = {
    "T": "tf.transpose(x)",
    "astype": "tf.cast(x, dtype)",
    "ravel": "tf.reshape(x, [-1])",
    "transpose": "tf.transpose(x, perm)",
    "reshape": "tf.reshape(x, shape)",
    "clip": "tf.clip_by_value(x, low, high)",
    "size": "tf.size(x), or x.shape for the lengths",
    "tolist": "x.numpy().tolist()",
    "data": "x.numpy()",
}

# Other attributes of arrays.
_OF_OTHERS = {
    "sum": "tf.reduce_sum(x, axis)",
    "mean": "tf.reduce_mean(x, axis)",
    "max": "tf.reduce_max(x, axis)",
    "min": "tf.reduce_min(x, axis)",
    "prod": "tf.reduce_prod(x, axis)",
    "std": "tf.math.reduce_std(x, axis)",
    "var": "tf.math.reduce_variance(x, axis)",
    "any": "tf.reduce_any(x, axis)",
    "all": "tf.reduce_all(x, axis)",
    "argmax": "tf.argmax(x, axis)",
    "argmin": "tf.argmin(x, axis)",
    "argsort": "tf.argsort(x)",
    "sort": "tf.sort(x)",
    "cumsum": "tf.cumsum(x)",
    "dot": "tf.tensordot(x, y, 1), or x @ y",
    "matmul": "tf.matmul(x, y), or x @ y",
    "flatten": "tf.reshape(x, [-1])",
    "squeeze": "tf.squeeze(x)",
    "unsqueeze": "tf.expand_dims(x, axis)",
    "view": "tf.reshape(x, shape)",
    "permute": "tf.transpose(x, perm)",
    "repeat": "tf.repeat(x, repeats)",
    "item": "x.numpy().item(), or float(x)",
    "copy": "tf.identity(x)",
    "clone": "tf.identity(x)",
    "contiguous": "x itself: tensors are contiguous",
    "detach": "tf.stop_gradient(x)",
    "backward": "tf.GradientTape: gradients = tape.gradient(loss, variables)",
    "requires_grad": "tf.Variable, or tape.watch(x)",
    "grad": "tf.GradientTape: gradient = tape.gradient(y, x)",
    "cuda": "tf.device",
    "to": "tf.cast(x, dtype), or tf.device",
    "float": "tf.cast(x, tf.float32)",
    "long": "tf.cast(x, tf.int64)",
    "int": "tf.cast(x, tf.int32)",
    "fill": "tf.fill(tf.shape(x), value)",
    "append": "tf.concat([x, y], axis=0)",
    "clamp": "tf.clip_by_value(x, low, high)",
    "pow": "tf.pow(x, y), or x ** y",
    "abs": "tf.abs(x)",
    "exp": "tf.exp(x)",
    "log": "tf.math.log(x)",
    "sqrt": "tf.sqrt(x)",
    "round": "tf.round(x)",
}

NAMES = frozenset({*OF_NUMPY, *_OF_OTHERS})


def add_absences(cls: type, label: str, switched: bool) -> None:
    """Let a class say what to use in the place of such an attribute, where it has none of that name.

    Args:
        cls: the class.
        label: what messages call its objects.
        switched: whether NumPy's behavior, once switched on, gives it the attributes of `OF_NUMPY`.
    """
    for name, instead in {**OF_NUMPY, **_OF_OTHERS}.items():
        if hasattr(cls, name):
            continue
        text = f"'{label}' object has no attribute {name!r}. Use {instead}."
        if switched and name in OF_NUMPY:
            text += " Or call tf.experimental.numpy.experimental_enable_numpy_behavior() first, for NumPy's methods."
        setattr(cls, name, Absent(text))
