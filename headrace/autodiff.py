"""The public names of `tf.autodiff`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.autodiff.forward import ForwardAccumulator as ForwardAccumulator
    from headrace._src.autodiff.gradient_tape import GradientTape as GradientTape
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
