"""The public names of `tf.compat.v1.saved_model.signature_def_utils`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.saving.signature_messages import MethodNameUpdater as MethodNameUpdater
    from headrace._src.compat.saving.signature_messages import build_signature_def as build_signature_def
    from headrace._src.compat.saving.signature_messages import classification_signature_def as classification_signature_def
    from headrace._src.compat.saving.signature_messages import is_valid_signature as is_valid_signature
    from headrace._src.compat.saving.signature_messages import predict_signature_def as predict_signature_def
    from headrace._src.compat.saving.signature_messages import regression_signature_def as regression_signature_def
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
