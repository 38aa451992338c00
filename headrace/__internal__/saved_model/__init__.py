"""The public names of `tf.__internal__.saved_model`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace.__internal__.saved_model import load as load
    from headrace._src.compat.saving.model_building import SavedModelBuilder as SavedModelBuilder
    from headrace._src.compat.tensorflow_names.internal_models import load_partial as load_partial
    from headrace._src.compat.tensorflow_names.internal_models import parse_saved_model as parse_saved_model
    from headrace._src.saved_model.structured_values import decode_type_spec as _decode_proto
    from headrace._src.saved_model.structured_values import encode as _encode_structure
    decode_proto = _decode_proto
    encode_structure = _encode_structure
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
