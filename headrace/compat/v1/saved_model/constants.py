"""The public names of `tf.compat.v1.saved_model.constants`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.saved_model.constants import ASSETS_DIRECTORY as ASSETS_DIRECTORY
    from headrace._src.saved_model.constants import ASSETS_KEY as ASSETS_KEY
    from headrace._src.saved_model.constants import DEBUG_DIRECTORY as DEBUG_DIRECTORY
    from headrace._src.saved_model.constants import DEBUG_INFO_FILENAME_PB as DEBUG_INFO_FILENAME_PB
    from headrace._src.saved_model.constants import LEGACY_INIT_OP_KEY as LEGACY_INIT_OP_KEY
    from headrace._src.saved_model.constants import MAIN_OP_KEY as MAIN_OP_KEY
    from headrace._src.saved_model.constants import SAVED_MODEL_FILENAME_PB as SAVED_MODEL_FILENAME_PB
    from headrace._src.saved_model.constants import SAVED_MODEL_FILENAME_PBTXT as SAVED_MODEL_FILENAME_PBTXT
    from headrace._src.saved_model.constants import SAVED_MODEL_SCHEMA_VERSION as SAVED_MODEL_SCHEMA_VERSION
    from headrace._src.saved_model.constants import VARIABLES_DIRECTORY as VARIABLES_DIRECTORY
    from headrace._src.saved_model.constants import VARIABLES_FILENAME as VARIABLES_FILENAME
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
