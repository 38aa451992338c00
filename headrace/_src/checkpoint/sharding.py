"""Which tensors of a checkpoint go into which file: `tf.train.experimental.ShardingCallback`, and two of these.

A callback gets all tensors and returns shards. A shard is what one file holds: a dict from the keys of tensors to dicts
from slices, as texts such as "4 3 0,2:-" or "" for all of it, to tensors.
"""

import abc
import dataclasses
import inspect
import logging
import math
from collections.abc import Hashable, Sequence
from typing import Any

from headrace._src.checkpoint.object_values import OBJECT_GRAPH_KEY
from headrace._src.core import dtypes
from headrace._src.core.devices import DeviceSpec
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor
from headrace._src.formats.tensor_slices import TensorSlice, disjoint, parse_shape_and_slice, shape_and_slice_text
from headrace._src.op.api import api

_logger = logging.getLogger("tensorflow")
Shard = dict[str, dict[str, Any]]


@api("train.experimental.ShardableTensor")
@dataclasses.dataclass(frozen=True, eq=False)
class ShardableTensor:
    """A tensor that is about to be saved, as a `tf.train.experimental.ShardingCallback` gets it.

    Args:
        tensor: the value.
        dtype, shape, device: of the value.
        name: of the tensor; in checkpoints of objects this is the key.
        slice_spec: which part of a larger tensor this is, or "" for all of it.
        checkpoint_key: under which it is saved.
        trackable: the object that it is the value of.
    """

    _tensor_save_spec: Any
    tensor: Any
    dtype: dtypes.DType
    device: DeviceSpec
    name: str
    shape: TensorShape
    slice_spec: str
    checkpoint_key: str
    trackable: Any

    def __hash__(self):
        return hash((self.name, self.dtype, str(self.device), self.checkpoint_key))


@api("train.experimental.ShardingCallback")
class ShardingCallback(abc.ABC):
    """Base of what says how the tensors of a checkpoint are split into files.

    A subclass has a `description`, and is called with `tf.train.experimental.ShardableTensor`s. It returns a list of
    shards, each a dict `{checkpoint_key: {slice_spec: tensor}}`. All tensors must be there, once, with their dtypes and
    shapes; a large one may be cut into several slices.

    >>> class OneFileEach(tf.train.experimental.ShardingCallback):
    ...     description = "A file for each tensor."
    ...     def __call__(self, shardable_tensors):
    ...         return [{x.checkpoint_key: {x.slice_spec: x.tensor}} for x in shardable_tensors]
    >>> options = tf.train.CheckpointOptions(experimental_sharding_callback=OneFileEach())
    """

    @property
    @abc.abstractmethod
    def description(self) -> str:
        """What it does, in a sentence, for error messages."""

    @abc.abstractmethod
    def __call__(self, shardable_tensors: Sequence[ShardableTensor]) -> Sequence[Shard]:
        """The shards for these tensors."""

    def __hash__(self):
        result = hash(self.description)
        for name, value in vars(self).items():
            if not (inspect.ismethod(value) or inspect.isfunction(value)):
                result ^= hash(name)
                if isinstance(value, Hashable):
                    result ^= hash(value)
        return result

    def __eq__(self, other):
        return self is other


@api("train.experimental.ShardByTaskPolicy")
class ShardByTaskPolicy(ShardingCallback):
    """One file for the tensors of each task (process), as without a callback.

    >>> tf.train.experimental.ShardByTaskPolicy().description
    'Split tensors into shards based on their device spec task.'
    """

    @property
    def description(self) -> str:
        return "Split tensors into shards based on their device spec task."

    def __call__(self, shardable_tensors: Sequence[ShardableTensor]) -> Sequence[Shard]:
        tasks: dict[Any, Shard] = {}
        for one in shardable_tensors:
            shard = tasks.setdefault((one.device.job, one.device.replica, one.device.task), {})
            shard.setdefault(one.checkpoint_key, {})[one.slice_spec] = one.tensor
        return list(tasks.values())


@api("train.experimental.MaxShardSizePolicy")
class MaxShardSizePolicy(ShardingCallback):
    """Files of a limited size; large tensors are cut into slices.

    A file is larger where a single element or a tensor of strings is, and by the description of the objects, which is
    small.

    Args:
        max_shard_size: in bytes.

    Raises:
        ValueError: it is no positive number.

    >>> policy = tf.train.experimental.MaxShardSizePolicy(max_shard_size=100)
    >>> policy.max_shard_size
    100
    """

    def __init__(self, max_shard_size: int):
        if not isinstance(max_shard_size, int) or max_shard_size <= 0:
            raise ValueError(f"MaxShardSizePolicy: max_shard_size must be a positive int, got {max_shard_size!r}.")
        self.max_shard_size = max_shard_size

    @property
    def description(self) -> str:
        return "Split tensors into shards with a max shard size."

    def __call__(self, shardable_tensors: Sequence[ShardableTensor]) -> Sequence[Shard]:
        filling = _Filling(self.max_shard_size)
        for one in shardable_tensors:
            filling.add(one)
        return [shard for shard in [*filling.shards, *filling.oversized] if shard]


