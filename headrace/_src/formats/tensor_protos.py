"""Arrays and shapes as `TensorProto` and `TensorShapeProto` messages, and back."""

import numpy as np

from headrace._src.core import dtypes
from headrace._src.formats.graph_messages import TensorProto, TensorShapeProto
from headrace._src.formats.tensor_wire import parse_tensor

# The field that holds single values, by dtype.
_FIELDS = {
    **dict.fromkeys(["int8", "int16", "int32", "uint8", "uint16", "int4", "uint4", "int2", "uint2"], "int_val"),
    **dict.fromkeys(["qint8", "quint8", "qint16", "quint16", "qint32"], "int_val"),
    "float32": "float_val", "float64": "double_val", "int64": "int64_val", "bool": "bool_val", "uint32": "uint32_val",
    "uint64": "uint64_val", "complex64": "scomplex_val", "complex128": "dcomplex_val", "half": "half_val",
    "float16": "half_val", "bfloat16": "half_val",
}  # fmt: skip


def array_to_proto(array: np.ndarray, dtype: dtypes.DType):
    """An array as a `TensorProto`. TF: a single number stands in a field of its own, many as one string of bytes.

    Raises:
        TypeError: the dtype is resource or variant, which have no values outside of the process.
    """
    if dtype._kind in "rv":
        raise TypeError(f"A tensor of {dtype.name} cannot be written as a TensorProto.")
    proto = TensorProto(dtype=dtype.as_datatype_enum, tensor_shape=shape_to_proto(array.shape))
    if dtype._kind == "s":
        proto.string_val.extend(array.ravel().tolist())
    elif array.size > 1:
        little = np.ascontiguousarray(array)
        proto.tensor_content = little.astype(little.dtype.newbyteorder("<"), copy=False).tobytes()
    elif array.size:
        _add_number(proto, array.reshape(()), dtype)
    return proto


def _add_number(proto, scalar, dtype):
    field = _FIELDS.get(dtype.name)
    if field is None:  # the 8-bit and smaller floats
        proto.float8_val = scalar.tobytes()
    elif field == "half_val":
        proto.half_val.append(int(scalar.view(np.uint16)))
    elif dtype._kind == "c":
        number = complex(scalar)
        getattr(proto, field).extend([number.real, number.imag])
    else:
        getattr(proto, field).append(dtype_number(scalar, dtype))


def dtype_number(scalar, dtype):
    """A number as Python has it."""
    if dtype._kind == "f":
        return float(scalar)
    return bool(scalar) if dtype._kind == "b" else int(scalar)


def proto_to_array(proto) -> tuple[np.ndarray, dtypes.DType]:
    """The array and dtype of a `TensorProto`.

    Raises:
        ValueError: its parts do not fit together, or it is of dtype resource or variant.
    """
    return parse_tensor(proto.SerializeToString())


def shape_to_proto(dims):
    """Dimensions (None for unknown ones; None for an unknown rank) as a `TensorShapeProto`."""
    if dims is None:
        return TensorShapeProto(unknown_rank=True)
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=-1 if size is None else size) for size in dims])


def proto_to_shape(proto):
    """The dimensions of a `TensorShapeProto`, None for unknown ones; None for an unknown rank."""
    if proto.unknown_rank:
        return None
    sizes = [dim.size for dim in proto.dim]
    if any(size < -1 for size in sizes):
        raise ValueError(f"A shape has the dimension {min(sizes)}.")
    return tuple(None if size == -1 else size for size in sizes)
