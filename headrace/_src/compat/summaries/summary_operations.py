"""`tf.compat.v1.summary`: operations of a graph that give encoded summaries, and the collections that they are in."""

import contextlib
import logging
import re
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace._src.compat.graph_keys import GraphKeys, get_collection
from headrace._src.compat.sessions.session import placeholder
from headrace._src.compat.training.steps_and_rates import get_global_step
from headrace._src.core import dtypes
from headrace._src.core.context import context, executing_eagerly
from headrace._src.core.lazy import LazyModule
from headrace._src.core.names import name_scope
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.convert import to_tensor
from headrace._src.summary import histograms, media, scalars, writers
from headrace._src.summary.summary_ops import (
    AUDIO_SUMMARY,
    HISTOGRAM_SUMMARY,
    IMAGE_SUMMARY,
    MERGE_SUMMARY,
    SCALAR_SUMMARY,
    TENSOR_SUMMARY,
)
from headrace._src.summary.writer_ops import WRITE_GRAPH_SUMMARY
from headrace._src.summary.writing import SUMMARIES, serialized_graph

if TYPE_CHECKING:
    from headrace._src.graph.building.operation import Operation

_messages = LazyModule("headrace._src.formats.event_messages")
_json = LazyModule("google.protobuf.json_format")
_logger = logging.getLogger("tensorflow")
_ILLEGAL = re.compile(r"[^-/\w.]")
_NOT_EAGER = "Merging tf.summary.* ops is not compatible with eager execution. Use tf.contrib.summary instead."


def _clean(name):
    """A tag of characters that names of operations may have."""
    if name is None:
        return None
    cleaned = _ILLEGAL.sub("_", name).lstrip("/")
    if cleaned != name:
        _logger.info("Summary name %s is illegal; using %s instead.", name, cleaned)
    return cleaned


@contextlib.contextmanager
def _scope(name, family):
    """A scope for a summary: its tag, and the name for the operation."""
    name, family = _clean(name), _clean(family)
    with name_scope(name if family is None else f"{family}/{name}") as scope:
        tag = scope.rstrip("/")
        # TF: the family is there twice, since TensorBoard groups by the first part, and scopes may stand before.
        yield (tag if family is None else f"{family}/{tag}"), scope


def _collected(summary, collections, default=(GraphKeys.SUMMARIES,)):
    if context.graph is not None:
        for key in default if collections is None else collections:
            context.graph.add_to_collection(key, summary)
    return summary


# TF: while a writer of 2.x is the default and there is a step, summaries of 1.x go to it.


def _goes_to_writer():
    if context.graph is not None and not _outside_is_eager():
        return False
    if writers.current.writer is None:
        return False
    if _step() is None:
        warnings.warn(
            "Cannot activate TF2 compatibility support for TF1 summary ops: global step not set. To set step for "
            "summary writer, use `with SummaryWriter.as_default(step=_):`, `tf.summary.experimental.set_step()` or "
            "`tf.compat.v1.train.create_global_step()`.",
            stacklevel=4,
        )
        return False
    return True


def _outside_is_eager():
    graph = context.graph
    while graph is not None and graph.building_function:
        graph = graph.outer_graph
    return graph is None


def _step():
    step = writers.get_step()
    return get_global_step() if step is None else step


def _written(write, name, family, *data):
    with _scope(name, family) as (tag, _), name_scope(""):  # the tag has the open scopes already
        write(tag, *data, step=_step())
    return to_tensor(b"")  # which can be merged


@api("compat.v1.summary.scalar", dispatch=False)
def scalar(name, tensor, collections=None, family=None) -> Tensor:
    """An encoded summary of one number.

    Args:
        name: what it is called; the tag also has the open name scopes.
        tensor: a number.
        collections: the collections that it is added to; by default that which `merge_all` merges.
        family: what stands first in the tag, by which TensorBoard groups.

    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
    ...     data = sess.run(tf.compat.v1.summary.scalar("loss", 0.5))
    >>> tf.compat.v1.Summary.FromString(data).value[0].simple_value
    0.5
    """
    if _goes_to_writer():
        return _written(scalars.scalar, name, family, tensor)
    with _scope(name, family) as (tag, scope):
        return _collected(SCALAR_SUMMARY(tag, tensor, name=scope), collections)