class _Filling:
    """Files that are filled one after another.

    Attributes:
        shards: the last one has `room` bytes left.
        oversized: those of single elements that are larger than a file should be.
    """

    def __init__(self, limit):
        self.limit = limit
        self.shards: list[Shard] = [{}]
        self.oversized: list[Shard] = []
        self.room = limit

    def add(self, one: ShardableTensor):
        """Adds a tensor, cut where it must be."""
        rank = one.shape.rank
        if one.dtype in (dtypes.string, dtypes.variant) or not rank:
            # TensorFlow cuts strings too, but cannot read what it has written then.
            self._add_whole(one, _whole_size(one))
            return
        unit = one.dtype.size
        if one.slice_spec:
            full, region = parse_shape_and_slice(one.slice_spec)
            region = region.resolved(full)
        else:
            full = tuple(one.shape.as_list())
            region = TensorSlice((0,) * rank, full)
        self._add_region(one, full, region, region.starts, unit)

    def _add_region(self, one, full, region, origin, unit):
        while math.prod(region.lengths) * unit > self.room:
            axis, length = _widest_cut(region.lengths, unit, self.room)
            if length:
                part, region = _cut(region, axis, length)
                self._put(one, full, part, origin, unit)
            elif self.room < self.limit:
                self._next_shard()
            elif math.prod(region.lengths) == 1:
                self._put_apart(one, full, region, origin, unit)
                return
            else:  # a row along any axis is larger than a file
                axis = next(axis for axis, length in enumerate(region.lengths) if length > 1)
                row, region = _cut(region, axis, 1)
                self._add_region(one, full, row, origin, unit)
        if math.prod(region.lengths) or not math.prod(full):
            self._put(one, full, region, origin, unit)

    def _add_whole(self, one, size):
        if size > self.limit:
            _logger.warning(
                "Tensor %s of dtype %s has %s bytes and cannot be partitioned into shards of max shard size %s bytes. "
                "It will be added as an individual shard that exceeds the max shard size.",
                one.checkpoint_key, one.dtype, size, self.limit,
            )  # fmt: skip
            self.oversized.append({one.checkpoint_key: {one.slice_spec: one.tensor}})
            return
        if size > self.room:
            self._next_shard()
        self.shards[-1].setdefault(one.checkpoint_key, {})[one.slice_spec] = one.tensor
        self.room -= size

    def _next_shard(self):
        self.shards.append({})
        self.room = self.limit

    def _put(self, one, full, part, origin, unit):
        spec, tensor = _sliced(one, full, part, origin)
        self.shards[-1].setdefault(one.checkpoint_key, {})[spec] = tensor
        self.room -= math.prod(part.lengths) * unit
        if not self.room:
            self._next_shard()

    def _put_apart(self, one, full, part, origin, unit):
        spec, tensor = _sliced(one, full, part, origin)
        _logger.warning(
            "Tensor %s's minimum slice %s has size %s bytes and cannot be partitioned into a shard of max shard size "
            "%s bytes. It will be added as an individual shard that exceeds the max shard size.",
            one.checkpoint_key, spec, unit, self.limit,
        )  # fmt: skip
        self.oversized.append({one.checkpoint_key: {spec: tensor}})


def _whole_size(one):
    """How many bytes a tensor takes that is not cut."""
    if one.checkpoint_key == OBJECT_GRAPH_KEY or one.dtype == dtypes.variant:
        return 0
    if one.dtype == dtypes.string:  # in a function nobody knows how long they will be
        return sum(map(len, one.tensor._a.ravel().tolist())) if isinstance(one.tensor, EagerTensor) else 0
    return one.dtype.size


def _widest_cut(lengths, unit, room):
    """The axis along which a part that fits is the largest, and the length of the part; zero if nothing fits."""
    count = math.prod(lengths)
    best, fewest = 0, math.inf
    for axis, length in enumerate(lengths):
        fitting = room // (count // length * unit)
        parts = math.ceil(length / fitting) if fitting else math.inf
        # TF: of equal parts, not of one that fills the file.
        if parts < fewest:
            best, fewest = axis, parts
    return best, math.ceil(lengths[best] / fewest)


