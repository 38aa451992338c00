"""`tf.queue`: queues of elements between threads, or between runs of a graph."""

import itertools
from typing import Any

from headrace._src.core import dtypes as types
from headrace._src.core.context import context, outside_functions
from headrace._src.core.random_state import draw_seeds
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.measuring import get_static_value
from headrace._src.state.queue_ops import (
    FIFO_QUEUE,
    PADDING_FIFO_QUEUE,
    PRIORITY_QUEUE,
    QUEUE_CLOSE,
    QUEUE_DEQUEUE,
    QUEUE_DEQUEUE_MANY,
    QUEUE_DEQUEUE_UP_TO,
    QUEUE_ENQUEUE,
    QUEUE_ENQUEUE_MANY,
    QUEUE_IS_CLOSED,
    QUEUE_SIZE,
    RANDOM_SHUFFLE_QUEUE,
)

_numbers = itertools.count(1)


@api("queue.QueueBase")
class QueueBase:
    """What queues share. An element is a tuple of tensors, or a dictionary if the queue has names.

    Args:
        dtypes: of the components.
        shapes: of the components; None when they may have any.
        names: of the components, or None.
        queue_ref: the resource tensor by which ops know the queue.
    """

    def __init__(self, dtypes, shapes, names, queue_ref) -> None:
        self._dtypes = [types.as_dtype(dtype) for dtype in dtypes]
        if shapes is not None and len(shapes) != len(self._dtypes):
            raise ValueError(
                f"Queue: there must be as many shapes as dtypes, got {len(shapes)} and {len(self._dtypes)}."
            )
        self._shapes = [TensorShape(None)] * len(self._dtypes) if shapes is None else list(map(TensorShape, shapes))
        self._names = _checked_names(names, self._dtypes)
        self._queue_ref = queue_ref
        # TF: a queue made eagerly has this name.
        self._name = "Empty" if isinstance(queue_ref, EagerTensor) else queue_ref.op.name

    @staticmethod
    def from_list(index, queues) -> "FIFOQueue":
        """The queue at a place of a list.

        Args:
            index: a number that is known.
            queues: queues of the same dtypes and names.

        Raises:
            TypeError: when they are no queues, or not alike.
            ValueError: when the number is not known.
        """
        if not queues or not isinstance(queues, list) or not all(isinstance(q, QueueBase) for q in queues):
            raise TypeError("from_list: queues must be a list of queues.")
        if any(q.dtypes != queues[0].dtypes for q in queues):
            raise TypeError("Queues do not have matching component dtypes.")
        if any(q.names != queues[0].names for q in queues):
            raise TypeError("Queues do not have matching component names.")
        number = get_static_value(to_tensor(index, types.int32))
        if number is None:
            raise ValueError("from_list: index must be known. Use tf.switch_case to choose among queues.")
        return queues[int(number)]

    @property
    def queue_ref(self) -> Tensor:
        """The resource tensor by which ops know the queue."""
        return self._queue_ref

    @property
    def name(self) -> str:
        """The name of the operation that makes it."""
        return self._name

    @property
    def dtypes(self) -> list:
        """The dtypes of the components."""
        return self._dtypes

    @property
    def shapes(self) -> list:
        """The shapes of the components."""
        return self._shapes

    @property
    def names(self) -> Any:
        """The names of the components, or None."""
        return self._names

    def enqueue(self, vals, name=None) -> Any:
        """Put an element in, as soon as there is room.

        Args:
            vals: a tensor, a list or tuple of tensors, or a dictionary.
            name: a name for the operation.

        Raises:
            CancelledError: when the queue is closed.
            ValueError: when shapes or names do not fit.
        """
        tensors = self._components(vals)
        for tensor, shape in zip(tensors, self._shapes):
            tensor.shape.assert_is_compatible_with(shape)
        return QUEUE_ENQUEUE(self._queue_ref, tensors, name=_named(name, self._name, "_enqueue")) or None

    def enqueue_many(self, vals, name=None) -> Any:
        """Put elements in: the parts of tensors along their first dimension.

        Raises:
            CancelledError: when the queue is closed.
            ValueError: when shapes or names do not fit.
        """
        tensors = self._components(vals)
        length = TensorShape([None])
        for tensor, shape in zip(tensors, self._shapes):
            length = length.merge_with(tensor.shape.with_rank_at_least(1)[:1])
            tensor.shape[1:].assert_is_compatible_with(shape)
        return QUEUE_ENQUEUE_MANY(self._queue_ref, tensors, name=_named(name, self._name, "_EnqueueMany")) or None

    def dequeue(self, name=None) -> Any:
        """Take an element out, as soon as there is one.

        Returns:
            A tensor, a list of tensors, or a dictionary.

        Raises:
            OutOfRangeError: when the queue is closed and empty.
        """
        components = QUEUE_DEQUEUE(
            self._queue_ref, component_types=self._dtypes, name=_named(name, self._name, "_Dequeue")
        )
        return self._element(components, [])

    def dequeue_many(self, n, name=None) -> Any:
        """Take `n` elements out and stack them, as soon as there are so many.

        Raises:
            OutOfRangeError: when the queue is closed and has fewer.
            InvalidArgumentError: when the shapes of components are not known.
        """
        components = QUEUE_DEQUEUE_MANY(
            self._queue_ref, n, component_types=self._dtypes, name=_named(name, self._name, "_DequeueMany")
        )
        size = get_static_value(to_tensor(n, types.int32))
        return self._element(components, [None if size is None else int(size)])

    def dequeue_up_to(self, n, name=None) -> Any:
        """Take `n` elements out and stack them; when the queue is closed, fewer will do.

        Raises:
            OutOfRangeError: when the queue is closed and empty.
            InvalidArgumentError: when the shapes of components are not known.
        """
        components = QUEUE_DEQUEUE_UP_TO(
            self._queue_ref, n, component_types=self._dtypes, name=_named(name, self._name, "_DequeueUpTo")
        )
        return self._element(components, [None])

    def close(self, cancel_pending_enqueues=False, name=None) -> Any:
        """Let no more elements in. What is in it can still be taken out.

        Args:
            cancel_pending_enqueues: refuse elements that wait for room, too.
            name: a name for the operation.

        Raises:
            CancelledError: when it is closed already.
        """
        operation = QUEUE_CLOSE(
            self._queue_ref,
            cancel_pending_enqueues=cancel_pending_enqueues,
            name=_named(name, self._name, "_Close"),
        )
        return operation or None

    def is_closed(self, name=None) -> Tensor:
        """Whether it is closed, as a boolean scalar."""
        return QUEUE_IS_CLOSED(self._queue_ref, name=_named(name, self._name, "_Is_Closed"))

    def size(self, name=None) -> Tensor:
        """How many elements are in it, as an int32 scalar."""
        return QUEUE_SIZE(self._queue_ref, name=_named(name, self._name, "_Size"))

    def _components(self, values):
        if isinstance(values, dict):
            if not self._names:
                raise ValueError("Queue must have names to enqueue a dictionary")
            if sorted(self._names, key=str) != sorted(values, key=str):
                raise ValueError(
                    f"Keys in dictionary to enqueue do not match names of Queue: {sorted(values, key=str)} and "
                    f"{sorted(self._names, key=str)}."
                )
            values = [values[name] for name in self._names]
        elif self._names:
            raise ValueError("You must enqueue a dictionary in a Queue with names")
        elif not isinstance(values, (list, tuple)):
            values = [values]
        return [to_tensor(value, dtype) for value, dtype in zip(values, self._dtypes)]  # TF: others are left out

    def _element(self, tensors, first):
        for tensor, shape in zip(tensors, self._shapes):
            if not isinstance(tensor, EagerTensor):
                tensor.set_shape(TensorShape(first).concatenate(shape))
        if self._names:
            return dict(zip(self._names, tensors))
        return tensors[0] if len(tensors) == 1 else list(tensors)


