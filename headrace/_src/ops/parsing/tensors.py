"""Tensors as encoded `TensorProto` messages, and JSON Examples as encoded ones."""

import base64
import sys

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.tensor import Tensor
from headrace._src.formats import tensor_wire, wire
from headrace._src.formats.example_json import encoded_example
from headrace._src.op.api import api
from headrace._src.op.batching import on_last_axes
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op
from headrace._src.op.infer import same_as_input, scalar, unknown
from headrace._src.ops.strings.kernel_arrays import map_strings, scalar_string

_SERIALIZED_TYPES = dtypes.FLOATING & {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64} | {
    dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64,
    dtypes.bool, dtypes.complex64, dtypes.complex128, dtypes.string,
}  # fmt: skip


def encoded_tensor(array, dtype) -> bytes:
    """An encoded `TensorProto` whose numbers are one string of bytes."""
    dims = b"".join(wire.message(2, wire.integer(1, size) if size else b"") for size in array.shape)
    head = wire.integer(1, dtype.as_datatype_enum) + wire.message(2, dims)
    if dtype is dtypes.string:
        return head + b"".join([wire.message(8, item) for item in array.ravel().tolist()])
    little = np.ascontiguousarray(array)
    if sys.byteorder == "big":
        little = little.byteswap()
    content = little.tobytes()
    return head + wire.message(4, content) if content else head


def _serialize_kernel(tensor):
    dtype = dtypes.string if tensor.dtype == object else dtypes.FROM_NUMPY[tensor.dtype]
    return encoded_tensor(tensor, dtype)


SERIALIZE_TENSOR = Op(
    "SerializeTensor",
    "tensor: T -> serialized: string",
    T=_SERIALIZED_TYPES,
    infer=scalar,
    kernel=_serialize_kernel,
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("io.serialize_tensor")
def serialize_tensor(tensor, name=None) -> Tensor:
    """A tensor as a string that `parse_tensor` reads: an encoded `TensorProto`.

    >>> tf.io.parse_tensor(tf.io.serialize_tensor([[1, 2], [3, 4]]), tf.int32).numpy().tolist()
    [[1, 2], [3, 4]]
    """
    return SERIALIZE_TENSOR(to_tensor(tensor), name=name)


def _parse_kernel(serialized, out_type):
    if serialized.ndim:
        raise errors.invalid_argument(f"ParseTensor: serialized must be a scalar, got shape {serialized.shape}.")
    data = scalar_string("ParseTensor", "serialized", serialized)
    try:
        array, dtype = tensor_wire.parse_tensor(data)
    except ValueError as error:
        start = base64.b64encode(data[:60]).decode()
        raise errors.invalid_argument(
            f"ParseTensor: Could not parse serialized as TensorProto: {error}. It begins, in base64, with {start!r}."
        ) from None
    if dtype is not out_type:
        raise errors.invalid_argument(
            f"ParseTensor: a tensor of {dtype.name} is stored, but out_type is {out_type.name}."
        )
    return array


PARSE_TENSOR = Op(
    "ParseTensor",
    "serialized: string, *, out_type: type -> output: out_type",
    infer=unknown,
    kernel=_parse_kernel,
    lower=None,  # strings exist on the host only
    grad=None,
)


@api("io.parse_tensor")
def parse_tensor(serialized, out_type, name=None) -> Tensor:
    """The tensor that `serialize_tensor` wrote, or that another encoded `TensorProto` holds.

    Args:
        serialized: one string.
        out_type: the dtype of the tensor that is stored.
        name: a name for the operation.

    Raises:
        InvalidArgumentError: the string is no TensorProto, or one of another dtype.
    """
    return PARSE_TENSOR(to_tensor(serialized, dtypes.string), out_type=dtypes.as_dtype(out_type), name=name)


def _example_of(text):
    try:
        return encoded_example(text)
    except ValueError as error:
        raise errors.invalid_argument(f"DecodeJSONExample: Error while parsing JSON: {error}.") from None


DECODE_JSON_EXAMPLE = Op(
    "DecodeJSONExample",
    "json_examples: string -> binary_examples: string",
    infer=same_as_input,
    kernel=lambda json_examples: map_strings(_example_of, json_examples),
    lower=None,  # strings exist on the host only
    grad=None,
    vectorize=on_last_axes(),
)


@api("io.decode_json_example")
def decode_json_example(json_examples, name=None) -> Tensor:
    """Examples in JSON as encoded ones, which `parse_example` reads.

    Args:
        json_examples: strings, each an `Example` as protobuf writes messages in JSON.
        name: a name for the operation.

    Raises:
        InvalidArgumentError: a string is no such JSON.

    >>> text = '{"features": {"feature": {"a": {"int64List": {"value": [1, 2]}}}}}'
    >>> encoded = tf.io.decode_json_example(text)
    >>> tf.io.parse_single_example(encoded, {"a": tf.io.FixedLenFeature([2], tf.int64)})["a"].numpy().tolist()
    [1, 2]
    """
    return DECODE_JSON_EXAMPLE(json_examples, name=name)
