"""What the documents of TensorFlow 2.0 promise of Keras and Keras 3 dropped: names, attributes, files.

`replacements.py` says where in Keras each of these goes.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import urllib.error
import urllib.parse
import warnings

from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import cast
from headrace._src.state.variables import Variable
from headrace._src.tracing.function import inline_while

# Names of 2.0.


def reset_states(self):
    """The name of `Metric.reset_state` in TensorFlow 2.0."""
    return self.reset_state()


_ARGUMENTS_OF_ADD_VARIABLE = (
    "name", "shape", "dtype", "initializer", "regularizer", "trainable", "constraint", "partitioner",
)  # fmt: skip
_TAKEN_BY_ADD_WEIGHT = frozenset(
    "shape initializer dtype trainable autocast regularizer constraint aggregation overwrite_with_gradient name".split()
)


def add_variable(original, self, *args, **kwargs):
    """The name of `Layer.add_weight` in TensorFlow 2.0, where the name comes first; today's order is taken, too."""
    if args and isinstance(args[0], str):
        kwargs.update(zip(_ARGUMENTS_OF_ADD_VARIABLE, args))
        args = ()
    if args or ("initializer" in kwargs and "shape" not in kwargs):
        return original(self, *args, **kwargs)
    return self.add_weight(**{name: value for name, value in kwargs.items() if name in _TAKEN_BY_ADD_WEIGHT})


def init_without_shape_warning(original, self, *args, **kwargs):
    """`Dense(10, input_shape=(4,))` is what the documents do: no warning for it."""
    if "input_shape" not in kwargs and "input_dim" not in kwargs:
        return original(self, *args, **kwargs)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Do not pass an `input_shape`")
        return original(self, *args, **kwargs)


def add_modern_names(module):
    """`tf.keras.losses.mean_squared_error` is there beside `mse`, as in 2.0: Keras has it only in `keras.losses`."""
    modern = importlib.import_module(f"keras.{module.__name__.rpartition('.')[2]}")
    for attribute, value in vars(modern).items():
        if not attribute.startswith("_"):
            vars(module).setdefault(attribute, value)


def load_saving(module):
    """`tf.keras.saving` needs no import of its own."""
    importlib.import_module(f"{module.__name__}.saving")


def repr_of_variable(original, self):
    """The variables of a layer are shown as in 2.0, by the name of the layer and their own."""
    if "/" not in self.path or not isinstance(value := getattr(self, "_value", None), Variable):
        return original(self)
    return repr(value).replace(repr(value.name), f"'{self.path}:0'", 1)


def has_cudnn(original):
    """Whether recurrent layers can be cuDNN's: never, also where there is a GPU. XLA compiles their loops for it."""
    return False


def get_initial_state(original, self, inputs=None, batch_size=None, dtype=None):
    """`cell.get_initial_state(inputs=None, batch_size=None, dtype=None)`, as in 2.0."""
    if isinstance(inputs, int) and batch_size is None:  # Keras 3's only argument
        inputs, batch_size = None, inputs
    if inputs is not None:
        batch_size = inputs.shape[0] if batch_size is None else batch_size
        dtype = inputs.dtype if dtype is None else dtype
    states = original(self, batch_size=batch_size)
    if dtype is None:
        return states
    return [cast(to_tensor(s), dtype) for s in states] if isinstance(states, list) else cast(states, dtype)


class Assignable:
    """A property that a value of the user's may take the place of: `self.output = ...` in a subclass."""

    def __init__(self, original):
        self._original = original
        self.__doc__ = original.__doc__

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        assigned = instance.__dict__.get("_headrace_assigned", {})
        name = self._original.fget.__name__
        return assigned[name] if name in assigned else self._original.__get__(instance, owner)

    def __set__(self, instance, value):
        instance.__dict__.setdefault("_headrace_assigned", {})[self._original.fget.__name__] = value
        tracker = getattr(instance, "_tracker", None)
        if tracker is not None:
            tracker.track(value)

    def __delete__(self, instance):
        instance.__dict__.get("_headrace_assigned", {}).pop(self._original.fget.__name__, None)


class OfBuilt(Assignable):
    """The input or output of a `Sequential` that knows its shapes, called or not."""

    def __get__(self, instance, owner=None):
        built = None if instance is None else instance.__dict__.get("_functional")
        name = self._original._original.fget.__name__
        if built is None or name in instance.__dict__.get("_headrace_assigned", {}):
            return self._original.__get__(instance, owner)
        return getattr(built, name)

    def __set__(self, instance, value):
        self._original.__set__(instance, value)

    def __delete__(self, instance):
        self._original.__delete__(instance)


# Files.


_NETWORK_ERRORS = (urllib.error.URLError, ConnectionError, TimeoutError)


def _hash_of(path, length):
    digest = hashlib.sha256() if length == 64 else hashlib.md5()
    with open(path, "rb") as file:
        for chunk in iter(lambda: file.read(1 << 20), b""):
            digest.update(chunk)
    return digest.hexdigest()


def _places(home, fname, origin, cache_subdir, extracts):
    """Where Keras looks for a file in its cache, and the folder that it extracts an archive to (else None)."""
    folder = os.path.join(home, str(cache_subdir))
    name = str(fname or os.path.basename(urllib.parse.urlsplit(str(origin or "")).path))
    if not extracts:
        return os.path.join(folder, name), None
    if fname and "." in name:
        return os.path.join(folder, name), os.path.join(folder, name[: name.find(".")] + "_extracted")
    return os.path.join(folder, name + "_archive"), os.path.join(folder, name)


def get_file(original, fname=None, origin=None, untar=False, md5_hash=None, file_hash=None, cache_subdir="datasets",
             hash_algorithm="auto", extract=False, archive_format="auto", cache_dir=None,
             force_download=False):  # fmt: skip
    """A file that is in the cache is used, whatever its hash; one that cannot be had says where to put it."""
    home = os.path.expanduser(str(cache_dir or importlib.import_module("keras.src.backend.config").keras_home()))
    expected = file_hash or md5_hash
    path, extracted = _places(home, fname, origin, cache_subdir, extract or untar)
    if os.path.isfile(path) and not force_download:
        published = not str(origin or "").startswith("file:")  # a file of this machine can always be had again
        if expected and published and _hash_of(path, len(expected)) != expected:
            warnings.warn(
                f"{path} is not the file that Keras has published (its hash is another one). It is used all the "
                "same; delete it to have it downloaded again.",
                stacklevel=2,
            )
            file_hash = md5_hash = None
        # Keras turns away from a cache that it cannot write to, even from the files in it.
        if not os.access(home, os.W_OK) and (extracted is None or os.path.isdir(extracted)):
            return extracted or path
    try:
        return original(
            fname=fname, origin=origin, untar=untar, md5_hash=md5_hash, file_hash=file_hash,
            cache_subdir=cache_subdir, hash_algorithm=hash_algorithm, extract=extract,
            archive_format=archive_format, cache_dir=cache_dir, force_download=force_download,
        )  # fmt: skip
    except Exception as error:
        if "URL fetch failure" not in str(error) and not isinstance(error, _NETWORK_ERRORS):
            raise
        kind = Exception if isinstance(error, urllib.error.HTTPError) else type(error)  # its arguments are others
        raise kind(
            f"{error}. Without a network, put the file there by hand: download {origin} elsewhere and save it as "
            f"{path}"
        ) from error


# Functions.


def inline_functions(module):
    """A `@tf.function` on `call`, met while Keras finds out shapes, runs as plain Python: that trace must not stay."""
    inline_while(module.in_stateless_scope)
