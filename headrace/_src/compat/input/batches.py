"""`tf.compat.v1.train.batch` and its like: elements that threads put into a queue, taken out many at a time."""

from typing import Any

from headrace._src.compat.functions.control_flow import cond
from headrace._src.compat.input.producers import check_graph, note_fullness
from headrace._src.compat.input.queue_runners import QueueRunner, add_queue_runner
from headrace._src.core import dtypes
from headrace._src.core.names import name_scope
from headrace._src.core.shapes import TensorShape
from headrace._src.graph.building.dependencies import control_dependencies
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays import indexing, passing
from headrace._src.ops.sparse import serialization
from headrace._src.ops.sparse.tensor import SparseTensor
from headrace._src.state.queues import FIFOQueue, PaddingFIFOQueue, RandomShuffleQueue


class _Elements:
    """What elements are made of: names where they are dictionaries, and which parts are sparse tensors."""

    def __init__(self, label, several, enqueue_many):
        first = several[0]
        self.names = sorted(first) if isinstance(first, dict) else None
        self.one = not isinstance(first, (list, tuple, dict))
        self.enqueue_many = enqueue_many
        parts = [self._parts(label, each) for each in several]
        # Sparse tensors wait as three strings each.
        self.sparse = [(part.dtype, part.dense_shape.shape[0]) if isinstance(part, SparseTensor) else None
                       for part in parts[0]]
        self.tensors = [[self._dense(part) for part in each] for each in parts]
        self.dtypes = [part.dtype for part in self.tensors[0]]

    def _parts(self, label, tensors):
        if self.names is not None:
            if not isinstance(tensors, dict) or sorted(tensors) != self.names:
                raise ValueError(f"{label}: all elements must have the same names, {self.names}.")
            tensors = [tensors[name] for name in self.names]
        elif self.one:
            tensors = [tensors]
        if not tensors:
            raise ValueError(f"{label}: there are no tensors to batch.")
        return [part if isinstance(part, SparseTensor) else to_tensor(part) for part in tensors]

    def _dense(self, part):
        if not isinstance(part, SparseTensor):
            return part
        return (serialization.serialize_many_sparse if self.enqueue_many else serialization.serialize_sparse)(part)

    def shapes(self, label, given, dynamic_pad):
        """The shape of each part of an element."""
        if given is not None:
            return [TensorShape(shape) for shape in given]
        found = []
        for column in zip(*self.tensors):
            shape = TensorShape(None)
            for tensor in column:
                one = tensor.shape[1:] if self.enqueue_many and tensor.shape.rank is not None else tensor.shape
                shape = one if shape.rank is None else shape.merge_with(one) if not dynamic_pad else _common(shape, one)
            if shape.rank is None or not (dynamic_pad or shape.is_fully_defined()):
                raise ValueError(f"{label}: the shape of an element must be known, got {shape}. Set it with set_shape, "
                                 "give shapes, or let batch pad with dynamic_pad=True.")
            found.append(shape)
        return found

    def restored(self, parts):
        """Taken out of the queue, in the form that was put in."""
        parts = [part if kind is None else serialization.deserialize_many_sparse(part, kind[0], kind[1])
                 for part, kind in zip(parts, self.sparse)]
        if self.names is not None:
            return dict(zip(self.names, parts))
        return parts[0] if len(parts) == 1 else parts  # TF: a list of one is that one


def _common(a, b):
    return TensorShape([x if x == y else None for x, y in zip(a.as_list(), b.as_list())])


def _enqueue(queue, tensors, keep_input, enqueue_many):
    """The operation that puts an element, or many, into a queue, if it is to be kept."""
    put = queue.enqueue_many if enqueue_many else queue.enqueue
    if keep_input is True:
        return put(tensors)
    keep = to_tensor(keep_input, dtypes.bool)
    if keep.shape.rank == 1 and enqueue_many:
        return queue.enqueue_many([indexing.boolean_mask(tensor, keep) for tensor in tensors])

    def kept():
        with control_dependencies([put(tensors)]):
            return passing.identity(True)

    return cond(keep, kept, lambda: passing.identity(False)).op


