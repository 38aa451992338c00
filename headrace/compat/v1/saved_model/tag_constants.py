"""The public names of `tf.compat.v1.saved_model.tag_constants`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.saved_model.constants import GPU as GPU
    from headrace._src.saved_model.constants import SERVING as SERVING
    from headrace._src.saved_model.constants import TPU as TPU
    from headrace._src.saved_model.constants import TRAINING as TRAINING
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
