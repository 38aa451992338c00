"""Functions of `tf.keras.backend` that TensorFlow 2.0 had and Keras 3 has not.

`replacements.py` puts them there.
"""

from __future__ import annotations

import contextlib
import importlib
import sys

import numpy as np

from headrace._src.compat.sessions.session import Session, get_default_session
from headrace._src.op.convert import to_tensor
from headrace._src.ops.debugging.printing import print_
from headrace._src.ops.math.statistics import reduce_logsumexp

# What `set_learning_phase` set: 0, 1, or None for what the call says.
_phase: dict[str, int | None] = {"value": None}


def _keras():
    return importlib.import_module("keras")


def learning_phase():
    """Whether layers behave as in training: 1 or 0."""
    if _phase["value"] is not None:
        return _phase["value"]
    global_state = importlib.import_module("keras.src.backend.common.global_state")
    call = global_state.get_global_attribute("current_call_ctx")
    return int(bool(getattr(call, "training", False)))


def set_learning_phase(value):
    """Set what `learning_phase` gives, and what layers do that are called without `training`."""
    if value not in (0, 1):
        raise ValueError(f"set_learning_phase: expected 0 or 1, got {value!r}.")
    _phase["value"] = int(value)


@contextlib.contextmanager
def learning_phase_scope(value):
    """A learning phase for a block."""
    before = _phase["value"]
    set_learning_phase(value)
    try:
        yield
    finally:
        _phase["value"] = before


def learning_phase_is_set() -> bool:
    """Whether layers that are called without `training` follow the learning phase."""
    return _phase["value"] is not None


def resolve_argument(original, self, arg_name, call_spec, call_context, kwargs):
    """Layers that are called without `training` follow the learning phase, if one is set."""
    if arg_name == "training" and _phase["value"] is not None:
        told = "training" in call_spec.user_arguments_dict or call_context.get_value("training") is not None
        if not told:
            call_context.set_value("training", bool(_phase["value"]))
    original(self, arg_name, call_spec, call_context, kwargs)


def in_train_phase(x, alt, training=None):
    """`x` in training, else `alt`; both may be functions."""
    training = learning_phase() if training is None else training
    if isinstance(training, (bool, int, np.bool_)):
        chosen = x if training else alt
        return chosen() if callable(chosen) else chosen
    return importlib.import_module("keras.src.legacy.backend").switch(training, x, alt)


def in_test_phase(x, alt, training=None):
    """`alt` in training, else `x`."""
    return in_train_phase(alt, x, training)


def placeholder(shape=None, ndim=None, dtype=None, sparse=False, name=None, ragged=False):
    """A symbolic tensor to make a model of."""
    shape = (None,) * ndim if shape is None else tuple(shape)
    return _keras().Input(batch_shape=shape, dtype=dtype, sparse=sparse, name=name)


def is_keras_tensor(x):
    """Whether it is a symbolic tensor."""
    return isinstance(x, _keras().KerasTensor)


def print_tensor(x, message="", summarize=3):
    """Print a tensor's value when it is computed, and return the tensor."""
    tensor = to_tensor(x)
    print_(message, tensor, output_stream=sys.stdout, summarize=summarize)
    return tensor


def logsumexp(x, axis=None, keepdims=False):
    """log(sum(exp(x)))."""
    return reduce_logsumexp(x, axis, keepdims)


def manual_variable_initialization(value):
    """TF: variables of graphs are then initialized by the program; in eager programs it changes nothing."""


def reset_uids():
    """Let names of layers begin with their first number again."""
    names = importlib.import_module("keras.src.backend.common.global_state").get_global_attribute("object_name_uids")
    if names is not None:
        names.clear()


def get_session(op_input_list=()):
    """The session of 1.x that runs graphs: the default one, or a new one that stays."""
    session = get_default_session()
    if session is None:
        session = _kept.get("session")
    if session is None:
        session = _kept["session"] = Session()
    return session


def set_session(session):
    """Set the session that `get_session` gives."""
    _kept["session"] = session


_kept: dict = {}


def function(inputs, outputs, updates=None, name=None, **kwargs):
    """A function of lists of arrays that computes the outputs of some layers from the inputs of others.

    Where the inputs have a learning phase, the value in its place says whether layers behave as in training.
    """
    inputs, single = (
        list(inputs) if isinstance(inputs, (list, tuple)) else [inputs],
        not isinstance(outputs, (list, tuple)),
    )
    symbolic = [is_keras_tensor(x) for x in inputs]
    model = _keras().Model(
        [x for x, is_input in zip(inputs, symbolic) if is_input], outputs if single else list(outputs)
    )

    def call(arrays):
        arrays = list(arrays) if isinstance(arrays, (list, tuple)) else [arrays]
        phases = [bool(x) for x, is_input in zip(arrays, symbolic) if not is_input]
        values = [x for x, is_input in zip(arrays, symbolic) if is_input]
        results = model(values, training=phases[0] if phases else bool(_phase["value"]))
        results = results if isinstance(results, (list, tuple)) else [results]
        arrays = [np.asarray(x) for x in results]
        return arrays[0] if single else arrays

    return call


def add_functions(module):
    """Put all of these into the module of `tf.keras.backend`."""
    for value in (
        learning_phase, set_learning_phase, learning_phase_scope, in_train_phase, in_test_phase, placeholder,
        is_keras_tensor, print_tensor, logsumexp, manual_variable_initialization, reset_uids, get_session, set_session,
        function,
    ):  # fmt: skip
        setattr(module, value.__name__, value)
