"""Errors that leave Keras: with the user's frames only, and with a hint where people stumble."""

import contextlib
import difflib
import functools
import importlib
import inspect
import os
import re
import types

from headrace._src.core.tracebacks import hide_frames

# Of the functions that Keras exports, those that users call by themselves. Others are called for each layer and step.
_CALLED_BY_USERS = tuple(f"keras.{folder}." for folder in "utils saving models datasets preprocessing".split())
# Of its classes, whose methods users call in loops of their own, and which: those of layers Keras itself looks at.
_USED_BY_METHODS = tuple(f"keras.{folder}." for folder in "metrics losses".split())
_METHODS = ("__call__", "update_state", "result")

# What an error of Keras says, and what to do about it. A hint is added to the first that fits.
_HINTS = (
    (r"must have the same (rank|shape).*target\.shape",
     "The labels have another shape than the model's output. For classes by number use the loss "
     "'sparse_categorical_crossentropy'; for 'categorical_crossentropy' make them one-hot with "
     "tf.keras.utils.to_categorical; otherwise give the last layer as many units as a label has numbers."),
    (r"must have rank \(ndim\) `target\.ndim - 1`",
     "The labels must be numbers of classes, one for each example. For one-hot labels use the loss "
     "'categorical_crossentropy'."),
    (r"Invalid dtype: (str|string)",
     "Texts must become numbers first: tf.keras.layers.StringLookup or TextVectorization, or a dataset of tensors."),
    (r"Invalid dtype: object",
     "Rows of different lengths must get one length first: tf.keras.utils.pad_sequences; other values, a dtype: "
     "x.astype('float32')."),
    (r"call `compile\(\)`", "Before fit: model.compile(optimizer, loss), as in model.compile('adam', 'mse')."),
    (r"expected (min_)?ndim=(\d+), found ndim=(\d+)",
     "A single example needs a first axis for the batch, x[None], or dataset.batch(n); sequences of numbers and images "
     "without channels need a last one, x[..., None]."),
    (r"expected axis -?\d+ of input shape to have value",
     "The input has another shape than the model was built with: compare it with model.input_shape. A single example "
     "needs a first axis for the batch: x[None]."),
    (r"a window of \d+ is larger than the input",
     "A single image needs a first axis for the batch: x[None]; then channels are the last axis."),
    (r"output size would be (?:zero or )?negative",
     "The input is smaller than kernels and strides together need: use padding='same', fewer layers, larger images."),
    (r"No gradients provided for any variable",
     "The loss does not depend on the variables: compute it from the model's output within `with tf.GradientTape()`, "
     "with functions of tf only."),
    (r"Only instances of `keras.Layer` can be added", "tf.keras.layers.Lambda makes a layer of a function."),
    (r"Data cardinality is ambiguous", "x and y (and sample_weight) must have one entry for each example."),
    (r"generator must return a tuple",
     "Let the generator yield tuples, `yield (x,)` also where there are no labels; or make a dataset of it: "
     "tf.data.Dataset.from_generator(make, output_signature=tf.TensorSpec(...))."),
    (r"(?:gather|GatherV2|embedding_lookup|ResourceGather): indices\[[\d,]*\] = (-?\d+) is not in \[0, (\d+)\)",
     r"Index \1 was looked up in a table of \2 rows, as an Embedding with input_dim=\2 is: indices are from 0 to "
     r"input_dim - 1. Make input_dim the size of the vocabulary, with its entries for padding and unknown words, or "
     r"limit the indices (max_tokens of TextVectorization, num_words of the datasets)."),
    (r"must be KerasTensors", "tf.keras.Model takes what tf.keras.Input gives, and what layers make of it."),
)  # fmt: skip
_NO_ARGUMENT = re.compile(r"unexpected keyword argument '(\w+)'|Unrecognized keyword arguments passed to \w+: {'(\w+)'")
_UNKNOWN = re.compile(
    r"Could not interpret (\w+)(?: function)? identifier: (\w+)|Argument\(s\) not recognized: {'(\w+)'"
)


def filter_traceback(original, function):
    """Keras's decorator of the methods that users call.

    Keras's own leaves a frame of itself and those of headrace, and does nothing about an interrupt.
    """
    return entered(function)


def export(original, self, symbol):
    """Keras's decorator of all public functions and classes."""
    paths = (self.path,) if isinstance(self.path, str) else tuple(self.path)
    if isinstance(symbol, types.FunctionType):
        if any(path.startswith(_CALLED_BY_USERS) for path in paths):
            symbol = entered(symbol)
    elif isinstance(symbol, type) and not issubclass(symbol, BaseException):
        by_methods = any(path.startswith(_USED_BY_METHODS) for path in paths)
        for name, value in list(vars(symbol).items()):
            if name == "__init__" or (by_methods and name in _METHODS):
                if isinstance(value, types.FunctionType):
                    setattr(symbol, name, entered(value))
    return original(self, symbol)


def entered(function):
    """A function of Keras's whose errors show the user's frames only, and a hint."""

    @functools.wraps(function)
    def enter(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            explain(error, function, args, kwargs)
            hide_frames(error)
            raise

    enter.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]  # Keras reads it off the function
    return enter


