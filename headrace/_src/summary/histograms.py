"""`tf.summary.histogram`, and how values are sorted into buckets."""

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.context import context
from headrace._src.core.names import name_scope
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.formats import event_wire
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import cast
from headrace._src.ops.arrays.filling import ones_like
from headrace._src.ops.arrays.joining import stack
from headrace._src.ops.arrays.measuring import size
from headrace._src.ops.arrays.passing import stop_gradient
from headrace._src.ops.arrays.rearranging import transpose
from headrace._src.ops.arrays.selecting import where
from headrace._src.ops.arrays.shaping import reshape
from headrace._src.ops.arrays.spacing import linspace
from headrace._src.ops.debugging.static_assertions import assert_scalar
from headrace._src.ops.math.arithmetic import MAXIMUM, MINIMUM
from headrace._src.ops.math.comparison import EQUAL
from headrace._src.ops.math.elementwise import FLOOR
from headrace._src.ops.math.reductions import reduce_max, reduce_min
from headrace._src.ops.math.unsorted_segments import unsorted_segment_sum
from headrace._src.summary.writer_ops import known_metadata
from headrace._src.summary.writing import summary_of, write

DEFAULT_BUCKETS = 30


@api("summary.histogram", dispatch=False)
def histogram(name, data, step=None, buckets=None, description=None) -> Tensor:
    """Writes how values are distributed to the default writer; TensorBoard shows how this changes.

    Args:
        name: what it is called, after the open name scopes.
        data: a tensor of any shape that can be cast to float64.
        step: an int, an int64 scalar or a variable of one; that of `tf.summary.experimental.set_step` by default.
        buckets: how many equal parts between the smallest and the largest value; 30 by default.
        description: a text in Markdown.

    Returns:
        A boolean tensor: whether it was written.

    Raises:
        ValueError: there is no step. TypeError: buckets is no int32.

    >>> with tf.summary.create_file_writer("/tmp/headrace_doc/logs").as_default():
    ...     print(bool(tf.summary.histogram("weights", tf.random.normal([1000]), step=1)))
    True
    """
    data = stop_gradient(data)
    metadata = known_metadata(event_wire.metadata("histograms", description=description))
    with summary_of("histogram", name) as tag:
        return write(tag, lambda: bucket_table(data, buckets), step, metadata)


def bucket_table(data, buckets=None) -> Tensor:
    """A row for each bucket: its left edge, its right edge, and how many values are in it, as float64.

    All buckets but the last are without their right edge. Without values all is zero. If all values are equal, so are
    all edges, and the last bucket has the values. NaN is in no bucket.

    Args:
        data: a tensor.
        buckets: how many; 30 if None.
    """
    with name_scope("buckets"):
        count = to_tensor(DEFAULT_BUCKETS if buckets is None else buckets)
        assert_scalar(count)
        if count.dtype != dtypes.int32:
            raise TypeError(f"buckets must be int32, got {count.dtype.name}.")
        values = cast(data, dtypes.float64)
        if context.graph is None:
            return EagerTensor(_table(values._a.ravel(), max(0, int(count))), dtypes.float64)
        return _table_in_graph(reshape(values, [-1]), MAXIMUM(0, count))


def _table(values: np.ndarray, count: int) -> np.ndarray:
    table = np.zeros((count, 3))
    if not values.size or not count:
        return table
    low, high = values.min(), values.max()
    with np.errstate(all="ignore"):
        width = high - low
        # TF: the edges as tf.linspace computes them.
        inner = low + width / count * np.arange(1, count)
        numbers = np.floor((values - low) / (width / count))
    table[:, 0] = [low, *inner]
    table[:, 1] = [*inner, high]
    if width == 0:
        table[-1, 2] = values.size
    else:
        numbers = numbers[numbers >= 0]  # without NaN
        table[:, 2] = np.bincount(np.minimum(numbers, count - 1).astype(np.intp), minlength=count)
    return table


def _table_in_graph(values, count):
    low, high = reduce_min(values), reduce_max(values)
    last = count - 1
    number = FLOOR((values - low) / ((high - low) / cast(count, dtypes.float64)))
    number = MINIMUM(cast(number, dtypes.int32), last)
    number = where(EQUAL(low, high), last, number)
    in_bucket = unsorted_segment_sum(ones_like(values), number, count)
    edges = linspace(low, high, count + 1)
    edges = where(EQUAL(size(values), 0), to_tensor(0.0, dtypes.float64), edges)
    return transpose(stack([edges[:-1], edges[1:], in_bucket]))
