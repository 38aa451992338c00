"""The ops of queues: making them, putting in, taking out."""

import weakref

import numpy as np

from headrace._src.core import errors
from headrace._src.core.context import context
from headrace._src.op.definition import Op
from headrace._src.op.infer import SCALAR, UNKNOWN
from headrace._src.state.queue_storage import (
    PaddingQueueStorage,
    PriorityQueueStorage,
    QueueStorage,
    ShuffleQueueStorage,
    shapes_given,
)

# Queues that were made under a name, to be found again under it as long as somebody has them.
_shared: weakref.WeakValueDictionary = weakref.WeakValueDictionary()


def _named(container, shared_name, make):
    if not shared_name:
        return make()
    resources = _shared if context.resources is None else context.resources  # a session keeps its own
    queue = resources.get(("queue", container, shared_name))
    return resources.setdefault(("queue", container, shared_name), make()) if queue is None else queue


def _queue_op(name, attrs, make):
    """An op that makes a queue and returns its handle. `make` gets the shapes, the capacity, the name, and the rest."""

    def kernel(component_types, shapes, capacity, container, shared_name, **rest):
        return _named(
            container, shared_name, lambda: make(component_types, shapes_given(shapes), capacity, shared_name, **rest)
        )

    return Op(
        name,
        f"*, {attrs}, capacity: int = -1, container: string = '', shared_name: string = '' -> handle: resource",
        infer=lambda **attrs: SCALAR,
        kernel=kernel,
        lower=None,  # queues live on the host
        stateful=True,
        grad=None,
    )


_TYPES = "component_types: list(type), shapes: list(shape) = []"
FIFO_QUEUE = _queue_op("FIFOQueueV2", _TYPES, QueueStorage)
PADDING_FIFO_QUEUE = _queue_op("PaddingFIFOQueueV2", _TYPES, PaddingQueueStorage)
PRIORITY_QUEUE = _queue_op(
    "PriorityQueueV2", "component_types: list(type) = [], shapes: list(shape)", PriorityQueueStorage
)
RANDOM_SHUFFLE_QUEUE = _queue_op(
    "RandomShuffleQueueV2",
    f"{_TYPES}, min_after_dequeue: int = 0, seed: int = 0, seed2: int = 0",
    lambda types, shapes, capacity, name, min_after_dequeue, seed, seed2: ShuffleQueueStorage(
        types, shapes, capacity, name, min_after_dequeue, (seed, seed2)
    ),
)


def _queue(op, handle):
    storage = handle[()] if handle.ndim == 0 else None
    if not isinstance(storage, QueueStorage):
        raise errors.invalid_argument(f"{op}: handle must be the handle of a queue.")
    return storage


def _use_op(name, text, infer, kernel):
    """An op that uses a queue."""
    return Op(
        name,
        text,
        infer=infer,
        kernel=kernel,
        lower=None,  # queues live on the host
        stateful=True,
        grad=None,
        quiet=False,  # it may wait for other threads
    )


def _enqueue(handle, components, timeout_ms):
    _queue("QueueEnqueueV2", handle).put([tuple(components)])


def _enqueue_many(handle, components, timeout_ms):
    if not all(array.ndim for array in components):
        raise errors.invalid_argument("QueueEnqueueManyV2: components must have a first dimension.")
    if len({len(array) for array in components}) > 1:
        raise errors.invalid_argument(
            f"QueueEnqueueManyV2: components must be equally long, got {[len(array) for array in components]}."
        )
    _queue("QueueEnqueueManyV2", handle).put(
        [tuple([array[i, ...] for array in components]) for i in range(len(components[0]))]
    )


def _checked(op, storage, component_types):
    if storage.dtypes != list(component_types):
        have, asked = [[dtype.name for dtype in each] for each in (storage.dtypes, component_types)]
        raise errors.invalid_argument(f"{op}: the components of the queue are {have}, asked for {asked}.")
    return storage


def _dequeue(handle, component_types, timeout_ms):
    (element,) = _checked("QueueDequeueV2", _queue("QueueDequeueV2", handle), component_types).take()
    return list(element)


def _batch(name, fewer):
    def kernel(handle, n, component_types, timeout_ms):
        return _checked(name, _queue(name, handle), component_types).take_batch(name, int(n), fewer)

    return kernel


def _unknown_components(*inputs, component_types, timeout_ms):
    return ([UNKNOWN] * len(component_types),)


_IN = "components: list(Tcomponents), *, timeout_ms: int = -1 -> "
_OUT = "*, component_types: list(type), timeout_ms: int = -1 -> components: list(component_types)"


def _nothing(*inputs, **attrs):
    return ()


QUEUE_ENQUEUE = _use_op("QueueEnqueueV2", f"handle: resource, {_IN}", _nothing, _enqueue)
QUEUE_ENQUEUE_MANY = _use_op("QueueEnqueueManyV2", f"handle: resource, {_IN}", _nothing, _enqueue_many)
QUEUE_DEQUEUE = _use_op("QueueDequeueV2", f"handle: resource, {_OUT}", _unknown_components, _dequeue)
QUEUE_DEQUEUE_MANY, QUEUE_DEQUEUE_UP_TO = (
    _use_op(name, f"handle: resource, n: int32, {_OUT}", _unknown_components, _batch(name, fewer))
    for name, fewer in (("QueueDequeueManyV2", False), ("QueueDequeueUpToV2", True))
)
QUEUE_CLOSE = _use_op(
    "QueueCloseV2",
    "handle: resource, *, cancel_pending_enqueues: bool = False -> ",
    _nothing,
    lambda handle, cancel_pending_enqueues: _queue("QueueCloseV2", handle).close(cancel_pending_enqueues),
)
QUEUE_IS_CLOSED = _use_op(
    "QueueIsClosedV2",
    "handle: resource -> is_closed: bool",
    lambda handle: SCALAR,
    lambda handle: np.bool_(_queue("QueueIsClosedV2", handle).closed),
)
QUEUE_SIZE = _use_op(
    "QueueSizeV2",
    "handle: resource -> size: int32",
    lambda handle: SCALAR,
    lambda handle: np.int32(_queue("QueueSizeV2", handle).size()),
)