def _cut(region, axis, length):
    """A region in two: up to `length` along an axis, and the rest."""
    first = list(region.lengths)
    rest, starts = list(region.lengths), list(region.starts)
    first[axis] = length
    rest[axis] -= length
    starts[axis] += length
    return TensorSlice(region.starts, tuple(first)), TensorSlice(tuple(starts), tuple(rest))


def _sliced(one, full, part, origin):
    """The text and the tensor of a part, where the tensor begins at `origin` of the whole."""
    if part.lengths == full:
        return one.slice_spec, one.tensor
    inside = TensorSlice(tuple(start - first for start, first in zip(part.starts, origin)), part.lengths)
    if isinstance(one.tensor, EagerTensor):
        tensor: Any = EagerTensor(one.tensor._a[inside.indices()], one.dtype)
    else:
        tensor = one.tensor[inside.indices()]
    return shape_and_slice_text(full, part), tensor


def shardable(key: str, tensor: Any, slice_spec: str = "", trackable: Any = None) -> ShardableTensor:
    """A tensor, eager or of a function, as callbacks get it."""
    return ShardableTensor(
        _tensor_save_spec=None,
        tensor=tensor,
        dtype=tensor.dtype,
        device=DeviceSpec.from_string(tensor.device or ""),
        name=key,
        shape=tensor.shape,
        slice_spec=slice_spec,
        checkpoint_key=key,
        trackable=trackable,
    )


def chosen_shards(tensors: Sequence[ShardableTensor], callback: ShardingCallback) -> list[Shard]:
    """What a callback makes of some tensors, without empty files.

    Raises:
        RuntimeError: it left something out, or changed it.
    """
    shards = list(callback(tensors))
    validate_shards(shards, tensors, callback.description)
    return [shard for shard in shards if any(shard.values())]


def validate_shards(shards: Sequence[Shard], tensors: Sequence[ShardableTensor], description: str) -> None:
    """Refuses what a callback may not return: tensors that are missing, new, there twice, or changed.

    Raises:
        RuntimeError: it has.
    """
    wanted = {(one.checkpoint_key, one.slice_spec): one for one in tensors}
    regions: dict[tuple[str, str], list[TensorSlice]] = {}
    for shard in shards:
        for key, slices in shard.items():
            for spec, tensor in slices.items():
                source = _source_of(wanted, key, spec.strip(), description)
                one = wanted[source]
                part = _region(spec.strip(), one)
                _check_value(tensor, one, part, spec, description)
                regions.setdefault(source, []).append(part)
    for source, one in wanted.items():
        parts = regions.get(source)
        if parts is None:
            raise _violation("tensors in the object graph were not found in the checkpoint shards", description, source)
        if len(parts) == 1 and parts[0] == _region(one.slice_spec, one):
            continue
        if not disjoint(parts) or len(set(parts)) < len(parts):
            raise _violation(
                "multiple tensors with the same checkpoint key and slice spec were found", description, source
            )
        if sum(math.prod(part.lengths) for part in parts) != math.prod(one.shape.as_list()):
            raise _violation("the slices of a tensor do not cover it", description, source)


def _source_of(wanted, key, spec, description):
    """The tensor, by its key and slice, that a part returned by a callback belongs to."""
    if (key, spec) in wanted:
        return key, spec
    sources = [source for source in wanted if source[0] == key]
    for source in sources:
        inside = _region(spec, wanted[source])
        if inside.overlap(_region(source[1], wanted[source])) == inside:
            return source
    raise _violation(
        "a tensor not originally in the object graph was found in the checkpoint shards", description, (key, spec)
    )


def _region(spec, one):
    """The part of the whole tensor that a text says."""
    if spec:
        shape, part = parse_shape_and_slice(spec)
        return part.resolved(shape)
    return TensorSlice((0,) * one.shape.rank, tuple(one.shape.as_list()))


def _check_value(tensor, one, part, spec, description):
    place = (one.checkpoint_key, spec)
    if tuple(tensor.shape.as_list()) != part.lengths:
        raise _violation(
            "a tensor was found with an altered shape",
            description,
            place,
            f"  original tensor_shape: {TensorShape(part.lengths)}\n  new tensor_shape: {tensor.shape}\n",
        )
    if tensor.dtype != one.dtype:
        raise _violation(
            "a tensor was found with an altered dtype",
            description,
            place,
            f"  original tensor_dtype: {one.dtype}\n  new tensor_dtype: {tensor.dtype}\n",
        )


def _violation(text, description, place, more=""):
    return RuntimeError(
        f"After executing the checkpoint sharding callback, {text}:\n  callback_description: {description}\n"
        f"  checkpoint_key: {place[0]}\n  slice_spec: {place[1]}\n{more}"
    )
