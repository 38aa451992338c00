"""The public names of `tf.compat.v1.saved_model.experimental`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.saved_model.options import VariablePolicy as VariablePolicy
    from headrace._src.saved_model.saving import save as save
    from headrace._src.state.resources import TrackableResource as TrackableResource
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
