"""The public names of `tf.dtypes`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.core.dtypes import DType as DType
    from headrace._src.core.dtypes import QUANTIZED_DTYPES as QUANTIZED_DTYPES
    from headrace._src.core.dtypes import as_dtype as as_dtype
    from headrace._src.core.dtypes import bfloat16 as bfloat16
    from headrace._src.core.dtypes import bool as bool
    from headrace._src.core.dtypes import complex128 as complex128
    from headrace._src.core.dtypes import complex64 as complex64
    from headrace._src.core.dtypes import double as double
    from headrace._src.core.dtypes import float16 as float16
    from headrace._src.core.dtypes import float32 as float32
    from headrace._src.core.dtypes import float64 as float64
    from headrace._src.core.dtypes import half as half
    from headrace._src.core.dtypes import int16 as int16
    from headrace._src.core.dtypes import int32 as int32
    from headrace._src.core.dtypes import int64 as int64
    from headrace._src.core.dtypes import int8 as int8
    from headrace._src.core.dtypes import qint16 as qint16
    from headrace._src.core.dtypes import qint32 as qint32
    from headrace._src.core.dtypes import qint8 as qint8
    from headrace._src.core.dtypes import quint16 as quint16
    from headrace._src.core.dtypes import quint8 as quint8
    from headrace._src.core.dtypes import resource as resource
    from headrace._src.core.dtypes import string as string
    from headrace._src.core.dtypes import uint16 as uint16
    from headrace._src.core.dtypes import uint32 as uint32
    from headrace._src.core.dtypes import uint64 as uint64
    from headrace._src.core.dtypes import uint8 as uint8
    from headrace._src.core.dtypes import variant as variant
    from headrace._src.ops.arrays.casting import cast as cast
    from headrace._src.ops.arrays.casting import saturate_cast as saturate_cast
    from headrace._src.ops.math.complex_numbers import complex as complex
    from headrace.dtypes import experimental as experimental
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
