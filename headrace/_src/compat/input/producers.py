"""Producers: queues that threads fill with strings, numbers or slices, once or epoch after epoch."""

from typing import Any

from headrace._src.compat.graph_keys import GraphKeys
from headrace._src.compat.input.queue_runners import QueueRunner, add_queue_runner
from headrace._src.compat.summaries import summary_operations
from headrace._src.compat.variables.variables import make_variable
from headrace._src.core import dtypes
from headrace._src.core.context import context
from headrace._src.core.names import name_scope
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.graph.building.dependencies import control_dependencies
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays import casting, filling, gathering, measuring, passing
from headrace._src.ops.debugging import assertions
from headrace._src.ops.random.shuffling import shuffle as shuffled
from headrace._src.state.queues import FIFOQueue


def check_graph(label: str) -> None:
    """Refuse to make an input pipeline of queues where operations run at once.

    Raises:
        RuntimeError: they do.
    """
    if context.graph is None:
        raise RuntimeError(f"{label} needs a graph, a session and queue runners. Where operations run at once, use "
                           "tf.data.")


def note_fullness(queue, label: str, capacity) -> None:
    """A summary of how full a queue is.

    Args:
        queue: the queue.
        label: the name of the summary.
        capacity: the most elements that it holds.
    """
    summary_operations.scalar(label, casting.cast(queue.size(), dtypes.float32) * (1.0 / capacity))


@api("compat.v1.train.limit_epochs", dispatch=False)
def limit_epochs(tensor, num_epochs=None, name=None) -> Tensor:
    """The tensor, so many times; then `OutOfRangeError`. The count is a local variable.

    Args:
        tensor: a tensor.
        num_epochs: how many times; None: without end.
        name: a name for the operations.

    Raises:
        ValueError: `num_epochs` is not positive.
    """
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"limit_epochs: num_epochs must be positive, got {num_epochs}.")
    check_graph("limit_epochs")
    with name_scope(name or "limit_epochs") as scope:
        epochs = make_variable(initial_value=to_tensor(0, dtypes.int64), name="epochs", trainable=False,
                               collections=[GraphKeys.LOCAL_VARIABLES])
        with control_dependencies([epochs.count_up_to(num_epochs)]):
            return passing.identity(tensor, name=scope)


@api("compat.v1.train.input_producer", dispatch=False)
def input_producer(
    input_tensor,
    element_shape=None,
    num_epochs=None,
    shuffle=True,
    seed=None,
    capacity=32,
    shared_name=None,
    summary_name=None,
    name=None,
    cancel_op=None,
) -> FIFOQueue:
    """A queue of the rows of a tensor, filled by a queue runner.

    Args:
        input_tensor: a tensor of rank 1 at least.
        element_shape: the shape of a row, where that of the tensor is not known.
        num_epochs: how often each row is given; None: without end.
        shuffle: whether rows are in a random order in each epoch.
        seed: the seed of that.
        capacity: the most elements that wait.
        shared_name: a name under which sessions share the queue.
        summary_name: the name of a summary of how full the queue is.
        name: a name for the operations.
        cancel_op: what closes the queue when all must stop.

    Raises:
        RuntimeError: operations run at once.
        ValueError: the shape of a row is not known.
    """
    check_graph("input_producer")
    with name_scope(name or "input_producer"):
        input_tensor = to_tensor(input_tensor, name="input_tensor")
        shape = TensorShape(element_shape).merge_with(input_tensor.shape[1:])
        if not shape.is_fully_defined():
            raise ValueError("input_producer: the shape of a row must be known; give element_shape. The tensor's shape "
                             f"is {input_tensor.shape}.")
        rows = shuffled(input_tensor, seed=seed) if shuffle else input_tensor
        rows = limit_epochs(rows, num_epochs)
        queue = FIFOQueue(capacity, [input_tensor.dtype.base_dtype], [shape], shared_name=shared_name,
                          name=name or "input_producer")
        add_queue_runner(QueueRunner(queue, [queue.enqueue_many([rows])], cancel_op=cancel_op))
        if summary_name is not None:
            note_fullness(queue, summary_name, capacity)
        return queue


@api("compat.v1.train.string_input_producer", dispatch=False)
def string_input_producer(
    string_tensor, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None, name=None, cancel_op=None
) -> FIFOQueue:
    """A queue of strings, mostly names of files, filled by a queue runner.

    Args:
        string_tensor: a vector of strings.
        num_epochs: how often each is given; None: without end.
        shuffle: whether they are in a random order in each epoch.
        seed: the seed of that.
        capacity: the most elements that wait.
        shared_name: a name under which sessions share the queue.
        name: a name for the operations.
        cancel_op: what closes the queue when all must stop.

    Raises:
        RuntimeError: operations run at once.
        ValueError: there are no strings.
    """
    check_graph("string_input_producer")
    empty = "string_input_producer: string_tensor has no strings, so that nothing would ever be produced."
    if not isinstance(string_tensor, Tensor) and not len(string_tensor):
        raise ValueError(empty)
    with name_scope(name or "input_producer"):
        string_tensor = to_tensor(string_tensor, dtypes.string)
        checked = assertions.Assert(measuring.size(string_tensor) > 0, [empty])
        with control_dependencies([checked]):
            string_tensor = passing.identity(string_tensor)
        return input_producer(string_tensor, [], num_epochs, shuffle, seed, capacity, shared_name,
                              f"fraction_of_{capacity}_full", None, cancel_op)


@api("compat.v1.train.range_input_producer", dispatch=False)
def range_input_producer(
    limit, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None, name=None
) -> FIFOQueue:
    """A queue of the numbers from 0 to `limit - 1`, filled by a queue runner.

    Args:
        limit: how many.
        num_epochs, shuffle, seed, capacity, shared_name, name: as for `string_input_producer`.
    """
    check_graph("range_input_producer")
    with name_scope(name or "input_producer"):
        return input_producer(filling.range_(limit), [], num_epochs, shuffle, seed, capacity, shared_name,
                              f"fraction_of_{capacity}_full")


@api("compat.v1.train.slice_input_producer", dispatch=False)
def slice_input_producer(
    tensor_list, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None, name=None
) -> list:
    """One row of each tensor, at the same place, each time.

    Args:
        tensor_list: tensors that are equally long.
        num_epochs, shuffle, seed, capacity, shared_name, name: as for `string_input_producer`.

    Raises:
        RuntimeError: operations run at once.
        ValueError: there are no tensors.
    """
    check_graph("slice_input_producer")
    with name_scope(name or "input_producer"):
        tensors: list[Any] = [to_tensor(tensor) for tensor in tensor_list]
        if not tensors:
            raise ValueError("slice_input_producer: tensor_list is empty, so that nothing can be produced.")
        size = measuring.shape(tensors[0])[0]
        index = range_input_producer(size, num_epochs, shuffle, seed, capacity, shared_name).dequeue()
        return [gathering.gather(tensor, index) for tensor in tensors]
