"""The public names of `tf.compat.v1`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.core.devices import MutableDeviceSpec as DeviceSpec
    from headrace._src.core.shapes import Dimension as Dimension
    from headrace._src.core.shapes import TensorShape as TensorShape
    from headrace._src.core.shapes import dimension_at_index as dimension_at_index
    from headrace._src.core.shapes import dimension_value as dimension_value
    from headrace._src.core.specs import TensorSpec as TensorSpec
    from headrace._src.ops.clipping import clip_by_average_norm as clip_by_average_norm
    from headrace.compat.v1 import errors as errors
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