def _batched(label, several, batch_size, capacity, enqueue_many, shapes, dynamic_pad, smaller, shared_name, name,
             keep_input, threads, shuffled=None):
    """A batch of elements, from a queue that threads fill; `shuffled` is (min_after_dequeue, seed)."""
    check_graph(f"train.{label}")
    default = "shuffle_batch" if shuffled else "batch"
    with name_scope(name or default):
        elements = _Elements(label, several, enqueue_many)
        found = elements.shapes(label, shapes, dynamic_pad)
        if shuffled:
            queue: Any = RandomShuffleQueue(capacity, shuffled[0], elements.dtypes, found, seed=shuffled[1],
                                            shared_name=shared_name)
        else:
            kind = PaddingFIFOQueue if dynamic_pad else FIFOQueue
            queue = kind(capacity, elements.dtypes, found, shared_name=shared_name)
        operations = [_enqueue(queue, tensors, keep_input, enqueue_many) for tensors in elements.tensors]
        add_queue_runner(QueueRunner(queue, operations * threads if len(operations) == 1 else operations))
        if shuffled:
            least = shuffled[0]
            note_fullness(queue, f"fraction_over_{least}_of_{capacity - least}_full", capacity)
        else:
            note_fullness(queue, f"fraction_of_{capacity}_full", capacity)
        taken = queue.dequeue_up_to(batch_size) if smaller else queue.dequeue_many(batch_size)
        return elements.restored(taken if isinstance(taken, (list, tuple)) else [taken])


@api("compat.v1.train.batch", dispatch=False)
def batch(
    tensors,
    batch_size,
    num_threads=1,
    capacity=32,
    enqueue_many=False,
    shapes=None,
    dynamic_pad=False,
    allow_smaller_final_batch=False,
    shared_name=None,
    name=None,
) -> Any:
    """A batch of elements, in the order in which they were put in.

    Args:
        tensors: a tensor, a list or a dictionary of them.
        batch_size: how many elements are in a batch.
        num_threads: how many threads put elements in.
        capacity: the most elements that wait.
        enqueue_many: whether tensors hold many elements, along their first axis.
        shapes: the shapes of one element's tensors, where they are not known.
        dynamic_pad: whether elements of different sizes are padded with zeros.
        allow_smaller_final_batch: whether the last batch may have fewer.
        shared_name: a name under which sessions share the queue.
        name: a name for the operations.

    Raises:
        RuntimeError: operations run at once.
        ValueError: shapes are not known, or names differ.
    """
    return _batched(
        "batch", [tensors], batch_size, capacity, enqueue_many, shapes, dynamic_pad,
        allow_smaller_final_batch, shared_name, name, True, num_threads,
    )  # fmt: skip


@api("compat.v1.train.maybe_batch", dispatch=False)
def maybe_batch(
    tensors,
    keep_input,
    batch_size,
    num_threads=1,
    capacity=32,
    enqueue_many=False,
    shapes=None,
    dynamic_pad=False,
    allow_smaller_final_batch=False,
    shared_name=None,
    name=None,
) -> Any:
    """As `batch`, of the elements that are to be kept.

    Args:
        tensors: a tensor, a list or a dictionary of them.
        keep_input: a boolean, or with `enqueue_many` one for each element: whether it is put in.
        batch_size: how many elements are in a batch.
        num_threads: how many threads put elements in.
        capacity: the most elements that wait.
        enqueue_many: whether tensors hold many elements, along their first axis.
        shapes: the shapes of one element's tensors, where they are not known.
        dynamic_pad: whether elements of different sizes are padded with zeros.
        allow_smaller_final_batch: whether the last batch may have fewer.
        shared_name: a name under which sessions share the queue.
        name: a name for the operations.

    Raises:
        RuntimeError: operations run at once.
        ValueError: shapes are not known, or names differ.
    """
    return _batched(
        "maybe_batch", [tensors], batch_size, capacity, enqueue_many, shapes, dynamic_pad,
        allow_smaller_final_batch, shared_name, name, keep_input, num_threads,
    )  # fmt: skip