def explain(error, function, args, kwargs):
    """Add what to do to an error of which that is known; Python prints it below the message."""
    if not isinstance(error, Exception) or getattr(error, "__notes__", None):
        return
    text = str(error)
    hint = _similar(text, function) or _of_argument(text, function, args) or _of_none(text, function, args, kwargs)
    hint = hint or _of_labels(text, function) or _of_damaged_file(text)
    hint = hint or _of_a_list(text, function, args, kwargs) or _of_a_traced_call(text, args) or _of_text(text)
    if hint is not None:
        error.add_note(hint)


# Methods that need labels, where the model has a loss.
_TAKE_LABELS = ("fit", "evaluate", "train_on_batch", "test_on_batch")


def _of_none(text, function, args, kwargs):
    """Where None was to become a tensor: there are no labels, or something of the user's has returned nothing."""
    if function.__name__ not in _TAKE_LABELS or not re.search(r"convert a value \(None\) with an unsupported", text):
        return None
    with contextlib.suppress(TypeError):
        if inspect.signature(function).bind(*args, **kwargs).arguments.get("y") is None:
            return "There may be no labels: pass y to fit, or a dataset of pairs (x, y); a loss needs them."
    return "Something is None: a `call`, a loss or a metric without `return`, or an argument that must be a number."


def _of_labels(text, function):
    """Where a loss cannot compare labels with the model's output, whose shapes are all that the message tells."""
    if function.__name__ not in _TAKE_LABELS or "Incompatible shapes" not in text:
        return None
    return (
        "If these are the shapes of labels and of the output of the model, which the loss compares (for one replica, "
        "under a strategy): give the last layer as many units as a label has numbers."
    )


def _of_text(text):
    """What is known of a message by its words. A hint may repeat parts of it."""
    for said, hint in _HINTS:
        found = re.search(said, text)
        if found is not None:
            return found.expand(hint)
    return None


def _of_a_list(text, function, args, kwargs):
    """Keras says of x that it does not know its type where it is y that is a plain list."""
    if function.__name__ not in _TAKE_LABELS or "Unrecognized data type: x=" not in text:
        return None
    with contextlib.suppress(TypeError):
        given = inspect.signature(function).bind(*args, **kwargs).arguments
        lists = [name for name in ("x", "y", "sample_weight") if isinstance(given.get(name), (list, tuple))]
        if lists and "x" not in lists:
            names = " and ".join(lists)
            return f"It is {names}: a Python list of numbers. Make an array of it, {lists[0]}=np.array({lists[0]})."
    return None


_OF_TRACING = re.compile("is out of scope and cannot be used|variables on non-first call|got the symbolic tensor")


def _of_a_traced_call(text, args):
    """Where something of a graph is used outside of it, and a layer's `call` has a graph of its own."""
    layer = args[0] if args else None
    if _OF_TRACING.search(text) is None or not hasattr(layer, "_flatten_layers"):
        return None
    for inner in layer._flatten_layers():
        cls = type(inner)
        if hasattr(cls.call, "get_concrete_function"):
            return (
                f"{cls.__name__}.call is a tf.function: what it keeps in self, add_loss and new variables stay in its "
                "graph. Take the decorator away: fit, evaluate and predict trace and compile the whole model, and for "
                "single calls model = tf.function(model) does it from outside."
            )
    return None


def _of_damaged_file(text):
    """Keras says of a file that it cannot read as what its ending says that there is none."""
    found = re.search(r"File not found: filepath=(.+?)\. Please ensure", text)
    if found is None or not os.path.isfile(found[1]):
        return None
    return f"The file is there, with {os.path.getsize(found[1])} bytes, but it is damaged or cut off: no Keras archive."


def _of_argument(text, function, args):
    """The argument that may have been meant where there is none of that name."""
    found = _NO_ARGUMENT.search(text)
    if found is None:
        return None
    name, owner = found[1] or found[2], args[0] if args else None
    called = [function]
    if function.__name__ in ("__call__", "__init__"):  # which hand all on to what the user knows
        called += [part for part in (getattr(owner, "call", None), type(owner).__init__) if part is not None]
    known = [key for each in called for key in inspect.signature(each).parameters]
    known += ["name", "dtype", "trainable"] * (function.__name__ == "__init__")  # which all layers have
    close = difflib.get_close_matches(name, known, 1)
    return f"Did you mean {close[0]!r}?" if close else None


def _similar(text, function):
    """The name that may have been meant where one is not known."""
    found = _UNKNOWN.search(text)
    if found is None:
        return None
    kind, name, argument = found.groups()
    if argument is not None:
        name, known = argument, list(inspect.signature(function).parameters)
    else:
        module = importlib.import_module("keras.src." + {"loss": "losses"}.get(kind, f"{kind}s"))
        known = [key for key in vars(module) if not key.startswith("_")]
    close = difflib.get_close_matches(name, known, 1) or difflib.get_close_matches(name, map(str.lower, known), 1)
    return f"Did you mean {close[0]!r}?" if close else None
