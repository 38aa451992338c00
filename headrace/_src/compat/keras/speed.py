"""Short ways through Keras's eager paths: the same results, without finding out the same things again and again.

What they are worth: `python benchmarks/keras_training.py eager`. In a profile of such a step, most of Keras's own time
goes to the names of dtypes, to which dtype results have, and to the optimizer's many small operations.

`replacements.py` says where in Keras each of these goes.
"""

from __future__ import annotations

import functools
import importlib

from headrace._src.core.context import context
from headrace._src.core.dtypes import DType
from headrace._src.core.tensor import EagerTensor
from headrace._src.op.convert import to_tensor
from headrace._src.tracing.function import function, functions_run_eagerly

# Functions of one optimizer are kept for so many lists of variables; a program that makes new ones in each step is
# better off without.
_MOST_FUNCTIONS = 8
_SETTINGS = frozenset((int, float, bool, str))
# What is no tensor of Keras's own, and holds none.
_PLAIN = frozenset((EagerTensor, type(None), *_SETTINGS))


def with_known_names(original):
    """`standardize_dtype`, which finds out the name of each dtype once."""
    names: dict = {}  # by id: dtypes live as long as the process
    standard: set = set()  # names that stay as they are

    @functools.wraps(original)
    def standardize_dtype(dtype):
        kind = type(dtype)
        if kind is str:
            if dtype in standard:
                return dtype
            name = original(dtype)
            if name == dtype:
                standard.add(dtype)
            return name
        if kind is DType:
            name = names.get(id(dtype))
            if name is None:
                name = names[id(dtype)] = original(dtype.base_dtype)  # a 1.x variable has the dtype of a reference
            return name
        return original(dtype)

    return standardize_dtype


def with_known_results(original):
    """`result_type`, which finds out the dtype of each combination once."""
    config = importlib.import_module("keras.src.backend.config")
    known: dict = {}

    @functools.wraps(original)
    def result_type(*dtypes):
        key: list = [config.floatx()]
        for dtype in dtypes:
            kind = type(dtype)
            if kind is DType or kind is type:
                key.append(id(dtype))
            elif kind is str or dtype is None:
                key.append(dtype)
            else:
                return original(*dtypes)
        places = tuple(key)
        result = known.get(places)
        if result is None:
            result = known[places] = original(*dtypes)
        return result

    return result_type


def with_known_leaves(original):
    """`is_nested`, which finds out once which of Keras's own types hold nothing."""
    known = set(_PLAIN)

    @functools.wraps(original)
    def is_nested(structure):
        kind = type(structure)
        if kind in known:
            return False
        nested = original(structure)
        if not nested and kind.__module__.startswith("keras.src."):
            known.add(kind)
        return nested

    return is_nested


def with_short_structures(original):
    """`map_structure`, which takes the arguments of a layer apart by itself: a tuple, or at most one by name."""

    @functools.wraps(original)
    def map_structure(func, *structures, none_is_leaf=True):
        if len(structures) == 1 and none_is_leaf:
            structure = structures[0]
            kind = type(structure)
            if kind is tuple:
                if _PLAIN.issuperset(map(type, structure)):
                    return tuple([func(x) for x in structure])
            elif kind is dict and len(structure) < 2:  # of more, optree sorts the names
                if _PLAIN.issuperset(map(type, structure.values())):
                    return {name: func(x) for name, x in structure.items()}
        return original(func, *structures, none_is_leaf=none_is_leaf)

    return map_structure


def with_eager_tensors(original):
    """`any_symbolic_tensors`, which has nothing to find out about eager tensors, numbers and names."""

    known = set(_PLAIN)

    @functools.wraps(original)
    def any_symbolic_tensors(args=None, kwargs=None):
        for items in (args or (), kwargs.values() if kwargs else ()):
            for x in items:
                if type(x) not in known:
                    # Variables of Keras are asked for each time that they are used.
                    if getattr(type(x), "_should_act_as_resource_variable", False) and not original((x,)):
                        known.add(type(x))
                    return original(args, kwargs)
        return False

    return any_symbolic_tensors


def with_fitting_tensors(original):
    """`convert_to_tensor`, which returns eager tensors of the wanted dtype at once."""

    @functools.wraps(original)
    def convert_to_tensor(x, dtype=None, sparse=None, ragged=None):
        if type(x) is EagerTensor and (dtype is None or (type(dtype) is str and x.dtype.name == dtype)):
            return x
        return original(x, dtype, sparse, ragged)

    return convert_to_tensor


class _Updates(dict):
    """Functions of one optimizer, which copies of it and its pickles do not have."""

    def __deepcopy__(self, memo):
        return _Updates()

    def __copy__(self):
        return _Updates()

    def __reduce__(self):
        return _Updates, ()


def update(original, self, grads, trainable_variables, learning_rate):
    """Let Keras's own optimizers update all variables in one call of a function, traced when it is first used."""
    # What a user's own optimizer does in Python is done in each step, as the user wrote it.
    is_kerass = type(self).__module__.startswith("keras.src.optimizers.")
    # Replicas of a strategy wait for each other in it, which they cannot do in a function of one of them.
    is_elsewhere = context.graph is not None or context.place is not None
    if is_elsewhere or not is_kerass or functions_run_eagerly():
        return original(self, grads, trainable_variables, learning_rate)
    rate = to_tensor(learning_rate)
    if type(rate) is not EagerTensor or not all(type(grad) is EagerTensor for grad in grads):
        return original(self, grads, trainable_variables, learning_rate)
    updates = self.__dict__.setdefault("_headrace_updates", _Updates())
    # Settings such as beta_1 are Python numbers, and part of the trace.
    settings = tuple([(k, v) for k, v in self.__dict__.items() if type(v) in _SETTINGS])
    key = (tuple(map(id, trainable_variables)), settings)
    step = updates.get(key)
    if step is None:
        if len(updates) >= _MOST_FUNCTIONS:
            return original(self, grads, trainable_variables, learning_rate)
        variables = list(trainable_variables)
        traced = function(lambda grads, rate: original(self, grads, variables, rate), autograph=False)
        step = traced.get_concrete_function(grads, rate)
        step.graph.stays_interpreted = True
        updates[key] = step
    step.call_flat([*grads, rate])
