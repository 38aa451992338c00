"""`Dataset.padded_batch`: consecutive elements stacked, after they were padded to equal shapes."""

import numpy as np

from headrace._src.core import dtypes, errors, nest
from headrace._src.core.shapes import TensorShape
from headrace._src.core.specs import TensorSpec
from headrace._src.core.tensor import Tensor
from headrace._src.data.datasets import DatasetV2, build, constant, dataset_op, integer, method
from headrace._src.data.running.cursors import InnerCursor
from headrace._src.data.running.ragged_columns import RaggedColumn, columns_from
from headrace._src.data.running.stages import Access, shapes_of, stage_of
from headrace._src.data.transformations.batching import BatchStage, batch_size_of, static_size
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import CAST
from headrace._src.ops.arrays.measuring import get_static_value


class _Padded(Access):
    def __init__(self, stage, access):
        self._stage = stage
        self._access = access
        self.size = stage.cardinality()

    def get(self, index):
        start = index * self._stage.size
        stop = min(start + self._stage.size, self._access.size)
        columns = self._access.columns(start, stop)
        if columns is not None:
            return self._stage.padded_columns(columns)
        return self._stage.padded([self._access.get(i) for i in range(start, stop)])


class PaddedBatchStage(BatchStage):
    """Consecutive elements of the input, padded and stacked.

    Args:
        source: the input.
        size: the number of elements in a batch.
        drops: whether a last batch of fewer elements is left out.
        padded_shapes: for each component a tuple of dimensions, -1 for the largest in the batch.
        padding_values: for each component a scalar.
        shapes: of the components.
    """

    method = "Dataset.padded_batch"

    def __init__(self, source, size, drops, padded_shapes, padding_values, shapes):
        super().__init__(source, size, drops, shapes)
        self._padded_shapes = padded_shapes
        self._padding_values = padding_values

    @property
    def access(self):
        access = self.source.access
        return None if access is None else _Padded(self, access)

    def walk(self, run):
        return _PaddedBatchCursor(self, run)

    def padded(self, elements):
        """The elements of a batch stacked."""
        return tuple(
            [
                _padded(number, parts, self._padded_shapes[number], self._padding_values[number])
                for number, parts in enumerate(zip(*elements))
            ]
        )

    def padded_columns(self, block):
        """The elements of a block that may have ragged columns."""
        results = []
        for number, part in enumerate(block):
            wanted, value = self._padded_shapes[number], self._padding_values[number]
            if isinstance(part, RaggedColumn) and part.values.ndim == 1 == len(wanted):
                results.append(_padded_vectors(number, part, wanted, value))
            elif part.shape[1:] == tuple(wanted) and not isinstance(part, RaggedColumn):
                results.append(part)
            else:
                results.append(_padded(number, [part[i, ...] for i in range(part.shape[0])], wanted, value))
        return tuple(results)


def _padded_vectors(number, column, wanted, value):
    values, splits = column.arrays()
    lengths = splits[1:] - splits[:-1]
    longest = int(lengths.max())
    size = longest if wanted[0] == -1 else wanted[0]
    _check_sizes(number, [longest], (size,))
    batch = np.full((len(lengths), size), value[()], values.dtype)
    batch[np.arange(size) < lengths[:, None]] = values
    return batch


def _check_sizes(number, largest, shape):
    if any(most > size for most, size in zip(largest, shape)):
        raise errors.DataLossError(
            None, None,
            f"Attempted to pad to a smaller size than the input element: component {number} has elements of shape "
            f"{largest} and is to be padded to {list(shape)}.",
        )  # fmt: skip


def _padded(number, parts, wanted, value):
    for part in parts:
        if part.ndim != len(wanted):
            raise errors.invalid_argument(
                f"All elements in a batch must have the same rank as the padded shape for component {number}: "
                f"expected rank {len(wanted)} but got element with rank {part.ndim}."
            )
    largest = [max(part.shape[axis] for part in parts) for axis in range(len(wanted))]
    shape = tuple([most if size == -1 else size for most, size in zip(largest, wanted)])
    _check_sizes(number, largest, shape)
    batch = np.full((len(parts), *shape), value[()], parts[0].dtype)
    for i, part in enumerate(parts):
        batch[(i, *[slice(size) for size in part.shape])] = part if part.ndim else part[()]
    return batch


class _PaddedBatchCursor(InnerCursor):
    def next(self):
        stage = self._stage
        if stage.source.has_columns and not self._run.one_by_one:
            block = columns_from(self._inner, stage.size)
            if block is None or (stage.drops and block[0].shape[0] < stage.size):
                return None
            return stage.padded_columns(block)
        elements = []
        while len(elements) < stage.size:
            element = self._inner.next()
            if element is None:
                break
            elements.append(element)
        if not elements or (stage.drops and len(elements) < stage.size):
            return None
        return stage.padded(elements)

    def skip(self, count):
        size = self._stage.size
        done = self._inner.skip(count * size)
        return done // size if self._stage.drops else -(-done // size)


def _make(
    input_dataset, batch_size, padded_shapes, padding_values, drop_remainder, output_shapes, parallel_copy, metadata
):
    for shape in padded_shapes:
        if shape.ndim != 1:
            raise errors.invalid_argument("All padded shapes must be vectors.")
    for value in padding_values:
        if value.ndim:
            raise errors.invalid_argument("All padding values must be scalars.")
    return PaddedBatchStage(
        stage_of(input_dataset),
        batch_size_of(batch_size),
        bool(integer(drop_remainder, "drop_remainder")),
        [shape.tolist() for shape in padded_shapes],
        list(padding_values),
        shapes_of(output_shapes),
    )


