"""The bytes of strings as numbers: `tf.io.decode_raw`."""

import numpy as np

from headrace._src.core import dtypes, errors
from headrace._src.core.shapes import TensorShape
from headrace._src.core.tensor import Tensor
from headrace._src.op.api import api
from headrace._src.op.batching import on_last_axes
from headrace._src.op.convert import to_tensor
from headrace._src.op.definition import Op

_PADDED_TYPES = frozenset({
    dtypes.float16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.uint16, dtypes.uint8, dtypes.int16,
    dtypes.int8, dtypes.int64, dtypes.bfloat16,
})  # fmt: skip
_TYPES = _PADDED_TYPES | {dtypes.complex64, dtypes.complex128, dtypes.bool}


def _numbers(data, out_type, little_endian):
    kind = out_type._np
    if kind == bool:
        return np.frombuffer(data, np.uint8) != 0
    unit = kind.itemsize // 2 if kind.kind == "c" else kind.itemsize
    if little_endian or unit == 1:
        return np.frombuffer(data, kind)
    return np.ascontiguousarray(np.frombuffer(data, np.uint8).reshape(-1, unit)[:, ::-1]).reshape(-1).view(kind)


def _check_type(op, out_type, allowed):
    if out_type not in allowed:
        names = ", ".join(sorted(dtype.name for dtype in allowed))
        raise errors.invalid_argument(f"{op}: out_type must be one of {names}, got {out_type.name}.")


def _decode_kernel(bytes, out_type, little_endian):
    _check_type("DecodeRaw", out_type, _TYPES)
    items = bytes.ravel().tolist()
    if not items:
        return np.empty((*bytes.shape, 0), out_type._np)
    length = len(items[0])
    for i, item in enumerate(items):
        if len(item) != length:
            raise errors.invalid_argument(
                f"DecodeRaw: all strings must have one length, but string 0 has {length} bytes and string {i} "
                f"{len(item)}. Give fixed_length to fill them up."
            )
    size = out_type._np.itemsize
    if length % size:
        raise errors.invalid_argument(
            f"DecodeRaw: the length of strings must be a multiple of {size}, the size of {out_type.name}, got {length}."
        )
    return _numbers(b"".join(items), out_type, little_endian).reshape(*bytes.shape, length // size)


def _with_last(shape, last):
    return TensorShape(None) if shape.rank is None else TensorShape([*shape.as_list(), last])


DECODE_RAW = Op(
    "DecodeRaw",
    "bytes: string, *, out_type: type, little_endian: bool = True -> output: out_type",
    out_type=_TYPES,
    infer=lambda bytes, out_type, little_endian: _with_last(bytes.shape, None),
    kernel=_decode_kernel,
    lower=None,  # strings exist on the host only
    grad=None,
    vectorize=on_last_axes(),
)


def _decode_padded_kernel(input_bytes, fixed_length, out_type, little_endian):
    op = "DecodePaddedRaw"
    _check_type(op, out_type, _PADDED_TYPES)
    if fixed_length.ndim:
        raise errors.invalid_argument(f"{op}: fixed_length must be a scalar, got shape {fixed_length.shape}.")
    length, size = int(fixed_length), out_type._np.itemsize
    if length <= 0:
        raise errors.invalid_argument(f"{op}: fixed_length must be positive, got {length}.")
    if length % size:
        raise errors.invalid_argument(
            f"{op}: fixed_length must be a multiple of {size}, the size of {out_type.name}, got {length}."
        )
    data = b"".join([item[:length].ljust(length, b"\0") for item in input_bytes.ravel().tolist()])
    return _numbers(data, out_type, little_endian).reshape(*input_bytes.shape, length // size)


def _padded_infer(input_bytes, fixed_length, out_type, little_endian):
    length = None if fixed_length.value is None else int(np.asarray(fixed_length.value))
    size = out_type._np.itemsize
    return _with_last(input_bytes.shape, None if length is None or length < 0 or length % size else length // size)


DECODE_PADDED_RAW = Op(
    "DecodePaddedRaw",
    "input_bytes: string, fixed_length: int32, *, out_type: type, little_endian: bool = True -> output: out_type",
    out_type=_PADDED_TYPES,
    infer=_padded_infer,
    kernel=_decode_padded_kernel,
    lower=None,  # strings exist on the host only
    grad=None,
    vectorize=on_last_axes(),
)


@api("io.decode_raw")
def decode_raw(input_bytes, out_type, little_endian=True, fixed_length=None, name=None) -> Tensor:
    """The bytes of strings as numbers, which become a last dimension.

    Args:
        input_bytes: strings, all of one length unless `fixed_length` is given.
        out_type: a numeric dtype.
        little_endian: whether the lowest byte of a number comes first.
        fixed_length: strings are cut to this many bytes, or filled up with zeros.
        name: a name for the operation.

    >>> tf.io.decode_raw(["AB", "CD"], tf.uint8).numpy().tolist()
    [[65, 66], [67, 68]]
    """
    input_bytes = to_tensor(input_bytes, dtypes.string)
    out_type = dtypes.as_dtype(out_type)
    if fixed_length is not None:
        fixed_length = to_tensor(fixed_length, dtypes.int32)
        return DECODE_PADDED_RAW(
            input_bytes, fixed_length, out_type=out_type, little_endian=little_endian, name=name
        )
    return DECODE_RAW(input_bytes, out_type=out_type, little_endian=little_endian, name=name)
