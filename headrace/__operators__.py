"""The public names of `tf.__operators__`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.tensorflow_names.internal_functions import add as add
    from headrace._src.compat.tensorflow_names.internal_functions import eq as eq
    from headrace._src.compat.tensorflow_names.internal_functions import ne as ne
    from headrace._src.compat.tensorflow_names.internal_functions import operator_getitem as _getitem
    from headrace._src.compat.tensorflow_names.internal_functions import operator_ragged_getitem as _ragged_getitem
    getitem = _getitem
    ragged_getitem = _ragged_getitem
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
