"""Writing summaries to the default writer: any tensor, messages, graphs."""

import contextlib
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.accounts import set_text
from headrace._src.core.context import context, executing_eagerly
from headrace._src.core.names import name_scope
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.graph.building.dependencies import control_dependencies
from headrace._src.graph.building.graph import BaseGraph
from headrace._src.graph.control.conditional import cond
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.passing import identity
from headrace._src.summary.writer_ops import (
    IMPORT_EVENT,
    WRITE_GRAPH_SUMMARY,
    WRITE_RAW_PROTO_SUMMARY,
    WRITE_SUMMARY,
    write_array,
)
from headrace._src.summary.writers import current, recording, scope_now, step_tensor

# The collection of a 1.x graph with the operations that write summaries of this kind.
SUMMARIES = "_SUMMARY_V2"
_NOT_IN_SCOPES = re.compile(r"[^-_/.A-Za-z0-9]")
_NO_STEP = (
    "No step set. Please specify one either through the `step` argument or through "
    "tf.summary.experimental.set_step()"
)


@api("summary.experimental.summary_scope", dispatch=False)
@contextlib.contextmanager
def summary_scope(name, default_name="summary", values=None) -> Iterator[tuple[str, str]]:
    """A name scope for a summary, and the tag of the summary.

    The tag is the name after the open scopes. It may have any characters, and is not made unique.

    Args:
        name: the name of the summary.
        default_name: the name if it is None or empty, or has no characters that scopes may have.
        values: ignored.

    Returns:
        A context that gives the tag, and the name of the scope with a slash.

    >>> with tf.name_scope("layer"), tf.summary.experimental.summary_scope("what is it?") as (tag, scope):
    ...     print(tag, scope)
    layer/what is it? layer/whatisit/
    """
    name = name or default_name
    tag = scope_now() + name
    with name_scope(_NOT_IN_SCOPES.sub("", name) or default_name) as scope:
        yield tag, scope


@contextlib.contextmanager
def summary_of(kind: str, name: Any) -> Iterator[str]:
    """The tag of a summary of `tf.summary`. Errors say which summary they are about."""
    with summary_scope(name, f"{kind}_summary") as (tag, _):
        try:
            yield tag
        except (ValueError, TypeError, errors.OpError) as error:
            text = error.message if isinstance(error, errors.OpError) else str(error)
            set_text(error, f"tf.summary.{kind}, tag {tag!r}: {text}")
            raise


@api("summary.write", dispatch=False)
def write(tag, tensor, step=None, metadata=None, name=None) -> Tensor:
    """Writes a tensor as a summary to the default writer; what `tf.summary.scalar` and others are made of.

    Args:
        tag: what the summary is called, usually made by `tf.summary.experimental.summary_scope`.
        tensor: the value, or a function that returns it, which is called only if it is written.
        step: an int, an int64 scalar or a variable of one; that of `tf.summary.experimental.set_step` by default.
        metadata: a `SummaryMetadata` message, or its bytes.
        name: a name for the operation.

    Returns:
        A boolean tensor: whether it was written. It is not if there is no default writer, or `record_if` says so.

    Raises:
        ValueError: there is no step.
        InvalidArgumentError: metadata is something else.

    >>> writer = tf.summary.create_file_writer("/tmp/headrace_doc/logs")
    >>> with writer.as_default():
    ...     print(bool(tf.summary.write("numbers", [1, 2, 3], step=0)))
    True
    """
    if type(metadata) is not bytes:
        metadata = metadata.SerializeToString() if hasattr(metadata, "SerializeToString") else metadata or b""
    if context.graph is None:
        return _write_eagerly(tag, tensor, step, metadata)
    if step is not None:
        step = step_tensor(step)
    if current.writer is None:
        return to_tensor(False)

    def record(scope):
        if step is None and current.step is None:
            raise ValueError(_NO_STEP)
        value = tensor() if callable(tensor) else identity(tensor)
        number = step_tensor(current.step) if step is None else step
        return WRITE_SUMMARY(current.writer._resource, number, value, tag, metadata, name=scope)

    return _recorded(name or "write_summary", record)