@api("compat.v1.train.batch_join", dispatch=False)
def batch_join(
    tensors_list,
    batch_size,
    capacity=32,
    enqueue_many=False,
    shapes=None,
    dynamic_pad=False,
    allow_smaller_final_batch=False,
    shared_name=None,
    name=None,
) -> Any:
    """As `batch`, of elements of several kinds of input, each in a thread of its own.

    Args:
        tensors_list: for each thread, a list or a dictionary of tensors.
        batch_size: how many elements are in a batch.
        capacity: the most elements that wait.
        enqueue_many: whether tensors hold many elements, along their first axis.
        shapes: the shapes of one element's tensors, where they are not known.
        dynamic_pad: whether elements of different sizes are padded with zeros.
        allow_smaller_final_batch: whether the last batch may have fewer.
        shared_name: a name under which sessions share the queue.
        name: a name for the operations.

    Raises:
        RuntimeError: operations run at once.
        ValueError: shapes are not known, or names differ.
    """
    return _batched(
        "batch_join", list(tensors_list), batch_size, capacity, enqueue_many, shapes, dynamic_pad,
        allow_smaller_final_batch, shared_name, name, True, 1,
    )  # fmt: skip


@api("compat.v1.train.maybe_batch_join", dispatch=False)
def maybe_batch_join(
    tensors_list,
    keep_input,
    batch_size,
    capacity=32,
    enqueue_many=False,
    shapes=None,
    dynamic_pad=False,
    allow_smaller_final_batch=False,
    shared_name=None,
    name=None,
) -> Any:
    """As `batch_join`, of the elements that are to be kept.

    Args:
        tensors_list: for each thread, a list or a dictionary of tensors.
        keep_input: a boolean, or with `enqueue_many` one for each element: whether it is put in.
        batch_size: how many elements are in a batch.
        capacity: the most elements that wait.
        enqueue_many: whether tensors hold many elements, along their first axis.
        shapes: the shapes of one element's tensors, where they are not known.
        dynamic_pad: whether elements of different sizes are padded with zeros.
        allow_smaller_final_batch: whether the last batch may have fewer.
        shared_name: a name under which sessions share the queue.
        name: a name for the operations.

    Raises:
        RuntimeError: operations run at once.
        ValueError: shapes are not known, or names differ.
    """
    return _batched(
        "maybe_batch_join", list(tensors_list), batch_size, capacity, enqueue_many, shapes, dynamic_pad,
        allow_smaller_final_batch, shared_name, name, keep_input, 1,
    )  # fmt: skip


@api("compat.v1.train.shuffle_batch", dispatch=False)
def shuffle_batch(
    tensors,
    batch_size,
    capacity,
    min_after_dequeue,
    num_threads=1,
    seed=None,
    enqueue_many=False,
    shapes=None,
    allow_smaller_final_batch=False,
    shared_name=None,
    name=None,
) -> Any:
    """A batch of elements in a random order.

    Args:
        tensors: a tensor, a list or a dictionary of them.
        batch_size: how many elements are in a batch.
        capacity: the most elements that wait.
        min_after_dequeue: how many elements must be left, so that they are mixed.
        num_threads: how many threads put elements in.
        seed: the seed of the order.
        enqueue_many: whether tensors hold many elements, along their first axis.
        shapes: the shapes of one element's tensors, where they are not known.
        allow_smaller_final_batch: whether the last batch may have fewer.
        shared_name: a name under which sessions share the queue.
        name: a name for the operations.

    Raises:
        RuntimeError: operations run at once.
        ValueError: shapes are not known, or names differ.
    """
    return _batched(
        "shuffle_batch", [tensors], batch_size, capacity, enqueue_many, shapes, False,
        allow_smaller_final_batch, shared_name, name, True, num_threads, (min_after_dequeue, seed),
    )  # fmt: skip