def _named(name, queue, ending):
    return name if name is not None else f"{queue.rpartition('/')[2]}{ending}"


def _checked_names(names, dtypes):
    if not names:
        return None
    if len(names) != len(dtypes):
        raise ValueError(
            f"List of names must have the same length as the list of dtypes, got {len(names)} and {len(dtypes)}."
        )
    return list(names)


def _listed(dtypes, shapes, names):
    """The arguments of a queue as lists: dtypes, shapes, names."""
    dtypes = [types.as_dtype(dtype) for dtype in (dtypes if isinstance(dtypes, (list, tuple)) else [dtypes])]
    if shapes is not None:
        single = isinstance(shapes, TensorShape) or (
            isinstance(shapes, (list, tuple)) and all(n is None or isinstance(n, int) for n in shapes) and shapes
        )
        shapes = [TensorShape(shape) for shape in ([shapes] if single else shapes)] or [TensorShape([])]
    names = names if names is None or isinstance(names, (list, tuple)) else [names]
    return dtypes, shapes, _checked_names(names, dtypes)


def _made(op, shared_name, name, **attrs):
    """The handle of a new queue: outside of functions, and in a session of a 1.x graph always the same one."""
    graph = outside_functions(context.graph)
    with context.changed(graph=graph):
        if graph is not None and not shared_name:
            shared_name = f"{name}_{next(_numbers)}"
        return op(shared_name=shared_name or "", name=name, **attrs)