def _write_eagerly(tag, tensor, step, metadata):
    number = None if step is None else _number(step)
    if not recording():
        return EagerTensor(_FALSE, dtypes.bool)
    if number is None:
        if current.step is None:
            raise ValueError(_NO_STEP)
        number = _number(current.step)
    value = tensor() if callable(tensor) else tensor
    tag = tag.encode() if type(tag) is str else to_tensor(tag, dtypes.string).numpy()
    if type(metadata) is not bytes:
        metadata = to_tensor(metadata, dtypes.string).numpy()
    write_array(current.writer._resource._a, number, to_tensor(value)._a, tag, metadata)
    return EagerTensor(_TRUE, dtypes.bool)


def _number(step) -> int:
    if type(step) is int and -(2**63) <= step < 2**63:
        return step
    return int(step_tensor(step)._a.reshape(()))


def _recorded(name, record) -> Tensor:
    """Applies an op that writes if summaries are recorded; whether it was, as a tensor.

    Args:
        name: of the scope, and of the operation in it.
        record: a function of this name.
    """
    if context.graph is None:
        if recording():
            record(None)
            return EagerTensor(_TRUE, dtypes.bool)
        return EagerTensor(_FALSE, dtypes.bool)
    with name_scope(name) as scope:
        condition = recording()

        def write_it():
            with control_dependencies([record(scope)]):
                return to_tensor(True)

        if isinstance(condition, Tensor):
            result = cond(condition, write_it, lambda: to_tensor(False), name="summary_cond")
        else:
            result = write_it() if condition else to_tensor(False)
    if not context.graph.building_function:
        context.graph.add_to_collection(SUMMARIES, result)
    return result


_TRUE, _FALSE = np.array(True), np.array(False)


@api("summary.experimental.write_raw_pb", dispatch=False)
def write_raw_pb(tensor, step=None, name=None) -> Tensor:
    """Writes encoded `tf.compat.v1.Summary` messages to the default writer, as one event.

    Args:
        tensor: strings.
        step: an int, an int64 scalar or a variable of one; that of `tf.summary.experimental.set_step` by default.
        name: a name for the operation.

    Returns:
        A boolean tensor: whether it was written.

    Raises:
        ValueError: there is no step.
        DataLossError: a string is no such message.
    """
    if step is not None:
        step_tensor(step)
    if current.writer is None:
        return to_tensor(False)
    if step is None and current.step is None:
        raise ValueError(_NO_STEP)

    def record(scope):
        number = step_tensor(current.step if step is None else step)
        return WRITE_RAW_PROTO_SUMMARY(
            current.writer._resource, number, identity(to_tensor(tensor, dtypes.string)), name=scope
        )

    return _recorded(name or "write_raw_pb", record)


@api("summary.graph", dispatch=False)
def graph(graph_data) -> Tensor:
    """Writes a graph to the default writer, as the graph of the run.

    For graphs of functions that are called, `tf.summary.trace_on` and `trace_export` are better.

    Args:
        graph_data: a `tf.Graph`, such as that of a concrete function, or a `GraphDef`.

    Returns:
        A boolean tensor: whether it was written.

    Raises:
        ValueError: it is called while a graph is built, or graph_data is something else.

    >>> @tf.function
    ... def double(x):
    ...     return x * 2
    >>> with tf.summary.create_file_writer("/tmp/headrace_doc/logs").as_default():
    ...     print(bool(tf.summary.graph(double.get_concrete_function(tf.constant(1.0)).graph)))
    True
    """
    if not executing_eagerly():
        raise ValueError("graph() cannot be invoked inside a graph context.")
    if current.writer is None or not recording():
        return to_tensor(False)
    WRITE_GRAPH_SUMMARY(current.writer._resource, to_tensor(0, dtypes.int64), serialized_graph(graph_data))
    return to_tensor(True)


def serialized_graph(graph_data) -> bytes:
    """The bytes of a `GraphDef`, with the shapes of outputs."""
    if isinstance(graph_data, BaseGraph):
        return graph_data.as_graph_def(add_shapes=True).SerializeToString()
    if getattr(getattr(graph_data, "DESCRIPTOR", None), "full_name", None) == "tensorflow.GraphDef":
        return graph_data.SerializeToString()
    raise ValueError(
        "Argument 'graph_data' is not tf.Graph or tf.compat.v1.GraphDef. Received "
        f"graph_data={graph_data} of type {type(graph_data).__name__}."
    )


def import_event(tensor, name=None) -> Any:
    """Writes an encoded `tf.compat.v1.Event` to the default writer as it is, whatever `record_if` says."""
    return IMPORT_EVENT(current.writer._resource, tensor, name=name)
