"""The public names of `tf.saved_model`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.saved_model.constants import ASSETS_DIRECTORY as ASSETS_DIRECTORY
    from headrace._src.saved_model.constants import ASSETS_KEY as ASSETS_KEY
    from headrace._src.saved_model.constants import CLASSIFY_INPUTS as CLASSIFY_INPUTS
    from headrace._src.saved_model.constants import CLASSIFY_METHOD_NAME as CLASSIFY_METHOD_NAME
    from headrace._src.saved_model.constants import CLASSIFY_OUTPUT_CLASSES as CLASSIFY_OUTPUT_CLASSES
    from headrace._src.saved_model.constants import CLASSIFY_OUTPUT_SCORES as CLASSIFY_OUTPUT_SCORES
    from headrace._src.saved_model.constants import DEBUG_DIRECTORY as DEBUG_DIRECTORY
    from headrace._src.saved_model.constants import DEBUG_INFO_FILENAME_PB as DEBUG_INFO_FILENAME_PB
    from headrace._src.saved_model.constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY as DEFAULT_SERVING_SIGNATURE_DEF_KEY
    from headrace._src.saved_model.constants import GPU as GPU
    from headrace._src.saved_model.constants import PREDICT_INPUTS as PREDICT_INPUTS
    from headrace._src.saved_model.constants import PREDICT_METHOD_NAME as PREDICT_METHOD_NAME
    from headrace._src.saved_model.constants import PREDICT_OUTPUTS as PREDICT_OUTPUTS
    from headrace._src.saved_model.constants import REGRESS_INPUTS as REGRESS_INPUTS
    from headrace._src.saved_model.constants import REGRESS_METHOD_NAME as REGRESS_METHOD_NAME
    from headrace._src.saved_model.constants import REGRESS_OUTPUTS as REGRESS_OUTPUTS
    from headrace._src.saved_model.constants import SAVED_MODEL_FILENAME_PB as SAVED_MODEL_FILENAME_PB
    from headrace._src.saved_model.constants import SAVED_MODEL_FILENAME_PBTXT as SAVED_MODEL_FILENAME_PBTXT
    from headrace._src.saved_model.constants import SAVED_MODEL_SCHEMA_VERSION as SAVED_MODEL_SCHEMA_VERSION
    from headrace._src.saved_model.constants import SERVING as SERVING
    from headrace._src.saved_model.constants import TPU as TPU
    from headrace._src.saved_model.constants import TRAINING as TRAINING
    from headrace._src.saved_model.constants import VARIABLES_DIRECTORY as VARIABLES_DIRECTORY
    from headrace._src.saved_model.constants import VARIABLES_FILENAME as VARIABLES_FILENAME
    from headrace._src.saved_model.load_options import LoadOptions as LoadOptions
    from headrace._src.saved_model.loading import load as load
    from headrace._src.saved_model.model_files import contains_saved_model as contains_saved_model
    from headrace._src.saved_model.options import SaveOptions as SaveOptions
    from headrace._src.saved_model.saving import save as save
    from headrace._src.state.assets import Asset as Asset
    from headrace.saved_model import experimental as experimental
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
