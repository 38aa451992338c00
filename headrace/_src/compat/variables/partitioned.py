"""Variables of 1.x that are divided into parts along one axis, and saved as one."""

import inspect
from collections.abc import Iterator

from headrace._src.compat.variables.initializers import GlorotUniform
from headrace._src.core.context import context
from headrace._src.core.dtypes import DType
from headrace._src.core.names import name_scope
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.joining import concat
from headrace._src.ops.arrays.passing import IDENTITY
from headrace._src.ops.arrays.splitting import split
from headrace._src.state.variables import Variable


class PartitionInfo:
    """Which part of a variable an initializer is asked for.

    Attributes:
        full_shape: of the whole variable.
        var_offset: where the part begins, for each axis.
    """

    def __init__(self, full_shape, var_offset):
        self.full_shape = list(full_shape)
        self.var_offset = list(var_offset)

    def single_offset(self, shape) -> int:
        """Where a part of that shape begins along the only axis that is divided."""
        axis = self.single_slice_dim(shape)
        return 0 if axis is None else self.var_offset[axis]

    def single_slice_dim(self, shape) -> int | None:
        """The only axis along which a part of that shape is smaller than the whole; None if it is the whole."""
        axes = [axis for axis, size in enumerate(shape) if size != self.full_shape[axis]]
        if len(axes) > 1:
            raise ValueError(f"Cannot use single_slice_dim(): shape {shape} and full_shape {self.full_shape} differ in "
                             "more than one dimension.")
        return axes[0] if axes else None


class PartitionedVariable:
    """What `get_variable` gives with a partitioner: its parts, which count as one variable.

    Args:
        name: of the whole.
        shape: of the whole.
        dtype: of the parts.
        variable_list: the parts.
        partitions: into how many parts each axis is divided; only one may be divided.
    """

    def __init__(self, name, shape, dtype, variable_list, partitions):
        self._name = name
        self._shape = TensorShape(shape)
        self._dtype = dtype
        self._parts = list(variable_list)
        self._partitions = list(partitions)

    name = property(lambda self: self._name, doc="The name of the whole.")
    dtype = property(lambda self: self._dtype)
    shape = property(lambda self: self._shape, doc="The shape of the whole.")

    def get_shape(self) -> TensorShape:
        """The shape of the whole."""
        return self._shape

    def _get_variable_list(self) -> list[Variable]:
        return self._parts

    def _get_partitions(self) -> list[int]:
        return self._partitions

    def __len__(self) -> int:
        """How many parts the divided axis has."""
        return max(self._partitions)

    def __iter__(self) -> Iterator[Variable]:
        return iter(self._parts)

    def _axis(self):
        return next((axis for axis, count in enumerate(self._partitions) if count > 1), 0)

    def as_tensor(self) -> Tensor:
        """The whole value."""
        with name_scope(f"{self._name}/ConcatPartitions/"):
            whole = concat([to_tensor(part) for part in self._parts], self._axis())
        with name_scope(""):
            return IDENTITY(whole, name=self._name)

    def __tf_tensor__(self, dtype=None, name=None) -> Tensor:
        return self.as_tensor()

    def assign(self, value, use_locking=False, name=None, read_value=True) -> list:
        """Assign the parts of a value, or a list of values, to the parts."""
        return self._each("assign", value, read_value)

    def assign_add(self, value, use_locking=False, name=None, read_value=True) -> list:
        """Add the parts of a value, or a list of values, to the parts."""
        return self._each("assign_add", value, read_value)

    def assign_sub(self, value, use_locking=False, name=None, read_value=True) -> list:
        """Subtract the parts of a value, or a list of values, from the parts."""
        return self._each("assign_sub", value, read_value)

    def _each(self, method, value, read_value):
        if not isinstance(value, (list, tuple)):
            axis = self._axis()
            value = split(value, [part.shape[axis] for part in self._parts], axis)
        assigned = [getattr(part, method)(piece) for part, piece in zip(self._parts, value, strict=True)]
        if read_value or context.graph is None:
            return assigned
        return [part.op for part in assigned]

    def __repr__(self):
        return f"<PartitionedVariable {self._name!r} shape={self._shape} dtype={self._dtype.name} parts={len(self)}>"