@api("compat.v1.summary.histogram", dispatch=False)
def histogram(name, values, collections=None, family=None) -> Tensor:
    """An encoded summary of how values are distributed.

    Args:
        name: what it is called; the tag also has the open name scopes.
        values: real numbers of any shape.
        collections: the collections that it is added to; by default that which `merge_all` merges.
        family: what stands first in the tag, by which TensorBoard groups.

    Raises:
        InvalidArgumentError: when it runs, a value is not finite.
    """
    if _goes_to_writer():
        return _written(histograms.histogram, name, family, values)
    with _scope(name, family) as (tag, scope):
        return _collected(HISTOGRAM_SUMMARY(tag, values, name=scope), collections)


@api("compat.v1.summary.image", dispatch=False)
def image(name, tensor, max_outputs=3, collections=None, family=None) -> Tensor:
    """An encoded summary of images, as PNG.

    Args:
        name: what they are called; the tags also have the open name scopes, `/image` and a number.
        tensor: of shape [images, height, width, channels] with 1, 3 or 4 channels, of uint8 or floating. Floating
            images are scaled so that the largest value is 255; if there are negative values, zero becomes 128. Pixels
            that are not finite become red.
        max_outputs: only the first so many images.
        collections: the collections that it is added to; by default that which `merge_all` merges.
        family: what stands first in the tag, by which TensorBoard groups.
    """
    if _goes_to_writer():
        return _written(lambda tag, data, step: media.image(tag, data, step, max_outputs), name, family, tensor)
    if not isinstance(tensor, Tensor) and np.asarray(tensor).dtype.kind == "i":
        tensor = to_tensor(np.asarray(tensor, np.float32))  # TF: what is no tensor yet becomes one of a dtype that fits
    with _scope(name, family) as (tag, scope):
        return _collected(IMAGE_SUMMARY(tag, tensor, max_images=max_outputs, name=scope), collections)


@api("compat.v1.summary.audio", dispatch=False)
def audio(name, tensor, sample_rate, max_outputs=3, collections=None, family=None) -> Tensor:
    """An encoded summary of sounds, as WAV.

    Args:
        name: what they are called; the tags also have the open name scopes, `/audio` and a number.
        tensor: float32 of shape [sounds, frames] or [sounds, frames, channels], from -1 to 1.
        sample_rate: frames per second.
        max_outputs: only the first so many sounds.
        collections: the collections that it is added to; by default that which `merge_all` merges.
        family: what stands first in the tag, by which TensorBoard groups.
    """
    if _goes_to_writer():

        def write(tag, data, step):
            media.audio(tag, data, sample_rate, step, max_outputs)

        return _written(write, name, family, tensor)
    with _scope(name, family) as (tag, scope):
        rate = to_tensor(sample_rate, dtypes.float32, name="sample_rate")
        return _collected(AUDIO_SUMMARY(tag, tensor, rate, max_outputs=max_outputs, name=scope), collections)


@api("compat.v1.summary.text", dispatch=False)
def text(name, tensor, collections=None) -> Tensor:
    """An encoded summary of strings, which TensorBoard shows as Markdown.

    Args:
        name: what it is called; the tag also has the open name scopes.
        tensor: a tensor of strings.
        collections: the collections that it is added to; by default that which `merge_all` merges.

    Raises:
        ValueError: the tensor is of another dtype.
    """
    tensor = to_tensor(tensor)
    if tensor.dtype is not dtypes.string:
        label = getattr(tensor, "name", "tensor") if context.graph is not None else "tensor"
        raise ValueError(f"Expected tensor {label} to have dtype string, got {tensor.dtype}")
    if _goes_to_writer():
        return _written(scalars.text, name, None, tensor)
    metadata = _messages.SummaryMetadata(plugin_data=dict(plugin_name="text"))
    return tensor_summary(name, tensor, collections=collections, summary_metadata=metadata)