@api("compat.v1.train.maybe_shuffle_batch", dispatch=False)
def maybe_shuffle_batch(
    tensors,
    batch_size,
    capacity,
    min_after_dequeue,
    keep_input,
    num_threads=1,
    seed=None,
    enqueue_many=False,
    shapes=None,
    allow_smaller_final_batch=False,
    shared_name=None,
    name=None,
) -> Any:
    """As `shuffle_batch`, of the elements that are to be kept.

    Args:
        tensors: a tensor, a list or a dictionary of them.
        batch_size: how many elements are in a batch.
        capacity: the most elements that wait.
        min_after_dequeue: how many elements must be left, so that they are mixed.
        keep_input: a boolean, or with `enqueue_many` one for each element: whether it is put in.
        num_threads: how many threads put elements in.
        seed: the seed of the order.
        enqueue_many: whether tensors hold many elements, along their first axis.
        shapes: the shapes of one element's tensors, where they are not known.
        allow_smaller_final_batch: whether the last batch may have fewer.
        shared_name: a name under which sessions share the queue.
        name: a name for the operations.

    Raises:
        RuntimeError: operations run at once.
        ValueError: shapes are not known, or names differ.
    """
    return _batched(
        "maybe_shuffle_batch", [tensors], batch_size, capacity, enqueue_many, shapes, False,
        allow_smaller_final_batch, shared_name, name, keep_input, num_threads, (min_after_dequeue, seed),
    )  # fmt: skip


@api("compat.v1.train.shuffle_batch_join", dispatch=False)
def shuffle_batch_join(
    tensors_list,
    batch_size,
    capacity,
    min_after_dequeue,
    seed=None,
    enqueue_many=False,
    shapes=None,
    allow_smaller_final_batch=False,
    shared_name=None,
    name=None,
) -> Any:
    """As `shuffle_batch`, of elements of several kinds of input, each in a thread of its own.

    Args:
        tensors_list: for each thread, a list or a dictionary of tensors.
        batch_size: how many elements are in a batch.
        capacity: the most elements that wait.
        min_after_dequeue: how many elements must be left, so that they are mixed.
        seed: the seed of the order.
        enqueue_many: whether tensors hold many elements, along their first axis.
        shapes: the shapes of one element's tensors, where they are not known.
        allow_smaller_final_batch: whether the last batch may have fewer.
        shared_name: a name under which sessions share the queue.
        name: a name for the operations.

    Raises:
        RuntimeError: operations run at once.
        ValueError: shapes are not known, or names differ.
    """
    return _batched(
        "shuffle_batch_join", list(tensors_list), batch_size, capacity, enqueue_many, shapes, False,
        allow_smaller_final_batch, shared_name, name, True, 1, (min_after_dequeue, seed),
    )  # fmt: skip


@api("compat.v1.train.maybe_shuffle_batch_join", dispatch=False)
def maybe_shuffle_batch_join(
    tensors_list,
    batch_size,
    capacity,
    min_after_dequeue,
    keep_input,
    seed=None,
    enqueue_many=False,
    shapes=None,
    allow_smaller_final_batch=False,
    shared_name=None,
    name=None,
) -> Any:
    """As `shuffle_batch_join`, of the elements that are to be kept.

    Args:
        tensors_list: for each thread, a list or a dictionary of tensors.
        batch_size: how many elements are in a batch.
        capacity: the most elements that wait.
        min_after_dequeue: how many elements must be left, so that they are mixed.
        keep_input: a boolean, or with `enqueue_many` one for each element: whether it is put in.
        seed: the seed of the order.
        enqueue_many: whether tensors hold many elements, along their first axis.
        shapes: the shapes of one element's tensors, where they are not known.
        allow_smaller_final_batch: whether the last batch may have fewer.
        shared_name: a name under which sessions share the queue.
        name: a name for the operations.

    Raises:
        RuntimeError: operations run at once.
        ValueError: shapes are not known, or names differ.
    """
    return _batched(
        "maybe_shuffle_batch_join", list(tensors_list), batch_size, capacity, enqueue_many, shapes, False,
        allow_smaller_final_batch, shared_name, name, keep_input, 1, (min_after_dequeue, seed),
    )  # fmt: skip
