"""The public names of `tf.__internal__.saved_model.load`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.tensorflow_names.internal_models import VersionedTypeRegistration as VersionedTypeRegistration
    from headrace._src.compat.tensorflow_names.internal_models import get_setter as get_setter
    from headrace._src.compat.tensorflow_names.internal_models import register_revived_type as register_revived_type
    from headrace._src.compat.tensorflow_names.internal_models import registered_identifiers as registered_identifiers
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
