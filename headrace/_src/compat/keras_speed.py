"""Short ways through Keras's eager paths: the same results, without finding out the same things again and again.

What they are worth: `python benchmarks/keras_training.py eager`. In a profile of such a step, most of Keras's own time
goes to the names of dtypes, to which dtype results have, and to the optimizer's many small operations.
"""

from __future__ import annotations

import functools

from headrace._src.compat.keras_additions import addition
from headrace._src.core.context import context
from headrace._src.core.dtypes import DType
from headrace._src.core.tensor import EagerTensor
from headrace._src.op.convert import to_tensor
from headrace._src.tracing.function import function, functions_run_eagerly

# Functions of one optimizer are kept for so many lists of variables; a program that makes new ones in each step is
# better off without.
_MOST_FUNCTIONS = 8
_SETTINGS = frozenset((int, float, bool, str))


@addition("keras.src.backend.common.variables")
def _names_of_dtypes(module):
    original = module.standardize_dtype
    names: dict = {}  # by id: dtypes live as long as the process

    @functools.wraps(original)
    def standardize_dtype(dtype):
        if type(dtype) is DType:
            name = names.get(id(dtype))
            if name is None:
                name = names[id(dtype)] = original(dtype)
            return name
        return original(dtype)

    module.standardize_dtype = standardize_dtype


@addition("keras.src.backend.common.dtypes")
def _dtypes_of_results(module):
    original, config = module.result_type, module.config
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
        found = known.get(places)
        if found is None:
            found = known[places] = original(*dtypes)
        return found

    module.result_type = result_type


class _Updates(dict):
    """Functions of one optimizer, which copies of it and its pickles do not have."""

    def __deepcopy__(self, memo):
        return _Updates()

    def __copy__(self):
        return _Updates()

    def __reduce__(self):
        return _Updates, ()


@addition("keras.src.backend.tensorflow.optimizer")
def _updates_as_functions(module):
    """Let Keras's own optimizers update all variables in one call of a function, traced when it is first used."""
    optimizer = module.TFOptimizer
    original = optimizer._backend_update_step

    @functools.wraps(original)
    def update(self, grads, trainable_variables, learning_rate):
        # What a user's own optimizer does in Python is done in each step, as the user wrote it.
        is_kerass = type(self).__module__.startswith("keras.src.optimizers.")
        if context.graph is not None or not is_kerass or functions_run_eagerly():
            return original(self, grads, trainable_variables, learning_rate)
        rate = to_tensor(learning_rate)
        if type(rate) is not EagerTensor or not all(type(grad) is EagerTensor for grad in grads):
            return original(self, grads, trainable_variables, learning_rate)
        updates = self.__dict__.setdefault("_headrace_updates", _Updates())
        # Settings such as beta_1 are Python numbers, and part of the trace.
        settings = tuple([(k, v) for k, v in self.__dict__.items() if type(v) in _SETTINGS])
        key = (tuple(map(id, trainable_variables)), settings)
        made = updates.get(key)
        if made is None:
            if len(updates) >= _MOST_FUNCTIONS:
                return original(self, grads, trainable_variables, learning_rate)
            variables = list(trainable_variables)
            traced = function(lambda grads, rate: original(self, grads, variables, rate), autograph=False)
            made = traced.get_concrete_function(grads, rate)
            made.graph.stays_interpreted = True
            updates[key] = made
        made.call_flat([*grads, rate])

    optimizer._backend_update_step = update
