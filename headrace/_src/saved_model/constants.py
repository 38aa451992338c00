"""The names that SavedModels have in common: files, tags, keys of signatures."""

ASSETS_DIRECTORY = "assets"
ASSETS_EXTRA_DIRECTORY = "assets.extra"
ASSETS_KEY = "saved_model_assets"
DEBUG_DIRECTORY = "debug"
DEBUG_INFO_FILENAME_PB = "saved_model_debug_info.pb"
FINGERPRINT_FILENAME = "fingerprint.pb"
INIT_OP_SIGNATURE_KEY = "__saved_model_init_op"
LEGACY_INIT_OP_KEY = "legacy_init_op"
MAIN_OP_KEY = "saved_model_main_op"
SAVED_MODEL_FILENAME_CPB = "saved_model.cpb"
SAVED_MODEL_FILENAME_PB = "saved_model.pb"
SAVED_MODEL_FILENAME_PBTXT = "saved_model.pbtxt"
SAVED_MODEL_SCHEMA_VERSION = 1
VARIABLES_DIRECTORY = "variables"
VARIABLES_FILENAME = "variables"

# Tags of meta graphs.
GPU = "gpu"
SERVING = "serve"
TPU = "tpu"
TRAINING = "train"

# Signatures.
CLASSIFY_INPUTS = "inputs"
CLASSIFY_METHOD_NAME = "tensorflow/serving/classify"
CLASSIFY_OUTPUT_CLASSES = "classes"
CLASSIFY_OUTPUT_SCORES = "scores"
DEFAULT_SERVING_SIGNATURE_DEF_KEY = "serving_default"
PREDICT_INPUTS = "inputs"
PREDICT_METHOD_NAME = "tensorflow/serving/predict"
PREDICT_OUTPUTS = "outputs"
REGRESS_INPUTS = "inputs"
REGRESS_METHOD_NAME = "tensorflow/serving/regress"
REGRESS_OUTPUTS = "outputs"

_IN_BOTH = """
    ASSETS_DIRECTORY ASSETS_KEY CLASSIFY_INPUTS CLASSIFY_METHOD_NAME CLASSIFY_OUTPUT_CLASSES CLASSIFY_OUTPUT_SCORES
    DEBUG_DIRECTORY DEBUG_INFO_FILENAME_PB DEFAULT_SERVING_SIGNATURE_DEF_KEY GPU PREDICT_INPUTS PREDICT_METHOD_NAME
    PREDICT_OUTPUTS REGRESS_INPUTS REGRESS_METHOD_NAME REGRESS_OUTPUTS SAVED_MODEL_FILENAME_PB
    SAVED_MODEL_FILENAME_PBTXT SAVED_MODEL_SCHEMA_VERSION SERVING TPU TRAINING VARIABLES_DIRECTORY VARIABLES_FILENAME
""".split()
_TAGS = ("GPU", "SERVING", "TPU", "TRAINING")
PUBLIC = {
    **{f"saved_model.{name}": globals()[name] for name in _IN_BOTH},
    **{f"compat.v1.saved_model.{name}": globals()[name] for name in (*_IN_BOTH, "LEGACY_INIT_OP_KEY", "MAIN_OP_KEY")},
    **{
        f"compat.v1.saved_model.constants.{name}": globals()[name]
        for name in _IN_BOTH
        if name.startswith(("ASSETS", "DEBUG", "SAVED", "VARIABLES"))
    },
    "compat.v1.saved_model.constants.LEGACY_INIT_OP_KEY": LEGACY_INIT_OP_KEY,
    "compat.v1.saved_model.constants.MAIN_OP_KEY": MAIN_OP_KEY,
    **{f"compat.v1.saved_model.tag_constants.{name}": globals()[name] for name in _TAGS},
    **{
        f"compat.v1.saved_model.signature_constants.{name}": globals()[name]
        for name in _IN_BOTH
        if name.startswith(("CLASSIFY", "DEFAULT", "PREDICT", "REGRESS"))
    },
}
