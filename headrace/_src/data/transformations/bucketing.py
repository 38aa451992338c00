"""`Dataset.bucket_by_sequence_length`: batches of elements of similar length."""

from collections.abc import Callable
from typing import Any

import numpy as np

from headrace._src.core import dtypes, nest
from headrace._src.core.shapes import TensorShape
from headrace._src.data.datasets import DatasetV2, method
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.gathering import GATHER_V2
from headrace._src.ops.arrays.joining import PACK
from headrace._src.ops.arrays.selecting import WHERE
from headrace._src.ops.debugging.assertions import ASSERT
from headrace._src.ops.math.comparison import LOGICAL_AND
from headrace._src.ops.math.reductions import MIN


def _padded_shapes(given, specs, length):
    """The shapes to pad to: where no shape says how long, this long."""
    if given is None:
        given = nest.map_structure(lambda spec: spec.shape, specs)
    if length is None:
        return given
    shapes = [TensorShape(shape) for shape in nest.flatten_up_to(specs, given, check_types=False)]
    filled = []
    for shape in shapes:
        sizes = [length if size is None else to_tensor(size, dtypes.int64) for size in shape.as_list()]
        filled.append(PACK(sizes, axis=0) if sizes else to_tensor(np.zeros([0], np.int64)))
    return nest.pack_sequence_as(specs, filled)


@method
def bucket_by_sequence_length(
    self, element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes=None, padding_values=None,
    pad_to_bucket_boundary=False, no_padding=False, drop_remainder=False, name=None,
) -> DatasetV2:  # fmt: skip
    """Batches of elements of similar length, so that little padding is needed.

    Args:
        element_length_func: a function of an element that returns its length, a scalar int32 tensor.
        bucket_boundaries: the lengths at which another bucket begins.
        bucket_batch_sizes: how many elements make a batch, one number more than boundaries.
        padded_shapes: as for `padded_batch`.
        padding_values: as for `padded_batch`.
        pad_to_bucket_boundary: whether to pad to the largest length of the bucket, not of the batch. Then no element
            may be longer than the last boundary less one.
        no_padding: whether elements are batched as they are, without padding.
        drop_remainder: whether the last batches are left out when they have fewer elements.
        name: a name for the operation.

    >>> elements = [[0], [1, 2, 3, 4], [5, 6, 7], [7, 8, 9, 10, 11], [13, 14, 15, 16, 19, 20], [21, 22]]
    >>> dataset = tf.data.Dataset.from_generator(
    ...     lambda: elements, output_signature=tf.TensorSpec([None], tf.int64))
    >>> dataset = dataset.bucket_by_sequence_length(
    ...     lambda x: tf.shape(x)[0], bucket_boundaries=[3, 5], bucket_batch_sizes=[2, 2, 2])
    >>> [batch.shape.as_list() for batch in dataset]
    [[2, 4], [2, 6], [2, 2]]
    """
    if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
        raise ValueError(
            f"`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but `len(bucket_batch_sizes)="
            f"{len(bucket_batch_sizes)}` and `len(bucket_boundaries)={len(bucket_boundaries)}`."
        )
    sizes = to_tensor(np.array(bucket_batch_sizes, np.int64))
    boundaries = [int(boundary) for boundary in bucket_boundaries]
    largest = np.iinfo(np.int32).max
    lower = to_tensor(np.array([np.iinfo(np.int32).min, *boundaries], np.int32))
    upper = to_tensor(np.array([*boundaries, largest], np.int32))

    def bucket_of(*args):
        length = CAST(to_tensor(element_length_func(*args)), DstT=dtypes.int32)
        fits = LOGICAL_AND(lower <= length, length < upper)
        return MIN(WHERE(fits), to_tensor([0, 1]))

    def size_of(bucket):
        return GATHER_V2(sizes, bucket, to_tensor(0))

    def batched(bucket, window):
        size = size_of(bucket)
        if no_padding:
            return window.batch(size, drop_remainder=drop_remainder, name=name)
        length = None
        if pad_to_bucket_boundary:
            limits = to_tensor(np.array([*boundaries, 0], np.int64))
            message = to_tensor("When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries).")
            ASSERT(bucket < len(boundaries), [message])
            length = GATHER_V2(limits, bucket, to_tensor(0)) - 1
        shapes = _padded_shapes(padded_shapes, window.element_spec, length)
        return window.padded_batch(size, shapes, padding_values, drop_remainder=drop_remainder, name=name)

    return self.group_by_window(bucket_of, batched, window_size_func=size_of, name=name)


@api("data.experimental.bucket_by_sequence_length", dispatch=False)
def _bucket_by_sequence_length(
    element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes=None, padding_values=None,
    pad_to_bucket_boundary=False, no_padding=False, drop_remainder=False,
) -> Callable[..., Any]:  # fmt: skip
    """A transformation for `Dataset.apply`: see `tf.data.Dataset.bucket_by_sequence_length`."""
    return lambda dataset: dataset.bucket_by_sequence_length(
        element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes, padding_values,
        pad_to_bucket_boundary, no_padding, drop_remainder,
    )  # fmt: skip