@api("queue.FIFOQueue")
class FIFOQueue(QueueBase):
    """A queue that gives elements in the order in which they came.

    Args:
        capacity: the most elements that it holds; putting in more waits.
        dtypes: of the components of an element.
        shapes: of the components; needed to take several elements at once.
        names: of the components, if elements are to be dictionaries.
        shared_name: queues with the same shared name are the same.
        name: a name for the operation.

    >>> q = tf.queue.FIFOQueue(3, tf.int32, shapes=[[]])
    >>> q.enqueue_many([[4, 5]])
    >>> int(q.dequeue()), int(q.size())
    (4, 1)
    """

    def __init__(self, capacity, dtypes, shapes=None, names=None, shared_name=None, name="fifo_queue") -> None:
        dtypes, shapes, names = _listed(dtypes, shapes, names)
        handle = _made(FIFO_QUEUE, shared_name, name, component_types=dtypes, shapes=shapes or [], capacity=capacity)
        super().__init__(dtypes, shapes, names, handle)


@api("queue.PaddingFIFOQueue")
class PaddingFIFOQueue(QueueBase):
    """A `FIFOQueue` whose elements may differ in size: taken together, the smaller ones end in zeros.

    Args:
        capacity, dtypes, names, shared_name, name: as those of `FIFOQueue`.
        shapes: of the components, with None for sizes that vary.

    Raises:
        ValueError: when a shape is left out.
    """

    def __init__(self, capacity, dtypes, shapes, names=None, shared_name=None, name="padding_fifo_queue") -> None:
        if shapes is None or (isinstance(shapes, (list, tuple)) and any(shape is None for shape in shapes)):
            raise ValueError("When providing partial shapes, a list of shapes must be provided.")
        dtypes, shapes, names = _listed(dtypes, shapes, names)
        if len(shapes) != len(dtypes):
            raise ValueError(
                f"PaddingFIFOQueue: there must be as many shapes as dtypes, got {len(shapes)} and {len(dtypes)}."
            )
        handle = _made(PADDING_FIFO_QUEUE, shared_name, name, component_types=dtypes, shapes=shapes, capacity=capacity)
        super().__init__(dtypes, shapes, names, handle)


@api("queue.PriorityQueue")
class PriorityQueue(QueueBase):
    """A queue that gives the element of the smallest number first. Elements begin with that number, an int64 scalar.

    Args:
        capacity, shapes, names, shared_name, name: as those of `FIFOQueue`.
        types: the dtypes of the components, without that of the number.
    """

    def __init__(self, capacity, types, shapes=None, names=None, shared_name=None, name="priority_queue") -> None:
        dtypes, shapes, names = _listed(types, shapes, None)[:2] + (names,)
        handle = _made(
            PRIORITY_QUEUE, shared_name, name, component_types=[_INT64, *dtypes], capacity=capacity,
            shapes=[TensorShape([]), *shapes] if shapes else [],
        )  # fmt: skip
        super().__init__([_INT64, *dtypes], [[], *shapes] if shapes else None, names, handle)


_INT64 = types.int64


@api("queue.RandomShuffleQueue")
class RandomShuffleQueue(QueueBase):
    """A queue that gives its elements in any order.

    Args:
        capacity, dtypes, shapes, names, shared_name, name: as those of `FIFOQueue`.
        min_after_dequeue: how many elements stay to choose among, until the queue is closed.
        seed: of the order.
    """

    def __init__(
        self, capacity, min_after_dequeue, dtypes, shapes=None, names=None, seed=None, shared_name=None,
        name="random_shuffle_queue",
    ) -> None:  # fmt: skip
        dtypes, shapes, names = _listed(dtypes, shapes, names)
        first, second = draw_seeds(seed)
        handle = _made(
            RANDOM_SHUFFLE_QUEUE, shared_name, name, component_types=dtypes, shapes=shapes or [], capacity=capacity,
            min_after_dequeue=min_after_dequeue, seed=first, seed2=second,
        )  # fmt: skip
        super().__init__(dtypes, shapes, names, handle)