def partitions_of(partitioner, shape, dtype: DType) -> list[int]:
    """Into how many parts a partitioner divides each axis.

    Raises:
        ValueError: the shape is not known, or the answer does not fit it.
    """
    if shape is None or not shape.is_fully_defined():
        found = "<unknown>" if shape is None or shape.rank is None else shape
        raise ValueError(f"Shape of a new partitioned variable must be fully defined, but instead was {found}.")
    if shape.rank < 1:
        raise ValueError(f"A partitioned Variable must have rank at least 1, shape: {shape}")
    partitions = partitioner(shape=shape, dtype=dtype)
    if not isinstance(partitions, (list, tuple)):
        raise ValueError(f"Partitioner must return a sequence, but saw: {partitions}")
    if len(partitions) != shape.rank:
        raise ValueError(
            f"Partitioner returned a partition list that does not match the Variable's rank: {partitions} vs. {shape}"
        )
    if any(count < 1 for count in partitions):
        raise ValueError(f"Partitioner returned zero partitions for some axes: {partitions}")
    if sum(count > 1 for count in partitions) > 1:
        raise ValueError(f"Can only slice a variable along one dimension: shape: {shape}, partitioning: {partitions}")
    axis = max(range(len(partitions)), key=lambda i: partitions[i])
    if partitions[axis] > shape[axis]:
        raise ValueError(
            f"Partitioner returned {partitions[axis]} partitions for axis {axis} of size {shape[axis]}: {partitions}"
        )
    return list(partitions)


def parts_of(shape, partitions) -> list[tuple[list[int], list[int]]]:
    """Where each part begins, and its shape; the first ones are one larger where they do not divide evenly."""
    axis = next((i for i, count in enumerate(partitions) if count > 1), 0)
    whole, count = shape.as_list(), partitions[axis]
    size, more = divmod(whole[axis], count)
    found, start = [], 0
    for number in range(count):
        part, offset = list(whole), [0] * len(whole)
        part[axis], offset[axis] = size + (number < more), start
        found.append((offset, part))
        start += part[axis]
    return found


def divided(name, shape, dtype, partitions, initializer, make) -> PartitionedVariable:
    """A new variable in parts.

    Args:
        name: of the whole.
        shape: of the whole.
        dtype: of the whole.
        partitions: into how many parts each axis is divided.
        initializer: makes the value of a part; None for the usual one.
        make: makes a part, given its name, its shape and its initializer.
    """
    if initializer is None and dtype.is_floating:
        initializer = GlorotUniform()
    if isinstance(initializer, type):
        initializer = initializer()
    parts = []
    for number, (offset, part_shape) in enumerate(parts_of(shape, partitions)):
        information = PartitionInfo(shape.as_list(), offset)
        part = make(f"{name}/part_{number}", part_shape, _for_part(initializer, information))
        part._set_save_slice_info(Variable.SaveSliceInfo(name, shape.as_list(), offset, part_shape))
        parts.append(part)
    return PartitionedVariable(name, shape, dtype, parts, partitions)


def _for_part(initializer, information):
    """An initializer that is told which part it makes, if it wants to know."""
    if not callable(initializer) or isinstance(initializer, (Tensor, Variable)):
        return initializer
    try:
        parameters = inspect.signature(initializer).parameters
    except (TypeError, ValueError):
        return initializer
    if "partition_info" not in parameters:
        return initializer
    return lambda shape, dtype=None: initializer(shape, dtype=dtype, partition_info=information)


def check_reuse(found, name, shape, partitions, reuse) -> None:
    """Refuse to share a variable that is not the one that is asked for.

    Raises:
        ValueError: it may not be shared, or is divided otherwise.
    """
    if not reuse:
        raise ValueError(
            f"Partitioned variable with name {name} already exists. Did you mean to set reuse=True or "
            "reuse=tf.AUTO_REUSE in VarScope?"
        )
    if not isinstance(found, PartitionedVariable):
        raise ValueError(f"The variable {name} exists already, and was made without a partitioner.")
    if not shape.is_compatible_with(found.shape):
        raise ValueError(
            f"Trying to reuse partitioned variable {name}, but specified shape {shape} and found shape {found.shape}."
        )
    if partitions != found._get_partitions():
        raise ValueError(
            f"Trying to reuse partitioned variable {name}, but specified partitions {partitions} and found partitions "
            f"{found._get_partitions()}."
        )
