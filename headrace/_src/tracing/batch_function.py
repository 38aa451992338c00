"""`tf.nondifferentiable_batch_function`: calls from several threads at the same time run as one."""

import functools
from typing import Any

from headrace._src.core import nest
from headrace._src.core.context import context
from headrace._src.core.specs import TensorSpec
from headrace._src.graph.control.batch_function import BATCH_FUNCTION
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.tracing.function import function


@api("nondifferentiable_batch_function", dispatch=False)
def nondifferentiable_batch_function(
    num_batch_threads,
    max_batch_size,
    batch_timeout_micros,
    allowed_batch_sizes=None,
    max_enqueued_batches=10,
    autograph=True,
    enable_large_batch_splitting=True,
) -> Any:
    """A decorator: what several threads call at the same time is computed in one call with the rows of all.

    The decorated function gets tensors only; their first dimension is the batch. It returns tensors with as many rows.
    There is no gradient.

    Args:
        num_batch_threads: how many batches run at the same time.
        max_batch_size: how many rows a call may have.
        batch_timeout_micros: how many microseconds a batch waits for more rows.
        allowed_batch_sizes: numbers of rows in ascending order, which batches are filled up to. The last one must be
            `max_batch_size`, unless larger calls may be split.
        max_enqueued_batches: how many batches may wait for their turn; calls beyond that fail.
        autograph: whether Python control flow that depends on tensors becomes part of the graph.
        enable_large_batch_splitting: whether a call with more rows than the last of `allowed_batch_sizes` is divided.

    >>> @tf.nondifferentiable_batch_function(1, 8, 100)
    ... def double(x):
    ...     return x * 2
    >>> double(tf.constant([1, 2])).numpy()
    array([2, 4], dtype=int32)
    """

    def decorator(fn):
        computation = function(fn, autograph=autograph)

        @functools.wraps(fn, assigned=("__doc__",), updated=())
        def decorated(*args):
            tensors = [to_tensor(x) for x in args]
            concrete = computation.get_concrete_function(*[_spec(i, x) for i, x in enumerate(tensors)])
            graph = concrete.graph
            if not tensors or not graph.outputs:
                raise ValueError(
                    "nondifferentiable_batch_function: the decorated function must be given and return at least one "
                    f"tensor, got {len(tensors)} and {len(graph.outputs)}."
                )
            captured = [x if context.graph is None else context.graph.inside(x) for x in graph.external_captures]
            results = BATCH_FUNCTION(
                tensors, captured, f=graph, num_batch_threads=num_batch_threads, max_batch_size=max_batch_size,
                batch_timeout_micros=batch_timeout_micros, Tout=[x.dtype for x in graph.outputs],
                max_enqueued_batches=max_enqueued_batches, allowed_batch_sizes=list(allowed_batch_sizes or ()),
                enable_large_batch_splitting=enable_large_batch_splitting,
            )  # fmt: skip
            return nest.pack_sequence_as(concrete.structured_outputs, results, expand_composites=True)

        return decorated

    return decorator


def _spec(i, tensor):
    shape = tensor.shape
    return TensorSpec([None, *shape[1:]] if shape.rank else shape, tensor.dtype, f"batch_{i}")
