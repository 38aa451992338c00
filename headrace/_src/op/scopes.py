"""The name scopes of functions that consist of several ops. TensorFlow's functions open them while a graph is built.

With them, the names of a program's own operations do not depend on how headrace writes such a function.
"""

import functools
import inspect
from collections.abc import Callable
from typing import TypeVar

from headrace._src.core.context import context
from headrace._src.core.names import name_scope

Function = TypeVar("Function", bound=Callable)

# Public function to its scope. Of those in the second table, the last operation has the name of the scope itself.
_AROUND = {
    "eye": "eye", "linspace": "linspace", "meshgrid": "meshgrid", "norm": "norm", "sort": "sort", "argsort": "argsort",
    "boolean_mask": "boolean_mask", "einsum": "einsum", "math.reduce_std": "reduce_std",
    "math.reduce_variance": "reduce_variance", "nn.moments": "moments", "nn.batch_normalization": "batchnorm",
    "nn.dropout": "dropout", "nn.embedding_lookup": "embedding_lookup", "nn.gelu": "Gelu",
    "nn.sparse_softmax_cross_entropy_with_logits": "SparseSoftmaxCrossEntropyWithLogits",
    "nn.softmax_cross_entropy_with_logits": "softmax_cross_entropy_with_logits", "random.uniform": "random_uniform",
    "image.resize": "resize", "repeat": "Repeat", "sequence_mask": "SequenceMask",
}  # fmt: skip
_AS_A_WHOLE = {
    "clip_by_value": "clip_by_value", "clip_by_norm": "clip_by_norm", "math.l2_normalize": "l2_normalize",
    "nn.sigmoid_cross_entropy_with_logits": "logistic_loss", "random.normal": "random_normal",
    "random.truncated_normal": "truncated_normal", "tensordot": "Tensordot", "math.reduce_logsumexp": "ReduceLogSumExp",
    "nn.weighted_cross_entropy_with_logits": "logistic_loss",
}  # fmt: skip


def scoped(names: tuple[str, ...], function: Function) -> Function:
    """The function, within its scope if it has one under one of these public names."""
    known = next((name for name in names if name in _AROUND or name in _AS_A_WHOLE), None)
    if known is None:
        return function
    scope, is_whole = _AROUND.get(known) or _AS_A_WHOLE[known], known in _AS_A_WHOLE
    parameters = list(inspect.signature(function).parameters)
    position = parameters.index("name") if "name" in parameters else len(parameters)

    @functools.wraps(function)
    def run(*args, **kwargs):
        if context.graph is None or len(args) > position:
            return function(*args, **kwargs)
        wish = kwargs.get("name")
        with name_scope(scope if wish is None else wish) as full:
            if position < len(parameters):
                kwargs["name"] = full if is_whole or wish is not None else None
            return function(*args, **kwargs)

    return run
