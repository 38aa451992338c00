"""`tf.summary.scalar` and `tf.summary.text`."""

import numpy as np

from headrace._src.core import dtypes
from headrace._src.core.context import context
from headrace._src.core.tensor import EagerTensor, Tensor
from headrace._src.formats import event_wire
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.ops.arrays.casting import cast
from headrace._src.ops.debugging.static_assertions import assert_scalar
from headrace._src.summary.writer_ops import known_metadata
from headrace._src.summary.writers import scope_now
from headrace._src.summary.writing import summary_of, write

_PLAIN = known_metadata(event_wire.metadata("scalars"))


@api("summary.scalar", dispatch=False)
def scalar(name, data, step=None, description=None) -> Tensor:
    """Writes a number to the default writer; TensorBoard draws a line through those of one name.

    Args:
        name: what it is called, after the open name scopes.
        data: a scalar that can be cast to float32.
        step: an int, an int64 scalar or a variable of one; that of `tf.summary.experimental.set_step` by default.
        description: a text in Markdown.

    Returns:
        A boolean tensor: whether it was written. It is not if there is no default writer, or `record_if` says so.

    Raises:
        ValueError: data is no scalar, or there is no step.

    >>> with tf.summary.create_file_writer("/tmp/headrace_doc/logs").as_default():
    ...     print(bool(tf.summary.scalar("loss", 0.345, step=1)))
    True
    """
    metadata = _PLAIN
    if description is not None:
        metadata = known_metadata(event_wire.metadata("scalars", description=description))
    if context.graph is None and name:
        number = _plain_number(data)
        if number is not None:
            return write(scope_now() + name, number, step, metadata)
    with summary_of("scalar", name) as tag:
        assert_scalar(data)
        return write(tag, cast(data, dtypes.float32), step, metadata)


def _plain_number(data):
    """Numbers and eager scalars of real numbers, of which most summaries are, as float32; None for anything else."""
    kind = type(data)
    if kind is float or (kind is int and -(2**31) <= data < 2**31):
        return EagerTensor(np.array(data, np.float32), dtypes.float32)
    if kind is EagerTensor and data.dtype._kind in "fiu" and not data._a.ndim:
        return EagerTensor(data._a.astype(np.float32), dtypes.float32)
    return None


@api("summary.text", dispatch=False)
def text(name, data, step=None, description=None) -> Tensor:
    """Writes strings to the default writer. TensorBoard shows them as Markdown, of a vector or matrix as a table.

    Args:
        name: what it is called, after the open name scopes.
        data: a string tensor, UTF-8.
        step: an int, an int64 scalar or a variable of one; that of `tf.summary.experimental.set_step` by default.
        description: a text in Markdown.

    Returns:
        A boolean tensor: whether it was written.

    Raises:
        TypeError: data is something else. ValueError: there is no step.

    >>> with tf.summary.create_file_writer("/tmp/headrace_doc/logs").as_default():
    ...     print(bool(tf.summary.text("note", "It **works**.", step=1)))
    True
    """
    metadata = known_metadata(event_wire.metadata("text", description=description))
    with summary_of("text", name) as tag:
        data = to_tensor(data)
        if data.dtype != dtypes.string:
            raise TypeError(f"data must be string, got {data.dtype.name}.")
        return write(tag, data, step, metadata)
