"""The public names of `tf.estimator.inputs`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.estimators.inputs import numpy_input_fn as numpy_input_fn
    from headrace._src.compat.estimators.inputs import pandas_input_fn as pandas_input_fn
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