@api("compat.v1.summary.tensor_summary", dispatch=False)
def tensor_summary(
    name, tensor, summary_description=None, collections=None, summary_metadata=None, family=None, display_name=None
) -> Tensor:
    """An encoded summary of a tensor.

    Args:
        name: what it is called; the tag also has the open name scopes.
        tensor: of any dtype and shape.
        summary_description: a text about it.
        collections: the collections that it is added to; by default that which `merge_all` merges.
        summary_metadata: a `SummaryMetadata`, which tells the plugin that shows it.
        family: what stands first in the tag, by which TensorBoard groups.
        display_name: what TensorBoard shows in place of the name.
    """
    metadata = _messages.SummaryMetadata()
    if summary_metadata is not None:
        metadata.MergeFromString(summary_metadata.SerializeToString())
    if summary_description is not None:
        metadata.summary_description = summary_description
    if display_name is not None:
        metadata.display_name = display_name
    with _scope(name, family) as (tag, scope):
        return _collected(TENSOR_SUMMARY(tag, tensor, metadata.SerializeToString(), name=scope), collections)


@api("compat.v1.summary.merge", dispatch=False)
def merge(inputs, collections=None, name=None) -> Tensor:
    """Several encoded summaries as one.

    Args:
        inputs: the summaries.
        collections: the collections that it is added to; by default none.
        name: a name for the operation.

    Raises:
        RuntimeError: executing eagerly.
        InvalidArgumentError: when it runs, two have the same tag.
    """
    if executing_eagerly():
        if _goes_to_writer():
            return to_tensor(b"")
        raise RuntimeError(_NOT_EAGER)
    with name_scope(name or "Merge"):
        return _collected(MERGE_SUMMARY(list(inputs), name=name), collections, ())


@api("compat.v1.summary.merge_all", dispatch=False)
def merge_all(key=GraphKeys.SUMMARIES, scope=None, name=None) -> Tensor | None:
    """All summaries of a collection of the default graph as one; None if there are none.

    Args:
        key: the collection; by default that to which summaries are added.
        scope: only those whose names begin so.
        name: a name for the operation.

    Raises:
        RuntimeError: executing eagerly.

    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
    ...     for name in ("a", "b"):
    ...         summary = tf.compat.v1.summary.scalar(name, 1.0)
    ...     data = sess.run(tf.compat.v1.summary.merge_all())
    >>> [value.tag for value in tf.compat.v1.Summary.FromString(data).value]
    ['a', 'b']
    """
    if executing_eagerly():
        raise RuntimeError(_NOT_EAGER)
    found = get_collection(key, scope)
    return merge(found, name=name) if found else None


@api("compat.v1.summary.get_summary_description", dispatch=False)
def get_summary_description(node_def) -> Any:
    """The `SummaryDescription` in the attribute `description` of a `TensorSummary` node, where it stands as JSON.

    Raises:
        ValueError: it is a node of another op.
    """
    if node_def.op != "TensorSummary":
        raise ValueError(f"Can't get_summary_description on {node_def.op}")
    return _json.Parse(node_def.attr["description"].s.decode(), _messages.SummaryDescription())


# Writers of 2.x in a graph.


@api("compat.v1.summary.all_v2_summary_ops", dispatch=False)
def all_v2_summary_ops() -> "list[Operation] | None":
    """The operations of the default graph that `tf.summary` functions made; None when executing eagerly."""
    return None if context.graph is None else get_collection(SUMMARIES)


@api("compat.v1.summary.initialize", dispatch=False)
def initialize(graph=None, session=None) -> None:
    """Makes the files of the writers of the default graph, which `tf.summary.create_file_writer` made.

    Args:
        graph: a graph to write to the default writer.
        session: by default the default one.

    Raises:
        RuntimeError: there is no default writer.
        ValueError: there is no session.
    """
    if context.graph is None:
        return
    if writers.current.writer is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    session = context.graph.default_session() if session is None else session
    if session is None:
        raise ValueError("Argument `session must be passed if no default session exists")
    session.run(get_collection(writers.INITIALIZERS))
    if graph is not None:
        data = placeholder(dtypes.string)
        written = WRITE_GRAPH_SUMMARY(writers.current.writer._resource, to_tensor(0, dtypes.int64), data)
        session.run(written, {data: serialized_graph(graph)})
