"""The public names of `tf.autodiff`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from headrace._src.autodiff.forward import ForwardAccumulator as ForwardAccumulator
from headrace._src.autodiff.gradient_tape import GradientTape as GradientTape
