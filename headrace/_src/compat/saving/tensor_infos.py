"""Tensors of a graph as `TensorInfo` messages, by which signatures name them, and back."""

from typing import Any

from headrace._src.compat.behavior import get_default_graph
from headrace._src.core import nest
from headrace._src.core.composite import CompositeTensor
from headrace._src.core.context import context
from headrace._src.formats.model_messages import TensorInfo
from headrace._src.formats.tensor_protos import shape_to_proto
from headrace._src.graph.building.operation import Operation
from headrace._src.graph.messages.variable_messages import with_scope
from headrace._src.op.api import api
from headrace._src.ops.sparse.tensor import SparseTensor
from headrace._src.saved_model.structured_values import decode_type_spec, encode


@api("compat.v1.saved_model.build_tensor_info", "compat.v1.saved_model.utils.build_tensor_info", dispatch=False)
def build_tensor_info(tensor) -> Any:
    """The `TensorInfo` message of a tensor: its name, dtype and shape.

    Args:
        tensor: a tensor or variable of a graph, dense, sparse, ragged or of another composite type.

    Raises:
        RuntimeError: executing eagerly.

    >>> with tf.Graph().as_default():
    ...     x = tf.compat.v1.placeholder(tf.float32, [None, 2], name="x")
    ...     print(tf.compat.v1.saved_model.build_tensor_info(x).name)
    x:0
    """
    if context.graph is None:
        raise RuntimeError("`build_tensor_info` is not supported in eager execution.")
    return tensor_info(tensor)


def tensor_info(tensor) -> TensorInfo:
    """As `build_tensor_info`, wherever it is called."""
    if isinstance(tensor, CompositeTensor) and not isinstance(tensor, SparseTensor):
        return _composite_info(tensor)
    dtype, shape = tensor.dtype.base_dtype, tensor.shape
    proto = TensorInfo(
        dtype=dtype.as_datatype_enum,
        tensor_shape=shape_to_proto(None if shape.rank is None else shape.as_list()),
    )
    if isinstance(tensor, SparseTensor):
        proto.coo_sparse.values_tensor_name = tensor.values.name
        proto.coo_sparse.indices_tensor_name = tensor.indices.name
        proto.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
    else:
        proto.name = tensor.name
    return proto


def _composite_info(tensor):
    proto = TensorInfo()
    proto.composite_tensor.type_spec.CopyFrom(encode(tensor._type_spec).type_spec_value)
    parts = nest.flatten(tensor, expand_composites=True)
    proto.composite_tensor.components.extend(tensor_info(part) for part in parts)
    return proto


def operation_info(operation) -> TensorInfo:
    """The message of an operation, which has a name only."""
    if not isinstance(operation, Operation):
        raise TypeError(f"Expected {operation!r} to be an Operation but got type {type(operation)} instead.")
    return TensorInfo(name=operation.name, dtype=0, tensor_shape=shape_to_proto(None))


@api(
    "compat.v1.saved_model.get_tensor_from_tensor_info", "compat.v1.saved_model.utils.get_tensor_from_tensor_info",
    dispatch=False,
)  # fmt: skip
def get_tensor_from_tensor_info(tensor_info, graph=None, import_scope=None) -> Any:
    """The tensor of a graph that a `TensorInfo` message describes.

    Args:
        tensor_info: the message.
        graph: the default graph if there is none.
        import_scope: where the graph of the message was imported.

    Raises:
        KeyError: the graph has no such tensor.
        ValueError: the message describes nothing.
    """
    graph = get_default_graph() if graph is None else graph

    def tensor(name):
        return graph.get_tensor_by_name(with_scope(name, import_scope))

    encoding = tensor_info.WhichOneof("encoding")
    if encoding == "name":
        return tensor(tensor_info.name)
    if encoding == "coo_sparse":
        parts = tensor_info.coo_sparse
        return SparseTensor(
            tensor(parts.indices_tensor_name), tensor(parts.values_tensor_name), tensor(parts.dense_shape_tensor_name)
        )
    if encoding == "composite_tensor":
        spec = decode_type_spec(tensor_info.composite_tensor.type_spec)
        components = [tensor(component.name) for component in tensor_info.composite_tensor.components]
        return nest.pack_sequence_as(spec, components, expand_composites=True)
    raise ValueError(
        f"Invalid TensorInfo.encoding: {encoding}. Expected `coo_sparse`, `composite_tensor`, or `name` for a dense "
        "tensor."
    )
