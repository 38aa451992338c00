"""`tensorflow.python.keras.saving.saving_utils`: the call of a Keras model as a function that tools convert."""

from typing import Any

from headrace._src.core import nest
from headrace._src.core.specs import TensorSpec
from headrace._src.tracing.function import Function, function


def trace_model_call(model, input_signature=None) -> Any:
    """A `tf.function` that predicts with a model of Keras, and returns a dictionary of its outputs.

    Args:
        model: the model.
        input_signature: a `TensorSpec` for each input; by default what the model says of them.

    Raises:
        ValueError: the model does not say what its inputs are.
    """
    if input_signature is None and isinstance(model.call, Function):
        input_signature = model.call.input_signature
    if input_signature is None:
        if not getattr(model, "inputs", None):
            raise ValueError(f"The inputs of the model {model.name!r} are not known yet. Call it with some first.")
        input_signature = [TensorSpec(x.shape, x.dtype, getattr(x, "name", None)) for x in model.inputs]

    @function(input_signature=input_signature, autograph=False)
    def _wrapped_model(*args):
        outputs = model(args[0] if len(args) == 1 else list(args), training=False)
        leaves = nest.flatten(outputs)
        names = getattr(model, "output_names", None) or [f"output_{i + 1}" for i in range(len(leaves))]
        return dict(zip(names, leaves))

    return _wrapped_model
