"""The public names of `tf.compat.v1.saved_model`.

Written by scripts/exports from the `@api` declarations: do not edit."""

from typing import TYPE_CHECKING

from headrace._src.op.loading import public_module as _public_module

if TYPE_CHECKING:
    from headrace._src.compat.saving.model_building import SavedModelBuilder as _Builder
    from headrace._src.compat.saving.model_building import main_op_with_restore as main_op_with_restore
    from headrace._src.compat.saving.model_building import simple_save as simple_save
    from headrace._src.compat.saving.model_loading import load as load
    from headrace._src.compat.saving.model_loading import maybe_saved_model_directory as maybe_saved_model_directory
    from headrace._src.compat.saving.signature_messages import build_signature_def as build_signature_def
    from headrace._src.compat.saving.signature_messages import classification_signature_def as classification_signature_def
    from headrace._src.compat.saving.signature_messages import is_valid_signature as is_valid_signature
    from headrace._src.compat.saving.signature_messages import predict_signature_def as predict_signature_def
    from headrace._src.compat.saving.signature_messages import regression_signature_def as regression_signature_def
    from headrace._src.compat.saving.tensor_infos import build_tensor_info as build_tensor_info
    from headrace._src.compat.saving.tensor_infos import get_tensor_from_tensor_info as get_tensor_from_tensor_info
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
    from headrace._src.saved_model.constants import LEGACY_INIT_OP_KEY as LEGACY_INIT_OP_KEY
    from headrace._src.saved_model.constants import MAIN_OP_KEY as MAIN_OP_KEY
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
    from headrace._src.saved_model.loading import load as _load_v2
    from headrace._src.saved_model.model_files import contains_saved_model as contains_saved_model
    from headrace._src.saved_model.options import SaveOptions as SaveOptions
    from headrace._src.saved_model.saving import save as save
    from headrace._src.state.assets import Asset as Asset
    from headrace.compat.v1.saved_model import builder as builder
    from headrace.compat.v1.saved_model import constants as constants
    from headrace.compat.v1.saved_model import experimental as experimental
    from headrace.compat.v1.saved_model import loader as loader
    from headrace.compat.v1.saved_model import main_op as main_op
    from headrace.compat.v1.saved_model import signature_constants as signature_constants
    from headrace.compat.v1.saved_model import signature_def_utils as signature_def_utils
    from headrace.compat.v1.saved_model import tag_constants as tag_constants
    from headrace.compat.v1.saved_model import utils as utils
    Builder = _Builder
    load_v2 = _load_v2
else:
    __getattr__, __dir__, __all__ = _public_module(__name__)
