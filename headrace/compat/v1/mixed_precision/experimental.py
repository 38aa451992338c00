"""The public names of `tf.compat.v1.mixed_precision.experimental`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.training.loss_scales import DynamicLossScale as DynamicLossScale
    from headrace._src.compat.training.loss_scales import FixedLossScale as FixedLossScale
    from headrace._src.compat.training.loss_scales import LossScale as LossScale
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
