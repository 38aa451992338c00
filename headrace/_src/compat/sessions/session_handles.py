"""`tf.compat.v1.get_session_handle`: values that stay in a session, and strings by which runs find them again."""

import itertools
from typing import Any

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.context import context
from headrace._src.core.names import name_scope
from headrace._src.core.tensor import Tensor
from headrace._src.graph.building.graph import PLACEHOLDER
from headrace._src.op.api import api
from headrace._src.op.definition import Op
from headrace._src.op.infer import SCALAR, UNKNOWN

_DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"
_numbers = itertools.count()


def _kept(op):
    if context.resources is None:
        raise errors.FailedPreconditionError(None, None, f"{op}: values are kept by sessions; none is running.")
    return context.resources


def _keep(value):
    resources = _kept("GetSessionHandle")
    handle = f"GetSessionHandle;{next(_numbers)};{_DEVICE}".encode()
    resources["session tensor", handle] = value
    return np.array(handle, object)


def _found(op, handle):
    key = ("session tensor", handle[()] if handle.ndim == 0 else None)
    if key not in _kept(op):
        raise errors.InvalidArgumentError(None, None, f"{op}: the session has no tensor with the handle {handle}.")
    return key


def _read(handle, dtype):
    value = context.resources[_found("GetSessionTensor", handle)]
    if value.dtype != dtype._np:
        raise errors.invalid_argument(f"GetSessionTensor: the tensor is {value.dtype}, asked for {dtype.name}.")
    return value


def _forget(handle):
    del context.resources[_found("DeleteSessionTensor", handle)]


GET_SESSION_HANDLE = Op(
    "GetSessionHandle", "value: T -> handle: string", T=dtypes.ANY, infer=lambda value: SCALAR, kernel=_keep,
    lower=None,  # sessions keep values on the host
    stateful=True, grad=None,
)  # fmt: skip
GET_SESSION_TENSOR = Op(
    "GetSessionTensor", "handle: string, *, dtype: type -> value: dtype", infer=lambda handle, dtype: UNKNOWN,
    kernel=_read,
    lower=None,  # sessions keep values on the host
    stateful=True, grad=None,
)  # fmt: skip
DELETE_SESSION_TENSOR = Op(
    "DeleteSessionTensor", "handle: string -> ", infer=lambda handle: (), kernel=_forget,
    lower=None,  # sessions keep values on the host
    stateful=True, grad=None,
)  # fmt: skip


class TensorHandle:
    """A value that stays in a session; what running `get_session_handle` gives.

    Args:
        handle: the string by which the session knows it.
        dtype: its dtype.
        session: the session.
    """

    def __init__(self, handle, dtype, session) -> None:
        self._handle = handle if isinstance(handle, str) else handle.decode()
        self._dtype = dtype
        self._session = session
        self._auto_delete = True

    @property
    def handle(self) -> str:
        """The string by which the session knows the value. Whoever asks for it keeps the value himself."""
        self._auto_delete = False
        return self._handle

    def get_raw_handle(self) -> str:
        """The same as `handle`."""
        return self.handle

    def eval(self) -> Any:
        """The value."""
        if not self._auto_delete:
            raise TypeError("The persistent tensor has been taken over by its handle; use get_session_tensor.")
        with self._session.graph.as_default():
            holder, value = _reading(self._session.graph, self._dtype)
        return self._session.run(value, {holder: self._handle})

    def kept(self) -> np.ndarray:
        """The value as the session keeps it.

        Raises:
            InvalidArgumentError: the session has forgotten it.
        """
        key = ("session tensor", self._handle.encode())
        if key not in self._session._resources:
            raise errors.InvalidArgumentError(None, None, f"The session has no tensor with the handle {self._handle}.")
        return self._session._resources[key]

    def delete(self) -> None:
        """Let the session forget the value."""
        self._auto_delete = False
        with self._session.graph.as_default():
            holder, deleting = _deleting(self._session.graph)
        self._session.run(deleting, {holder: self._handle})

    def __del__(self):
        # Nobody can name the value any more. The session drops it without a run: this may be any thread.
        if self._auto_delete:
            self._session._resources.pop(("session tensor", self._handle.encode()), None)

    def __str__(self):
        return self._handle


def _reading(graph, dtype):
    """The placeholder and the tensor of a graph with which a value of this dtype is read."""
    made = graph.__dict__.setdefault("_handle_readers", {})
    if dtype not in made:
        with graph.control_dependencies(None), name_scope(""):
            made[dtype] = get_session_tensor("", dtype)
    return made[dtype]


def _deleting(graph):
    if "_handle_deleter" not in graph.__dict__:
        with graph.control_dependencies(None), name_scope(""):
            graph.__dict__["_handle_deleter"] = delete_session_tensor("")
    return graph.__dict__["_handle_deleter"]


def _in_graph(name):
    if context.graph is None:
        raise RuntimeError(f"{name}: values are kept by sessions of a graph, and no graph is being built.")


@api("compat.v1.get_session_handle", dispatch=False)
def get_session_handle(data, name=None) -> Tensor:
    """A tensor whose value, when it is run, is a `TensorHandle`: the session keeps the value of `data`.

    Args:
        data: a tensor.
        name: a name for the operation.

    Raises:
        TypeError: it is no tensor.

    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    ...     kept = session.run(tf.compat.v1.get_session_handle(tf.constant([1.0, 2.0])))
    ...     holder, value = tf.compat.v1.get_session_tensor(kept.handle, tf.float32)
    ...     print(session.run(value * 2.0, {holder: kept.handle}))
    [2. 4.]
    """
    _in_graph("get_session_handle")
    if not isinstance(data, Tensor):
        raise TypeError(f"`data` must be of type Tensor, got {data!r} of type {type(data).__name__}.")
    return GET_SESSION_HANDLE(data, name=name)


@api("compat.v1.get_session_tensor", dispatch=False)
def get_session_tensor(handle, dtype, name=None) -> tuple:
    """A placeholder for a handle, and the value that the session keeps under it.

    Args:
        handle: a handle, for its device; which value is read is said by what is fed.
        dtype: the dtype of the value.
        name: a name for the operation.
    """
    _in_graph("get_session_tensor")
    holder = PLACEHOLDER(dtype=dtypes.string)
    return holder, GET_SESSION_TENSOR(holder, dtype=dtypes.as_dtype(dtype), name=name)


@api("compat.v1.delete_session_tensor", dispatch=False)
def delete_session_tensor(handle, name=None) -> tuple:
    """A placeholder for a handle, and an operation that lets the session forget the value.

    Args:
        handle: a handle, for its device; which value is forgotten is said by what is fed.
        name: a name for the operation.
    """
    _in_graph("delete_session_tensor")
    holder = PLACEHOLDER(dtype=dtypes.string)
    return holder, DELETE_SESSION_TENSOR(holder, name=name)