PADDED_BATCH_DATASET = dataset_op(
    "PaddedBatchDatasetV2",
    "input_dataset: variant, batch_size: int64, padded_shapes: N*int64, padding_values: list(Toutput_types), "
    "drop_remainder: bool, *, parallel_copy: bool = False, output_shapes: list(shape), metadata: string = ''",
    _make,
)


def _shape_tensor(given, spec):
    """A padded shape as a vector, and as far as it is known a `TensorShape`."""
    if isinstance(given, Tensor) and get_static_value(given) is not None and given.shape.rank == 0:
        given = int(get_static_value(given))
    if isinstance(given, Tensor):
        tensor = to_tensor(given)
        if tensor.dtype != dtypes.int64:
            raise TypeError(
                f"Padded shape {given} must be a `tf.int64` vector tensor, but its type was {tensor.dtype.name}."
            )
        if tensor.shape.rank != 1:
            raise ValueError(
                f"Padded shape {given} must be a `tf.int64` vector tensor, but its shape was {tensor.shape}."
            )
        value = get_static_value(tensor)
        if value is None:
            size = tensor.shape[0]
            return tensor, TensorShape(None if size is None else [None] * size)
        shape = TensorShape([None if size < 0 else int(size) for size in value])
    else:
        try:
            if isinstance(given, (int, np.integer)) and given >= 0:
                given = [int(given)]  # TF: one number is the shape of a vector, as in TensorShape(5)
            dims = list(given) if not isinstance(given, TensorShape) else given.as_list()
            shape = TensorShape([None if size in (None, -1) else size for size in dims])
        except TypeError:
            raise ValueError(
                f"Padded shape {given} must be a `tf.int64` vector tensor, but its shape was ()."
            ) from None
        tensor = to_tensor(np.array([-1 if size is None else size for size in shape.as_list()], np.int64))
    _check_shape(shape, spec)
    return tensor, shape


def _check_shape(shape, spec):
    known = spec.shape
    if known.rank is None:
        return
    fits = known.rank == shape.rank and all(
        size is None or wanted is None or size <= wanted for size, wanted in zip(known.as_list(), shape.as_list())
    )
    if not fits:
        raise ValueError(
            f"The padded shape {shape} is not compatible with the shape {known} of the corresponding input component."
        )


def _default_padding(dtype):
    if dtype == dtypes.string:
        return to_tensor("")
    if dtype._kind in "vr":
        raise TypeError(
            f"Unable to create padding for field of type '{dtype.name}' because the type is not supported."
        )
    return CAST(to_tensor(0), DstT=dtype)


def _padding_tensor(value, spec):
    if value is None:
        return _default_padding(spec.dtype)
    tensor = to_tensor(value)
    if tensor.shape.rank not in (0, None):
        raise ValueError(
            f"Invalid `padding_values`. `padding_values` values should be scalars, but got {tensor.shape}."
        )
    if tensor.dtype != spec.dtype:
        raise TypeError(
            f"Invalid `padding_values`. `padding_values` values type {tensor.dtype!r} does not match type "
            f"{spec.dtype!r} of the corresponding input component."
        )
    return tensor


@method
def padded_batch(
    self, batch_size, padded_shapes=None, padding_values=None, drop_remainder=False, name=None
) -> DatasetV2:
    """Consecutive elements stacked along a new first axis, each padded at the ends of its axes.

    Args:
        batch_size: how many elements make a batch.
        padded_shapes: in the structure of elements, the shape to pad each component to; None or -1 for a dimension
            that is as large as the largest in the batch. By default all unknown dimensions are.
        padding_values: in the structure of elements, or one for all: the scalars to pad with; None for zero or "".
        drop_remainder: whether the last batch is left out when it has fewer elements.
        name: a name for the operation.

    >>> dataset = tf.data.Dataset.range(1, 5).map(lambda x: tf.fill([x], x))
    >>> for batch in dataset.padded_batch(2):
    ...     print(batch.numpy())
    [[1 0]
     [2 2]]
    [[3 3 3 0]
     [4 4 4 4]]
    """
    specs = nest.flatten(self.element_spec)
    for spec in specs:
        if not isinstance(spec, TensorSpec):
            raise TypeError(
                "`padded_batch` is only supported for datasets that produce tensor elements, but the spec of an "
                f"element is `{spec}`."
            )
    if padded_shapes is None:
        for number, spec in enumerate(specs):
            if spec.shape.rank is None:
                raise ValueError(
                    f"You must provide `padded_shapes` argument because component {number} has unknown rank."
                )
        given_shapes = [spec.shape for spec in specs]
    else:
        given_shapes = nest.flatten_up_to(self.element_spec, padded_shapes, check_types=False)
    if padding_values is None or not nest.is_nested(padding_values):
        given_values = [padding_values] * len(specs)
    else:
        given_values = nest.flatten_up_to(self.element_spec, padding_values, check_types=False)
    tensors, shapes = zip(*[_shape_tensor(shape, spec) for shape, spec in zip(given_shapes, specs)])
    values = [_padding_tensor(value, spec) for value, spec in zip(given_values, specs)]
    batch = static_size(batch_size, drop_remainder)
    flat = [TensorSpec(TensorShape([batch]).concatenate(shape), spec.dtype) for shape, spec in zip(shapes, specs)]
    return build(
        "_PaddedBatchDataset",
        PADDED_BATCH_DATASET,
        self,
        constant(batch_size, dtypes.int64),
        list(tensors),
        values,
        to_tensor(drop_remainder, dtypes.bool),
        spec=nest.pack_sequence_as(self.element_spec, flat),
        of=[self],
        name=name,
    )
